"""capture(model): every use of every parameter, with its input and the gradient at its output.

A use is a call of a function that has a parameter, or a tensor made of parameters only, among its arguments.  Functions
are seen through the engine (listen), so it does not matter who calls: a layer, F.linear on a layer's weight,
attention's inside, `x * self.scale`.  The gradient at the output is taken by a hook on the node that made it, after all
hooks on the tensor itself; so in-place activations work, and what a hook edited is what we see.
"""
from __future__ import annotations

import fnmatch
from collections.abc import Callable
from math import isfinite
from operator import index
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import CaptureError, tied
from ..listen import Engine, engine_of
from .block import Block, forget
from .pending import drain
from .rules import Refused, pulled
from .runs import CHANGED, Known, Run, Use
from .terms import Term, combined

if TYPE_CHECKING:
    from .coverage import Coverage
    from .grads import Grads


class Capture(Block):
    """Context manager that captures what `model` does in its block.  Entering it again starts a new capture.

    model       a module of retrograd.nn or torch.nn
    layers      which parameters: a pattern such as "blocks.*" for names of modules or parameters, a module, several of
                them, or a function of (name, parameter); all by default
    where       which calls: a function (path of the layer, index of the call) -> bool
    batch_dim   where the batch is in the model's input and in its layers' outputs
    batch_size  the batch size, if the model's first tensor argument does not show it
    calls       if the model is called several times before backward: "apart", the calls have different samples;
                "same", sample n of every call is one sample (two views of it, say); None: per-sample questions are
                refused then
    verify      on checked steps, find out, by three more backward passes, whether samples are independent and where they are
                (batch_proof.py); takes the memory of three more sets of output gradients; on every step if the model sorts,
                packs or selects samples, reduces the batch (`h + k * h.mean(0)`), or weighs its rows with data (attention
                between samples behind a mask).  Your hooks see those passes, too.  Not done under FSDP, nor if no output of
                the model has a batch dimension: Coverage.verified says so
    weight_grads    False: from the second step on, backward does not compute the gradients of weights that the checked step
                covered by a rule for linear maps or convolutions: their .grad stays as it was, and clip(), norms() or
                weight_grad() compute what you need.  That saves up to a third of the step.  Does not apply to parameters with
                hooks, to those known for the whole batch only, nor under DDP or FSDP; of a layer whose input needs no
                gradient, such as the first, to the weight, if there is a bias, which gets its gradient
    check       "first": compare reconstructed gradients with those that arrive on the first step, and whenever the model
                makes other calls than in steps checked so far; True: always; False: never
    """

    __reduce_ex__ = tied

    def __init__(
        self, model: Any, layers: Any = None, where: Callable[[str, int], bool] | None = None, *, batch_dim: int = 0,
        batch_size: int | None = None, check: bool | str = "first", calls: str | None = None, verify: bool = True,
        weight_grads: bool = True,
    ) -> None:
        engine: Engine = engine_of(model)
        if not isinstance(model, engine.Module):
            raise TypeError(f"capture: expected a module, got {type(model).__qualname__}")
        if type(model).__module__.startswith("torch.jit"):
            raise TypeError("capture: a scripted model does not run in Python, so its calls cannot be seen; pass the original")
        if check not in (True, False, "first"):
            raise ValueError(f"capture: check must be True, False or 'first', got {check!r}")
        if calls not in (None, "apart", "same"):
            raise ValueError(f"capture: calls must be None, 'apart' or 'same', got {calls!r}")
        super().__init__(engine, model, layers, where, index(batch_dim), None if batch_size is None else index(batch_size),
                         check if isinstance(check, str) else bool(check), calls, bool(verify), bool(weight_grads))

    def __enter__(self) -> Capture:
        self._enter()
        return self

    def __exit__(self, *error: Any) -> None:
        self._leave(*error)
        if error[0] is None and self.checking and self.arrived:
            self.check()

    def clear(self) -> None:
        """Forget what was captured; inside a block, before the next step."""
        forget(self)

    def check(self) -> dict[str, float]:
        """Relative error of the reconstructed gradient of every parameter that got one: {name: error}.

        The error is |reconstructed - arrived| over |arrived|, or over a thousandth of the whole gradient's norm where
        that is more (some gradients are zero but for rounding); of a bias before a norm, whose gradients cancel each
        other, over the sum of their sizes.  A parameter beyond the tolerance of its dtype counts
        as not covered from then on.  CaptureError when no gradient was watched: see capture(check=...).
        """
        drain(self)
        if not self.checking and not self.arrived:
            raise CaptureError("check: this step was not watched; use capture(check=True) to check every step")
        if not self.arrived:
            raise CaptureError("check: no gradient reached a parameter; run backward() inside the block first")
        from .coverage import compare, spareable
        compare(self)
        for run in self.runs:
            if all(map(isfinite, self.errors.values())):
                self.checked[run.structure] = Known(run, self.checked.get(run.structure))
        self.checking = bool(self.entered and self._param_handles)
        if not self.weight_grads:
            self._lean = spareable(self)
        return {self.params[n].name: e for n, e in self.errors.items()}

    # What was captured

    @property
    def losses(self) -> list[Any]:
        """How each run's loss was reduced, a loss.Reduction (kind "mean", "sum" or "unknown", count, factor, why).

        None for a run whose loss was not seen: by autograd.grad, or with others in a pass.  Capture.grads(scale=...) undoes it.
        """
        from .loss import loss_of
        drain(self)
        return [loss_of(run) for run in self.runs if any(u.arrived for u in run.uses)]

    def terms(self) -> list[tuple[Run, dict[int, Term], dict[int, str]]]:
        """For every run that gradients reached: {parameter: Term}, and {parameter: why it has none}."""
        drain(self)
        if self._terms is None or any(use.stale for run, _, _ in self._terms for use in run.uses):
            self._terms = [self._terms_of(run) for run in self.runs if any(u.arrived for u in run.uses)]
        made: list[tuple[Run, dict[int, Term], dict[int, str]]] = self._terms
        return made

    def _terms_of(self, run: Run) -> tuple[Run, dict[int, Term], dict[int, str]]:
        T = self.engine.torch
        run.settle()
        lists: dict[int, list[Term]] = {}
        refused: dict[int, str] = {}
        with T.no_grad():
            for use in run.uses:
                if not use.arrived:
                    continue
                try:
                    if not use.kind.complex and any(d is not None and d.is_complex() for d in use.deltas):
                        raise Refused(f"{use.name} computes with complex numbers, which are not covered")
                    if use.stale:
                        raise Refused(CHANGED.format(use.name))
                    if use.late and run.by:
                        raise Refused(f"{use.name} was called again by a checkpoint after {run.by}: it is unknown which samples "
                                      "its rows belong to")
                    for source, term in use.kind.terms(T, use):
                        if use.turn is not None and term.whole is None:
                            term = term.take(T.tensor(use.turn, device=use.device), None)
                        for number, part in pulled(T, source, term):
                            lists.setdefault(number, []).append(part)
                except Refused as why:
                    for source in use.sources.values():
                        for leaf in source.leaves():
                            refused[leaf.number] = str(why)
            found = {n: combined(T, parts) for n, parts in lists.items() if n not in refused and n in self._wanted}
        for n, (term, _) in self.filled.items():
            found[n] = term
            refused.pop(n, None)
        return run, found, refused

    @checked
    def fill(self, loss: Callable[..., Any], *batch: Any, how: str = "loop", reduction: str = "sum") -> None:
        """Compute the per-sample gradients that coverage() reports as missing, by calling the model for each sample.

        loss        a function of (model, *sample) -> scalar, where sample is `batch` cut to one sample, its batch dimension
                    kept; it calls the model it is given
        how         "loop": N forward and backward passes; "vmap": a single pass by torch.func.vmap, for models that allow it
        reduction   how the samples' losses make up that of the batch: "sum" or "mean"
        Call it after the block.  CaptureError when what is found does not add up to the gradient of the batch.
        """
        from .per_sample_calls import fill
        fill(self, loss, batch, how, reduction)

    @checked
    def uses(self, pattern: str = "*") -> list[Use]:
        """The captured calls of layers whose path matches, in the order of the forward pass.

        pattern  of names of layers, such as "blocks.*"
        """
        drain(self)
        return [u for run in self.runs for u in run.uses if fnmatch.fnmatchcase(u.path, pattern) and u.arrived]

    def coverage(self) -> Coverage:
        """How each parameter is covered, or why it is not: a coverage.Coverage.  Print it, or read its rows."""
        from .coverage import cover
        drain(self)
        return cover(self)

    @checked
    def grads(self, layers: Any = None, *, partial: bool = False, scale: Any = None) -> Grads:
        """The quantities of this capture: a grads.Grads.

        layers   patterns as in capture(): only these parameters
        partial  leave out what is not covered per sample; without it that is an UncoveredError
        scale    None: as backward computed it.  "sum": gradients of the summed loss (1/N and loss scale undone). "sample":
                 each sample's gradient as if it had been alone, with the mean over its own terms, even if targets are
                 ignored, classes have weights or rows were picked.  A number: times that.  CaptureError, with the reason, if
                 the graph does not prove it
        """
        from .grads import Grads
        return Grads(self, layers, partial=partial, scale=scale)


@checked
def capture(
    model: Any, layers: Any = None, where: Callable[[str, int], bool] | None = None, *, batch_dim: int = 0,
    batch_size: int | None = None, check: bool | str = "first", calls: str | None = None, verify: bool = True,
    weight_grads: bool = True,
) -> Capture:
    """Capture the inputs `a` and output gradients `delta` of every call that uses a parameter: a Capture.

        with capture(model) as cap:
            loss_fn(model(x), y).backward()
        cap.coverage(); cap.check(); cap.grads().norms()

    TypeError for anything but a module, and for a scripted one.  A quantity that needs an uncovered parameter is a CaptureError.
    """
    return Capture(model, layers, where, batch_dim=batch_dim, batch_size=batch_size, check=check, calls=calls, verify=verify,
                   weight_grads=weight_grads)
