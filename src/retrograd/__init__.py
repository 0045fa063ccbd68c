"""retrograd: PyTorch's autograd and hooks over NumPy.  `import retrograd as torch`.

Parameters that mean the same in most functions, whose docstrings therefore leave them out:

input           the tensor to work on; in a method, the tensor whose method it is
other           a second tensor or a number, broadcast with the first
out             a tensor that takes the result: its dtype must be able to hold it, and its shape is changed if it differs (with
                a warning unless it is empty); RuntimeError where a gradient would be recorded
dim             a dimension, counted from the end if negative; reductions take several, and None for all.  IndexError if absent
keepdim         True: reduced dimensions stay, with size 1
axis            NumPy's name for dim
keepdims        NumPy's name for keepdim
dtype           of the result; where tensors are made from sizes, None is torch.get_default_dtype()
device          'cpu', or 'meta' for a tensor without memory; others raise as in a PyTorch built without CUDA
layout          torch.strided, the only one
requires_grad   True: operations on the result are recorded
pin_memory      accepted where it is False: there is no accelerator to copy to
memory_format   order of the dimensions in memory, such as torch.channels_last; torch.preserve_format: that of the input
generator       torch.Generator to draw from; None: the one that torch.manual_seed seeds
non_blocking    accepted without effect: copies are done when the call returns
"""
# ruff: noqa: I001, E402  one import a line would be ninety lines, and __path__ comes before them
from __future__ import annotations

import gc as _gc
import math as _math
from functools import partial as _partial
from importlib import import_module as _import_module
import typing as _t
from typing import Any as _Any



class _Uncollected:
    """While it lives the collector rests: what an import makes stays, and all that NumPy made would be looked through, too."""

    def __init__(self) -> None:
        self.on = _gc.isenabled()
        _gc.disable()

    def __del__(self) -> None:
        if not _gc.get_freeze_count():          # whatever the program froze stays frozen
            _gc.freeze()                        # into the oldest generation, without a look at each object
            _gc.unfreeze()
        if self.on:
            _gc.enable()


_uncollected = _Uncollected()
__path__.append(f"{__path__[0]}/_packages")   # found as retrograd.cuda, ...: retrograd-stubs says so to type checkers

from ._kernels import compiled as _compiled     # noqa: F401  # before what it finds
from ._missing import explain_imports as _explain_imports
from ._missing import mark_absent as _mark_absent
from ._missing import late_names as _late_names
from ._tensor.size import Size as Size
from ._tensor import DisableTorchFunction as DisableTorchFunction
from ._tensor import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._tensor import Tensor as Tensor
from ._tensor.printing import get_printoptions as get_printoptions
from ._tensor.printing import set_printoptions as set_printoptions
from ._kernels.threads import get_num_threads as get_num_threads
from ._kernels.threads import set_num_threads as set_num_threads
from ._tensor.printing import typename as typename
from ._tensor.dtypes import (
    bfloat16 as bfloat16, bool as bool, can_cast as can_cast, channels_last as channels_last,
    channels_last_3d as channels_last_3d, contiguous_format as contiguous_format, device as device, double as double,
    dtype as dtype, finfo as finfo, float as float, float16 as float16, float32 as float32, float64 as float64,
    get_default_dtype as get_default_dtype, half as half, iinfo as iinfo, int as int, int16 as int16, int32 as int32,
    int64 as int64, int8 as int8, jagged as jagged, layout as layout, long as long, memory_format as memory_format,
    preserve_format as preserve_format, promote_types as promote_types, result_type as result_type,
    set_default_dtype as set_default_dtype, short as short, sparse_bsc as sparse_bsc, sparse_bsr as sparse_bsr,
    sparse_coo as sparse_coo, sparse_csc as sparse_csc, sparse_csr as sparse_csr, strided as strided, uint8 as uint8,
)
from ._missing.dtypes import *  # noqa: F403
if _t.TYPE_CHECKING:
    from ._typing.functions import *  # noqa: F403
else:
    from ._functions import *  # noqa: F403
from ._functions.autocast import *  # noqa: F403
from ._functions import LATER as _LATER
from ._functions import late as _late
from ._functions.parsing import Parsed as _Parsed
from ._functions.public import PARSED as _PARSED
from ._functions.public import public as _public
from ._tensor import nodes as _nodes
from . import autograd as autograd
if _t.TYPE_CHECKING:
    from ._packages import (
        _C as _C, _dynamo as _dynamo, accelerator as accelerator, amp as amp, backends as backends, compiler as compiler,
        cpu as cpu, cuda as cuda, export as export, fft as fft, functional as functional, futures as futures, fx as fx,
        hub as hub, jit as jit, library as library, masked as masked, mps as mps, multiprocessing as multiprocessing,
        overrides as overrides, profiler as profiler, serialization as serialization, signal as signal,
        storage as storage, testing as testing, types as types, version as version, xpu as xpu,
    )
    from ._packages import random as random
    from ._packages.random import (
        Generator as Generator, default_generator as default_generator, get_rng_state as get_rng_state,
        initial_seed as initial_seed, manual_seed as manual_seed, seed as seed, set_rng_state as set_rng_state,
        thread_safe_generator as thread_safe_generator,
    )
    from ._packages.version import __version__ as __version__
else:
    from . import random as random
    from .random import (
        Generator as Generator, default_generator as default_generator, get_rng_state as get_rng_state,
        initial_seed as initial_seed, manual_seed as manual_seed, seed as seed, set_rng_state as set_rng_state,
        thread_safe_generator as thread_safe_generator,
    )
    from . import version as version
    from .version import __version__ as __version__
