"""torch.nn: parameters and functional; layers follow."""
from .._missing import module_getattr
from . import functional as functional
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter

__getattr__ = module_getattr(__name__)
