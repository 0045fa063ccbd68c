"""record(): what it sees, in which order, and that it leaves nothing behind; on both engines."""

from __future__ import annotations

import copy
import math
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd
from retrograd.microscope import RecordingError, explain, lint_recording, load, record


def net(torch: Any) -> Any:
    torch.manual_seed(0)
    nn = torch.nn
    return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))


def kinds(rec: Any) -> list[str]:
    return [e.kind for e in rec.events]


@both
def test_events_come_in_the_order_in_which_things_happen(torch: Any) -> None:
    m = net(torch)
    m[0].register_forward_hook(lambda module, args, out: None)
    m[2].register_full_backward_hook(lambda module, gi, go: (gi[0] * 2,))
    m[0].weight.register_hook(lambda g: g * 1.0)
    m[0].weight.register_post_accumulate_grad_hook(lambda p: (p.grad.mul_(0.5), None)[1])
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    with record(m) as rec:
        m(torch.randn(5, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    seen = [k for k in kinds(rec) if k not in ("op", "node")]
    assert seen[:8] == ["enter", "enter", "hook", "exit", "enter", "exit", "enter", "exit"]
    assert seen[8:10] == ["exit", "begin"] and seen[-3:] == ["end", "step", "zero"]
    hooks = [(rec.hooks[e.hook]["kind"], rec.hooks[e.hook]["on"], e.changed) for e in rec.of("hook")]
    assert hooks == [("forward", "0", False), ("backward", "2", True), ("tensor", "0.weight", False),
                     ("post_accumulate", "0.weight", True)]
    assert {rec.name_of_tensor(e.tensor) for e in rec.of("accumulate")} == {
        "0.weight", "0.bias", "2.weight", "2.bias"}
    assert rec.complete and all(h["prior"] for h in rec.hooks)


@both
def test_values_are_measured(torch: Any) -> None:
    x = torch.tensor([3.0, -4.0, 0.0, 0.0], requires_grad=True)
    with record(engine=torch.__name__) as rec:
        y = x * torch.tensor([1.0, 1.0, math.inf, math.nan])
        y.sum().backward()
    value = rec.value(next(e for e in rec.of("op") if e.name == "mul").values[0])
    assert (value.shape, value.dtype) == ((4,), "float32")
    assert (value.norm, value.min, value.max, value.nans, value.infs) == (5.0, -4.0, 3.0, 0.5, 0.0)
    now = rec.value(next(rec.of("accumulate")).now)
    assert (now.infs, now.nans, now.finite) == (0.25, 0.25, False)


@both
def test_tiny_and_huge_norms(torch: Any) -> None:
    x = torch.tensor([3e-30, 4e-30], requires_grad=True)
    with record(engine=torch.__name__) as rec:
        (x * torch.tensor(1e38)).sum()
        (x * 1.0).sum()
        torch.full((4,), 1e38) * 1.0
    norms = [rec.value(e.values[0]).norm for e in rec.of("op") if e.name == "mul"]
    np.testing.assert_allclose(norms, [5e8, 5e-30, 2e38], rtol=1e-5)


@both
def test_statistics_are_numpys_in_every_order_of_memory(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 5, requires_grad=True)
    with record(engine=torch.__name__, values="all") as rec:
        t = x.t() * 2.0                                     # columns first
        y = (t[::2] * 3.0).clamp(min=0) + (x * 0.0).t()[::2] + x.double().t()[::2] * 1e-40
        (y.sum() + (x @ t).sum() + (x.half() * 1e-3).sum() * 0.5).backward()
    seen = 0
    for n, array in rec.arrays.items():
        v = rec.value(n)
        if v.measured:
            exact = array.astype(np.float64)
            seen += 1
            np.testing.assert_allclose([v.norm, v.min, v.max], [np.sqrt((exact ** 2).sum()), exact.min(), exact.max()],
                                       rtol=1e-5, err_msg=str((array.shape, array.dtype, array.strides)))
            assert v.zeros == (exact == 0).mean() and v.nans == v.infs == 0
    assert seen >= 15


@both
def test_hooks_alone_are_those_of_a_full_recording(torch: Any) -> None:
    """Those of before, those registered meanwhile, and those of a module that joins: changed or not, in the same order."""
    def run(**what: Any) -> tuple[Any, ...]:
        m = net(torch)
        m[0].register_forward_hook(lambda module, args, out: None)
        m[2].register_full_backward_hook(lambda module, gi, go: (gi[0] * 2,))
        m[0].weight.register_hook(lambda g: g * 1.0)
        m[0].bias.register_hook(lambda g: g + 1.0)
        m[2].weight.register_hook(lambda g: (g.mul_(2.0), None)[1])
        m[2].bias.register_post_accumulate_grad_hook(lambda p: None)
        with record(m, **what) as rec:
            m[2].register_forward_pre_hook(lambda module, args: (args[0] * 2,))
            m.append(torch.nn.Linear(2, 2))
            m[3].register_forward_hook(lambda module, args, out: out + 1)
            for _ in range(2):
                m(torch.randn(5, 4)).sum().backward()
            with pytest.raises(RuntimeError):
                m(torch.randn(5, 3))
        hooks = [(rec.hooks[e.hook]["kind"], rec.hooks[e.hook]["on"], e.changed, e.returned) for e in rec.of("hook")]
        return hooks, {row["path"]: row["calls"] for row in rec.modules}, [h["fired"] for h in rec.hooks]

    full, alone = run(), run(ops=False, nodes=False, norms=False)
    assert len(full[0]) == 16 and sum(changed is False and returned for _, _, changed, returned in full[0]) == 2
    replaced = [(kind, on, changed or returned, returned) for kind, on, changed, returned in full[0]]
    assert alone[0] == replaced                 # without norms nobody compares what was returned
    assert full[1:] == alone[1:]
    assert sorted(alone[1].values()) == [2, 2, 2, 3, 3]


@both
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_programs_recognise_their_own_hooks_in_a_recording(torch: Any) -> None:
    class Mine:
        def __call__(self, *args: Any) -> None:
            pass
    m, mine = torch.nn.Linear(2, 2), Mine()
    m.register_forward_hook(mine)
    with record(m):
        [found] = m._forward_hooks.values()
        found.seen = isinstance(found, Mine)
        torch.nn.utils.weight_norm(m)
        m(torch.ones(1, 2))
        torch.nn.utils.remove_weight_norm(m)
    assert mine.seen is True and not m._forward_pre_hooks


@both
def test_a_hook_that_edits_in_place_is_seen(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: (g.mul_(3), None)[1])
    with record(engine=torch.__name__) as rec:
        y.backward(torch.ones(3))
    [hook] = rec.of("hook")
    assert hook.changed is True and hook.returned is False
    assert rec.value(hook.after[0]).norm == pytest.approx(3 * math.sqrt(3))
    assert x.grad.tolist() == [6.0, 6.0, 6.0]


@both
def test_nothing_is_left_behind(torch: Any) -> None:
    m = net(torch)
    hooks = [m[0].register_forward_hook(lambda *a: None), m[0].weight.register_hook(lambda g: None)]
    tables = m[0]._forward_hooks, m[0].weight._backward_hooks
    before = [dict(t) for t in tables]
    Module, Tensor = torch.nn.Module, torch.Tensor
    methods = Module.__call__, Module.zero_grad, Tensor.detach, hooks[0].__class__.__init__, torch.autograd.backward
    x = torch.randn(2, 4)
    home = vars(sys.modules[torch.optim.Optimizer.__module__])
    everywhere = [home[f"_global_optimizer_{when}_hooks"] for when in ("pre", "post")]
    with record(m):
        y = m(x)
        y.sum().backward()
        m[2].weight.register_hook(lambda g: None)
        assert all(everywhere)
    assert not any(everywhere)
    assert [dict(t) for t in tables] == before
    assert [type(f).__name__ for f in m[2].weight._backward_hooks.values()] == ["function"]
    assert (Module.__call__, Module.zero_grad, Tensor.detach, hooks[0].__class__.__init__,
            torch.autograd.backward) == methods
    m(x).sum().backward()


@both
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_keeps_the_events_so_far(torch: Any, error: type[BaseException]) -> None:
    m = net(torch)

    def hook(g: Any) -> None:
        raise error("stop")

    m[0].weight.register_hook(hook)
    with pytest.raises(error, match="stop"), record(m) as rec:
        m(torch.randn(2, 4)).sum().backward()
    assert not rec.complete and rec.error == f"{error.__name__}: stop"
    assert [e.error for e in rec.of("hook")] == [f"{error.__name__}: stop"]
    assert kinds(rec)[-1] == "end" and list(m[0].weight._backward_hooks.values()) == [hook]
    with record(m) as rec:
        m[1](torch.ones(1))
    assert rec.complete


def test_recordings_do_not_nest() -> None:
    with record(engine="retrograd") as rec:
        with pytest.raises(RecordingError, match="do not nest"):
            with record(engine="retrograd"):
                pass
        retrograd.ones(2) * 2
    assert rec.complete and "op" in kinds(rec)
    again = record(engine="retrograd")
    with again:
        pass
    with pytest.raises(RecordingError, match="has ended"):
        again.__enter__()


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="expected a module"):
        record(3)
    with pytest.raises(ValueError, match="values must be"):
        record(values="some")
    with pytest.raises(ValueError, match="limit must be"):
        record(limit=0)
    with pytest.raises(ValueError, match="engine must be"):
        record(engine="jax")


@both
def test_events_beyond_the_limit_are_counted(torch: Any) -> None:
    m = net(torch)
    with record(m, limit=10) as rec:
        m(torch.randn(2, 4)).sum().backward()
    assert len(rec) == 10 and sum(rec.dropped.values()) >= 5
    assert "dropped" in repr(rec)


@both
def test_a_file_gives_the_recording_back(torch: Any, tmp_path: Any) -> None:
    m = net(torch)
    with record(m, values="parameters") as rec:
        loss = m(torch.randn(3, 4)).sum()
        loss.backward()
        torch.autograd.grad((m[0].weight * math.inf).sum(), m[0].weight)
    rec.save(tmp_path / "run.trace")
    again = load(tmp_path / "run.trace")
    assert [e.as_dict() for e in again.events] == [e.as_dict() for e in rec.events]
    assert (again.modules, again.hooks, again.parameters) == (rec.modules, rec.hooks, rec.parameters)
    assert list(again.stats) == list(rec.stats) and again.arrays.keys() == rec.arrays.keys()
    for n, a in rec.arrays.items():
        np.testing.assert_array_equal(again.arrays[n], a)


@both
def test_warnings_are_those_of_the_program(torch: Any) -> None:
    m = net(torch)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with record(m):
            m(torch.randn(3, 4) * 1e30).sum().backward()        # its squares overflow
            warnings.warn("the program's own", UserWarning, stacklevel=1)
    assert [str(w.message) for w in said] == ["the program's own"]


@both
def test_names_of_models_that_nobody_named(torch: Any) -> None:
    """The variable that holds a model names it; a part met first gets the name that the whole gives it."""
    nn = torch.nn
    with record(engine=torch.__name__) as rec:
        network = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        network[0].register_forward_hook(lambda *a: None)
        network[0].weight.register_hook(lambda g: g * 2)
        network(torch.ones(1, 2)).sum().backward()
    assert [m["path"] for m in rec.modules] == ["network.0", "network", "network.1"]
    assert sorted(rec.parameters) == ["network.0.bias", "network.0.weight"]
    assert [h["on"] for h in rec.hooks] == ["network.0", "network.0.weight"]


@both
def test_what_is_below_a_module_that_was_met_first_gets_the_models_names(torch: Any) -> None:
    """A hook on a part, whose own parts the model is then named around."""
    nn = torch.nn
    with record(engine=torch.__name__) as rec:
        network = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2))), nn.Linear(2, 2))
        network[0].register_forward_hook(lambda module, args, out: None)
        network(torch.ones(3, 2)).sum().backward()
    assert sorted(rec.parameters) == ["network.0.0.bias", "network.0.0.weight", "network.0.1.0.bias", "network.0.1.0.weight",
                                      "network.1.bias", "network.1.weight"]
    assert [m["path"] for m in rec.modules if m["type"] == "Sequential"] == ["network.0", "network.0.1", "network"]
    assert {e.path for e in rec.of("op") if e.path} == {"network.0.0", "network.0.1.0", "network.1"}
    buffers = {known["name"] for known in rec.tensor_names.values() if known["role"] == "buffer"}
    assert all(name.startswith("network.0.1.0.") for name in buffers)


