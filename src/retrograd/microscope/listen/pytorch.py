"""PyTorch: a TorchFunctionMode."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import unwrap
from typing import Any

from .engine import Engine
from .sizes import SizesThere


class TorchEngine(SizesThere, Engine):
    """torch: a TorchFunctionMode."""

    name = "torch"

    def __init__(self) -> None:
        super().__init__()
        torch = sys.modules["torch"]
        self.torch = torch
        self.Tensor = torch.Tensor
        self.Module = torch.nn.Module
        self.types = torch.Tensor, torch.nn.Parameter
        self.methods: set[Any] = set()
        self.passes = set()
        self.composites = set()
        self.look()
        from torch.overrides import TorchFunctionMode, _get_current_function_mode
        push, pop = torch._C._push_on_torch_function_stack, torch._C._pop_torch_function_stack
        self.current: Any = _get_current_function_mode

        class Hearing(TorchFunctionMode):
            def __init__(self, ear: Any) -> None:
                super().__init__()
                self.hear = ear.call

            def __enter__(self) -> Any:         # PyTorch's, without a function of Python's between
                push(self)
                return self

            def __exit__(self, *_: Any) -> None:
                pop()

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return self.hear(func, func, args, kwargs)

        self.hearing = Hearing
        self.uncompiled: Any = None             # the same, which a compiler leaves as it is

    def look(self) -> None:
        """Libraries wrap functions of PyTorch's, even later on: a mode then gets the wrapper, or what is in it."""
        torch = self.torch
        self.methods |= {torch.Tensor.backward, unwrap(torch.Tensor.backward)}
        self.passes |= {*self.methods, torch.autograd.backward, unwrap(torch.autograd.backward)}
        attention = torch.nn.functional.multi_head_attention_forward
        self.composites |= {attention, unwrap(attention)}

    def calls(self, ear: Any, had: Any = None) -> Any:
        compiler = sys.modules.get("torch._dynamo.eval_frame")      # optimizers import it
        kind = self.hearing
        backends = list(getattr(compiler, "cached_backends", {0: compiler}).values())
        if len(backends) > backends.count(None):        # something was compiled; of disable() the backend is None
            if self.uncompiled is None:
                self.uncompiled = type("Hearing", (kind,), {"__torch_function__": self.eager(kind.__torch_function__)})
            kind = self.uncompiled
        if type(had) is kind:
            return had
        self.look()
        return kind(ear)

    def inside(self, heard: Any, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        opening = Opening(heard)
        try:
            if func in self.passes:
                given = "gradient" if func in self.methods else "grad_tensors"
                return self.backward(opening, args[0], kwargs.pop(given, None), **kwargs)
            opening.value = kwargs.get("use_separate_proj_weight", False)
            return func(*args, **{**kwargs, "use_separate_proj_weight": opening})
        finally:
            opening.close(self.torch.overrides)

    def foremost(self, heard: Any) -> bool:
        return bool(self.current() is heard)

    def backward(self, opening: Opening, roots: Any, seeds: Any, **kwargs: Any) -> None:
        if seeds is None:
            seeds = (None,) * len(roots) if type(roots) is tuple else (None,)
        opening.value = (seeds,) if self.is_tensor(seeds) else seeds
        self.torch.autograd.backward(roots, opening, **kwargs)

    def seeds(self, args: Any, kwargs: Any) -> Any:
        given = super().seeds(args, kwargs)
        while type(given) is Opening:           # each capture around this one may have put one there
            given = given.value
        return given

    def unseen(self) -> Any:
        return self.torch._C.DisableTorchFunction()

    def eager(self, hook: Any) -> Any:
        dynamo = sys.modules.get("torch._dynamo")       # there when something was compiled
        if dynamo is None:
            return hook
        disabled, compiling = dynamo.disable(hook), self.torch._C._dynamo.eval_frame.get_eval_frame_callback

        def called(*args: Any, **kwargs: Any) -> Any:   # disabled() alone takes longer than many a hook
            return hook(*args, **kwargs) if compiling() is None else disabled(*args, **kwargs)

        return dynamo.decorators.skip(called)

    def transformed(self, x: Any) -> bool:
        return bool(self.torch._C._functorch.is_functorch_wrapped_tensor(x))

    def in_backward(self) -> bool:
        return bool(self.torch._C._current_graph_task_id() != -1)


class Opening:
    """An argument that switches a mode on when it is read.

    A function of PyTorch made of others asks at its beginning whether a mode is on, and gives itself to it.  The mode calls it
    with one of these for an argument that is read after that, and before anything of interest: so its parts are heard.
    """

    def __init__(self, mode: Any) -> None:
        self.mode = mode
        self.value: Any = None
        self.read = False

    def open(self) -> Any:
        """The value, the mode being on from here."""
        if not self.read:
            self.read = True
            self.mode.__enter__()
        return self.value

    def close(self, overrides: Any) -> None:
        """Switch the mode off: another one that took the call meanwhile, such as a flight's, has come back on top of it."""
        if self.read:
            above = []
            while overrides._get_current_function_mode() is not self.mode:
                above.append(overrides._pop_mode())
            self.mode.__exit__(None, None, None)
            for mode in reversed(above):
                overrides._push_mode(mode)

    def __bool__(self) -> bool:
        return bool(self.open())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.open())
