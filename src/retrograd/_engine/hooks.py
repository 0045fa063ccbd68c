"""Hooks of tensors and nodes: where they sit and how they fire.

Per node, in this order: hooks of its outputs' tensors, retain_grad, prehooks, the node, [leaf: accumulate, post-
accumulate hooks], posthooks.  Each table is copied when its turn comes, so a hook may add and remove hooks.
"""
from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any, Final, Optional

from . import names
from .modes import grad_on, modes
from .node import NONE, Node, NodeHooks, Value
from .tensor import Kept, TensorBase, public, sink_of, type_name, wrap

refs: Final[Any] = sys.getrefcount
values: Final[Any] = dict.values        # OrderedDict.move_to_end does not change the order of firing
given: Final[dict[int, Any]] = {}       # id of an array that the caller passed as gradient -> the caller's tensor


def lift(g: Value) -> Any:
    """A gradient as a hook sees it."""
    if g is None or isinstance(g, TensorBase):
        return g
    if given:
        t = given.get(id(g))
        if t is not None and t.array is g:
            return t
    return wrap(g)


def lower(t: Any, graph: bool) -> Value:
    """... and back, as the pass carries it."""
    if t is None or graph:
        return t
    return t.array


def name_of(hook: Any) -> str:
    found: Any = getattr(hook, "__name__", "<unknown>")
    return str(found)


def check_result(hook: Any, had: Any, got: Any) -> None:
    """PyTorch's errors for what a hook may not return."""
    if had is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(got, TensorBase):
        raise TypeError(f"expected Variable, but hook returned '{type_name(got)}'")
    if got.array.dtype != had.array.dtype:
        raise RuntimeError(
            f"hook '{name_of(hook)}' has changed the type of value (was {type_of(had)} got {type_of(got)})")
    if got.array.shape != had.array.shape:
        raise RuntimeError(f"hook '{name_of(hook)}' has changed the size of value")


def type_of(t: Any) -> str:
    """The type of a tensor as this one error spells it."""
    return names.SHOWN[t.array.dtype.name]


def fire_single(hooks: NodeHooks, g: Value, plain: bool, graph: bool, shared: bool) -> tuple[Value, bool]:
    """fire_tensor_hooks for a node with one output -> its gradient, and whether somebody else may see it.

    plain: the gradient is an array, to be shown as an ordinary tensor.  One that no hook kept (counting references
    before and after) may still become a leaf's .grad without a copy.
    """
    if modes.outs is not None and modes.outs.mine():
        told: tuple[Value, bool] = modes.outs.tensor(hooks, g, plain, graph, shared)
        return told
    for _, table in hooks.tensor:
        if not table:
            continue
        before = 0 if shared else refs(g)
        value: Any
        if plain and g is not None and not given:
            shown: TensorBase = public.new(public.tensor)
            shown.array = g
            value = shown
        else:
            value = lift(g)
        replaced = False
        for hook in list(values(table)):
            got = hook(value)
            if got is not None:
                check_result(hook, value, got)
                value = got
                replaced = True
        if replaced:
            g = lower(value, graph)
            shared = True
        elif not shared:
            value = None
            shared = refs(g) != before
    if hooks.retain:
        keep_retained(hooks, [g], graph)
    return g, shared


def fire_tensor_hooks(node: Node, gs: list[Value], graph: bool) -> None:
    """Let the hooks of the node's output tensors, then retain_grad, see and replace gs in place."""
    hooks = node._hooks
    if hooks is None:
        return
    if modes.outs is not None and modes.outs.mine():
        modes.outs.several(node, gs, graph)
        return
    for nr, table in list(hooks.tensor):
        if not table:
            continue
        value = lift(gs[nr])
        for hook in list(values(table)):
            got = hook(value)
            if got is not None:
                check_result(hook, value, got)
                value = got
        gs[nr] = lower(value, graph)
    if hooks.retain:
        keep_retained(hooks, gs, graph)


def keep_retained(hooks: NodeHooks, gs: list[Value], graph: bool) -> None:
    for nr, kept in list(hooks.retain.items()):
        value = lift(gs[nr])
        if value is not None:
            kept.grad = retained(kept.grad, value, graph)


def keep_shape(t: TensorBase) -> None:
    """.data is about to give t another shape: its node goes on with gradients of this one."""
    if t.fn is not None and t.origin is None:
        hooks = t.fn.own_hooks()
        if hooks.shapes is NONE:
            hooks.shapes = {}
        hooks.shapes.setdefault(t.nr, t.array.shape)


def of_shape(hooks: NodeHooks, nr: int, g: Value) -> Value:
    """A gradient in the shape that keep_shape noted."""
    to: Any = hooks.shapes.get(nr)
    if g is None or to is None:
        return g
    have: Any = g.array.shape if isinstance(g, TensorBase) else g.shape
    n = len(have) - len(to)
    for i in range(len(to)):
        if n < 0 or (to[i] != have[i + n] and to[i] != 1):
            raise RuntimeError(f"Function returned an invalid gradient - got {list(have)} but expected shape compatible with "
                               f"{list(to)}, the shape of the output before .data gave it another")
    return op.fit(g, to, g.array.dtype if isinstance(g, TensorBase) else g.dtype)


