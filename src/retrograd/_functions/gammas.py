"""Random numbers made of gamma and binomial ones: torch.binomial, and what torch.distributions draws by.

The same numbers from a seed as PyTorch's on a CPU.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import random
from .._engine import names
from .._engine.tensor import wrap
from .._rules import pathwise
from .arguments import tensor
from .ldl import unruled


def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """Successes in `count` trials of chance `prob`: floating tensors of one dtype, which are broadcast."""
    for name, x in (("count", count), ("prob", prob)):
        if x.array.dtype.kind not in "fV":
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {names.SCALAR[x.array.dtype.name]}")
    if count.array.dtype != prob.array.dtype:
        raise RuntimeError(
            f"Found dtype {names.SCALAR[prob.array.dtype.name]} but expected {names.SCALAR[count.array.dtype.name]}")
    counts, probs = np.broadcast_arrays(count.array, prob.array)
    return unruled("binomial", random.binomial(counts, probs, generator), count, prob)


def _standard_gamma(input: Any, generator: Any = None) -> Any:
    """Gamma numbers of shapes input and rate 1."""
    return pathwise.StandardGammaBackward0(random.gamma(input.array, generator)).run(input)


def _standard_gamma_grad(input: Any, output: Any) -> Any:
    """The derivative of `output`, drawn by _standard_gamma(input), by input."""
    return pathwise.StandardGammaGradBackward0().run(*doubles("_standard_gamma_grad", input=input, output=output))


def _sample_dirichlet(input: Any, generator: Any = None) -> Any:
    """Points of the simplex, one for each row of input."""
    return unruled("_sample_dirichlet", random.dirichlet(input.array, generator), input)


def _dirichlet_grad(x: Any, alpha: Any, total: Any) -> Any:
    """The derivative by alpha of x, with a beta distribution of alpha and total - alpha, over 1 - x."""
    given = doubles("_dirichlet_grad", x=x, alpha=alpha, total=total)
    with np.errstate(all="ignore"):
        return wrap(np.asarray(pathwise.beta_path(*[t.array for t in given])).astype(given[0].array.dtype))


def doubles(function: str, **given: Any) -> list[Any]:
    found = [tensor(value, function, name, i) for i, (name, value) in enumerate(given.items(), 1)]
    dtype = found[0].array.dtype
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{names.SCALAR[dtype.name]}'")
    return found
