"""A listing of document 002: Full backward hook that looks."""

from _squared import look, run

run("register_full_backward_hook", look)
