"""Kronecker-factored curvature: K-FAC (Martens & Grosse 2015), EK-FAC (George et al. 2018).

For a weight (O, I) used as delta (x) a the Fisher block is taken to be A (x) G:

    A (I, I) = mean over samples and tokens of a a'         G (O, O) = mean over samples of sum over tokens delta delta'

("expand" of Eschenhagen et al. 2023; for one token per sample both are means over samples).  A bias of the same layer
joins as one more input that is always 1.  Weights of another form get the diagonal of their Fisher matrix.
delta should be that of each sample's own loss: Capture.grads(scale="sample").
"""
from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ..arguments import checked
from ..errors import CaptureError
from .products import add_gram, whole
from .terms import Outer


class KFAC:
    """K-FAC curvature factors, as exponential means over updates.

    ema      weight of the old mean in an update, 0 to 1; the first updates are not biased towards zero
    damping  added to the curvature, split over A and G as Martens & Grosse do (factored Tikhonov)
    """

    @checked
    def __init__(self, ema: float = 0.95, damping: float = 1e-3) -> None:
        if not 0 <= ema < 1:
            raise ValueError(f"KFAC: ema must be in [0, 1), got {ema}")
        if not damping >= 0:
            raise ValueError(f"KFAC: damping must not be negative, got {damping}")
        self.ema = ema
        self.damping = damping
        # weight -> (A without the bias, mean input, G); of A and G only the lower half is kept up
        self._means: dict[str, tuple[Any, Any, Any]] = {}
        self._leader: dict[str, str] = {}                   # weight -> another with the same inputs, whose A it has
        self._factors: dict[str, tuple[Any, Any]] = {}
        self.biases: dict[str, str] = {}                    # weight -> bias that is part of its block
        self.diagonal: dict[str, Any] = {}                  # other weights -> mean squared gradient
        self.scalings: dict[str, Any] = {}                  # EK-FAC: weight -> (O, I) eigenvalues, see corrected()
        self.updates = 0
        self._counts: dict[str, tuple[int, int]] = {}       # weight -> samples and tokens of the last update
        self._eigen: dict[str, Any] = {}
        self._torch: Any = None

    @property
    def factors(self) -> dict[str, tuple[Any, Any]]:
        """weight -> (A, G), as of the last update."""
        for name, (A, mean, G) in self._means.items():
            if name not in self._factors:
                A, G = whole(self._torch, A), whole(self._torch, G)
                self._factors[name] = (with_corner(self._torch, A, mean) if name in self.biases else A, G)
        return self._factors

    def update(self, grads: Any) -> KFAC:
        """Add the samples of `grads`, a grads.Grads; -> itself."""
        grads._samples("kfac")
        T = self._torch = grads.torch
        if imaginary := [p.name for p in grads.cap.params if p.name in grads.names and p.tensor.is_complex()]:
            raise CaptureError(f"KFAC.update: expected real weights, got complex ones: {', '.join(imaginary[:6])}; "
                               "leave them out of capture(layers=)")
        biases = bias_of_weights(grads)
        names = [name for name in grads.names if name not in biases.values()]
        outer = [n for n in names if all(isinstance(t, Outer) for t, _, _ in grads._each(n))]
        dense = [n for n in names if n not in outer]
        if self.updates and (set(outer) != self._means.keys() or set(dense) != self.diagonal.keys()):
            odd = sorted((set(outer) ^ self._means.keys()) | (set(dense) ^ self.diagonal.keys()))
            raise CaptureError(f"KFAC.update: these parameters differ from those of earlier updates: {', '.join(odd[:6])}")
        new = (1 - self.ema) / (1 - self.ema ** (self.updates + 1))
        with T.no_grad():
            self._find_leaders(T, grads, outer)
            for name in outer:
                add_factors(T, self._means[name], grads._each(name), new, name not in self._leader)
            for name in dense:
                got = sum(t.per_sample().pow(2).sum(0) * (f * f) for t, f, _ in grads._each(name) if t is not None)
                got = got * (new / len(grads))
                self.diagonal[name] = got + self.diagonal[name] * (1 - new) if self.updates else got
        self._counts = {n: (len(grads), tokens_of(grads, n) if n in self._means else 0) for n in names}
        self.biases = biases
        self._factors = {}
        self.updates += 1
        self._eigen = {}
        self.scalings = {}
        return self

    def all_reduce(self, group: Any = None) -> KFAC:
        """Merge the last update with those of all ranks of a group, each made of its own samples; -> itself.

        One all-reduce, of the lower halves of the factors. Every rank calls it after every update.
        """
        self._known()
        T = self._torch
        dist = import_module(f"{T.__name__}.distributed")
        with T.no_grad():
            parts = list(self._shared())
            sent = [(part[at] if at else part).reshape(-1) * count for part, at, count in parts]
            flat = T.cat([*sent, T.tensor([float(count) for _, _, count in parts], dtype=sent[0].dtype)])
            dist.all_reduce(flat, group=group)
            *whole, counts = flat.split([*(each.numel() for each in sent), len(parts)])
            for (part, at, _), got, count in zip(parts, whole, counts.tolist()):
                if at:
                    part[at] = got / count
                else:
                    part.copy_((got / count).reshape(part.shape))
        self._factors, self._eigen, self.scalings = {}, {}, {}
        return self

    def _shared(self) -> Iterator[tuple[Any, Any, int]]:
        """(mean over samples or tokens, where its lower half is, or None for all of it, of how many in the last update)"""
        for name, (A, mean, G) in sorted(self._means.items()):
            samples, tokens = self._counts[name]
            if name not in self._leader:
                yield A, tuple(self._torch.tril_indices(*A.shape)), tokens
                yield mean, None, tokens
            yield G, tuple(self._torch.tril_indices(*G.shape)), samples
        for name, d in sorted(self.diagonal.items()):
            yield d, None, self._counts[name][0]

    def _find_leaders(self, T: Any, grads: Any, names: list[str]) -> None:
        """Query, key and value, say, have one input: A is computed once for them, as long as that is so."""
        first: dict[Any, str] = {}
        for name in names:
            key = tuple((a.data_ptr(), tuple(a.shape), tuple(a.stride())) for a in (
                t.factors[0] for t, _, _ in grads._each(name)))
            leader = first.setdefault(key, name)
            if name not in self._means:
                made = zeros_for(T, grads._each(name)[0][0])
                if leader != name:
                    self._leader[name] = leader
                    made = (*self._means[leader][:2], made[2])
                self._means[name] = made
            elif name in self._leader and self._leader[name] != leader:
                A, mean, G = self._means[name]
                self._means[name] = (A.clone(), mean.clone(), G)
                del self._leader[name]

    def eigen(self, name: str) -> tuple[Any, Any, Any, Any]:
        """(eigenvalues of A, their vectors, of G, their vectors)

        name  of the weight
        """
        if name not in self._eigen:
            A, G = self.factors[name]
            with self._torch.no_grad():
                la, UA = self._torch.linalg.eigh(A)
                lg, UG = self._torch.linalg.eigh(G)
            self._eigen[name] = (la.clamp(min=0), UA, lg.clamp(min=0), UG)
        made: tuple[Any, Any, Any, Any] = self._eigen[name]
        return made

    def corrected(self, grads: Any) -> KFAC:
        """EK-FAC: measure the curvature along the eigenvectors, from the samples of `grads`; -> itself."""
        grads._samples("kfac")
        self._known()
        with self._torch.no_grad():
            for name in self.factors:
                _, UA, _, UG = self.eigen(name)
                total: Any = 0
                for t, f, _ in grads._each(name):
                    a, d = t.factors
                    if name in self.biases:
                        a = with_ones(self._torch, a)
                    total = total + ((d @ UG).transpose(1, 2) @ (a @ UA)).pow(2).sum(0) * (f * f)
                self.scalings[name] = total / len(grads)
        return self

    def apply(self, grads: dict[str, Any]) -> dict[str, Any]:
        """(curvature + damping)^-1 times gradients {name: (*shape) or (K, *shape)}, all of the captured weights.

        grads  {name: tensor}; K stands for several at once
        """
        self._known()
        T = self._torch
        found = dict(grads)
        with T.no_grad():
            for name in self.factors:
                if name not in grads:
                    raise CaptureError(f"KFAC.apply: no gradient of {name}")
                la, UA, lg, UG = self.eigen(name)
                g = grads[name]
                I = len(la) - (name in self.biases)
                K = g.numel() // (len(lg) * I)
                W = g.reshape(K, len(lg), I)
                if name in self.biases:
                    W = T.cat([W, grads[self.biases[name]].reshape(K, -1, 1)], 2)
                W = UG.T @ W @ UA / self._divisor(name, self._damped(name, la, lg))
                W = UG @ W @ UA.T
                if name in self.biases:
                    found[self.biases[name]] = W[:, :, -1].reshape(grads[self.biases[name]].shape)
                    W = W[:, :, :-1]
                found[name] = W.reshape(g.shape)
            for name, d in self.diagonal.items():
                if name not in grads:
                    raise CaptureError(f"KFAC.apply: no gradient of {name}")
                found[name] = grads[name] / self._divisor(name, d + self.damping)
        return found

    def _divisor(self, name: str, curvature: Any) -> Any:
        """CaptureError where it is zero, but for rounding."""
        if self.damping == 0 and bool((curvature <= curvature.max() * self._torch.finfo(curvature.dtype).eps).any()):
            raise CaptureError(f"KFAC.apply: the curvature of {name} is 0 along some directions, and damping=0 divides by it; "
                               "set damping")
        return curvature

    def _damped(self, name: str, la: Any, lg: Any) -> Any:
        """(O, I): what to divide by in the eigenbasis."""
        if name in self.scalings:
            return self.scalings[name] + self.damping
        if self.damping == 0:
            return lg.reshape(-1, 1) * la.reshape(1, -1)
        pi = ((la.mean() + 1e-30) / (lg.mean() + 1e-30)).sqrt()
        root = self.damping ** 0.5
        return (lg.reshape(-1, 1) + root / pi) * (la.reshape(1, -1) + root * pi)

    def _known(self) -> None:
        if not self.updates:
            raise CaptureError("KFAC: no factors yet; call update(grads) first")


