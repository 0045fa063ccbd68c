"""torch.compiler: what torch.compile makes, and what governs all of it."""
from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from retrograd._compile import backends
from retrograd._compile.reach import refusing
from retrograd._compile.run import LIMIT, Compiled
from retrograd._compile.stance import stance as current
from retrograd._compile.verified import Verified
from retrograd._compile.wrapper import Wrapper
from retrograd._missing import late_names
from retrograd._tensor.settings import compile
from retrograd.nn.module import Module

__all__ = ["allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "get_default_backend",
           "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset", "set_default_backend", "set_stance",
           "substitute_in_graph"]
late_names(__name__)

OPTIONS = ["python", "check", "plans"]  # ours
compiled: weakref.WeakSet[Wrapper] = weakref.WeakSet()


def maker(backend: Any, mode: str | None, options: dict[str, Any] | None, full: bool, dynamic: Any, limit: int | None) -> Any:
    """What compiles a function or a module; the errors of arguments that make no sense."""
    backend = backends.default if backend is None else backend
    if not backends.known(backend):
        from retrograd._dynamo.exc import InvalidBackend
        raise InvalidBackend(backend)
    if mode is not None and backend == "inductor" and mode not in backends.MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(backends.MODES)}")
    if not isinstance(dynamic, (bool, type(None))):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    options = options or {}
    if options and (backend == "inductor" or not options.keys().isdisjoint(OPTIONS)):
        check_options(options)
    skips = options.get("python") == "skip" or (mode == "reduce-overhead" and backend == "inductor")
    return functools.partial(make, skips, options.get("check"), limit or options.get("plans", LIMIT), full)


def make(skips: bool, check: int | None, limit: int, full: bool, f: Any) -> Any:
    """f, or a module, compiled."""
    if not callable(f):
        raise AssertionError(f"A callable function is expected, but {type(f)} is provided.")
    if isinstance(f, type):
        return f
    if isinstance(f, Module):
        from retrograd._dynamo.eval_frame import OptimizedModule
        return OptimizedModule(f, functools.partial(wrapped, skips, check, limit, full))
    return wrapped(skips, check, limit, full, f)


def wrapped(skips: bool, check: int | None, limit: int, full: bool, f: Any) -> Wrapper:
    """What is called in place of f."""
    if isinstance(f, Wrapper):
        f = f.f
    call = Compiled(f, check, limit, full) if skips else Verified(f, limit, full)
    compiled.add(call)
    return call


@functools.cache
def types_of_pytorchs() -> dict[str, str]:
    """The options of PyTorch's compiler, and the type of each; "" for any."""
    from retrograd._compile import inductor
    return {name: kind for kind, names in inductor.OPTIONS.items() for name in "".join(names).split()}


def check_options(options: dict[str, Any]) -> None:
    """RuntimeError or ValueError for options that are neither ours nor PyTorch's, and for values of another type."""
    for name, value in options.items():
        if name == "python":
            fits, wanted = value in ("skip", "run"), '"skip" or "run"'
        elif name in ("check", "plans"):
            least = 0 if name == "check" else 1
            fits = type(value) is int and value >= least or (name == "check" and value is None)
            wanted = f"an int of at least {least}"
        elif (kind := types_of_pytorchs().get(str(name).replace("-", "_"))) is not None:
            if kind and kind not in [each.__name__ for each in type(value).__mro__]:
                raise RuntimeError(f"Unexpected type of attr {name}, got {type(value).__name__} should be {kind}")
            continue
        else:
            close = get_close_matches(str(name), [*OPTIONS, *types_of_pytorchs()], n=1)
            near = "".join(f"; did you mean {each!r}?" for each in close)
            raise RuntimeError(
                f"Unexpected optimization option {name}, known options are {OPTIONS} and those of PyTorch's inductor{near}")
        if not fits:
            raise ValueError(f"torch.compile: the option {name!r} must be {wanted}, got {value!r}")


def is_compiling() -> bool:
    """False: what is recorded runs as it does eagerly."""
    return False


def is_dynamo_compiling() -> bool:
    """False."""
    return False


def is_exporting() -> bool:
    """False."""
    return False


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """fn itself, which no plan contains: what calls it runs eagerly, unless Python runs anyway.

    recursive and reason are accepted without effect.
    """
    def marked(f: Any) -> Any:
        if not callable(f):
            raise AssertionError("fn must be callable")
        if isinstance(f, Wrapper):
            return f.f
        refusing.add(f)
        return f
    return marked if fn is None else marked(fn)


def allow_in_graph(fn: Any) -> Any:
    """fn itself."""
    if not isinstance(fn, (list, tuple)) and not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn: Any) -> Any:
    """fn itself, whose result is no constant here."""
    return fn


def substitute_in_graph(original_fn: Any, *, can_constant_fold_through: bool = False, skip_signature_check: bool = False,
                        is_embedded_type: bool = False) -> Callable[[Any], Any]:
    """A decorator that changes nothing, whatever original_fn, can_constant_fold_through, skip_signature_check and
    is_embedded_type say.
    """
    return lambda fn: fn


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Names that compile(backend=) takes, and all mean the same; exclude_tags=None adds the experimental ones."""
    return sorted(backends.names) if exclude_tags is None else list(backends.LISTED)


def set_default_backend(backend: Any) -> None:
    """The backend of torch.compile where it names none: a name, a function, or None for "inductor".  TypeError for others."""
    if not (backend is None or isinstance(backend, str) or callable(backend)):
        raise TypeError(f"backend must be a string or callable, got {type(backend)}")
    backends.default = "inductor" if backend is None else backend


def get_default_backend() -> Any:
    """That of set_default_backend, "inductor" unless it was called."""
    return backends.default


def cudagraph_mark_step_begin() -> None:
    """Nothing: results are never overwritten."""


def reset() -> None:
    """Forget all plans."""
    for call in list(compiled):
        call.reset()


class set_stance:
    """What compiled functions do, the stance: "default", "force_eager", "eager_on_recompile" or "fail_on_recompile".

    It holds from here on, or within `with`, or while the function runs that it decorates.
    skip_guard_eval_unsafe and force_backend have no effect.
    """

    def __init__(self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None) -> None:
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.stance, self.before = stance, current.name
        current.set(stance)

    def __enter__(self) -> None:
        current.set(self.stance)

    def __exit__(self, *_: Any) -> None:
        current.set(self.before)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        current.set(self.before)

        @functools.wraps(fn)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return fn(*args, **kwargs)
        return inner
