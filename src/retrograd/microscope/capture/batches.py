"""Where the samples of a batch are in what a function computes.

N batch, T tokens.  A use has a layout, from where it was called, and a form, if batch_proof.py has found its samples elsewhere.
"""
from __future__ import annotations

from typing import Any

from .runs import Use

RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
# Where the batch may be instead of where the layout says, if batch_proof.py has proved it: samples one after the other, each with
# its tokens, in the first dimension; a dimension of its own; tokens one after the other, each with all samples.
FORMS = ("blocks", 1, "rows", 0)


def leading(use: Use, lead: tuple[int, ...]) -> Any:
    """The axis of the batch among `lead` dimensions, "rows" for tokens x batch in one, "blocks" for batch x tokens.

    None when there is none.
    """
    N = use.run.size
    if N is None or not use.apart:
        return None
    layout = use.layout if use.form is None else use.form
    if N == 1 and use.layout != "packed" and lead:
        return "blocks"                         # everything is the one sample's
    if layout == "packed":
        return None
    if layout == "blocks":
        return "blocks" if lead and lead[0] % N == 0 else None
    if layout == "rows":                        # inside attention: (T, B, ...) or (T * B, ...)
        if len(lead) == 1:
            return "rows" if N and lead[0] % N == 0 else None
        layout = 1
    elif layout == "recurrent":                 # inside RNNs: (T, B, ...), one step (B, ...)
        layout = 1 if len(lead) > 1 else 0
    if len(lead) > layout and lead[layout] == N:
        return layout
    return None


def batch_axis(use: Use, shape: tuple[int, ...]) -> Any:
    """The axis of the batch in an output of no particular form, features included; "rows" for tokens x batch in the first.

    It is N long, or a multiple of that in form "blocks".  None when there is none.
    """
    N = use.run.size if use.apart else None
    axis = use.layout if use.form is None else use.form
    if axis == "blocks":
        return 0 if N and shape and shape[0] % N == 0 else None
    if use.form == "rows":
        return "rows" if N and shape and shape[0] % N == 0 else None
    if axis == "rows":                          # (T, B, E); in (T * B, E) it is not an axis
        axis = 1 if len(shape) > 2 else None
    elif axis == "recurrent":
        axis = 1 if len(shape) > 2 else 0
    elif axis == "packed":
        axis = None
    return axis if axis is not None and N is not None and len(shape) > axis and shape[axis] == N else None


def samples_first(use: Use, t: Any, keep: int) -> Any:
    """t (*lead, *features), `keep` feature dims -> (N, T, *features); None when the batch is not among lead."""
    lead = tuple(t.shape[:t.ndim - keep])
    features = tuple(t.shape[t.ndim - keep:])
    axis = leading(use, lead)
    if axis is None:
        return None
    N = use.run.size
    if axis == "rows":
        return t.reshape(-1, N, *features).transpose(0, 1)
    if axis != 0 and axis != "blocks":
        t = t.movedim(axis, 0)
    return t.reshape(N, -1, *features)


def along(t: Any, axis: Any, N: int) -> Any:
    """t with the samples along the axis of batch_axis -> (N, tokens, everything else), a view where that can be."""
    if axis == "rows":
        return t.reshape(-1, N, *t.shape[1:]).transpose(0, 1)
    t = t.movedim(axis, 0)
    return t.reshape(N, -1, *t.shape[1:])


def no_batch(use: Use, shape: tuple[int, ...]) -> str:
    """Why the samples of a use cannot be told apart."""
    N = use.run.size
    if N is None:
        return ("the batch size is unknown: call the captured model itself, with inputs that have dimension batch_dim, or "
                "give capture(batch_size=...)")
    if use.layout == "packed" or (use.name in RECURRENT and packed(use.meta[0])):
        return "a PackedSequence has its samples in another order. Pad it with pad_packed_sequence"
    if use.why:
        return use.why
    if use.mixes:
        return (f"what {use.name} computes for one sample depends on others, or the rows of its output {tuple(shape)} "
                "are not the samples (batch_dim=?)")
    if not shape:
        return (f"it is in one number of the whole batch ({use.name}), as of a penalty on weights, which has no samples. Call "
                "backward() on that alone, outside the capture block")
    return (f"the output {tuple(shape)} of {use.name} has no batch of {N} where it was expected: in dimension 0, or the one that "
            "capture(batch_dim=...) names" + (
                "; a sample without a batch gets one by x.unsqueeze(0)" if len(shape) == 1 else "") + (
                "" if use.run.verified else ". It was not looked for elsewhere: see capture(verify=...)"))


def packed(args: Any) -> bool:
    """Does a recurrent function run over a PackedSequence?  Then its second argument is batch_sizes."""
    return hasattr(args[1], "is_floating_point") and not args[1].is_floating_point()