def bias_of_weights(grads: Any) -> dict[str, str]:
    """weight -> bias of the same layer, where both are in `grads` and one call of the layer uses both."""
    names, found = set(grads.names), {}
    roles: dict[int, list[Any]] = {}            # parameter -> of each of its uses, which roles have one
    for _, uses in grads._runs:
        for u in uses:
            if u.arrived:
                for n in u.numbers:
                    roles.setdefault(n, []).append(u.sources.keys())
    numbers = {p.name: p.number for p in grads.cap.params}
    for name in grads.names:
        head, _, last = name.rpartition(".")
        bias = f"{head}.bias" if head else "bias"
        if last == "weight" and bias in names and all(isinstance(t, Outer) for t, _, _ in grads._each(name)):
            if all(keys == {"weight", "bias"} for n in (name, bias) for keys in roles.get(numbers[n], ())):
                found[name] = bias
    return found


def tokens_of(grads: Any, name: str) -> int:
    """How many rows of inputs there were."""
    return sum(t.factors[0].shape[0] * t.factors[0].shape[1] for t, _, _ in grads._each(name))


def zeros_for(T: Any, term: Any) -> tuple[Any, Any, Any]:
    a, d = term.factors

    def zeros(*shape: int) -> Any:
        return T.zeros(*shape, dtype=a.dtype, device=a.device)
    return zeros(a.shape[-1], a.shape[-1]), zeros(a.shape[-1]), zeros(d.shape[-1], d.shape[-1])