@both
def test_threads_record_their_ops(torch: Any) -> None:
    m = net(torch)
    with record(m) as rec:
        def work() -> None:
            m(torch.ones(1, 4)).sum().backward()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert {e.thread for e in rec.of("accumulate")} == {e.thread for e in rec.of("op")}
    assert len({e.thread for e in rec.of("begin")}) == 3 and rec.modules[0]["calls"] == 3
    assert len(list(rec.of("accumulate"))) == 12
    for thread in {e.thread for e in rec.of("enter")}:
        depth = [1 if e.kind == "enter" else -1 for e in rec.of("enter", "exit") if e.thread == thread]
        assert sum(depth) == 0 and depth[0] == 1


@both
def test_recordings_one_after_the_other_do_not_mix(torch: Any) -> None:
    """Leaves' nodes outlive a recording; what the first one wrote on them is not taken for the second's."""
    m = net(torch)
    x = torch.randn(2, 4)
    y = m(x)
    for _ in range(5):
        with record(m) as rec:
            m(x).sum().backward()
        assert {rec.name_of_tensor(e.tensor) for e in rec.of("accumulate")} == set(rec.parameters)
        assert all(e.node < len(rec.node_rows) for e in rec.of("node", "accumulate"))
        del rec
    y.sum().backward()


