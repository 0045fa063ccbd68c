"""PyTorch's own samples of each module and of each optimizer, on both sides: python -m tests.opinfo.modules [words].

Modules: what they return, first and second gradients, with regard to parameters too, and the state dict after the call; in
training and in evaluation, in float64 and float32.  Optimizers: parameters and state after five steps.  Both: errors.
"""

from __future__ import annotations

import functools
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch as theirs

from .compare import Tally, of_no_test, run, seeds, told
from .translate import Ours, Outside, Side, Theirs, found

DTYPES = ("float64", "float32")
Bound = Callable[[Side], Callable[..., Any]]                # what to call on a side


def module_tally(info: Any, most: int | None = None) -> Tally:
    of_no_test()
    tally = Tally(info.name)
    modes = (True, False) if info.train_and_eval_differ else (True,)
    for dtype, training in itertools.product(DTYPES, modes):
        samples = info.module_inputs_func(info, "cpu", getattr(theirs, dtype), dtype == "float64", training)
        for i, sample in enumerate(itertools.islice(samples, most)):
            if sample.forward_input is not None:
                where = f"{dtype}{'' if training else ' eval'} {i}"
                add(tally, where, used(info.module_cls, sample, dtype, training), dtype, sample.forward_input)
    if info.module_error_inputs_func is not None:
        for i, wrong in enumerate(info.module_error_inputs_func(info, "cpu", theirs.float32, False, True)):
            sample = wrong.module_error_input
            add(tally, f"error {i}", used(info.module_cls, sample, "float32", True), "float32", sample.forward_input)
    return tally


def used(cls: type, sample: Any, dtype: str, training: bool) -> Bound:
    """Makes the module on a side, and calls it."""
    made = sample.constructor_input

    def bound(side: Side) -> Callable[..., Any]:
        def f(_: Any, *args: Any, **kwargs: Any) -> Any:
            own = cls if side.lib is theirs else found(side.lib.nn, cls.__name__)
            module = own(*side.copy(made.args), **side.copy(made.kwargs)).to(getattr(side.lib, dtype)).train(training)
            out = module(*args, **kwargs)
            if side.grad:
                side.leaves += [p for p in module.parameters() if p.requires_grad]
            return out, *(v.clone() for v in module.state_dict().values() if isinstance(v, side.lib.Tensor))
        return f
    return bound


def add(tally: Tally, where: str, bound: Bound, dtype: str, given: Any = None) -> None:
    """The outcome of one sample, counted."""
    sample = SimpleNamespace(input=None, args=given.args if given else (), kwargs=given.kwargs if given else {})
    grad = dtype == "float64"
    try:
        got, want = (run(side, bound(side), sample) for side in (Ours(grad), Theirs(grad)))
        text = told(got, want, tally.name, dtype)
    except Outside as e:
        tally.outside[str(e)] = tally.outside.get(str(e), 0) + 1
        return
    if where.startswith("error"):
        tally.errors += 1
        tally.errors_agree += not text
    else:
        tally.samples += 1
        tally.agree += not text
    if text:
        tally.differences.append((where, text))


def optimizer_tally(info: Any) -> Tally:
    tally = Tally(info.name)
    for i, given in enumerate(info.optim_inputs_func(device="cpu")):
        for dtype in (*DTYPES, *(("complex128",) if info.supports_complex else ())):
            for flags in ({}, *({name: True} for name in info.supported_impls if name != "fused")):
                add(tally, f"{given.desc} {flags} {dtype} {i}", stepped(info, {**given.kwargs, **flags}, dtype), dtype)
    for i, wrong in enumerate(info.optim_error_inputs_func(device="cpu", dtype=theirs.float32)):
        put = wrong.optimizer_error_input
        add(tally, f"error {i} {put.desc}", failing(info, put), "float32")
    return tally


def optimizer_of(side: Side, info: Any) -> Any:
    return info.optim_cls if side.lib is theirs else found(side.lib.optim, info.optim_cls.__name__)


def stepped(info: Any, asked: dict[str, Any], dtype: str) -> Bound:
    def bound(side: Side) -> Callable[..., Any]:
        def f(_: Any) -> Any:
            lib = side.lib
            kind = getattr(theirs, dtype)
            starts = seeds([theirs.empty(3, 2, dtype=kind), theirs.empty(2, 2, dtype=kind)], theirs, 1)
            parameters = [lib.nn.Parameter(side.tensor(t)) for t in starts]
            held = [p.clone() for p in parameters] if asked.get("differentiable") else parameters
            optimizer = optimizer_of(side, info)(held, **side.copy(asked))
            for n in range(5):
                drawn = [side.tensor(t) for t in seeds(starts, theirs, 10 + n)]
                closure = functools.partial(evaluated, held, drawn, lib.tensor(1.0))
                closure()
                with lib.no_grad():
                    optimizer.step(closure if info.step_requires_closure else None)
            state = [entry for held_of in optimizer.state_dict()["state"].values() for entry in sorted(held_of.items())]
            return [p.detach() for p in held], state
        return f
    return bound


def evaluated(parameters: list[Any], grads: list[Any], loss: Any) -> Any:
    for p, g in zip(parameters, grads):
        p.grad = g * (p.detach() + 1)
    return loss


def failing(info: Any, given: Any) -> Bound:
    def bound(side: Side) -> Callable[..., Any]:
        def f(_: Any) -> Any:
            parameters = given.params or [theirs.nn.Parameter(theirs.ones(1, 1))]
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                optimizer = optimizer_of(side, info)(parameter(side, parameters), **side.copy(given.kwargs))
            optimizer.step()
        return f
    return bound


def parameter(side: Side, value: Any) -> Any:
    """value with its tensors as parameters of side's library, one for each."""
    if isinstance(value, theirs.Tensor):
        if id(value) not in side.seen:
            made = side.seen[id(value)] = side.lib.nn.Parameter(side.tensor(value), value.requires_grad)
            made.grad = None if value.grad is None else side.tensor(value.grad)
        return side.seen[id(value)]
    if isinstance(value, dict):
        return {k: parameter(side, v) for k, v in value.items()}
    return type(value)(parameter(side, v) for v in value) if isinstance(value, (list, tuple)) else value


def tallies(words: list[str], most: int | None = None) -> Iterator[Tally]:
    from torch.testing._internal.common_modules import module_db
    from torch.testing._internal.common_optimizers import optim_db

    theirs.set_num_threads(1)
    for info in (*module_db, *optim_db):
        if not words or any(w in info.name for w in words):
            yield module_tally(info, most) if hasattr(info, "module_cls") else optimizer_tally(info)


def main(words: list[str]) -> None:
    made = []
    for tally in tallies(words):
        made.append(tally)
        print(f"{tally.name}: {tally.agree} of {tally.samples}, errors {tally.errors_agree} of {tally.errors} "
              f"{tally.outside or ''}")
        for where, what in tally.differences:
            print(f"    {where}: {what}", flush=True)
    print(f"samples {sum(t.agree for t in made)} of {sum(t.samples for t in made)}, "
          f"errors {sum(t.errors_agree for t in made)} of {sum(t.errors for t in made)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
