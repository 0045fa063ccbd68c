"""torch.optim.lr_scheduler: learning rates as functions of the number of steps.

Attribute names are PyTorch's, since state dicts carry them.  get_lr() gives the rates for `last_epoch`, mostly from
the rates now in the optimizer (the chainable form, so that schedulers combine), _get_closed_form_lr() from base_lrs.

optimizer    whose rates are set, one per parameter group; TypeError for anything else
last_epoch   -1: training starts; otherwise it goes on after that epoch, and each group needs an "initial_lr" (KeyError)
epoch        deprecated, with a warning: the epoch to set the rates of, instead of the next one
schedulers   of the same optimizer; ValueError otherwise
"""
from __future__ import annotations

from ..._missing import late_names
from .base import EPOCH_DEPRECATION_WARNING as EPOCH_DEPRECATION_WARNING
from .base import LRScheduler as LRScheduler
from .base import _LRScheduler as _LRScheduler
from .combined import ChainedScheduler as ChainedScheduler
from .combined import SequentialLR as SequentialLR
from .cycles import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .cycles import CyclicLR as CyclicLR
from .cycles import OneCycleLR as OneCycleLR
from .epochs import ConstantLR as ConstantLR
from .epochs import CosineAnnealingLR as CosineAnnealingLR
from .epochs import ExponentialLR as ExponentialLR
from .epochs import LambdaLR as LambdaLR
from .epochs import LinearLR as LinearLR
from .epochs import MultiplicativeLR as MultiplicativeLR
from .epochs import MultiStepLR as MultiStepLR
from .epochs import PolynomialLR as PolynomialLR
from .epochs import StepLR as StepLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR",
    "ReduceLROnPlateau", "SequentialLR", "StepLR",
]
late_names(__name__)
for _name in __all__:
    globals()[_name].__module__ = __name__      # as PyTorch has them