def raises(g: Any) -> None:
    raise ValueError("in a hook")


def freed(torch: Any, w: Any) -> None:
    loss = (w * w).sum()
    loss.backward()
    loss.backward()


def edited(torch: Any, w: Any) -> None:
    y = w.exp()
    z = y * 2
    y.add_(1)
    z.sum().backward()


def hooked(torch: Any, w: Any) -> None:
    y = w * 2
    y.register_hook(raises)
    y.sum().backward()


REFUSED: dict[str, Any] = {
    "a vector without its gradient": lambda torch, w: (w * 2).backward(),
    "a gradient of another shape": lambda torch, w: (w * 2).backward(torch.ones(4)),
    "a gradient that is no tensor": lambda torch, w: (w * 2).backward("no"),
    "no graph": lambda torch, w: torch.ones(()).backward(),
    "no inputs": lambda torch, w: (w * 2).sum().backward(inputs=[]),
    "inputs that want nothing": lambda torch, w: (w * 2).sum().backward(inputs=[torch.ones(1)]),
    "grad of a vector": lambda torch, w: torch.autograd.grad(w * 2, [w]),
    "grad of what was not used": lambda torch, w: torch.autograd.grad((w * 2).sum(), [torch.ones(2, requires_grad=True)]),
    "a freed graph": freed, "a tensor edited in place": edited, "an error in a hook": hooked,
}


