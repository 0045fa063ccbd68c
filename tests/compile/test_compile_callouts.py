"""Hooks inside a compiled step: each replay calls them at their points, with real tensors, as an eager step does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from replaying import Way, grads, numbers, same

import retrograd as torch
from retrograd import nn

Seen = list[Any]
ROWS = numbers(6, 4)


def model() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 3))


class Run:
    """A training step with hooks: how often it is called, and what is changed between calls."""

    def __init__(self, m: Any, seen: Seen) -> None:
        self.m, self.seen = m, seen
        self.optimizer: Any = torch.optim.SGD(m.parameters(), lr=0.1)
        self.number = 0                         # of the call

    def step(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = self.m(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


Hook = Callable[[Run], Any]


def trained(hook: Hook, way: Way | None, calls: int = 9, check: int = 0) -> Any:
    """What was seen, and the state of the model after each call; how often plans were used."""
    m, seen = model(), []
    run = Run(m, seen)
    between = hook(run)
    optimizer, total = run.optimizer, m

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = total(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    call = step if way is None else way.call(step, check=check)
    for i in range(calls):
        run.number = i
        if between is not None:
            between(i)
        try:
            seen.append(call((ROWS * (i + 1) * 0.2).requires_grad_()))
        except ValueError as error:
            seen.append(str(error))
        seen.append([p.detach().clone() for p in m.parameters()])
        seen.append(grads(*m.parameters()))
    return seen, 0 if way is None else way.used(call), call


def everywhere(run: Run, register: str, hook: Callable[[str], Any]) -> None:
    for name, p in run.m.named_parameters():
        getattr(p, register)(hook(name))


# -- kinds of hooks: how each is registered, and what it is given (the last of its arguments is what it may replace)

def post(run: Run, f: Any) -> None:
    everywhere(run, "register_post_accumulate_grad_hook", lambda name: lambda p: f(name, p.grad))


def tensor(run: Run, f: Any) -> None:
    everywhere(run, "register_hook", lambda name: lambda g: f(name, g))


def leaf_node(run: Run, f: Any) -> None:
    for name, p in run.m.named_parameters():
        node = torch.autograd.graph.get_gradient_edge(p).node
        node.register_prehook(lambda gs, name=name: packed(f(name, gs[0])))
        node.register_hook(lambda outs, gs, name=name: packed(f("after " + name, gs[0], False)) and None)
        run.seen.append([type(node).__name__])


def packed(x: Any) -> Any:
    return None if x is None else (x,)


def backward(run: Run, f: Any) -> None:
    for i in (1, 2, 4):
        run.m[i].register_full_backward_hook(lambda m, got, given, i=i: f(i, given[0], False) and None or packed(f(i, got[0])))


def backward_pre(run: Run, f: Any) -> None:
    for i in (1, 3):
        run.m[i].register_full_backward_pre_hook(lambda m, given, i=i: packed(f(i, given[0])))


def forward(run: Run, f: Any) -> None:
    for i in (0, 1, 3):
        run.m[i].register_forward_hook(lambda m, args, out, i=i: f(i, out))


def forward_pre(run: Run, f: Any) -> None:
    for i in (1, 2):
        run.m[i].register_forward_pre_hook(lambda m, args, i=i: packed(f(i, args[0])))


def output(run: Run, f: Any) -> None:
    """A forward hook that registers a hook on what it is shown."""
    run.m[1].register_forward_hook(lambda m, args, out: out.register_hook(lambda g: f("output", g)) and None)


def output_node(run: Run, f: Any) -> None:
    run.m[1].register_forward_hook(
        lambda m, args, out: out.grad_fn.register_prehook(lambda gs: packed(f("node", gs[0]))) and None)


KINDS: list[Any] = [post, tensor, leaf_node, backward, backward_pre, forward, forward_pre, output, output_node]


# -- what hooks do

def reads(run: Run) -> Any:
    return lambda name, g, mine=True: run.seen.append((name, g.detach().clone(), g.requires_grad, g.grad_fn is None))


def keeps(run: Run) -> Any:
    return lambda name, g, mine=True: run.seen.append(g.detach())


def replaces(run: Run) -> Any:
    return lambda name, g, mine=True: g * 0.5 if mine else None


def edits(run: Run) -> Any:
    def hook(name: Any, g: Any, mine: bool = True) -> None:
        with torch.no_grad():
            if mine:
                g.clamp_(-0.01, 0.01)
    return hook


def sometimes(run: Run) -> Any:
    """By the number of the step."""
    def hook(name: Any, g: Any, mine: bool = True) -> Any:
        if run.number % 3 == 2:
            run.seen.append(name)
            return g + 1 if mine else None
        return None
    return hook


def raises(run: Run) -> Any:
    def hook(name: Any, g: Any, mine: bool = True) -> None:
        run.seen.append(name)
        if run.number in (3, 6) and len(run.seen) % 2:
            raise ValueError(f"no {name}")
    return hook


DEEDS: list[Any] = [reads, keeps, replaces, edits, sometimes, raises]


@pytest.fixture(params=["skip", "verified"])
def way(request: Any) -> Way:
    return Way(request.param)


@pytest.mark.parametrize("check", [0, 1])
@pytest.mark.parametrize("deed", DEEDS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", KINDS, ids=lambda f: f.__name__)
def test_hooks_are_called_as_eagerly(way: Way, kind: Any, deed: Any, check: int) -> None:
    def hook(run: Run) -> None:
        f = deed(run)
        if kind is post and deed in (replaces, sometimes):     # which gives nothing
            inner = f

            def f(name: Any, g: Any) -> None:
                got = inner(name, g)
                if got is not None:
                    g.copy_(got)
        kind(run, f)

    if kind in (forward, forward_pre) and deed is edits:
        pytest.skip("eager mode refuses: the backward pass needs what is edited")
    want, _, _ = trained(hook, None)
    got, used, call = trained(hook, way, check=check)
    assert same(want, got)
    if way.name == "skip":
        least = 0 if kind in (forward, forward_pre) and deed is sometimes else 3 if deed in (raises, sometimes) else 5
        assert used >= least, call.explain()


# -- steps in which hooks have a purpose

def compare(make: Callable[[Any, Seen], Any], planned: bool = True, calls: int = 9) -> Any:
    """make(model, seen) -> step: compiled without Python, checked or not, it sees and leaves what it does eagerly."""
    def run(check: int) -> Any:
        m, seen = model(), []
        step = make(m, seen)
        call = step if check < 0 else Way("skip").call(step, check=check)
        for i in range(calls):
            try:
                seen.append(call(ROWS * (i + 1) * 0.2))
            except ValueError as error:
                seen.append(str(error))
            seen.append([p.detach().clone() for p in m.parameters()] + [torch.rand(1)])
            seen.append(grads(*m.parameters()))
        return seen, call
    want, _ = run(-1)
    for check in (0, 1):
        got, call = run(check)
        assert same(want, got)
        assert any(v.used > 2 for v in call.local.variants) or not planned, call.explain()
    return call


def usual(m: Any) -> Any:
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = m(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()
    return step


def test_calls_are_heard_after_hooks_while_a_subclass_of_tensor_is_there() -> None:
    class Marked(torch.Tensor):                 # whose functions are asked about
        pass
    kept, way = Marked([1.0]), Way("skip")

    def hook(run: Run) -> None:
        run.m[1].register_full_backward_hook(lambda m, got, given: None)
    _, used, call = trained(hook, way)
    assert used > 4, call.explain()
    chunks = way.call(lambda x: torch.chunk(x * 2, 2)[1].sum(), check=0)   # one entry, as its call is heard
    for i in range(4):
        assert chunks(ROWS + i) == (2 * (ROWS + i))[3:].sum()
    assert way.used(chunks) > 0, chunks.explain()
    assert type(kept + 1) is Marked


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_kinds_of_hooks_keep_their_order() -> None:
    def make(m: Any, seen: Seen) -> Any:
        def log(*names: Any) -> Any:
            return lambda *_: seen.append(names)
        for i, layer in enumerate(m):
            layer.register_forward_hook(log(i, "forward"))
            layer.register_forward_pre_hook(log(i, "before"))
            layer.register_full_backward_hook(log(i, "backward"))
            layer.register_full_backward_pre_hook(log(i, "before backward"))
        for name, p in m.named_parameters():
            p.register_hook(log(name, "tensor"))
            p.register_post_accumulate_grad_hook(log(name, "after"))
            torch.autograd.graph.get_gradient_edge(p).node.register_prehook(log(name, "node"))
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
        optimizer.register_step_pre_hook(log("step"))
        optimizer.register_step_post_hook(log("after step"))

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = m(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.item()
        return step
    compare(make)


def updating(optimizer: Any) -> Any:
    def update(p: Any) -> None:
        optimizer.step()
        p.grad = None
    return update


def test_the_optimizer_in_the_backward_pass() -> None:
    def make(m: Any, seen: Seen) -> Any:
        for p in m.parameters():
            p.register_post_accumulate_grad_hook(updating(torch.optim.Adam([p], lr=0.01)))

        def step(x: Any) -> Any:
            loss = m(x).square().mean()
            loss.backward()
            return loss.detach()
        return step
    compare(make)


def test_a_moving_average_and_clipping_by_hooks() -> None:
    def make(m: Any, seen: Seen) -> Any:
        for p in m.parameters():
            average = torch.zeros_like(p)
            p.register_hook(lambda g: g.clamp(-0.01, 0.01))
            p.register_post_accumulate_grad_hook(
                lambda p, average=average: seen.append(average.mul_(0.9).add_(p.grad, alpha=0.1).clone()))
        return usual(m)
    compare(make)


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_gradients_of_each_sample_from_forward_and_backward_hooks() -> None:
    def make(m: Any, seen: Seen) -> Any:
        def keep(layer: Any, args: Any, out: Any) -> None:
            layer.given = args[0].detach()

        def gather(layer: Any, got: Any, given: Any) -> None:
            layer.weight.of_samples = torch.einsum("bo,bi->boi", given[0], layer.given)
            seen.append(layer.weight.of_samples)
        for layer in m:
            if isinstance(layer, nn.Linear):
                layer.register_forward_hook(keep)
                layer.register_full_backward_hook(gather)
        return usual(m)
    compare(make)


def test_tensors_that_forward_hooks_are_shown_have_the_nodes_of_eager_calls() -> None:
    def make(m: Any, seen: Seen) -> Any:
        for layer in m:
            layer.register_forward_hook(lambda layer, args, out: seen.append(
                (type(out.grad_fn).__name__, len(out.grad_fn.next_functions), out.is_leaf, args[0].is_leaf)))
        return usual(m)
    compare(make)


def test_noise_of_forward_hooks_is_drawn_anew() -> None:
    def make(m: Any, seen: Seen) -> Any:
        m[1].register_forward_hook(lambda layer, args, out: out + 0.1 * torch.randn_like(out))
        m[3].register_forward_hook(lambda layer, args, out: out + m[2].bias * args[0])
        return usual(m)
    compare(make)


@pytest.mark.parametrize("retain", [False, True])
def test_hooks_in_several_passes(retain: bool) -> None:
    def make(m: Any, seen: Seen) -> Any:
        m[1].register_full_backward_hook(lambda layer, got, given: (got[0] * 2,))
        m[3].register_forward_hook(lambda layer, args, out: out * 2)
        m[0].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
        m[2].weight.register_hook(lambda g: g * 0.5)
        first, second = torch.optim.SGD(m[:2].parameters(), lr=0.1), torch.optim.Adam(m[2:].parameters())

        def step(x: Any) -> Any:
            first.zero_grad()
            second.zero_grad()
            for part in (x[:2], x[2:]):
                loss = m(part).square().mean()
                loss.backward(retain_graph=retain)
                if retain:
                    loss.backward()
            first.step()
            second.step()
            return loss.detach()
        return step
    compare(make)


def test_gradients_that_are_added_to_those_of_earlier_calls() -> None:
    def make(m: Any, seen: Seen) -> Any:
        count = [0]

        def sometimes(p: Any) -> None:
            count[0] += 1
            if count[0] % 4 == 0:
                seen.append(p.grad.clone())
                p.grad = None
        m[0].weight.register_post_accumulate_grad_hook(sometimes)
        m[2].register_full_backward_hook(lambda layer, got, given: (got[0] * 2,))

        def step(x: Any) -> Any:
            loss = m(x).square().mean()
            loss.backward()
            return loss.detach()
        return step
    compare(make, calls=12)


# -- what no plan can follow

def leaving(what: str) -> Any:
    """A hook that does it in some calls."""
    def make(m: Any, seen: Seen) -> Any:
        count, apart = [0], torch.ones(2, requires_grad=True)

        def hook(layer: Any, args: Any, out: Any) -> Any:
            count[0] += 1
            seen.append(count[0])
            if count[0] % 5 == 4:
                if what == "another shape":
                    return out[:2]
                if what == "a backward pass":
                    (apart * apart).sum().backward()
                    seen.append(apart.grad.clone())
                if what == "another hook":
                    out.register_hook(lambda g: seen.append(g.clone()))
                if what == "an error":
                    raise ValueError("no")
                if what == "an edit":
                    with torch.no_grad():
                        out.mul_(2)
                if what == "a replacement":
                    return out * 3
            return None
        m[0].register_forward_hook(lambda layer, args, out: seen.append(out.detach().clone()))
        m[3].register_forward_hook(hook)
        m[3].register_forward_hook(lambda layer, args, out: seen.append("always"), always_call=True)
        m[2].weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
        return usual(m)
    return make


@pytest.mark.filterwarnings("ignore:torch.compile")
@pytest.mark.parametrize("what", ["another shape", "a backward pass", "another hook", "an error", "an edit", "a replacement"])
def test_a_call_that_a_plan_cannot_follow_is_made_eagerly_and_calls_each_hook_once(what: str) -> None:
    compare(leaving(what), planned=False, calls=16)


def test_a_hook_that_leaves_the_plan_after_something_was_written_is_named() -> None:
    m = model()
    count = [0]

    def update(p: Any) -> None:
        count[0] += 1
        with torch.no_grad():
            p.sub_(p.grad)
        if count[0] == 5:
            m[2].bias.register_hook(lambda g: g * 2)

    m[0].weight.register_post_accumulate_grad_hook(update)

    def step(x: Any) -> None:
        m.zero_grad()
        m(x).sum().backward()

    call = Way("skip").call(step)
    for _ in range(4):
        call(ROWS)
    named = r"a post-accumulate hook registers or removes a hook.*update, test_compile_callouts.py"
    with pytest.raises(RuntimeError, match=named):
        call(ROWS)


def test_a_hook_that_edits_what_the_backward_pass_needs_is_an_error() -> None:
    m, count = model(), [0]

    def meddle(g: Any) -> None:
        count[0] += 1
        if count[0] == 4:
            with torch.no_grad():
                m[2].weight.mul_(2)

    m[4].bias.register_hook(meddle)

    def step(x: Any) -> None:
        m.zero_grad()
        m(x).sum().backward()

    call = Way("skip").call(step)
    for _ in range(3):
        call(ROWS)
    with pytest.raises(RuntimeError, match=r"edits a tensor that the backward pass needs.*meddle, test_compile_callouts.py"):
        call(ROWS)


@pytest.mark.parametrize("what", ["calls backward", "registers or removes hooks"])
def test_what_refuses_a_recording_is_told_with_the_hook(what: str) -> None:
    m, apart = model(), torch.ones(2, requires_grad=True)

    def meddles(layer: Any, args: Any, out: Any) -> None:
        if what == "calls backward":
            (apart * 2).sum().backward()
        else:
            m[4].weight.register_hook(lambda g: g).remove()

    m[1].register_forward_hook(meddles)

    def step(x: Any) -> None:
        m.zero_grad()
        m(x).sum().backward()

    call = Way("skip").call(step)
    for _ in range(3):
        call(ROWS)
    assert f"a hook {what}: " in call.explain() and "meddles, test_compile_callouts.py:" in call.explain()


def test_hooks_come_and_go_between_calls() -> None:
    def make(m: Any, seen: Seen) -> Any:
        count, handles = [0], []
        step = usual(m)

        def call(x: Any) -> Any:
            return step(x)

        def around(x: Any) -> Any:
            count[0] += 1
            if count[0] > 2:
                n = count[0]
                handles.append(m[1].register_full_backward_hook(lambda layer, got, given: (got[0] * n,)))
                handles.append(m[2].weight.register_hook(lambda g: seen.append((n, g.clone()))))
            try:
                return fast(x)
            finally:
                while handles:
                    handles.pop().remove()
        fast = Way("skip").call(call) if make.compiled else call
        around.fast = fast
        return around

    found = []
    for compiled in (False, True):
        make.compiled = compiled
        m, seen = model(), []
        step = make(m, seen)
        for i in range(12):
            seen.append(step(ROWS * (i + 1) * 0.2))
        found.append(seen)
    assert same(*found)
    assert sum(v.used for v in step.fast.local.variants) > 5, step.fast.explain()


def test_hooks_that_the_step_registers_on_its_tensors() -> None:
    def make(m: Any, seen: Seen) -> Any:
        optimizer = torch.optim.SGD(m.parameters(), lr=0.1)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            limit = 0.01
            h = m[1](m[0](x))
            h.register_hook(lambda g: g.clamp(-limit, limit))
            loss = m[2](h).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step
    compare(make)


def test_forward_hooks_of_a_model_whose_pass_is_outside() -> None:
    def run(compiled: bool) -> Any:
        m, seen = model(), []
        m[1].register_forward_hook(lambda layer, args, out: out * 2 + args[0])
        m[2].register_forward_pre_hook(lambda layer, args: seen.append(args[0].detach().clone()))
        call = Way("skip").call(m) if compiled else m
        for i in range(6):
            x = (ROWS * (i + 1)).requires_grad_()
            call(x).square().mean().backward()
            seen.extend([x.grad, *grads(*m.parameters())])
        assert not compiled or Way("skip").used(call) >= 3, call.explain()
        return seen

    assert same(run(False), run(True))
