"""Random trees of modules with random hooks: what is called, in which order, with which values, is what PyTorch does."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd

pytestmark = pytest.mark.oracle
SEEDS = 400
CHUNK = 50

ONCE = "will create a reference cycle"      # said once per process: the two may have said it at different times


class Trial:
    """One random program, run on `package`. Equal seeds give equal programs."""

    def __init__(self, package: Any, seed: int) -> None:
        self.t = package
        self.rng = random.Random(seed)
        self.log: list[Any] = []
        self.handles: list[Any] = []

    def run(self) -> tuple[str, list[str]]:
        """The log and the warnings, as text."""
        home = self.t.nn.modules.module
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                self.forward_and_backward()
            except Exception as e:
                self.log.append((type(e).__name__, str(e).splitlines()[0]))
            finally:
                for handle in self.handles:
                    handle.remove()
                home._global_is_full_backward_hook = None
                home._global_forward_hooks_with_kwargs.clear()      # PyTorch leaves some behind
        texts = [str(w.message).partition(" (Triggered")[0] for w in seen]
        return "\n".join(map(repr, self.log)), [text for text in texts if ONCE not in text]

    def value(self, x: Any) -> Any:
        if isinstance(x, self.t.Tensor):
            return [round(v, 4) for v in x.detach().reshape(-1).tolist()]
        if isinstance(x, (tuple, list)):
            return [self.value(v) for v in x]
        return {k: self.value(v) for k, v in x.items()} if isinstance(x, dict) else x

    def first(self, x: Any) -> Any:
        while not isinstance(x, self.t.Tensor):
            x = next(iter(x.values())) if isinstance(x, dict) else x[0]
        return x

    def build(self) -> Any:
        nn, t, first, rng = self.t.nn, self.t, self.first, self.rng
        kinds: list[Callable[[Any, Any], Any]] = [
            lambda x, w: x * w, lambda x, w: x * w, lambda x, w: x, lambda x, w: (x * 2, x * w),
            lambda x, w: x.detach() * w, lambda x, w: {"a": x * w}, lambda x, w: (x * w, 3, None), lambda x, w: x.relu(),
            lambda x, w: [x * w], lambda x, w: x.sum() * w]

        class Leaf(nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self, kind: Callable[[Any, Any], Any]) -> None:
                super().__init__()
                self.kind = kind
                self.w = nn.Parameter(t.tensor([2.0, 3.0]))

            def forward(self, x: Any, flag: Any = None) -> Any:
                return self.kind(x if flag is None else x * flag, self.w)

        class Tree(nn.Module):  # type: ignore[name-defined, misc]
            def __init__(self, parts: list[Any], flag: Any) -> None:
                super().__init__()
                self.parts = nn.ModuleList(parts)
                self.flag = flag

            def forward(self, x: Any) -> Any:
                for part in self.parts:
                    x = first(part(x, flag=3) if self.flag and isinstance(part, Leaf) else part(x))
                return x

        self.leaves = [Leaf(rng.choice(kinds)) for _ in range(rng.randint(1, 3))]
        inner = Tree([rng.choice(self.leaves) for _ in range(rng.randint(1, 3))], rng.random() < 0.3)
        root = Tree([rng.choice([inner, rng.choice(self.leaves)]) for _ in range(rng.randint(1, 3))], False)
        self.names = {leaf: f"leaf{i}" for i, leaf in enumerate(self.leaves)} | {inner: "inner", root: "root"}
        for number in range(rng.randint(1, 7)):
            where = rng.choice([*self.names, None] if rng.random() < 0.3 else list(self.names))
            try:
                self.handles.append(self.hook(where, rng.randrange(7), number))
            except RuntimeError as e:           # legacy and full hooks together
                self.log.append(str(e))
        if rng.random() < 0.4:
            w = rng.choice(self.leaves).w
            w.register_hook(lambda g: self.log.append(("tensor hook", self.value(g))))
            w.register_post_accumulate_grad_hook(lambda p: self.log.append(("accumulated", self.value(p.grad))))
        return root

    def hook(self, module: Any, kind: int, number: int) -> Any:
        """Register a hook that logs its arguments and sometimes changes them; on every module where module is None."""
        changes, prepend, always = self.rng.random() < 0.15, self.rng.random() < 0.3, self.rng.random() < 0.5

        def note(m: Any, *values: Any) -> None:
            self.log.append((number, kind, self.names[m], *map(self.value, values)))

        def pre(m: Any, args: Any) -> Any:
            note(m, args)
            return (args[0] * 2, *args[1:]) if changes else None

        def pre_kwargs(m: Any, args: Any, kwargs: Any) -> Any:
            note(m, args, kwargs)
            return (args, {}) if changes else None

        def post(m: Any, args: Any, out: Any) -> Any:
            note(m, args, out)
            return out * 2 if changes and isinstance(out, self.t.Tensor) else None

        def post_kwargs(m: Any, args: Any, kwargs: Any, out: Any) -> None:
            note(m, kwargs, out)

        def backward_pre(m: Any, go: Any) -> Any:
            note(m, go)
            return tuple(None if g is None else g * 3 for g in go) if changes else None

        def backward(m: Any, gi: Any, go: Any) -> Any:
            note(m, gi, go)
            return tuple(None if g is None else g / 2 for g in gi) if changes and kind == 5 else None

        if module is None:
            home: Any = self.t.nn.modules.module
            if kind == 3:
                return home.register_module_forward_hook(post_kwargs, with_kwargs=True, always_call=always)
            names = ("forward_pre_hook", "forward_pre_hook", "forward_hook", "", "full_backward_pre_hook",
                     "full_backward_hook", "backward_hook")
            functions: tuple[Any, ...] = (pre, pre, post, None, backward_pre, backward, backward)
            return getattr(home, "register_module_" + names[kind])(functions[kind])
        if kind == 0:
            return module.register_forward_pre_hook(pre, prepend=prepend)
        if kind == 1:
            return module.register_forward_pre_hook(pre_kwargs, prepend=prepend, with_kwargs=True)
        if kind == 2:
            return module.register_forward_hook(post, prepend=prepend)
        if kind == 3:
            return module.register_forward_hook(post_kwargs, prepend=prepend, with_kwargs=True, always_call=always)
        if kind == 4:
            return module.register_full_backward_pre_hook(backward_pre, prepend=prepend)
        if kind == 5:
            return module.register_full_backward_hook(backward, prepend=prepend)
        return module.register_backward_hook(backward)

    def forward_and_backward(self) -> None:
        root, rng, t = self.build(), self.rng, self.t
        x = t.tensor([1.0, -2.0], requires_grad=rng.random() < 0.7)
        with t.set_grad_enabled(rng.random() > 0.08):
            outs = [root(x) for _ in range(rng.choice([1, 1, 2]))]
        self.log.append(([type(self.first(o).grad_fn).__name__ for o in outs], self.value(outs)))
        if rng.random() < 0.2:
            rng.choice(self.handles).remove()
        total = sum(self.first(o).sum() * (i + 1) for i, o in enumerate(outs))
        if rng.random() < 0.15 and x.requires_grad:
            self.log.append(self.value(t.autograd.grad(total, x, allow_unused=True)))
            return
        total.backward(create_graph=rng.random() < 0.15, retain_graph=True if rng.random() < 0.3 else None)
        if rng.random() < 0.2:
            total.backward()
        self.log.append((self.value(x.grad), [self.value(leaf.w.grad) for leaf in self.leaves]))


@pytest.mark.parametrize("start", range(0, SEEDS, CHUNK))
def test_hooks_of_random_trees_run_as_in_pytorch(start: int) -> None:
    torch = pytest.importorskip("torch")
    fired = 0
    for seed in range(start, start + CHUNK):
        ours, theirs = Trial(retrograd, seed).run(), Trial(torch, seed).run()
        assert ours == theirs, f"seed {seed}"
        fired += ours[0].count("leaf") > 0
    assert fired > CHUNK // 2                   # not all of them in vain