@both
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_pass_is_an_event_with_its_error_and_line(torch: Any, name: str) -> None:
    w = torch.ones(3, requires_grad=True)
    with record(engine=torch.__name__) as rec, pytest.raises((RuntimeError, TypeError, ValueError)) as caught:
        REFUSED[name](torch, w)
    begin, end = list(rec.of("begin"))[-1], list(rec.of("end"))[-1]
    assert end.get("pass") == begin.get("pass") == len(list(rec.of("begin"))) and rec.complete
    assert end.error.startswith(f"{type(caught.value).__name__}: {str(caught.value)[:60]}")
    assert begin.where.startswith(__file__) and begin.how == ("grad" if name.startswith("grad") else "backward")
    if w.grad is None and begin.how == "backward" and name not in ("no graph", "no inputs", "inputs that want nothing"):
        assert rec.why_none(w).code == "backward_failed"


@both
def test_a_tensor_that_may_be_among_dropped_events_is_not_judged(torch: Any) -> None:
    with record(engine=torch.__name__, limit=2) as rec:
        x = torch.ones(3, requires_grad=True)
        for _ in range(5):
            x = x * 2
        late = torch.ones(3, requires_grad=True)
        (x * late.detach()).sum().backward()
    assert rec.dropped and rec.why_none(late).code == "cannot_know"


@both
def test_views_and_elements_outside_the_graph_are_events(torch: Any) -> None:
    """Where nothing wants a gradient the engine makes no node for them, and tells of them all the same."""
    with record(engine=torch.__name__) as rec:
        w = torch.ones(4, requires_grad=True)
        with torch.no_grad():
            cut = w.view(2, 2)[0][0:1]
        (cut * torch.ones(1, requires_grad=True)).sum().backward()
    assert sum("view" in e.name for e in rec.of("op")) == 1
    assert len(list(rec.of("op"))) >= 6 and not rec.why_none(w).code.startswith("never")


def nothing(*args: Any) -> None:
    return None


@both
@pytest.mark.parametrize("ops", [True, False])
@pytest.mark.parametrize("nodes", [True, False])
def test_hooks_on_a_node_are_of_their_kind(torch: Any, ops: bool, nodes: bool) -> None:
    w = torch.ones(2, requires_grad=True)
    with record(engine=torch.__name__, ops=ops, nodes=nodes) as rec:
        y = w * 2
        y.grad_fn.register_hook(nothing)
        y.grad_fn.register_prehook(nothing)
        y.grad_fn.register_hook(nothing)
        y.sum().backward()
        (y.sin() * y).grad_fn.register_hook(nothing)    # its pass never comes
    assert [(h["kind"], h["fired"], h["prior"]) for h in rec.hooks] == [
        ("node_post", 1, False), ("node_pre", 1, False), ("node_post", 1, False), ("node_post", 0, False)]
    if nodes:
        assert {h["on"] for h in rec.hooks[:3]} == {"MulBackward0"}
        assert len({h["owner"] for h in rec.hooks[:3]}) == 1 and rec.hooks[0]["owner"] >= 0


