"""torch._subclasses: fake tensors."""
from __future__ import annotations

from retrograd._missing import late_names

from . import fake_tensor as fake_tensor
from .fake_tensor import FakeTensor as FakeTensor
from .fake_tensor import FakeTensorMode as FakeTensorMode

late_names(__name__)
