"""Where retrograd.signal.windows is written.

Written by `make generate`.
"""
from retrograd._packages.signal.windows import (
    arguments as arguments,
    bartlett as bartlett,
    blackman as blackman,
    checked as checked,
    cosine as cosine,
    exponential as exponential,
    gaussian as gaussian,
    general_cosine as general_cosine,
    general_hamming as general_hamming,
    hamming as hamming,
    hann as hann,
    kaiser as kaiser,
    nuttall as nuttall,
    points as points,
)