def retained(had: Any, value: Any, graph: bool) -> Any:
    if had is not None:
        return had + value
    return create.clone(value) if graph else wrap(value.array.copy())


def fire_node_hooks(table: dict[int, Any], gs: list[Value], seen: Optional[list[Value]], graph: bool) -> list[Value]:
    """Prehooks (of gs) or posthooks (of gs, having seen `seen`)."""
    if modes.outs is not None and modes.outs.mine():
        told: list[Value] = modes.outs.node(table, gs, seen, graph)
        return told
    now: Any = tuple([lift(g) for g in gs])
    other: Any = None if seen is None else tuple([lift(v) for v in seen])
    for hook in list(values(table)):
        got: Any = hook(now) if other is None else hook(now, other)
        if got is None:
            continue
        if not isinstance(got, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type_name(got)}'")
        if len(got) != len(now):
            raise RuntimeError(
                f"hook '{name_of(hook)}' has returned an incorrect number of values (got {len(got)}, but expected "
                f"{len(now)})")
        for i in range(len(now)):
            if got[i] is not None and got[i] is not now[i]:
                check_result(hook, now[i], got[i])
        now = got
    return [lower(v, graph) for v in now]


def register_tensor_hook(t: TensorBase, hook: Any) -> Any:
    if not t.listeners:                         # a stale view's table stays with the dead node, as in PyTorch
        to = op.edge(t)
        if t.listeners is None:
            t.listeners = OrderedDict()
        if to is not None:                      # None: a view made under no_grad of what wants a gradient, which gets none
            tie(to, t.nr, t.listeners)
    return public.register(t.listeners, hook, "tensor", t)


def replace_tensor_hooks(t: TensorBase, table: Any) -> None:
    """Make `table` (or None) the hooks of t."""
    to = op.edge(t)
    if to is not None:
        if t.listeners is not None and to._hooks is not None:
            to._hooks.tensor = [pair for pair in to._hooks.tensor if pair[1] is not t.listeners]
        if table is not None:
            tie(to, t.nr, table)
    t.listeners = table


def tie(node: Node, nr: int, table: Any) -> None:
    hooks = node.own_hooks()
    for _, known in hooks.tensor:
        if known is table:
            return
    hooks.tensor.append((nr, table))


def register_post_accumulate(t: TensorBase, hook: Any) -> Any:
    if t.fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    sink = sink_of(t)
    if sink.after is None:
        modes.light = False                     # NOTE [Nodes and the cyclic garbage collector] in op.py
        sink.after = OrderedDict()
    return public.register(sink.after, hook, "post_accumulate", t)


def register_pre(node: Node, hook: Any) -> Any:
    hooks = node.own_hooks()
    if not isinstance(hooks.pre, OrderedDict):
        hooks.pre = OrderedDict()
    return public.register(hooks.pre, hook, "node_pre", node)


def register_post(node: Node, hook: Any) -> Any:
    hooks = node.own_hooks()
    if not isinstance(hooks.post, OrderedDict):
        hooks.post = OrderedDict()
    return public.register(hooks.post, hook, "node_post", node)


def call(node: Node, args: Any) -> Any:
    """node(*grads): its rule, outside any pass."""
    if len(args) != node._outputs:
        raise TypeError(f"expected {node._outputs} arguments, got {len(args)} instead")
    for i in range(len(args)):
        if args[i] is not None and not isinstance(args[i], TensorBase):
            raise TypeError(f"argument {i} is not a Variable")
    graph = grad_on()
    outs = [lift(g) for g in node.backward([lower(a, graph) for a in args], graph)]
    return outs[0] if len(outs) == 1 else tuple(outs)


def retain(t: TensorBase) -> None:
    """retain_grad() of a non-leaf."""
    to = op.edge(t)
    if t.kept is None:
        t.kept = Kept()
    if to is not None and not t.kept.on:
        t.kept.on = True
        own_retain(to)[t.nr] = t.kept


def move_retained(t: TensorBase, was: Optional[Node]) -> None:
    """After an in-place edit: hooks stay with the old node, retain_grad follows the tensor."""
    t.listeners = None
    sink = t.sink
    if was is None and sink is not None and sink.grad is not None and t.kept is None:
        t.kept = Kept()                         # which was assigned to a tensor without history
        t.kept.grad = sink.grad
    kept = t.kept
    if kept is None or not kept.on or was is None or was._hooks is None or t.fn is None:
        return
    table = was._hooks.retain
    for nr in [n for n, k in table.items() if k is kept]:
        del table[nr]
    own_retain(t.fn)[t.nr] = kept


def own_retain(node: Node) -> dict[int, Any]:
    hooks = node.own_hooks()
    if hooks.retain is NONE:
        hooks.retain = {}
    return hooks.retain


from .._rules import create  # noqa: E402
from . import op  # noqa: E402