from . import utils as utils
from ._tensor.around import *  # noqa: F403
from ._tensor.settings import *  # noqa: F403
from .autograd import (
    enable_grad as enable_grad, inference_mode as inference_mode, is_anomaly_check_nan_enabled as
    is_anomaly_check_nan_enabled, is_anomaly_enabled as is_anomaly_enabled, is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled, no_grad as no_grad, set_grad_enabled as set_grad_enabled,
)

_nodes.dress_all()                              # every op class is loaded now
_mark_absent(Tensor)
_explain_imports()

_KINDS = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool", "ComplexFloat",
          "ComplexDouble")
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
legacy_contiguous_format = contiguous_format


def _function(name: str) -> _Any:
    found = globals()[name] = _late(_LATER[name], name)
    return found


def _of(module: str, name: str) -> _Any:
    return getattr(_import_module(f"{__name__}.{module}"), name)


if _t.TYPE_CHECKING:                                # what is imported when it is asked for
    from . import distributed as distributed
    from . import microscope as microscope
    from . import nn as nn
    from . import optim as optim
    from ._packages import distributions as distributions, func as func, linalg as linalg, special as special
    from ._packages.amp import GradScaler as GradScaler, autocast as autocast
    from ._packages.func import vmap as vmap
    from ._packages._ops import ops as ops
    from ._packages.futures import Future as Future
    from ._packages.storage import TypedStorage as TypedStorage, UntypedStorage as UntypedStorage, is_storage as is_storage
    from ._packages.jit import ScriptModule as ScriptModule
    from ._tensor.streams import Event as Event
    from ._tensor.streams import Stream as Stream
    from .utils.dlpack import to_dlpack as to_dlpack
    from ._tensor.script_types import *  # noqa: F403

_late_names(
    __name__, lazy=("_C", "_VF", "_decomp", "_dynamo", "_subclasses", "_tensor_str", "_utils", "accelerator", "amp", "ao",
                    "backends", "compiler", "cpu", "cuda", "distributed", "distributions", "export",
                    "fft", "func", "functional", "futures", "fx", "hub", "jit", "library", "linalg", "masked", "microscope",
                    "mps", "multiprocessing", "nn", "onnx", "optim", "overrides",
                    "profiler", "quasirandom", "serialization", "signal", "special", "storage", "testing",
                    "torch_version", "types", "xpu"),
    also={**{_name: _partial(_function, _name) for _name in _LATER},
          **{_name: _partial(_of, "_tensor.streams", _name) for _name in ("Event", "Stream")},
          **{_name: _partial(_of, "_tensor.script_types", _name) for _name in (
              "AnyType", "BoolType", "ComplexType", "DeviceObjType", "DictType", "FloatType", "IntType", "ListType", "NoneType",
              "NumberType", "OptionalType", "PyObjectType", "StreamObjType", "StringType", "SymBoolType", "SymIntType",
              "TensorType", "TupleType", "Type")},
          "Future": _partial(_of, "futures", "Future"), "ScriptModule": _partial(_of, "jit", "ScriptModule"),
          "ops": _partial(_of, "_ops", "ops"),
          "vmap": _partial(_of, "func", "vmap"),
          "PyTorchFileReader": _partial(_of, "_C", "PyTorchFileReader"),
          "to_dlpack": _partial(_of, "utils.dlpack", "to_dlpack"),
          **{_name: _partial(_import_module, f"{__name__}.{_name}") for _name in ("__config__", "__future__")},
          **{_name: _partial(_late, ("order", _name)) for _name in ("_unique", "_unique2")},
          **{_name: _partial(_late, ("complexes", _name)) for _name in ("_is_zerotensor", "_neg_view")},
          "torch": _partial(_import_module, __name__),
          **{_name: _partial(_of, "storage", _name) for _name in (
              "TypedStorage", "UntypedStorage", "is_storage", *(f"{_kind}Storage" for _kind in _KINDS))},
          **{_name: _partial(_of, "amp", _name) for _name in ("GradScaler", "autocast")}})


def _assert(condition: _Any, message: _Any) -> None:
    """`assert condition, message`, as a function."""
    if type(condition) is not Tensor and _of("overrides", "has_torch_function")((condition,)):
        return _of("overrides", "handle_torch_function")(_assert, (condition,), condition, message)
    assert condition, message
    return None


def save(obj: _Any, f: _Any, *args: _Any, **kwargs: _Any) -> None:
    """Write obj, tensors and plain containers, to a file that PyTorch reads, too; f and the rest: torch.serialization.save."""
    from .serialization import save as write

    write(obj, f, *args, **kwargs)


def load(f: _Any, map_location: _Any = None, **kwargs: _Any) -> _Any:
    """Read such a file, of ours or of PyTorch's: tensors and plain containers.  f, map_location: torch.serialization.load."""
    from .serialization import load as read

    return read(f, map_location, **kwargs)


def is_inference(input: _Any) -> _Any:
    """Was the tensor made in inference mode?"""
    return input.is_inference()


can_cast, promote_types, result_type = (
    _public(_f, _PARSED, "", _f.__name__, _f.__name__) for _f in (can_cast, promote_types, result_type))
is_inference = _public(_Parsed("is_inference", "Tensor input", is_inference), _PARSED, "", "is_inference", "is_inference")
del _uncollected, _Uncollected
