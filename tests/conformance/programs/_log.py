"""What the programs share: `t` makes a tensor that requires grad, `T` runs a call and logs how it ended."""

import warnings

import torch


def T(label, fn, *args, **kwargs):
    """Log the result or the exception of fn(*args, **kwargs), then its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = fn(*args, **kwargs)
            print(f"[{label}] -> {'ok/None' if result is None else repr(result)}")
        except BaseException as e:
            text = str(e).replace("\n", "\n    | ")  # so that lines of the text are told from lines of the program
            print(f"[{label}] !! {type(e).__module__}.{type(e).__name__}: {text}")
    for w in seen:
        print(f"    warn {w.category.__name__}: {w.message}")


def t(values, rg=True, **kwargs):
    return torch.tensor(values, requires_grad=rg, **kwargs)


def P(*values):
    for v in values:
        print(repr(v))


def case(fn):
    """Run a case where it is defined, and log what it returns under its name."""
    T(fn.__name__.replace("_", " "), fn)
    return fn
