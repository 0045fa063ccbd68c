"""torch.fft: discrete Fourier transforms.  https://pytorch.org/docs/stable/fft.html

n      points along dim: the input is cut or padded with zeros to so many; None: as many as it has
s      the same for each of dim
dim    one dimension, or a tuple of them; None: all, or the last len(s)
norm   'backward' (or None): inverse transforms divide by the number of points; 'forward': the others do;
       'ortho': both divide by its square root
"""
from __future__ import annotations

import typing as _t

from retrograd._functions import namespace as _namespace
from retrograd._missing import late_names as _late_names

if _t.TYPE_CHECKING:
    from retrograd._functions.fourier import (
        fft as fft,
    )
    from retrograd._functions.fourier import (
        fft2 as fft2,
    )
    from retrograd._functions.fourier import (
        fftfreq as fftfreq,
    )
    from retrograd._functions.fourier import (
        fftn as fftn,
    )
    from retrograd._functions.fourier import (
        fftshift as fftshift,
    )
    from retrograd._functions.fourier import (
        hfft as hfft,
    )
    from retrograd._functions.fourier import (
        hfft2 as hfft2,
    )
    from retrograd._functions.fourier import (
        hfftn as hfftn,
    )
    from retrograd._functions.fourier import (
        ifft as ifft,
    )
    from retrograd._functions.fourier import (
        ifft2 as ifft2,
    )
    from retrograd._functions.fourier import (
        ifftn as ifftn,
    )
    from retrograd._functions.fourier import (
        ifftshift as ifftshift,
    )
    from retrograd._functions.fourier import (
        ihfft as ihfft,
    )
    from retrograd._functions.fourier import (
        ihfft2 as ihfft2,
    )
    from retrograd._functions.fourier import (
        ihfftn as ihfftn,
    )
    from retrograd._functions.fourier import (
        irfft as irfft,
    )
    from retrograd._functions.fourier import (
        irfft2 as irfft2,
    )
    from retrograd._functions.fourier import (
        irfftn as irfftn,
    )
    from retrograd._functions.fourier import (
        rfft as rfft,
    )
    from retrograd._functions.fourier import (
        rfft2 as rfft2,
    )
    from retrograd._functions.fourier import (
        rfftfreq as rfftfreq,
    )
    from retrograd._functions.fourier import (
        rfftn as rfftn,
    )
_late_names(__name__)
__all__ = [
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn", "hfft", "ihfft",
    "hfft2", "ihfft2", "hfftn", "ihfftn", "fftfreq", "rfftfreq", "fftshift", "ifftshift",
]
if not _t.TYPE_CHECKING:
    globals().update(_namespace("fft", {"fourier": " ".join(__all__)}))
