"""The flight recorder: the last steps of a training, written out when something goes wrong."""
