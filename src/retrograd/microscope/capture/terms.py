"""What one use of a weight adds to its gradient, in the cheapest form that holds every sample apart.

    Outer   sum over tokens of delta (x) a      linear maps and convolutions
    Rows    delta added to rows by number       embeddings
    Dense   (N, *shape), made when asked for    biases, norms, everything else
    Sum     of several of these                 tied weights, slices
    Blocks  along the first dimension           groups of a convolution
    Whole   a sum over the batch that cannot be taken apart, with the reason

N samples, T tokens, I in, O out, V rows, E width, M samples of another batch.
Costs are counted in multiplications; `Outer` decides by them between factors and dense gradients.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import CaptureError
from .products import ghost_is_less, ghost_norms2, multiplied, row_norms2, times, with_itself


class Term:
    """Per-sample gradients of one weight."""

    torch: Any
    N: int
    shape: tuple[int, ...]
    whole: str | None = None                    # why samples cannot be told apart

    def total(self, weight: Any = None) -> Any:
        """Sum over samples, each times weight[n] -> (*shape)"""
        raise NotImplementedError

    def per_sample(self) -> Any:
        """(N, *shape)"""
        raise NotImplementedError

    def norms2(self) -> Any:
        """(N,) squared norms."""
        return flat(self).pow(2).sum(1)

    def dots(self, other: Term) -> Any:
        """(N, M)"""
        return flat_dots(self.torch, self, other)

    def per_token(self) -> Any:
        """(N, T, *shape)"""
        raise CaptureError("per_token: the samples of this weight have no tokens")

    def take(self, samples: Any, tokens: Any) -> Term:
        """The term of some samples and tokens (index tensors or slices; None: all)."""
        if tokens is not None:
            raise CaptureError("select(tokens=...): the samples of this weight have no tokens")
        N = len(self.per_sample()[samples])
        return Dense(self.torch, N, self.shape, lambda: self.per_sample()[samples])

    def times(self, weight: Any) -> Term:
        """Each sample's gradient times weight[n] (N,)."""
        def by(t: Any) -> Any:
            return t * weight.to(t.dtype).reshape(-1, *[1] * (t.ndim - 1))
        return Dense(self.torch, self.N, self.shape, lambda: by(self.per_sample()),
                     None if self.token_count() is None else lambda: by(self.per_token()))

    def split(self, at: Any, count: int, longest: int) -> Term:
        """Samples of packed sequences: token k of all N * T is token at[1][k] of sequence at[0][k]."""
        if self.N == len(at[0]):                # every token is a sample
            def sums() -> Any:
                rows = self.per_sample().reshape(self.N, -1)
                return self.torch.zeros(count, rows.shape[1], dtype=rows.dtype, device=rows.device).index_add(
                    0, at[0], rows)
            return Dense(self.torch, count, self.shape, sums)
        raise CaptureError("segments: the samples of this weight have no tokens")

    def token_count(self) -> int | None:
        """T, where there is one."""
        return None