@both
@pytest.mark.parametrize("nodes", [True, False])
@pytest.mark.parametrize("prior", [True, False])
def test_a_legacy_backward_hook_is_one_hook(torch: Any, nodes: bool, prior: bool) -> None:
    m = torch.nn.Linear(2, 2)
    x = torch.ones(1, 2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if prior:
            m.register_backward_hook(nothing)
        with record(m, nodes=nodes) as rec:
            if not prior:
                m.register_backward_hook(nothing)
            for _ in range(2):
                m(x).sum().backward()
    assert [(h["kind"], h["name"], h["fired"], h["prior"]) for h in rec.hooks] == [("backward", "nothing", 2, prior)]
    assert [e.get("pass") for e in rec.of("hook")] == [1, 2]


@both
@pytest.mark.parametrize("name", ["full_backward_hook", "full_backward_pre_hook", "forward_hook", "forward_pre_hook"])
def test_hooks_of_every_module_say_where_they_were_registered(torch: Any, name: str) -> None:
    home, m = torch.nn.modules.module, torch.nn.Linear(2, 2)
    handles, full = [], home._global_is_full_backward_hook
    try:
        with record(m) as rec:
            handles.append(getattr(home, f"register_module_{name}")(nothing))
            m(torch.ones(1, 2, requires_grad=True)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
        home._global_is_full_backward_hook = full
    (hook,) = rec.hooks
    assert hook["on"] == "every module" and not hook["prior"] and hook["fired"] == 1
    assert str(rec.where(hook["registered"])).rpartition(":")[0] == __file__


@both
def test_a_forward_hook_beside_another_threads_pass_is_of_no_pass(torch: Any) -> None:
    m, w = torch.nn.Linear(2, 2), torch.ones(2, requires_grad=True)
    m.register_forward_hook(nothing)

    def beside(g: Any) -> None:
        thread = threading.Thread(target=m, args=(torch.ones(1, 2),))
        thread.start()
        thread.join()

    with record(m) as rec:
        y = w * 2
        y.register_hook(beside)
        y.sum().backward()
    passes = {rec.hooks[e.hook]["kind"]: e.get("pass") for e in rec.of("hook")}
    assert passes == {"forward": -1, "tensor": 1}


@both
@pytest.mark.parametrize("prior", [True, False])
def test_hooks_of_state_dicts_count(torch: Any, prior: bool) -> None:
    """Those of modules and of optimizers, at modules that nothing called."""
    def hooks() -> None:
        m[0]._register_state_dict_hook(lambda module, state, prefix, metadata: calls.append("after"))
        m[0].register_state_dict_pre_hook(lambda module, prefix, keep: calls.append("before"))
        m[0]._register_load_state_dict_pre_hook(lambda *args: calls.append("load"), with_module=True)
        m[0].register_load_state_dict_pre_hook(lambda *args: calls.append("load"))
        m[0].register_load_state_dict_post_hook(lambda module, keys: calls.append("loaded"))
        optimizer.register_state_dict_pre_hook(lambda o: calls.append("optimizer"))
        optimizer.register_state_dict_post_hook(lambda o, state: calls.append("optimizer's"))
        optimizer.register_load_state_dict_pre_hook(lambda o, state: calls.append("load optimizer"))
        optimizer.register_load_state_dict_post_hook(lambda o: calls.append("loaded optimizer"))

    m = torch.nn.Sequential(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    calls: list[str] = []
    if prior:
        hooks()
    with record(engine=torch.__name__) as rec:
        if not prior:
            hooks()
        m.load_state_dict(m.state_dict())
        optimizer.load_state_dict(optimizer.state_dict())
    assert len(calls) == 9
    by_order = sorted((h["kind"], h["on"], h["fired"]) for h in rec.hooks)
    assert by_order == sorted([
        ("state_dict", "m.0", 1), ("state_dict_pre", "m.0", 1), ("load_pre", "m.0", 1), ("load_pre", "m.0", 1),
        ("load_post", "m.0", 1), ("optimizer_state_dict_pre", "SGD", 1), ("optimizer_state_dict", "SGD", 1),
        ("optimizer_load_pre", "SGD", 1), ("optimizer_load_post", "SGD", 1)])
    m.load_state_dict(m.state_dict())
    assert len(calls) == 14 and [h["fired"] for h in rec.hooks] == [1] * 9


@both
@pytest.mark.parametrize("mode", ["all", "any"])
@pytest.mark.parametrize("prior", [True, False])
def test_a_hook_of_several_tensors_is_one_hook(torch: Any, mode: str, prior: bool) -> None:
    m = net(torch)
    calls: list[Any] = []

    def look(grads: Any) -> None:
        calls.append(grads)

    def put() -> Any:
        return torch.autograd.graph.register_multi_grad_hook((m[0].weight, m[0].bias, m[2].bias), look, mode=mode)

    handle = put() if prior else None
    with record(m) as rec:
        if not prior:
            handle = put()
        ops = len(list(rec.of("op")))
        m[0].weight.register_hook(lambda g: g + 1)
        for _ in range(2):
            m(torch.ones(3, 4)).sum().backward()
        assert ops == 0
    assert len(calls) == 2
    several, alone = sorted(rec.hooks, key=lambda h: str(h["kind"]))
    assert (several["kind"], several["on"], several["fired"], several["changed"], several["prior"]) == (
        "multi_grad", "0.weight, 0.bias, 2.bias", 2, 0, prior)
    assert several["name"].endswith("look") and (several["registered"] < 0) == prior
    assert (alone["kind"], alone["fired"], alone["changed"]) == ("tensor", 2, 2)
    seen = next(e for e in rec.of("hook") if rec.hooks[e.hook] is several)
    assert len(seen.before) == (3 if mode == "all" else 1)
    assert rec.why_not_fired(handle).code == "fired"
    m(torch.ones(3, 4)).sum().backward()
    assert len(calls) == 3 and several["fired"] == 2
    assert handle is not None
    handle.remove()
    m(torch.ones(3, 4)).sum().backward()
    assert len(calls) == 3


@both
@pytest.mark.parametrize("mode", ["all", "any"])
def test_explain_names_a_hook_of_several_tensors_at_each(torch: Any, mode: str) -> None:
    m = net(torch)
    torch.autograd.graph.register_multi_grad_hook((m[0].weight, m[2].bias), raises, mode=mode)
    line = f"multi-grad hook raises at {__file__}"
    assert line in str(explain(m[2].bias))
    with record(m) as rec, pytest.raises(ValueError, match="in a hook"):
        m(torch.ones(3, 4)).sum().backward()
    for name in ("0.weight", "2.bias"):
        assert line in str(rec.explain(name)) and line in str(explain(m.get_parameter(name)))
    rec.live = None
    assert "hook raises (multi-grad)" in str(rec.explain("2.bias")) and "fired 1 time, changed" in str(rec.explain("2.bias"))


@both
def test_what_a_hook_of_several_tensors_returns_is_ignored_and_what_it_edits_is_seen(torch: Any) -> None:
    m = net(torch)
    several = torch.autograd.graph.register_multi_grad_hook
    several((m[2].weight, m[2].bias), lambda grads: [g * 2 for g in grads])
    several((m[2].bias,), lambda g: g.mul_(2.0), mode="any")
    with record(m) as rec:
        m(torch.ones(3, 4)).sum().backward()
    assert sorted((len(h["tensors"]), h["fired"], h["changed"]) for h in rec.hooks) == [(1, 1, 1), (2, 1, 0)]


@both
@pytest.mark.parametrize("values", [None, "all"])
def test_hooks_inside_vmap_are_seen_to_change_things_or_not(torch: Any, values: str | None) -> None:
    m = net(torch)
    m[0].register_forward_pre_hook(lambda module, args: (args[0] * 1.0,))
    m[0].register_forward_hook(lambda module, args, out: out * 2)
    m[2].register_forward_hook(lambda module, args, out: out.clone())
    x = torch.randn(5, 3, 4)
    expected = torch.stack([m(r) for r in x.unbind(1)], 1)
    with record(m, values=values) as rec:
        y = torch.func.vmap(m, in_dims=1, out_dims=1)(x)
        torch.func.vmap(torch.func.vmap(m), in_dims=1)(x)
        torch.func.grad(lambda x: m(x).sum())(x[0])
        torch.func.jacrev(m)(x[0, 0])
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
    changes = {h["kind"] + h["on"]: (h["fired"] > 3, h["changed"] == h["fired"], h["changed"]) for h in rec.hooks}
    assert changes["forward_pre0"] == (True, False, 0) and changes["forward2"] == (True, False, 0)
    assert changes["forward0"][:2] == (True, True)


@both
@pytest.mark.parametrize("named", [True, False])
def test_models_of_several_threads_have_one_path_each(torch: Any, named: bool) -> None:
    """Whoever meets a model first names it, while others call it or models of their own."""
    nn = torch.nn

    def work(i: int) -> None:
        gate.wait()
        for _ in range(3):
            models[i % 3](torch.ones(2, 4)).sum().backward()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            models = [nn.Sequential(nn.Linear(4, 3), nn.Sequential(nn.Tanh(), nn.Linear(3, 2))) for _ in range(3)]
            gate = threading.Barrier(6)
            threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
            with record(*models[:named], engine=torch.__name__) as rec:
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
            roots = {m["path"] for m in rec.modules if m["parent"] < 0}
            assert roots == {"" if named else "models.0", "models.1", "models.2"}
            below = ["", ".0", ".1", ".1.0", ".1.1"]
            assert sorted(m["path"] for m in rec.modules) == sorted((r + b).lstrip(".") for r in roots for b in below)
            assert all(m["calls"] == 6 for m in rec.modules) and len(rec.parameters) == 12
            for thread in {e.thread for e in rec.of("enter")}:
                stack: list[int] = []
                for e in rec.of("enter", "exit", "op"):
                    if e.thread != thread:
                        continue
                    if e.kind == "enter":
                        assert rec.modules[e.module]["parent"] == (stack[-1] if stack else -1)
                        stack.append(e.module)
                    elif e.kind == "exit":
                        assert stack.pop() == e.module
                    else:
                        assert e.module == (stack[-1] if stack else -1)
    finally:
        sys.setswitchinterval(interval)


def adversaries(torch: Any) -> tuple[Any, Any, Any]:
    """One step of two models with an optimizer each: what was recorded, and both models."""
    generator = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 2))
    critic = torch.nn.ModuleList([torch.nn.Linear(2, 1), torch.nn.Linear(3, 3)])
    of_generator = torch.optim.SGD(generator.parameters(), lr=0.0)
    of_critic = torch.optim.SGD(critic.parameters(), lr=0.1)
    with record(generator, critic) as rec:
        of_generator.zero_grad()
        of_critic.zero_grad()
        critic[0](generator(torch.ones(3, 2))).mean().backward()
        of_generator.step()
        of_critic.register_step_post_hook(lambda *args: None)
        of_critic.step()
    return rec, generator, critic


@both
def test_several_models_and_optimizers_are_called_by_their_variables(torch: Any, tmp_path: Any) -> None:
    live, _, _ = adversaries(torch)
    live.save(tmp_path / "run.trace")
    for rec in (live, load(tmp_path / "run.trace")):
        assert {name.partition(".")[0] for name in rec.parameters} == {"generator", "critic"}
        assert [o["variable"] for o in rec.optimizers] == ["of_generator", "of_critic"]
        assert [e.label for e in rec.of("step")] == ["of_generator (SGD)", "of_critic (SGD)"]
        assert [e.owner for e in rec.of("zero")] == ["of_generator (SGD)", "of_critic (SGD)"]
        assert [h["on"] for h in rec.hooks] == ["of_critic (SGD)"]
        assert "critic.1" in rec.why_none("critic.1.weight").text
        assert "generator.0.weight" in str(rec.ledger("0.weight"))       # of the first model, as it calls it
        assert "generator.0.weight" in str(rec.explain("0.weight")) and "generator.1" in str(rec.explain("1"))
        rules = {p.rule: p.message for p in lint_recording(rec)}
        assert "of_generator (SGD)" in rules["RG312"] and "critic.1.weight" in rules["RG302"]


@both
def test_one_model_and_one_optimizer_need_no_names(torch: Any) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with record(net) as rec:
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    assert list(rec.parameters) == ["0.weight", "0.bias"]
    assert [e.label for e in rec.of("zero", "step")] == ["zero_grad of SGD", "SGD"]


@both
def test_a_model_is_found_where_the_program_holds_it(torch: Any) -> None:
    """In an attribute of self, in a list, or in what the caller calls it."""
    nn = torch.nn

    class Trainer:
        def __init__(self) -> None:
            self.policy = nn.Linear(2, 2)
            self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.1)

        def fit(self, x: Any) -> Any:
            heads = [nn.Linear(2, 1), nn.Linear(2, 1)]
            with record(self.policy, *heads) as rec:
                sum(head(self.policy(x)).sum() for head in heads).backward()
                self.optimizer.step()
            return rec

    rec = Trainer().fit(torch.ones(1, 2))
    assert sorted({m["path"] for m in rec.modules}) == ["heads.0", "heads.1", "policy"]
    assert rec.optimizers[0]["variable"] == "optimizer"

    def learn(model: Any, optimizer: Any) -> None:
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()

    @contextmanager
    def traced(*given: Any) -> Any:
        with record(*given) as rec:
            yield rec

    actor, value = nn.Linear(2, 1), nn.Linear(2, 1)
    with traced(actor, value) as rec:
        pass
    assert [m["path"] for m in rec.modules] == ["actor", "value"]
    for_actor, for_value = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (actor, value))
    with record(engine=torch.__name__) as rec:
        learn(actor, for_actor)
        learn(value, for_value)
    assert [m["path"] for m in rec.modules] == ["actor", "value"]
    assert [o["variable"] for o in rec.optimizers] == ["for_actor", "for_value"]


