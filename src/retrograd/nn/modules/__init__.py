"""Layers, one file per family, under the paths that PyTorch gives them (torch.nn.modules.linear, ...)."""
from importlib import import_module
from importlib.util import find_spec

for _name in ("module", "linear", "activation", "container", "flatten"):
    if find_spec(f"{__name__}.{_name}"):
        _family = import_module(f"{__name__}.{_name}")
        globals().update({_n: getattr(_family, _n) for _n in getattr(_family, "__all__", ())})
from .module import Module as Module
