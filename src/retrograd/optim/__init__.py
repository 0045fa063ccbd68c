"""torch.optim: optimizers and learning-rate schedulers.  https://pytorch.org/docs/stable/optim.html

Parameters that mean the same in every optimizer:

params           tensors, (name, tensor) pairs, or groups: dicts with "params" and options of their own.  ValueError if empty
lr               step size, a number or a tensor of one element; ValueError if negative
betas            weights of the past in the running means of grad and grad**2; ValueError outside [0, 1)
eps              added to denominators; ValueError if negative
weight_decay     adds weight_decay * p to the gradient; ValueError if negative
maximize         True: steps go up the gradient
foreach, fused   accepted with PyTorch's checks, and without effect: they choose among its kernels
capturable       for CUDA graphs: step() raises with True, as in PyTorch on the CPU
differentiable   True: step() is recorded, so that gradients flow through it
"""
from __future__ import annotations

from .._missing import late_names
from . import lr_scheduler as lr_scheduler
from . import optimizer as optimizer
from . import swa_utils as swa_utils
from .adadelta import Adadelta as Adadelta
from .adafactor import Adafactor as Adafactor
from .adagrad import Adagrad as Adagrad
from .adam import Adam as Adam
from .adamax import Adamax as Adamax
from .adamw import AdamW as AdamW
from .asgd import ASGD as ASGD
from .lbfgs import LBFGS as LBFGS
from .muon import Muon as Muon
from .nadam import NAdam as NAdam
from .optimizer import Optimizer as Optimizer
from .radam import RAdam as RAdam
from .rmsprop import RMSprop as RMSprop
from .rprop import Rprop as Rprop
from .sgd import SGD as SGD
from .sparse_adam import SparseAdam as SparseAdam

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer", "RAdam",
    "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils",
]
late_names(__name__)
Adafactor.__module__ = Muon.__module__ = __name__       # as PyTorch has them