@both
def test_what_belongs_to_another_given_model_is_no_second_model(torch: Any) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    with record(net, net[1]) as rec:
        net(torch.ones(1, 2)).sum().backward()
    assert list(rec.parameters) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_models_and_optimizers_of_an_object_carry_the_names_of_its_attributes(torch: Any) -> None:
    class Trainer:
        def __init__(self) -> None:
            self.maker, self.judge = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
            self.first = torch.optim.SGD(self.maker.parameters(), lr=0.1)
            self.second = torch.optim.SGD(self.judge.parameters(), lr=0.1)

    trainer = Trainer()
    with record(trainer.maker, trainer.judge) as rec:
        trainer.judge(trainer.maker(torch.ones(2, 3))).sum().backward()
        trainer.first.step()
        trainer.second.step()
    assert [m["path"] for m in rec.modules] == ["maker", "judge"]
    assert [rec.name_of_optimizer(n) for n in range(2)] == ["first (SGD)", "second (SGD)"]


@both
def test_complex_numbers_have_norms_and_nan_is_found_in_one_part(torch: Any) -> None:
    torch.manual_seed(0)
    m = torch.nn.Linear(3, 2, dtype=torch.complex64)
    x = torch.randn(5, 3, dtype=torch.complex64)
    with record(m, values="all") as rec:
        m(x.conj()).abs().square().sum().backward()
    [entry] = rec.ledger("weight").entries
    size = torch.view_as_real(m.weight.grad.resolve_conj()).norm().item()
    assert entry.norm == pytest.approx(size, rel=1e-5)
    assert not list(rec.trouble())
    with record(m) as rec:
        (m(x) * complex(1, float("nan"))).abs().sum().backward()
    assert any(f.kind == "nan" and f.direction == "forward" and "mul" in str(f) for f in rec.trouble())


