"""torch.compile, Module.compile, torch.compiler and torch._dynamo have PyTorch's forms and errors."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest
from both_engines import both

import retrograd


def add_one(x: Any) -> Any:
    """One more."""
    return x + 1


def net(torch: Any) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())


@both
def test_a_compiled_function_goes_by_the_name_of_its_own(torch: Any) -> None:
    for made in (torch.compile(add_one, backend="eager"), torch.compile(backend="eager")(add_one),
                 torch._dynamo.optimize("eager")(add_one),
                 torch.compile(torch.compile(add_one, backend="eager"), backend="eager")):
        assert made is not add_one and made.__name__ == "add_one" and made.__doc__ == "One more."
        assert made._torchdynamo_orig_callable.__name__ == "add_one"
        assert made(torch.ones(2)).tolist() == [2, 2]
    assert torch.compile(add_one, disable=True) is add_one


@both
def test_methods_and_callable_objects_can_be_compiled(torch: Any) -> None:
    class Scale:
        by = 3

        @torch.compile(backend="eager")
        def scaled(self, x: Any) -> Any:
            return x * self.by

        def __call__(self, x: Any) -> Any:
            return x + self.by

    scale = Scale()
    assert scale.scaled(torch.ones(1)).item() == 3 and scale.scaled.__self__ is scale
    assert torch.compile(scale, backend="eager")(torch.ones(1)).item() == 4
    assert torch.compile(Scale, backend="eager") is Scale


@both
@pytest.mark.parametrize(("arguments", "error", "text"), [
    ({"mode": "default", "options": {}}, RuntimeError, "Either mode or options can be specified, but both can't be"),
    ({"mode": "fast"}, RuntimeError, "Unrecognized mode=fast, should be one of: default, lite, reduce-overhead"),
    ({"backend": "fast"}, RuntimeError, "Invalid backend: 'fast', see `torch._dynamo.list_backends()` for available backends."),
    ({"backend": "eager", "dynamic": "yes"}, AssertionError, "Expected enable to be a bool, got <class 'str'>"),
])
def test_arguments_of_compile_are_checked(torch: Any, arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        torch.compile(add_one, **arguments)
    assert str(raised.value).startswith(text)


@both
def test_what_cannot_be_called_cannot_be_compiled(torch: Any) -> None:
    with pytest.raises(AssertionError, match="A callable function is expected, but <class 'int'> is provided"):
        torch.compile(3, backend="eager")
    assert issubclass(importlib.import_module(f"{torch.__name__}._dynamo.exc").InvalidBackend, RuntimeError)


@both
def test_a_compiled_module_holds_the_module(torch: Any) -> None:
    model = net(torch)
    fast = torch.compile(model, backend="eager")
    assert type(fast) is torch._dynamo.OptimizedModule and not isinstance(fast, torch.nn.Sequential)
    assert fast._orig_mod is model and len(fast) == 2
    assert list(fast.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert [name for name, _ in fast.named_modules()] == ["", "_orig_mod", "_orig_mod.0", "_orig_mod.1"]
    assert repr(fast).startswith("OptimizedModule(\n  (_orig_mod): Sequential(")
    with pytest.raises(RuntimeError, match='Unexpected key\\(s\\) in state_dict: "0.weight", "0.bias"'):
        fast.load_state_dict(model.state_dict())
    model.load_state_dict({key.removeprefix("_orig_mod."): x for key, x in fast.state_dict().items()})
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'absent'"):
        _ = fast.absent
    x = torch.ones(1, 2)
    assert fast(x).tolist() == fast.forward(x).tolist() == model(x).tolist()


@both
def test_attributes_of_a_compiled_module_are_those_of_the_module(torch: Any) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = 1
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return x * self.scale

        def answer(self) -> int:
            return 7

    model = Net()
    fast = torch.compile(model, backend="eager")
    fast.scale = 5
    assert model.scale == 5 and fast.scale == 5 and fast.answer() == 7 and fast(torch.ones(1)).item() == 5
    fast.layer = torch.nn.Linear(2, 2)
    assert fast.layer is model.layer and list(fast._modules) == ["_orig_mod"]
    del fast.scale
    assert not hasattr(model, "scale")
    assert fast.eval() is fast and not model.training and not model.layer.training
    fast.training = True
    assert model.training and fast.training
    fast.requires_grad_(False)
    assert not model.layer.weight.requires_grad


def test_hooks_of_a_compiled_module_and_of_the_module_fire() -> None:
    torch: Any = retrograd                      # PyTorch may use code from before the hook was registered
    model, fired = net(torch), []
    fast = torch.compile(model, backend="eager")
    for _ in range(3):
        fast(torch.ones(1, 2))
    model.register_forward_hook(lambda *_: fired.append("inner"))
    fast.register_forward_hook(lambda *_: fired.append("outer"))
    fast(torch.ones(1, 2))
    assert fired == ["inner", "outer"] and len(model._forward_hooks) == 1


@both
def test_a_module_that_is_compiled_itself_keeps_its_names_and_hooks(torch: Any) -> None:
    model, fired = net(torch), []
    assert model._compiled_call_impl is None
    x = torch.ones(1, 2)
    before = model(x)
    assert model.compile(backend="eager") is None
    assert model._compiled_call_impl is not None and list(model.state_dict()) == ["0.weight", "0.bias"]
    model[0].register_forward_hook(lambda *_: fired.append("layer"))
    model.register_forward_hook(lambda *_: fired.append("model"))
    assert torch.equal(model(x), before) and fired == ["layer", "model"]
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(net(torch)))):
        assert other._compiled_call_impl is None and "_compiled_call_impl" not in vars(other)
    assert "_compiled_call_impl" not in model.__getstate__()
    with pytest.raises(RuntimeError, match="Either mode or options"):
        model.compile(mode="default", options={})


@both
def test_a_compiled_module_can_be_copied_and_pickled(torch: Any) -> None:
    fast = torch.compile(net(torch), backend="eager")
    x = torch.ones(1, 2)
    for other in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
        assert type(other) is type(fast) and other._orig_mod is not fast._orig_mod
        assert torch.equal(other(x), fast(x))


@both
def test_stances_hold_from_here_on_or_within_a_block_or_a_function(torch: Any) -> None:
    fast, x = torch.compile(add_one, backend="eager"), torch.ones(1)
    torch._dynamo.reset()
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(
            RuntimeError, match="Detected recompile when torch.compile stance is 'fail_on_recompile'"):
        fast(x)
    for stance in ("force_eager", "eager_on_recompile"):
        torch.compiler.set_stance(stance)
        assert fast(x).item() == 2
    torch.compiler.set_stance("sideways")
    try:
        with pytest.raises(RuntimeError, match="invalid torch.compile stance .*sideways"):
            fast(x)
    finally:
        torch.compiler.set_stance("default")
    assert torch.compiler.set_stance("force_eager")(add_one)(x).item() == 2 and fast(x).item() == 2
    with pytest.raises(RuntimeError, match="non-default stance cannot have force_backend set"):
        torch.compiler.set_stance("force_eager", force_backend="eager")


@both
def test_marks_of_functions_change_nothing(torch: Any) -> None:
    for mark in (torch.compiler.disable, torch.compiler.allow_in_graph, torch.compiler.assume_constant_result,
                 torch._dynamo.disable, torch.compiler.disable(recursive=False), torch._dynamo.run):
        def marked(x: Any) -> Any:
            return x * 2
        assert mark(marked)(torch.ones(1)).item() == 2
    with pytest.raises(AssertionError, match="fn must be callable"):
        torch.compiler.disable(3)
    with pytest.raises(AssertionError, match="allow_in_graph expects a callable"):
        torch.compiler.allow_in_graph(3)
    torch._dynamo.graph_break()
    torch._dynamo.mark_dynamic(torch.ones(2), 0)
    assert torch.compiler.list_backends() == torch._dynamo.list_backends() == ["cudagraphs", "inductor", "openxla", "tvm"]
    assert not torch.compiler.is_compiling() and not torch.compiler.is_dynamo_compiling()


@both
def test_the_backend_that_nobody_names_can_be_chosen(torch: Any) -> None:
    assert torch.compiler.get_default_backend() == "inductor"
    with pytest.raises(TypeError, match="backend must be a string or callable, got <class 'int'>"):
        torch.compiler.set_default_backend(3)
    torch.compiler.set_default_backend("fast")
    try:
        assert torch.compiler.get_default_backend() == "fast"
        with pytest.raises(RuntimeError, match="Invalid backend: 'fast'"):
            torch.compile(lambda x: x)
        assert torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)).item() == 2
    finally:
        torch.compiler.set_default_backend(None)
    assert torch.compiler.get_default_backend() == "inductor"


@both
def test_settings_of_the_compiler_are_kept(torch: Any) -> None:
    config = importlib.import_module(f"{torch.__name__}._dynamo.config")
    assert torch._dynamo.config is config and not config.suppress_errors
    with config.patch(suppress_errors=True):
        assert config.suppress_errors
    assert not config.suppress_errors and config.cache_size_limit == config.recompile_limit == 8
    with pytest.raises(AttributeError, match="torch._dynamo.config.absent does not exist"):
        config.absent = 1
    with pytest.raises(AttributeError, match="torch._dynamo.config.absent does not exist"):
        _ = config.absent
