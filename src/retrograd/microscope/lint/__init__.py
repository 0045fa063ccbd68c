"""Mistakes with hooks and gradients: in a source, in a live model, in a recording."""