@pytest.mark.parametrize(("call", "read"), [
    (lambda w, i: retrograd.nn.functional.cross_entropy(w, i), {"log_softmax": 1, "nll_loss": 2}),
    (lambda w, i: retrograd.take_along_dim(w, i[:, None], 1), {"unsqueeze": 1, "expand": 1, "gather": 2}),
    (lambda w, i: w[i[0]], {"select": 2}),
    (lambda w, i: w[i[0]:], {"select": 1, "slice": 2}),
])
def test_indices_are_read_by_the_operation_that_keeps_them(call: Any, read: dict[str, int]) -> None:
    w, i = retrograd.randn(3, 4, requires_grad=True), retrograd.tensor([2, 0, 1])
    with record() as rec:
        call(w, i)
    ops = {e.label: len(e.get("inputs")) for e in rec.events if e.kind == "op"}
    assert {label: ops[label] for label in read} == read


def test_replay_compares_both_parts_of_complex_gradients(torch: Any) -> None:
    m = torch.nn.Sequential(torch.nn.Linear(3, 2, dtype=torch.cdouble))
    x = torch.randn(4, 3, dtype=torch.cdouble)
    handle = m[0].weight.register_hook(lambda g: g.conj())
    with record(m, values="parameters", replay=True) as rec:
        m(x).abs().pow(2).mean().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = rec.replay(without=handle)
        g = m[0].weight.grad
        assert again.changed == ["0.weight"]
        assert again.change("0.weight") == pytest.approx(float((g.conj() - g).norm() / g.norm()))


