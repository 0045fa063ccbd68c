"""Native code for what NumPy does in several passes.  Optional: every kernel may be None.

Float arrays in C order; every other case gives None (or False), and NumPy then does it.

add sub mul div               (a, b) -> array; b of a's shape and dtype, or a float
add_into ... div_into         (a, b) -> did it: a += b
once                          (ufunc, x) -> ufunc(x)
sum mean                      x -> 0-d array
view                          (x, sizes) -> x.reshape(sizes)
untrack track                 hide an object from the cyclic garbage collector, and show it again
"""
from typing import Any

add: Any
sub: Any
mul: Any
div: Any
add_into: Any
sub_into: Any
mul_into: Any
div_into: Any
once: Any
sum: Any
mean: Any
view: Any
untrack: Any
track: Any

try:
    from ._fast import (
        add,
        add_into,
        div,
        div_into,
        mean,
        mul,
        mul_into,
        once,
        sub,
        sub_into,
        sum,
        track,
        untrack,
        view,
    )
except ImportError:
    add = sub = mul = div = add_into = sub_into = mul_into = div_into = None
    once = sum = mean = view = untrack = track = None
