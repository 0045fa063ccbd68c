"""torch.nn.functional: what layers compute, as functions.  https://pytorch.org/docs/stable/nn.functional.html"""
from .._functions import FAMILIES
from .._missing import module_getattr

__all__ = []
for _family in FAMILIES:
    for _name in getattr(_family, "FUNCTIONAL", ()):
        _own, _, _public = _name.partition(" as ")      # "F_x as x": torch has another x
        _public = _public or _own
        globals()[_public] = getattr(_family, _own)
        __all__.append(_public)

__getattr__ = module_getattr(__name__)
