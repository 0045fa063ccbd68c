"""The table of operations, by family; `table` says what a row is.  `OPS` holds them all."""

from .activations import ACTIVATIONS
from .arithmetic import ARITHMETIC, COMPARISONS
from .functional import FUNCTIONAL
from .gathering import GATHERING, ORDERS
from .latest import LATEST
from .layers import LAYERS
from .losses import LOSSES
from .masked import MASKED
from .matrices import LINALG
from .more import MORE
from .pointwise import POINTWISE
from .products import PRODUCTS
from .rare import RARE
from .reductions import REDUCTIONS
from .shapes import SHAPES
from .special import SPECIAL
from .table import Make, Op, S, exact, f64, flatten, is_float, mapped, reference, result_dtypes
from .view_copies import COPIES

__all__ = ["OPS", "Make", "Op", "S", "exact", "f64", "flatten", "is_float", "mapped", "reference", "result_dtypes"]

for _op in LINALG + SPECIAL:
    _op.checks = True                                       # of matrices without inverse, or not finite
for _op in REDUCTIONS:
    _op.picks = _op.name.startswith(("max", "min", "amax", "amin", "median", "cummax", "cummin"))

OPS: list[Op] = ARITHMETIC + COMPARISONS + POINTWISE + REDUCTIONS + SHAPES + PRODUCTS + FUNCTIONAL
OPS += ACTIVATIONS + GATHERING + ORDERS + MORE + LOSSES + LAYERS + RARE + SPECIAL + LATEST + COPIES + MASKED + LINALG
