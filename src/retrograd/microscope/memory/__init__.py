"""Where the memory of a training goes: what is saved for backward, and who keeps it."""
