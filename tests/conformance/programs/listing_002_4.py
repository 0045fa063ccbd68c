"""A listing of document 002: Legacy hook that doubles."""

from _squared import double, run

run("register_backward_hook", double)
