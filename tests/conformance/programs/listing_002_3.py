"""A listing of document 002: Legacy hook that looks."""

from _squared import look, run

run("register_backward_hook", look)
