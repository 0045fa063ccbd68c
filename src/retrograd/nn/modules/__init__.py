"""Layers, one file per family, under the paths that PyTorch gives them (torch.nn.modules.linear, ...)."""
# ruff: noqa: F403  each file says in __all__ what it has to offer
from .activation import *
from .adaptive import *
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .lazy import *
from .linear import *
from .linear_cross_entropy_options import *
from .loss import *
from .module import Module as Module
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *
