"""A listing of document 002: Full backward hook that doubles."""

from _squared import double, run

run("register_full_backward_hook", double)
