"""torch.nn: modules, parameters, functional, init."""
from .._missing import module_getattr
from . import functional as functional
from . import init as init
from .modules import *
from .module import Module as Module
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter

__getattr__ = module_getattr(__name__)
