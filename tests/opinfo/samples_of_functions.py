"""PyTorch's own samples of Functions and custom operators, run on the engine that `torch` is: what comes of each, a line each.

    python tests/opinfo/samples_of_functions.py FOLDER      by PyTorch; or by `retrograd run`

FOLDER is that of PyTorch's torch/testing/_internal, whose files are run on this `torch`.
"""

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.func import grad, jacfwd, jacrev, jvp, vmap

NAMES = ("autograd_function_db", "custom_op_db")
HOME = "torch.testing._internal"


class Row:
    """What the files make of an operation, and of a sample."""

    def __init__(self, first: Any, *args: Any, **named: Any) -> None:
        self.name = self.input = first
        self.args, self.kwargs = args, {}
        vars(self).update(named)


def loaded(folder: Path, name: str) -> Any:
    """One of the files, as a module; not by its name there, since what belongs to torch is trusted to have all rules."""
    made = sys.modules[name] = sys.modules[f"{HOME}.{name}"] = types.ModuleType(name)
    code = (folder / f"{name}.py").read_text(encoding="utf-8")
    exec(compile(code, f"{name}.py", "exec"), made.__dict__)
    return made


def stand_in(name: str, **names: Any) -> None:
    made = sys.modules[f"{HOME}{name}"] = types.ModuleType(f"{HOME}{name}")
    vars(made).update(names, __path__=[])


def text(x: Any) -> str:
    if isinstance(x, torch.Tensor):
        values = [round(v, 4) + 0.0 if isinstance(v, float) else v for v in x.detach().flatten().tolist()]
        return f"{str(x.dtype).rpartition('.')[2]}{tuple(x.shape)}{values}"
    return f"({', '.join(map(text, x))})" if isinstance(x, (list, tuple)) else repr(x)


def tell(label: str, f: Any) -> None:
    try:
        said = text(f())
    except Exception as error:
        said = f"{type(error).__name__}"
    print(f"{label}: {said}")


def total(out: Any) -> Any:
    if isinstance(out, (list, tuple)):
        return sum(map(total, out))
    return (out * 1.5).sin().sum() if isinstance(out, torch.Tensor) and out.is_floating_point() else 0


def sample(label: str, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], custom: bool) -> None:
    real = [i for i, x in enumerate(args) if isinstance(x, torch.Tensor) and x.is_floating_point()]
    plain = [x.detach() if isinstance(x, torch.Tensor) else x for x in args]
    floats = [plain[i] for i in real]

    def f(*xs: Any) -> Any:
        given = list(plain)
        for i, x in zip(real, xs):
            given[i] = x
        return op(*given, **kwargs)

    def summed(*xs: Any) -> Any:
        return total(f(*xs))

    every = tuple(range(len(real)))
    leaves = [x.clone().requires_grad_() for x in floats]
    batch = [torch.stack([x, x * 2, x - 1]) for x in floats]
    last = [torch.stack([x, x * 2, x - 1], -1) for x in floats]
    half = tuple(torch.full_like(x, 0.5) for x in floats)
    tell(f"{label} result", lambda: f(*[x.clone() for x in floats]))
    tell(f"{label} autograd.grad", lambda: torch.autograd.grad(summed(*leaves), leaves, allow_unused=True))
    tell(f"{label} vmap", lambda: vmap(f)(*batch))
    tell(f"{label} vmap of the last dim", lambda: vmap(f, in_dims=-1)(*last))
    tell(f"{label} vmap of one", lambda: vmap(f, in_dims=(0, *[None] * (len(real) - 1)))(batch[0], *floats[1:]))
    if custom:
        tell(f"{label} opcheck", lambda: torch.library.opcheck(
            op, args, kwargs, test_utils=("test_schema", "test_autograd_registration", "test_faketensor")))
        tell(f"{label} schema", lambda: str(op._opoverload._schema))
        return
    tell(f"{label} grad", lambda: grad(summed, every)(*floats))
    tell(f"{label} vmap of grad", lambda: vmap(grad(summed, every))(*batch))
    tell(f"{label} jvp", lambda: jvp(f, tuple(floats), half))
    tell(f"{label} jacrev", lambda: jacrev(f, every)(*floats))
    tell(f"{label} jacfwd", lambda: jacfwd(f, every)(*floats))
    tell(f"{label} grad of grad", lambda: grad(lambda x: grad(summed)(x, *floats[1:]).sum())(floats[0]))
    tell(f"{label} vmap of jvp", lambda: vmap(lambda *xs: jvp(f, xs, half))(*batch))


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    stand_in("")
    stand_in(".opinfo")
    stand_in(".opinfo.core", OpInfo=Row, SampleInput=Row)
    stand_in(".common_dtype", all_types_and=lambda *_: ())
    files = {name: loaded(folder, name) for name in NAMES}
    for name in [name for name in sys.modules if name.startswith(HOME)]:
        del sys.modules[name]                   # opcheck imports PyTorch's own
    for name, file in files.items():
        for row in getattr(file, name):
            torch.manual_seed(0)
            for i, one in enumerate(row.sample_inputs_func(row, "cpu", torch.float32, True)):
                sample(f"{row.name} {i}", row.op, (one.input, *one.args), one.kwargs, name == "custom_op_db")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
