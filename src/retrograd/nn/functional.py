"""torch.nn.functional: what layers compute, as functions.  https://pytorch.org/docs/stable/nn.functional.html"""
from .._functions import FAMILIES
from .._missing import module_getattr

__all__ = []
for _family in FAMILIES:
    for _name in getattr(_family, "FUNCTIONAL", ()):
        globals()[_name] = getattr(_family, _name)
        __all__.append(_name)

__getattr__ = module_getattr(__name__)