class Outer(Term):
    """weight (O, I): sum over tokens of d (N, T, O) (x) a (N, T, I).  Factors are made when asked for.

    fresh   called whenever they are read: they may share the memory of what the program edits (runs.Use.fresh)
    """

    def __init__(self, T: Any, N: int, shape: tuple[int, ...], factors: Callable[[], tuple[Any, Any]],
                 fresh: Callable[[], None] | None = None) -> None:
        self.torch = T
        self.N = N
        self.shape = shape
        self._make: Callable[[], tuple[Any, Any]] | None = factors
        self._factors: Any = None
        self._fresh = fresh

    @property
    def factors(self) -> tuple[Any, Any]:
        """a (N, T, I), d (N, T, O)"""
        if self._fresh is not None:
            self._fresh()
        if self._factors is None:
            assert self._make is not None
            self._factors = self._make()
            self._make = None
        made: tuple[Any, Any] = self._factors
        return made

    def total(self, weight: Any = None) -> Any:
        a, d = self.factors
        if weight is not None:
            weight = weight.reshape(-1, 1, 1).to(d.dtype)
            if a.shape[-1] < d.shape[-1]:       # the smaller one
                a = a * weight
            else:
                d = d * weight
        return multiplied(self.torch, d.reshape(-1, d.shape[-1]).T, a.reshape(-1, a.shape[-1])).reshape(self.shape)

    def per_sample(self) -> Any:
        a, d = self.factors
        columns = d.transpose(1, 2)
        product = times if a.shape[1] == 1 else multiplied
        return product(self.torch, columns, a).reshape(self.N, *self.shape)

    def per_token(self) -> Any:
        a, d = self.factors
        return (d.unsqueeze(-1) * a.unsqueeze(-2)).reshape(self.N, a.shape[1], *self.shape)

    def take(self, samples: Any, tokens: Any) -> Term:
        def part() -> tuple[Any, Any]:
            a, d = (t if samples is None else t[samples] for t in self.factors)
            return (a, d) if tokens is None else (a[:, tokens], d[:, tokens])
        N = self.N if samples is None else len(self.factors[0][samples])
        return Outer(self.torch, N, self.shape, part, self._fresh)

    def times(self, weight: Any) -> Term:
        def part() -> tuple[Any, Any]:
            a, d = self.factors
            return a, d * weight.reshape(-1, 1, 1).to(d.dtype)
        return Outer(self.torch, self.N, self.shape, part, self._fresh)

    def split(self, at: Any, count: int, longest: int) -> Term:
        def part() -> tuple[Any, Any]:
            a, d = (padded(self.torch, t, at, count, longest) for t in self.factors)
            return a, d
        return Outer(self.torch, count, self.shape, part)

    def token_count(self) -> int | None:
        return int(self.factors[0].shape[1])

    def norms2(self) -> Any:
        return super().norms2() if self.factors[1].is_complex() else outer_norms2(self.torch, *self.factors)

    def dots(self, other: Term) -> Any:
        if not isinstance(other, Outer) or self.factors[1].is_complex():
            return super().dots(other)
        a, d = self.factors
        b, e = other.factors
        N, T, I = a.shape
        M, S, O = b.shape[0], b.shape[1], d.shape[2]
        if T == 1 and S == 1:
            return pairs(self.torch, a[:, 0], b[:, 0]) * pairs(self.torch, d[:, 0], e[:, 0])
        grams = N * T * M * S * (I + O) // (2 if a is b and d is e else 1)
        dense = (N * T + (0 if other is self else M * S) + N * M) * I * O
        if dense <= grams:
            return flat_dots(self.torch, self, other)
        gram = pairs(self.torch, a.reshape(N * T, I), b.reshape(M * S, I)) * pairs(
            self.torch, d.reshape(N * T, O), e.reshape(M * S, O))
        return gram.reshape(N, T, M, S).sum((1, 3))


