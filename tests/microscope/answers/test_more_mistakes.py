"""why_none and why_not_fired on mistakes beyond those of the catalogue (test_pitfalls.py), on both engines."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from both_engines import both
from three_ways import WAYS, Ways

from retrograd.microscope import Recording, record

CASES: dict[str, tuple[str, str, Callable[[Any], tuple[Recording, Any]]]] = {}


def mistake(code: str, inside: str = "") -> Any:
    """The code of the cause (and that where the model is made inside the recording), and a function that makes the mistake:
    -> (recording, what has no gradient | silent handle)."""
    def keep(function: Any) -> Any:
        CASES[function.__name__] = code, inside or code, function
        return function

    return keep


def layer(torch: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.Linear(3, 2)


def rows(torch: Any) -> Any:
    return torch.ones(4, 3)


def nothing(*args: Any) -> None:
    """A hook."""


@mistake("read_as_number")
def item_made_a_tensor_again(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        torch.tensor(m(rows(torch)).sum().item(), requires_grad=True).backward()
    return rec, m.weight


@mistake("read_as_number")
def a_list_of_floats(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        torch.tensor([float(v) for v in m(rows(torch)).sum(0)], requires_grad=True).sum().backward()
    return rec, m.weight


@mistake("not_in_loss")
def the_loss_of_another_model(torch: Any) -> Any:
    m, other = layer(torch), layer(torch)
    with record(m, other) as rec:
        m(rows(torch)).sum()
        other(rows(torch)).sum().backward()
    return rec, m.weight


@mistake("detached")
def detached_between_layers(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), torch.nn.Linear(2, 2))
    with record(m) as rec:
        m[1](m[0](rows(torch)).detach()).sum().backward()
    return rec, m[0].weight


@mistake("no_grad")
def one_layer_under_no_grad(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), torch.nn.Linear(2, 2))
    with record(m) as rec:
        with torch.no_grad():
            h = m[0](rows(torch))
        m[1](h).sum().backward()
    return rec, m[0].weight


@mistake("no_grad")
def a_decorated_forward(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(3, 2)

        @torch.no_grad()  # type: ignore[untyped-decorator]
        def forward(self, x: Any) -> Any:
            return self.inner(x)

    m = Net()
    with record(m) as rec, pytest.raises(RuntimeError, match="does not require grad"):
        m(rows(torch)).sum().backward()
    return rec, m.inner.weight


@mistake("no_grad")
def gradients_left_switched_off(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec, pytest.raises(RuntimeError, match="does not require grad"):
        torch.set_grad_enabled(False)
        y = m(rows(torch))
        torch.set_grad_enabled(True)
        y.sum().backward()
    return rec, m.weight


@mistake("inference_mode")
def features_made_in_inference_mode(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), torch.nn.Linear(2, 1))
    with record(m) as rec:
        with torch.inference_mode():
            h = m[0](rows(torch))
        m[1](h.clone()).sum().backward()
    return rec, m[0].weight


@mistake("set_to_none")
def cleared_before_it_was_read(torch: Any) -> Any:
    m = layer(torch)
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    with record(m) as rec:
        m(rows(torch)).sum().backward()
        optimizer.zero_grad()
    return rec, m.weight


@mistake("set_to_none")
def cleared_by_hand(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m(rows(torch)).sum().backward()
        for p in m.parameters():
            p.grad = None
    return rec, m.weight


@mistake("module_not_called")
def a_copy_was_trained(torch: Any) -> Any:
    m = layer(torch)
    twin = copy.deepcopy(m)
    with record(m) as rec:
        twin(rows(torch)).sum().backward()
    return rec, m.weight


@mistake("module_not_called")
def a_branch_that_was_not_taken(torch: Any) -> Any:
    m = torch.nn.ModuleDict({"a": layer(torch), "b": layer(torch)})
    with record(m) as rec:
        m["a"](rows(torch)).sum().backward()
    return rec, m["b"].weight


@mistake("not_differentiable")
def the_loss_is_an_accuracy(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m(rows(torch)).argmax(1).float().requires_grad_().mean().backward()
    return rec, m.weight


@mistake("detached")
def the_weight_by_its_data(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        (rows(torch) @ m.weight.data.t()).requires_grad_().sum().backward()
    return rec, m.weight


@mistake("frozen")
def frozen_on_the_way(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m.requires_grad_(False)
        m(rows(torch).requires_grad_()).sum().backward()
    return rec, m.weight


@mistake("frozen")
def an_input_that_was_never_asked_for(torch: Any) -> Any:
    m, x = layer(torch), rows(torch)
    with record(m) as rec:
        m(x).sum().backward()
    return rec, x


@mistake("not_differentiable")
def indices(torch: Any) -> Any:
    m, i = torch.nn.Embedding(5, 3), torch.tensor([1, 2])
    with record(m) as rec:
        m(i).sum().backward()
    return rec, i


@mistake("non_leaf")
def an_activation(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        h = m(rows(torch))
        h.sum().backward()
    return rec, h


@mistake("not_retained")
def retain_grad_after_the_pass(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        h = m(rows(torch))
        h.sum().backward()
        h.retain_grad()
    return rec, h


@mistake("autograd_grad")
def gradients_were_returned(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        torch.autograd.grad(m(rows(torch)).sum(), list(m.parameters()))
    return rec, m.weight


@mistake("no_backward")
def backward_was_forgotten(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m(rows(torch)).sum()
    return rec, m.weight


@mistake("not_in_inputs")
def backward_into_the_bias_alone(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m(rows(torch)).sum().backward(inputs=[m.bias])
    return rec, m.weight


@mistake("replaced")
def a_weight_assigned_after_the_optimizer(torch: Any) -> Any:
    m = layer(torch)
    old = m.weight
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    with record(m) as rec:
        m.weight = torch.nn.Parameter(torch.ones(2, 3))
        m(rows(torch)).sum().backward()
        optimizer.step()
    return rec, old


@mistake("never_used", inside="replaced")
def a_state_dict_assigned(torch: Any) -> Any:
    m = layer(torch)
    old = m.weight
    m.load_state_dict({name: t.clone() for name, t in m.state_dict().items()}, assign=True)
    with record(m) as rec:
        m(rows(torch)).sum().backward()
    return rec, old


@mistake("backward_failed")
def an_error_in_an_earlier_hook(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch), torch.nn.Linear(2, 1))
    with record(m) as rec, pytest.raises(ZeroDivisionError):
        h = m[0](rows(torch))
        h.register_hook(lambda g: 1 / 0)
        m[1](h).sum().backward()
    return rec, m[0].weight


@mistake("has_grad")
def zeros_are_no_none(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m(rows(torch)).round().sum().backward()
    return rec, m.weight


@mistake("module_not_called")
def an_activation_called_as_a_function(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.act = torch.nn.Linear(3, 2), torch.nn.ReLU()

        def forward(self, x: Any) -> Any:
            return torch.nn.functional.relu(self.inner(x))

    m = Net()
    handle = m.act.register_full_backward_hook(nothing)
    with record(m) as rec:
        m(rows(torch)).sum().backward()
    return rec, handle


@mistake("registered_late")
def a_hook_after_the_pass(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        y = m(rows(torch))
        y.sum().backward()
        handle = y.register_hook(nothing)
    return rec, handle


@mistake("not_in_loss")
def a_hook_on_what_the_loss_ignores(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        y = m(rows(torch))
        handle = (y * 2).register_hook(nothing)
        y.sum().backward()
    return rec, handle


@mistake("not_in_loss")
def a_hook_on_a_view_made_for_it(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        handle = m.weight.view(-1).register_hook(nothing)
        m(rows(torch)).sum().backward()
    return rec, handle


@mistake("no_grad")
def a_backward_hook_in_evaluation(torch: Any) -> Any:
    m = layer(torch)
    handle = m.register_full_backward_hook(nothing)
    with record(m) as rec, torch.no_grad():
        m(rows(torch))
    return rec, handle


@mistake("removed")
def a_handle_as_a_context(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        with m.register_forward_hook(nothing) as handle:
            pass
        m(rows(torch))
    return rec, handle


@mistake("output_not_tensor")
def a_dict_is_returned(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any) -> Any:
            return {"y": x * 2}

    m, x = Net(), rows(torch).requires_grad_()
    handle = m.register_full_backward_hook(nothing)
    with record(m) as rec:
        m(x)["y"].sum().backward()
    return rec, handle


@mistake("forward_called_directly")
def a_child_called_by_its_forward(torch: Any) -> Any:
    m = torch.nn.Sequential(layer(torch))
    handle = m[0].register_forward_hook(nothing)
    with record(m) as rec:
        m[0].forward(rows(torch)).sum().backward()
    return rec, handle


@mistake("non_leaf")
def the_output_of_a_module_with_full_backward_hooks(torch: Any) -> Any:
    m = layer(torch)
    m.register_full_backward_hook(nothing)
    with record(m) as rec:
        y = m(rows(torch).requires_grad_())
        y.sum().backward()
    return rec, y


@mistake("module_not_called")
def an_average_edited_by_its_data(torch: Any) -> Any:
    m, average = layer(torch), layer(torch)
    with record(m, average) as rec:
        m(rows(torch)).sum().backward()
        for p, q in zip(average.parameters(), m.parameters()):
            p.data.mul_(0.9).add_(q.data, alpha=0.1)
    return rec, average.weight


@mistake("no_grad")
def a_target_that_follows_and_is_called_without_gradients(torch: Any) -> Any:
    m, target = layer(torch), layer(torch)
    with record(m, target) as rec:
        for p, q in zip(target.parameters(), m.parameters()):
            p.data = p.data * 0.9 + q.data * 0.1
        with torch.no_grad():
            goal = target(rows(torch))
        (m(rows(torch)) - goal).sum().backward()
    return rec, target.weight


@mistake("module_not_called")
def a_model_that_was_saved_copied_and_measured(torch: Any) -> Any:
    m, other = layer(torch), layer(torch)
    with record(m, other) as rec:
        other.load_state_dict({name: t.clone() for name, t in m.state_dict().items()})
        copy.deepcopy(m)(rows(torch)).sum().backward()
        str(float(sum(p.norm() for p in m.parameters())))
        other(rows(torch)).sum().backward()
    return rec, m.weight


@mistake("frozen")
def frozen_by_assignment_and_unfrozen_too_late(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m.weight.requires_grad = False
        loss = m(rows(torch)).sum()
        m.weight.requires_grad = True
        loss.backward()
    return rec, m.weight


@mistake("frozen")
def results_of_frozen_parameters(torch: Any) -> Any:
    m = layer(torch).requires_grad_(False)
    with record(m) as rec:
        loss = m(rows(torch)).sum()
    return rec, loss


@mistake("nothing_requires_grad")
def results_of_data_alone(torch: Any) -> Any:
    m, x = layer(torch), rows(torch)
    with record(m) as rec:
        loss = (x * 2).sum()
    return rec, loss


@mistake("no_create_graph")
def a_penalty_on_gradients_that_have_no_graph(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        m(rows(torch)).square().sum().backward()
        penalty = m.weight.grad.square().sum()
    return rec, penalty


@mistake("has_grad")
def gradients_that_have_a_graph(torch: Any) -> Any:
    m = layer(torch)
    with record(m) as rec:
        g, = torch.autograd.grad(m(rows(torch)).square().sum(), m.weight, create_graph=True)
        g.square().sum().backward()
    return rec, m.weight


@mistake("read_as_number")
def a_sum_of_items_that_the_loss_is_multiplied_by(torch: Any) -> Any:
    m, other = layer(torch), layer(torch)
    with record(m, other) as rec:
        total = 0.0
        for _ in range(2):
            total += m(rows(torch)).sum().item()
        (other(rows(torch)).sum() * total).backward()
    return rec, m.weight


@mistake("not_differentiable")
def rows_taken_at_the_largest(torch: Any) -> Any:
    m, other = layer(torch), layer(torch)
    with record(m, other) as rec:
        i = m(rows(torch)).sum(1).argmax()
        other(rows(torch)[i:i + 1]).sum().backward()
    return rec, m.weight


@both
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_named(torch: Any, name: str, way: str, tmp_path: Any, monkeypatch: Any) -> None:
    code, inside, make = CASES[name]
    code = inside if way == "inside" else code
    with warnings.catch_warnings(), Ways(way, torch.__name__, tmp_path) as ways:
        warnings.simplefilter("ignore")                 # some of them warn, as they should
        monkeypatch.setitem(globals(), "record", ways.record)
        rec, asked = make(torch)
    cause = rec.why_not_fired(asked) if hasattr(asked, "remove") else rec.why_none(asked)
    assert cause.code == code, cause
    assert cause.certain == (code != "cannot_know") and cause.way_out.endswith(".")