def test_the_summary_lists_no_parameter_that_has_a_gradient(torch: Any) -> None:
    m = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)])
    m[0](torch.ones(2)).sum().backward()
    with record(m) as rec:
        torch.ones(2, requires_grad=True).sum().backward()
    missing = str(rec.summary()).partition("parameters without a gradient")[2]
    assert "1.weight" in missing and "0.weight" not in missing


@pytest.mark.parametrize("order", ["copy first", "model first", "both"])
def test_parts_of_another_model_have_names_of_their_own(torch: Any, order: str) -> None:
    nn = torch.nn

    class Pair(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def step(model: Any, target: Any) -> Any:
        with record(model, values="parameters") as rec:
            if order == "copy first":
                target.b(x).sum().backward()
            model.a(x).sum().backward()
            if order != "copy first":
                target.b(x).sum().backward()
            if order == "both":
                (model.b(x) * target.a(x)).sum().backward()
        return rec

    x, model = torch.randn(2, 3), Pair()
    target = copy.deepcopy(model)
    with torch.no_grad():
        for p in target.parameters():
            p.mul_(1.5)
    rec = step(model, target)
    assert {"a.weight", "b.weight", "target.b.weight"} <= set(rec.parameters)
    for name, p in model.named_parameters():
        total = rec.ledger(name).total
        assert (total is None) is (p.grad is None) and rec.why_none(name).code == rec.why_none(p).code
        if total is not None:
            np.testing.assert_allclose(np.asarray(total), p.grad.numpy(), rtol=1e-6)


def test_tensors_and_nodes_are_lists(torch: Any) -> None:
    w = torch.ones(2, requires_grad=True)
    with record() as rec:
        (w * 3).sum().backward()
    assert [t["shape"] for t in rec.tensors][:1] == [(2,)] and len(rec.tensors) == len(rec.tensor_rows)
    assert {node["name"] for node in rec.nodes} >= {"MulBackward0", "SumBackward0", "AccumulateGrad"}
    assert all(node["tensor"] >= 0 for node in rec.nodes if node["name"] == "AccumulateGrad")