class Rows(Term):
    """weight (V, E): d (N, T, E) added to rows ids (N, T); rows numbered V get nothing (padding)."""

    def __init__(self, T: Any, ids: Any, d: Any, shape: tuple[int, ...]) -> None:
        self.torch = T
        self.N = ids.shape[0]
        self.shape = shape
        self.ids = ids
        self.d = d

    def total(self, weight: Any = None) -> Any:
        V, E = self.shape
        d = self.d if weight is None else self.d * weight.reshape(-1, 1, 1).to(self.d.dtype)
        out = self.torch.zeros(V + 1, E, dtype=d.dtype, device=d.device)
        return out.index_add(0, self.ids.reshape(-1), d.reshape(-1, E))[:V]

    def per_sample(self) -> Any:
        V, E = self.shape
        out = self.torch.zeros(self.N * (V + 1), E, dtype=self.d.dtype, device=self.d.device)
        first = self.torch.arange(self.N, device=self.ids.device).unsqueeze(1) * (V + 1)
        out = out.index_add(0, (self.ids + first).reshape(-1), self.d.reshape(-1, E))
        return out.reshape(self.N, V + 1, E)[:, :V]

    def per_token(self) -> Any:
        V, E = self.shape
        N, T = self.ids.shape
        one = self.torch.nn.functional.one_hot(self.ids, V + 1)[..., :V].to(self.d.dtype)
        return one.unsqueeze(-1) * self.d.unsqueeze(2)

    def take(self, samples: Any, tokens: Any) -> Term:
        ids, d = (t if samples is None else t[samples] for t in (self.ids, self.d))
        if tokens is not None:
            ids, d = ids[:, tokens], d[:, tokens]
        return Rows(self.torch, ids, d, self.shape)

    def times(self, weight: Any) -> Term:
        return Rows(self.torch, self.ids, self.d * weight.reshape(-1, 1, 1).to(self.d.dtype), self.shape)

    def split(self, at: Any, count: int, longest: int) -> Term:
        ids = self.torch.full((count, longest), self.shape[0], dtype=self.ids.dtype, device=self.ids.device)
        ids[at] = self.ids.reshape(-1)
        return Rows(self.torch, ids, padded(self.torch, self.d, at, count, longest), self.shape)

    def token_count(self) -> int | None:
        return int(self.ids.shape[1])

    def norms2(self) -> Any:
        torch, N = self.torch, self.N
        if self.d.is_complex():
            return super().norms2()
        V, E = self.shape
        quick = row_norms2(torch, self.ids, self.d, V)
        if quick is not None:
            return quick
        sample = torch.arange(N, device=self.ids.device).unsqueeze(1) * (V + 1)
        rows, at = torch.unique((self.ids + sample).reshape(-1), return_inverse=True)
        sums = torch.zeros(len(rows), E, dtype=self.d.dtype, device=self.d.device).index_add(0, at, self.d.reshape(-1, E))
        squares = sums.pow(2).sum(1) * (rows % (V + 1) < V).to(self.d.dtype)        # a row V is padding
        return torch.zeros(N, dtype=self.d.dtype, device=self.d.device).index_add(0, rows // (V + 1), squares)

    def _real(self, ids: Any) -> Any:
        return ids < self.shape[0]

    def dots(self, other: Term) -> Any:
        if not isinstance(other, Rows) or self.d.is_complex():
            return super().dots(other)
        N, T, E = self.d.shape
        M, S = other.ids.shape
        V = self.shape[0]
        if N * M * V < N * T * M * S:           # rather as dense gradients
            return super().dots(other)
        mine, theirs = self.ids.reshape(-1), other.ids.reshape(-1)
        same = (mine.unsqueeze(1) == theirs.unsqueeze(0)) & self._real(mine).unsqueeze(1)
        gram = pairs(self.torch, self.d.reshape(-1, E), other.d.reshape(-1, E)) * same.to(self.d.dtype)
        return gram.reshape(N, T, M, S).sum((1, 3))


class Dense(Term):
    """(N, *shape), made by `make` when first needed."""

    def __init__(self, T: Any, N: int, shape: tuple[int, ...], make: Callable[[], Any],
                 tokens: Callable[[], Any] | None = None) -> None:
        self.torch = T
        self.N = N
        self.shape = shape
        self._make = make
        self._tokens = tokens
        self._value: Any = None

    def per_sample(self) -> Any:
        if self._value is None:
            self._value = self._make().reshape(self.N, *self.shape)
        return self._value

    def per_token(self) -> Any:
        if self._tokens is None:
            return super().per_token()
        return self._tokens()

    def take(self, samples: Any, tokens: Any) -> Term:
        if tokens is None:
            return super().take(samples, tokens)

        def part() -> Any:
            t = self.per_token()[:, tokens]
            return t if samples is None else t[samples]
        N = self.N if samples is None else len(self.per_token()[samples])
        return Dense(self.torch, N, self.shape, lambda: part().sum(1), part)

    def split(self, at: Any, count: int, longest: int) -> Term:
        if self._tokens is None:
            return super().split(at, count, longest)

        def part() -> Any:
            return padded(self.torch, self.per_token(), at, count, longest)
        return Dense(self.torch, count, self.shape, lambda: part().sum(1), part)

    def token_count(self) -> int | None:
        return None if self._tokens is None else int(self._tokens().shape[1])

    def total(self, weight: Any = None) -> Any:
        value = self.per_sample()
        if weight is None:
            return value.sum(0)
        return (value.reshape(self.N, -1) * weight.reshape(-1, 1).to(value.dtype)).sum(0).reshape(self.shape)


class Sum(Term):
    """Several uses of one weight: cross terms count."""

    def __init__(self, T: Any, terms: list[Term]) -> None:
        self.torch = T
        self.N = terms[0].N
        self.shape = terms[0].shape
        self.terms = terms

    def per_sample(self) -> Any:
        out = self.terms[0].per_sample()
        for term in self.terms[1:]:
            out = out + term.per_sample()
        return out

    def total(self, weight: Any = None) -> Any:
        out = self.terms[0].total(weight)
        for term in self.terms[1:]:
            out = out + term.total(weight)
        return out

    def take(self, samples: Any, tokens: Any) -> Term:
        return Sum(self.torch, [t.take(samples, tokens) for t in self.terms])

    def times(self, weight: Any) -> Term:
        return Sum(self.torch, [t.times(weight) for t in self.terms])

    def split(self, at: Any, count: int, longest: int) -> Term:
        return Sum(self.torch, [t.split(at, count, longest) for t in self.terms])

    def norms2(self) -> Any:
        if len(self.terms) == 2:
            first, second = self.terms
            if isinstance(first, Outer):
                first, second = second, first
            if isinstance(first, Rows) and isinstance(second, Outer) and not first.d.is_complex():
                cross = rows_outer(first, second)
                return (first.norms2() + 2 * cross + second.norms2()).clamp(min=0)
        return super().norms2()


def outer_norms2(T: Any, a: Any, d: Any) -> Any:
    """(N,) squared norms of d' a, a (N, T, I), d (N, T, O)."""
    if a.shape[1] == 1:
        return a.pow(2).sum((1, 2)) * d.pow(2).sum((1, 2))
    if ghost_is_less(T, a, [d]):
        return ghost_norms2(T, a, [d])
    return T.linalg.vector_norm(multiplied(T, d.transpose(1, 2), a).reshape(a.shape[0], -1), dim=1).pow(2)


def norms2_together(T: Any, terms: list[Term]) -> Any:
    """(N,) squared norms over all terms.  The Gram matrix of an input that several have (query and key, say) is made once."""
    found = []
    shared: dict[Any, list[tuple[Any, Any]]] = {}
    for term in terms:
        if isinstance(term, Outer) and term.factors[0].shape[1] > 1 and not term.factors[1].is_complex():
            a, d = term.factors
            shared.setdefault((a.data_ptr(), tuple(a.shape), tuple(a.stride())), []).append((a, d))
        else:
            found.append(term.norms2())
    for uses in shared.values():
        a, ds = uses[0][0], [d for _, d in uses]
        if len(ds) > 1 and ghost_is_less(T, a, ds):
            found.append(ghost_norms2(T, a, ds))
        else:
            found += [outer_norms2(T, a, d) for d in ds]
    return sum_of(found)


def pairs(T: Any, a: Any, b: Any) -> Any:
    """a (n, k) @ b.T, b (m, k)"""
    return with_itself(T, a) if same_place(a, b) else multiplied(T, a, b.T)


def same_place(a: Any, b: Any) -> bool:
    """Are both the same elements?"""
    return a.shape == b.shape and a.dtype == b.dtype and a.data_ptr() == b.data_ptr() and a.stride() == b.stride()


def flat_dots(T: Any, one: Term, other: Term) -> Any:
    """(N, M) by dense gradients."""
    mine = flat(one)
    return pairs(T, mine, mine if other is one else flat(other))


def flat(term: Term) -> Any:
    """(N, numbers of a gradient); of complex ones both parts."""
    g = term.per_sample()
    if g.is_complex():
        g = term.torch.view_as_real(g.resolve_conj())
    return g.reshape(term.N, -1)


def padded(T: Any, t: Any, at: Any, count: int, longest: int) -> Any:
    """t (N, T, ...) of packed sequences -> (count, longest, ...), zeros behind each end."""
    flat = t.reshape(-1, *t.shape[2:])
    out = T.zeros(count, longest, *flat.shape[1:], dtype=t.dtype, device=t.device)
    out[at] = flat
    return out


def rows_outer(rows: Rows, outer: Outer) -> Any:
    """(N,) dot products of an embedding's and a head's part of a tied weight's gradient."""
    T = rows.torch
    a, d = outer.factors                        # (N, S, E), (N, S, V)
    pad = T.zeros(*d.shape[:2], 1, dtype=d.dtype, device=d.device)
    at = rows.ids.unsqueeze(1).expand(-1, d.shape[1], -1)
    picked = T.cat([d, pad], 2).gather(2, at)   # (N, S, T): delta of the head at the embedding's rows
    return (picked * multiplied(T, a, rows.d.transpose(1, 2))).sum((1, 2))


class Blocks(Term):
    """Terms stacked along the weight's first dimension."""

    def __init__(self, T: Any, terms: list[Term], shape: tuple[int, ...]) -> None:
        self.torch = T
        self.N = terms[0].N
        self.shape = shape
        self.terms = terms

    def per_sample(self) -> Any:
        return self.torch.cat([t.per_sample() for t in self.terms], 1).reshape(self.N, *self.shape)

    def total(self, weight: Any = None) -> Any:
        return self.torch.cat([t.total(weight) for t in self.terms], 0).reshape(self.shape)

    def take(self, samples: Any, tokens: Any) -> Term:
        return Blocks(self.torch, [t.take(samples, tokens) for t in self.terms], self.shape)

    def times(self, weight: Any) -> Term:
        return Blocks(self.torch, [t.times(weight) for t in self.terms], self.shape)

    def norms2(self) -> Any:
        out = self.terms[0].norms2()
        for term in self.terms[1:]:
            out = out + term.norms2()
        return out

    def dots(self, other: Term) -> Any:
        if not isinstance(other, Blocks) or len(other.terms) != len(self.terms):
            return super().dots(other)
        out = self.terms[0].dots(other.terms[0])
        for mine, theirs in zip(self.terms[1:], other.terms[1:]):
            out = out + mine.dots(theirs)
        return out


class Whole(Term):
    """Only the sum over the batch: N is 1, and questions about samples raise an error that says why."""

    N = 1

    def __init__(self, T: Any, shape: tuple[int, ...], make: Callable[[], Any], why: str) -> None:
        self.torch = T
        self.shape = shape
        self._make = make
        self.whole = why

    def total(self, weight: Any = None) -> Any:
        if weight is not None:
            raise CaptureError(f"this gradient cannot be split by sample: {self.whole}")
        return self._make().reshape(self.shape)

    def per_sample(self) -> Any:
        raise CaptureError(f"this gradient cannot be split by sample: {self.whole}")

    def times(self, weight: Any) -> Term:
        return Whole(self.torch, self.shape, self.per_sample, self.whole or "")


def combined(T: Any, terms: list[Term]) -> Term:
    """One term for all uses of a weight in one batch."""
    if len(terms) == 1:
        return terms[0]
    for term in terms:
        if term.whole is not None:
            return Whole(T, term.shape, lambda: sum_of([t.total() for t in terms]), term.whole)
    outers = [t for t in terms if isinstance(t, Outer)]
    rows = [t for t in terms if isinstance(t, Rows)]
    rest = [t for t in terms if not isinstance(t, (Outer, Rows))]
    if len(outers) > 1:                         # more calls are more tokens
        merged = outers
        outers = [Outer(T, merged[0].N, merged[0].shape, lambda: (
            T.cat([t.factors[0] for t in merged], 1), T.cat([t.factors[1] for t in merged], 1)))]
    if len(rows) > 1:
        rows = [Rows(T, T.cat([t.ids for t in rows], 1), T.cat([t.d for t in rows], 1), rows[0].shape)]
    left: list[Term] = [*rows, *outers, *rest]
    return left[0] if len(left) == 1 else Sum(T, left)


def sum_of(values: list[Any]) -> Any:
    """Their sum."""
    out = values[0]
    for value in values[1:]:
        out = out + value
    return out
