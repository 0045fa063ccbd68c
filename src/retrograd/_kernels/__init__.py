"""Native code for what NumPy does in several passes.  Optional: every kernel may be None.

add sub mul div   (a, b) -> array, or None when the case is not theirs: NumPy then does it
add_into          (total, x) -> did it: total += x
untrack track     hide an object from the cyclic garbage collector, and show it again
"""
from typing import Any

add: Any
sub: Any
mul: Any
div: Any
add_into: Any
untrack: Any
track: Any

try:
    from ._fast import add, add_into, div, mul, sub, track, untrack
except ImportError:
    add = sub = mul = div = add_into = untrack = track = None
