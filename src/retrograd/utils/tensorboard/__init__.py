"""torch.utils.tensorboard: events for TensorBoard, written by the package `tensorboard`; without it, by `tensorboardX`.

https://pytorch.org/docs/stable/tensorboard.html
"""
from __future__ import annotations

from ..._missing import late_names
from .writer import FileWriter as FileWriter
from .writer import SummaryWriter as SummaryWriter

late_names(__name__)
__all__ = ["FileWriter", "SummaryWriter"]