def add_factors(T: Any, means: tuple[Any, Any, Any], terms: Any, new: float, inputs: bool) -> None:
    """Mix A, mean input (unless another has done so) and G of a batch into the running means, with the share `new`."""
    A, mean, G = means
    N = sum(t.factors[0].shape[0] for t, _, _ in terms)
    count = sum(t.factors[0].shape[0] * t.factors[0].shape[1] for t, _, _ in terms)
    keep = 1 - new
    for t, f, _ in terms:
        a, d = t.factors
        rows = a.reshape(-1, a.shape[-1])
        if inputs:
            add_gram(T, A, rows, keep, new / count)
            mean.mul_(keep).add_(rows.sum(0), alpha=new / count)
        add_gram(T, G, d.reshape(-1, d.shape[-1]), keep, new * f * f / N)
        keep = 1.0


def with_corner(T: Any, A: Any, mean: Any) -> Any:
    """A of inputs with a one behind."""
    side = mean.reshape(-1, 1)
    one = T.ones(1, 1, dtype=A.dtype, device=A.device)
    return T.cat([T.cat([A, side], 1), T.cat([side.T, one], 1)], 0)


def with_ones(T: Any, a: Any) -> Any:
    """(N, T, I) -> (N, T, I + 1)"""
    return T.cat([a, T.ones(*a.shape[:-1], 1, dtype=a.dtype, device=a.device)], -1)
