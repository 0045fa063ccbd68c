"""why_none and why_not_fired: the right cause, or 'cannot_know', on both engines; mistakes that people made."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from both_engines import both
from three_ways import WAYS, Ways

import retrograd
from retrograd.microscope import lint_recording, load, record, why_none, why_not_fired

Case = Callable[[Any], list[tuple[Any, str]]]
CASES: dict[str, Case] = {}


def case(f: Case) -> Case:
    CASES[f.__name__] = f
    return f


def layer(torch: Any, i: int = 4, o: int = 3) -> Any:
    torch.manual_seed(0)
    return torch.nn.Linear(i, o)


def nothing(*args: Any) -> None:
    return None


@case
def a_parameter_read_as_a_number(torch: Any) -> Any:
    w, p, q = (torch.nn.Parameter(torch.ones(1)) for _ in range(3))
    aside, shown = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    with record(engine=torch.__name__) as rec:
        for _ in range(2):
            loss = (w * 3 / float(p) + (q * 2).item() + (aside * 2).item()).sum()
            shown.item()                                # the loss is there already
            other = aside * 2                           # could be, but is not, part of it
            loss.backward()
    assert other.shape == (1,)
    return [(rec.why_none(p), "read_as_number"), (rec.why_none(q), "read_as_number"),
            (rec.why_none(aside), "read_as_number"), (rec.why_none(shown), "not_in_loss")]


@case
def written_into_and_used_without_gradients(torch: Any) -> Any:
    f = layer(torch)
    with record(f) as rec:
        f.weight.data.uniform_(-1, 1)
        torch.nn.init.zeros_(f.bias)
        with torch.no_grad():
            f(torch.ones(2, 4))
        torch.ones(2, requires_grad=True).sum().backward()
    return [(rec.why_none(f.weight), "no_grad"), (rec.why_none("bias"), "no_grad")]


@case
def written_into_and_never_used(torch: Any) -> Any:
    a, b = layer(torch), layer(torch)
    w = torch.nn.Parameter(torch.ones(2, 2))
    v = torch.nn.Parameter(torch.ones(2))
    u = torch.nn.Parameter(torch.ones(2))
    with record(a, b, engine=torch.__name__) as rec:
        with torch.no_grad():
            b.weight.detach().copy_(a.weight)
            b.bias.copy_(a.bias).mul_(2)
        w.data.view(-1)[1:].fill_(3.0)
        w.data[0] = 4.0
        v.requires_grad_(True)
        h = u.data.mul_(2)                              # read, after it was written into
        (a(torch.ones(2, 4)).sum() * h.sum()).backward()
    return [(rec.why_none(a.weight), "has_grad"), (rec.why_none(b.weight), "module_not_called"),
            (rec.why_none(b.bias), "module_not_called"), (rec.why_none(w), "never_used"),
            (rec.why_none(v), "never_used"), (rec.why_none(u), "detached")]


@case
def hooks_registered_after_their_pass(torch: Any) -> Any:
    m, hooks = layer(torch), []
    with record(m) as rec:
        for _ in range(2):
            out = m(torch.randn(2, 4))
            node = out.grad_fn
            out.sum().backward()
            hooks += [out.register_hook(nothing), node.register_hook(nothing)]
    return [(rec.why_not_fired(h), "registered_late") for h in hooks]


@case
def forward_called_directly(torch: Any) -> Any:
    m = layer(torch)
    hooks = [m.register_forward_hook(nothing), m.register_full_backward_hook(nothing)]
    with record(m) as rec:
        m.forward(torch.randn(2, 4)).sum().backward()
    return [(rec.why_not_fired(h), "forward_called_directly") for h in hooks]


@case
def functional_use_of_weight(torch: Any) -> Any:
    m = layer(torch)
    hook = m.register_full_backward_hook(nothing)
    with record(m) as rec:
        torch.nn.functional.linear(torch.randn(2, 4), m.weight, m.bias).sum().backward()
    return [(rec.why_not_fired(hook), "functional_use")]


@case
def hook_on_a_module_list(torch: Any) -> Any:
    layers = torch.nn.ModuleList([layer(torch), layer(torch, 3, 3)])
    hook = layers.register_forward_hook(nothing)
    with record(layers) as rec:
        x = torch.randn(2, 4)
        for one in layers:
            x = one(x)
    return [(rec.why_not_fired(hook), "container")]


@case
def out_proj_of_attention(torch: Any) -> Any:
    m = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    hooks = [m.out_proj.register_forward_hook(nothing), m.out_proj.register_full_backward_hook(nothing)]
    with record(m) as rec:
        x = torch.randn(2, 3, 4)
        m(x, x, x)[0].sum().backward()
    return [(rec.why_not_fired(h), "mha_out_proj") for h in hooks]


@case
def output_is_a_dataclass(torch: Any) -> Any:
    @dataclasses.dataclass
    class Out:
        y: Any

    class M(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = layer(torch)

        def forward(self, x: Any) -> Any:
            return Out(self.inner(x))

    m = M()
    hook = m.register_full_backward_hook(nothing)
    with record(m) as rec:
        m(torch.randn(2, 4, requires_grad=True)).y.sum().backward()
    return [(rec.why_not_fired(hook), "output_not_tensor")]


@case
def output_unused_in_loss(torch: Any) -> Any:
    a, b = layer(torch), layer(torch)
    both_ = torch.nn.ModuleList([a, b])
    hook = b.register_full_backward_hook(nothing)
    weight = b.weight.register_hook(nothing)
    with record(both_) as rec:
        x = torch.randn(2, 4, requires_grad=True)
        a(x).sum().backward()
        b(x)
    after = rec.why_not_fired(hook)
    with record(both_) as rec:
        y = b(x)
        a(x).sum().backward()
        del y
    return [(after, "no_backward"), (rec.why_not_fired(hook), "not_in_loss"), (rec.why_none(b.weight), "not_in_loss"),
            (rec.why_not_fired(weight), "not_in_loss"), (rec.why_none("0.weight"), "has_grad")]


@case
def detached_behind_a_module_with_a_full_backward_hook(torch: Any) -> Any:
    a, b, c = layer(torch, 4, 4), layer(torch, 4, 4), layer(torch)
    a.register_full_backward_hook(nothing)
    b.register_full_backward_hook(nothing)
    with record(a, b, c) as rec:
        c(b(a(torch.randn(2, 4))).detach()).sum().backward()
    return [(rec.why_none(a.weight), "detached"), (rec.why_none(b.weight), "detached")]


@case
def output_detached(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))
    hook = m[0].register_full_backward_hook(nothing)
    with record(m) as rec:
        h = m[0](torch.randn(2, 4, requires_grad=True)).detach()
        m[1](h).sum().backward()
    return [(rec.why_not_fired(hook), "detached"), (rec.why_none(m[0].weight), "detached"),
            (rec.why_none("0.bias"), "detached")]


@case
def cut_by_data(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))
    with record(m) as rec:
        m[1](m[0](torch.randn(2, 4)).data).sum().backward()
    return [(rec.why_none(m[0].weight), "detached")]


@case
def cut_by_item(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))
    with record(m) as rec:
        s = m[0](torch.randn(2, 4)).sum().item()
        m[1](torch.tensor([[s, 1.0, 2.0]])).sum().backward()
    return [(rec.why_none(m[0].weight), "read_as_number")]


@case
def cut_by_numpy(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))
    with record(m) as rec:
        a = m[0](torch.randn(2, 4)).detach().numpy() * 2
        m[1](torch.tensor(a)).sum().backward()
    return [(rec.why_none(m[0].weight), "read_as_number")]


@case
def printing_the_loss_is_not_the_cause(torch: Any) -> Any:
    a, b = layer(torch), layer(torch)
    with record(torch.nn.ModuleList([a, b])) as rec:
        x = torch.randn(2, 4)
        y = b(x).sum()
        str(y.item())
        a(x).sum().backward()
    return [(rec.why_none(b.weight), "not_in_loss")]


@case
def cut_by_argmax(torch: Any) -> Any:
    m = layer(torch)
    e = torch.nn.Embedding(3, 2)
    with record(m, e) as rec:
        e(m(torch.randn(2, 4)).argmax(1)).sum().backward()
    return [(rec.why_none(m.weight), "not_differentiable")]


@case
def cut_by_comparison(torch: Any) -> Any:
    m = layer(torch)
    w = torch.ones(3, requires_grad=True)
    with record(m) as rec:
        ((m(torch.randn(2, 4)) > 0).float() * w).sum().backward()
    return [(rec.why_none(m.weight), "not_differentiable")]


@case
def used_under_no_grad(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))
    hook = m[0].register_full_backward_hook(nothing)
    with record(m) as rec:
        with torch.no_grad():
            h = m[0](torch.randn(2, 4))
        m[1](h).sum().backward()
    return [(rec.why_none(m[0].weight), "no_grad"), (rec.why_not_fired(hook), "no_grad")]


@case
def used_in_inference_mode(torch: Any) -> Any:
    m = layer(torch)
    hook = m.register_full_backward_hook(nothing)
    with record(m) as rec:
        with torch.inference_mode():
            m(torch.randn(2, 4))
        torch.ones(2, requires_grad=True).sum().backward()
    return [(rec.why_none(m.weight), "inference_mode"), (rec.why_not_fired(hook), "inference_mode")]


@case
def frozen_params_and_input(torch: Any) -> Any:
    m = layer(torch).requires_grad_(False)
    hook = m.register_full_backward_hook(nothing)
    with record(m) as rec, pytest.raises(RuntimeError):
        m(torch.randn(2, 4)).sum().backward()
    return [(why_none(m.weight), "frozen"), (rec.why_none("weight"), "frozen"),
            (rec.why_not_fired(hook), "nothing_requires_grad")]


@case
def autograd_grad(torch: Any) -> Any:
    m = layer(torch)
    fires = m.weight.register_hook(nothing)
    after = m.weight.register_post_accumulate_grad_hook(nothing)
    with record(m) as rec:
        torch.autograd.grad(m(torch.randn(2, 4)).sum(), m.weight)
    return [(rec.why_none(m.weight), "autograd_grad"), (rec.why_not_fired(after), "autograd_grad"),
            (rec.why_not_fired(fires), "fired")]


@case
def full_hook_with_grad_of_the_output(torch: Any) -> Any:
    m = layer(torch)
    hook = m.register_full_backward_hook(nothing)
    with record(m) as rec:
        y = m(torch.randn(2, 4, requires_grad=True))
        torch.autograd.grad((y * y).sum(), y)
    return [(rec.why_not_fired(hook), "not_in_inputs")]


@case
def backward_with_inputs(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m(torch.randn(2, 4)).sum().backward(inputs=[m.bias])
    return [(rec.why_none(m.weight), "not_in_inputs"), (rec.why_none(m.bias), "has_grad")]


@case
def leaf_lost_by_an_op(torch: Any) -> Any:
    with record(engine=torch.__name__) as rec:
        w = torch.randn(3, requires_grad=True) * 0.1
        (w * 2).sum().backward()
    return [(why_none(w), "non_leaf"), (rec.why_none(w), "non_leaf")]


@case
def parameter_replaced_after_the_optimizer(torch: Any) -> Any:
    m = layer(torch)
    old = m.weight
    opt = torch.optim.SGD(m.parameters(), lr=1.0)
    m.weight = torch.nn.Parameter(m.weight.detach().clone())
    with record(m) as rec:
        m(torch.randn(2, 4)).sum().backward()
        opt.step()
    return [(rec.why_none(old), "replaced"), (rec.why_none(m.weight), "has_grad")]


@case
def parameter_replaced_during_the_recording(torch: Any) -> Any:
    m = layer(torch)
    old = m.weight
    with record(m) as rec:
        m.weight = torch.nn.Parameter(m.weight.detach().clone())
        m(torch.randn(2, 4)).sum().backward()
    return [(rec.why_none(old), "replaced")]


@case
def module_that_is_never_called(torch: Any) -> Any:
    class M(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.used, self.idle = layer(torch), layer(torch)
            self.bare = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: Any) -> Any:
            return self.used(x)

    m = M()
    hook = m.idle.register_forward_hook(nothing)
    with record(m) as rec:
        m(torch.randn(2, 4)).sum().backward()
    return [(rec.why_none(m.idle.weight), "module_not_called"), (rec.why_none("bare"), "never_used"),
            (rec.why_not_fired(hook), "module_not_called")]


@case
def set_to_none_afterwards(torch: Any) -> Any:
    m = layer(torch)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    with record(m) as rec:
        m(torch.randn(2, 4)).sum().backward()
        opt.step()
        opt.zero_grad()
    return [(rec.why_none(m.weight), "set_to_none")]


@case
def cleared_in_a_hook(torch: Any) -> Any:
    m = layer(torch)
    m.weight.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
    with record(m) as rec:
        m(torch.randn(2, 4)).sum().backward()
    return [(rec.why_none(m.weight), "cleared_by_hook"), (rec.why_none(m.bias), "has_grad")]


@case
def function_that_returns_none(torch: Any) -> Any:
    class F(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, None

    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with record(engine=torch.__name__) as rec:
        F.apply(x, y).sum().backward()
    return [(rec.why_none(y), "no_gradient_came"), (rec.why_none(x), "has_grad")]


@case
def no_backward(torch: Any) -> Any:
    m = layer(torch)
    hook = m.register_full_backward_hook(nothing)
    with record(m) as rec:
        m(torch.randn(2, 4, requires_grad=True)).sum()
    return [(rec.why_none(m.weight), "no_backward"), (rec.why_not_fired(hook), "no_backward")]


@case
def backward_that_failed(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))

    def fail(g: Any) -> None:
        raise ValueError("no")

    m[1].weight.register_hook(nothing)
    hook = m[0].weight.register_hook(nothing)
    with record(m) as rec, pytest.raises(ValueError):
        h = m[0](torch.randn(2, 4))
        h.register_hook(fail)
        m[1](h).sum().backward()
    return [(rec.why_none(m[0].weight), "backward_failed"), (rec.why_not_fired(hook), "backward_failed")]


@case
def registered_between_forward_and_backward(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        y = m(torch.randn(2, 4, requires_grad=True))
        hooks = [m.register_full_backward_hook(nothing), m.register_forward_hook(nothing)]
        y.sum().backward()
        hooks.append(m.weight.register_hook(nothing))
        hooks.append(m.weight.register_post_accumulate_grad_hook(nothing))
    return [(rec.why_not_fired(h), "registered_late") for h in hooks]


@case
def removed_before_the_forward(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        hook = m.register_full_backward_hook(nothing)
        hook.remove()
        m(torch.randn(2, 4, requires_grad=True)).sum().backward()
    return [(rec.why_not_fired(hook), "removed"), (why_not_fired(hook), "removed")]


@case
def removed_between_forward_and_backward_still_fires(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        hook = m.register_full_backward_hook(nothing)
        y = m(torch.randn(2, 4, requires_grad=True))
        hook.remove()
        y.sum().backward()
    return [(rec.why_not_fired(hook), "fired")]


@case
def reentrant_checkpoint_without_grad_inputs(torch: Any) -> Any:
    checkpoint = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"]).checkpoint
    m, last = layer(torch, 4, 4), layer(torch, 4, 2)
    with record(m, last) as rec:
        last(checkpoint(m, torch.randn(2, 4), use_reentrant=True)).sum().backward()
    return [(rec.why_none(m.weight), "checkpoint")]


@case
def hook_fires_in_a_checkpoint(torch: Any) -> Any:
    checkpoint = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"]).checkpoint
    m = layer(torch, 4, 4)
    hooks = [m.register_forward_hook(nothing), m.register_full_backward_hook(nothing)]
    with record(m) as rec:
        checkpoint(m, torch.randn(2, 4, requires_grad=True), use_reentrant=True).sum().backward()
    return [(rec.why_not_fired(hooks[0]), "fired"), (rec.why_not_fired(hooks[1]), "fired"),
            (rec.why_none(m.weight), "has_grad")]


@case
def hook_on_a_tensor_that_is_not_in_the_loss(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    with record(engine=torch.__name__) as rec:
        y = x * 2
        hook = y.register_hook(nothing)
        node = y.grad_fn.register_hook(nothing)
        z = x * 3
        z.sum().backward()
    return [(rec.why_not_fired(hook), "not_in_loss"), (rec.why_not_fired(node), "not_in_loss")]


@case
def hook_registered_after_use_fires(torch: Any) -> Any:
    x = torch.randn(3, requires_grad=True)
    with record(engine=torch.__name__) as rec:
        y = x * 2
        z = y.sum()
        hook = z.register_hook(nothing)
        z.backward()
    return [(rec.why_not_fired(hook), "fired")]


@case
def forward_that_raises(torch: Any) -> Any:
    class M(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            raise ValueError("boom")

    m = M()
    normal = m.register_forward_hook(nothing)
    always = m.register_forward_hook(nothing, always_call=True)
    with record(m) as rec, pytest.raises(ValueError):
        m(1)
    return [(rec.why_not_fired(normal), "forward_raised"), (rec.why_not_fired(always), "fired")]


@case
def hook_of_a_tensor_that_is_gone(torch: Any) -> Any:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    hook = y.register_hook(nothing)
    del y
    return [(why_not_fired(hook), "owner_gone")]


@case
def without_a_recording(torch: Any) -> Any:
    m = layer(torch)
    return [(why_none(m.weight), "cannot_know"), (why_not_fired(m.register_forward_hook(nothing)), "cannot_know"),
            (why_none(torch.tensor([1, 2])), "not_differentiable")]


@case
def state_dict_hook_without_state_dict(torch: Any) -> Any:
    m = layer(torch)
    hook = m.register_state_dict_pre_hook(nothing)
    opt = torch.optim.SGD(m.parameters(), lr=0.1)
    step = opt.register_step_pre_hook(nothing)
    with record(m) as rec:
        pass
    with record(m) as called:
        m.state_dict()
        opt.step()
    return [(rec.why_not_fired(hook), "not_called"), (called.why_not_fired(hook), "fired"),
            (called.why_not_fired(step), "fired")]


@case
def hooks_of_several_tensors(torch: Any) -> Any:
    several = torch.autograd.graph.register_multi_grad_hook
    m, other = layer(torch), layer(torch)
    frozen = torch.zeros(2)
    early = several((m.weight, m.bias), nothing)
    unused = several((other.weight, other.bias), nothing)
    with record(m, other) as rec:
        aside = several((other.weight,), nothing, mode="any")
        empty = several((frozen,), nothing, mode="any")
        m(torch.randn(2, 4)).sum().backward()
        late = several((m.weight, m.bias), nothing)
        removed = several((m.weight, m.bias), nothing, mode="any")
        removed.remove()
    with record(m) as failed:
        hook = several((m.weight, m.bias), nothing)
        y = m(torch.randn(2, 4))
        y.register_hook(fails)
        with pytest.raises(ValueError, match="in a hook"):
            y.sum().backward()
    return [(rec.why_not_fired(early), "fired"), (rec.why_not_fired(unused), "module_not_called"),
            (rec.why_not_fired(aside), "module_not_called"), (rec.why_not_fired(empty), "nothing_requires_grad"),
            (rec.why_not_fired(late), "registered_late"), (rec.why_not_fired(removed), "removed"),
            (failed.why_not_fired(hook), "backward_failed")]


def fails(g: Any) -> None:
    raise ValueError("in a hook")


@case
def too_few_events(torch: Any) -> Any:
    m = layer(torch)
    with record(m, limit=3) as rec:
        m(torch.randn(2, 4)).sum().backward()
        m.weight.grad = None
    return [(rec.why_none(m.weight), "cannot_know")]


@both
@pytest.mark.parametrize(("cut", "code"), [
    (lambda torch, y: y.detach().sum(), "detached"), (lambda torch, y: y.data.sum(), "detached"),
    (lambda torch, y: (y > 0).float().sum(), "not_differentiable")])
@pytest.mark.parametrize("how", ["backward", "grad"])
def test_a_pass_that_is_refused_is_recorded(torch: Any, cut: Any, code: str, how: str) -> None:
    m = layer(torch)
    with record(m) as rec:
        loss = cut(torch, m(torch.randn(2, 4)))
        with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
            loss.backward() if how == "backward" else torch.autograd.grad(loss, [m.weight])
    assert rec.why_none("weight").code == code and rec.why_none(m.weight).code == code
    assert [e.how for e in rec.of("begin")] == [how]
    end = next(iter(rec.of("end")))
    assert end.error.startswith("RuntimeError: element 0 of tensors does not require grad")
    again = loss.detach().requires_grad_()              # the recorder left the way to later passes open
    with record(m) as rec:
        m(torch.randn(2, 4)).sum().backward()
    assert again.requires_grad and rec.why_none("weight").code == "has_grad"


@both
def test_what_a_full_backward_hook_puts_around_a_module_is_not_named(torch: Any) -> None:
    m, aside = layer(torch, 4, 4), layer(torch, 4, 4)
    aside.register_full_backward_hook(nothing)
    with record(m, aside) as rec:
        aside(m(torch.randn(2, 4)))
        m(torch.randn(2, 4)).sum().backward()
    cause = rec.why_none(aside.weight)
    assert cause.code == "not_in_loss" and re.search(r"\(last by (addmm|linear), .*test_why", cause.text)


@both
def test_a_name_and_its_parameter_get_one_answer(torch: Any, tmp_path: Any) -> None:
    m = layer(torch)
    with record(m) as rec:
        m(torch.randn(2, 4)).sum().backward()
        m.weight.grad = None
    assert rec.why_none("weight") == rec.why_none(m.weight)
    assert rec.why_none("weight").code == "set_to_none" and rec.why_none("bias").code == "has_grad"

    for late in (False, True):                          # before the forward pass, and between it and the backward pass
        m = layer(torch)
        with record(m) as rec:
            loss = m(torch.randn(2, 4)).sum() if late else None
            m.weight.requires_grad_(False)  # frozen here
            (m(torch.randn(2, 4)).sum() if loss is None else loss).backward()
        assert m.weight.grad is None
        assert rec.why_none("weight") == rec.why_none(m.weight) and rec.why_none("weight").code == "frozen"
        rec.save(tmp_path / "run.trace")
        cause = load(tmp_path / "run.trace").why_none("weight")
        assert cause.code == "frozen" and cause.where is not None
        file, _, line = cause.where.rpartition(":")
        with open(file, encoding="utf-8") as source:
            assert "# frozen here" in source.readlines()[int(line) - 1]


@both
@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_a_refused_pass_names_what_switched_gradients_off(torch: Any, mode: str) -> None:
    m = layer(torch)
    with record(m) as rec:
        with getattr(torch, mode)():
            y = m(torch.randn(2, 4))  # switched off
        with pytest.raises(RuntimeError):
            y.sum().backward()
    cause = rec.why_none("weight")
    assert cause.code == mode and cause.where is not None
    file, _, line = cause.where.rpartition(":")
    with open(file, encoding="utf-8") as source:
        assert "# switched off" in source.readlines()[int(line) - 1]
    assert {p.rule for p in lint_recording(rec)} == {"RG302", "RG309"}


@both
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_each_cause_is_found_and_says_the_way_out(
        torch: Any, name: str, way: str, tmp_path: Any, monkeypatch: Any) -> None:
    with warnings.catch_warnings(), Ways(way, torch.__name__, tmp_path) as ways:
        warnings.simplefilter("ignore")
        monkeypatch.setitem(globals(), "record", ways.record)
        answers = CASES[name](torch)
    assert [a.code for a, _ in answers] == [code for _, code in answers], "\n".join(str(a) for a, _ in answers)
    for answer, code in answers:
        assert answer.text and answer.way_out.endswith(".") and answer.certain == (code != "cannot_know")


@both
def test_a_cause_names_the_line(torch: Any) -> None:
    m = torch.nn.Sequential(layer(torch), layer(torch, 3, 2))
    with record(m) as rec:
        h = m[0](torch.randn(2, 4))
        h = h.detach()  # this line
        m[1](h).sum().backward()
    cause = rec.why_none(m[0].weight)
    assert cause.where is not None
    file, _, line = cause.where.rpartition(":")
    with open(file, encoding="utf-8") as source:
        assert "this line" in source.readlines()[int(line) - 1]
    assert "detach() cut the history of what was computed from 0.weight" in str(cause)


def test_wrong_questions() -> None:
    with pytest.raises(TypeError, match="expected a tensor"):
        why_none(3)
    with pytest.raises(TypeError, match="needs a recording"):
        why_none("weight")
    with pytest.raises(TypeError, match="expected the handle"):
        why_not_fired(lambda: None)
    with record(engine="retrograd") as rec:
        pass
    with pytest.raises(KeyError, match="no parameter 'w' was recorded; there are none"):
        rec.why_none("w")
    with record(retrograd.nn.Linear(2, 2)) as rec:
        pass
    with pytest.raises(KeyError, match=r"no parameter 'weigth' was recorded; did you mean weight\?"):
        rec.why_none("weigth")


@pytest.mark.parametrize("how", ["nn.Parameter(w)", "copy.deepcopy(w)", "nn.Parameter(w.clone())", "nn.Parameter(m.weight)"])
def test_a_copy_is_a_leaf_of_its_own(torch: Any, how: str) -> None:
    import copy

    class Scaled(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(3))
            self.aside = torch.nn.Linear(1, 3, bias=False)

        def forward(self, x: Any) -> Any:
            return (eval(how, {"nn": torch.nn, "copy": copy}, {"w": self.w, "m": self.aside}) * x).sum()

    model = Scaled()
    with record(model) as rec:
        model(torch.ones(3)).backward()
    cause = rec.why_none("aside.weight" if "m." in how else "w")
    if how == "copy.deepcopy(w)":
        assert cause.code == "cannot_know" and not cause.certain
        assert "another leaf of its shape got a gradient" in str(cause) and "clone()" in cause.way_out and __file__ in str(cause)
    else:
        assert cause.code == "detached" and "Parameter() cut the history" in str(cause)


@both
def test_an_answer_about_a_hook_that_was_not_watched_says_what_is(torch: Any) -> None:
    m, other = layer(torch), layer(torch)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    with record(m) as rec:
        m(torch.ones(1, 4)).sum().backward()
    for hook in (optimizer.register_step_post_hook(nothing), other.register_forward_hook(nothing)):
        cause = rec.why_not_fired(hook)
        assert cause.code == "cannot_know" and cause.text.endswith("no optimizer that made a step in the block, has it")
        assert cause.way_out == "Give record() the module that has it; of an optimizer's hook, record its step()."
