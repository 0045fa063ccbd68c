"""A graph of the functions of torch that one run of a program calls, with the values of that run.

Unlike symbolic_trace it follows every program, and fixes what the program decides by values or, where sizes are fixed, by sizes.
"""
from __future__ import annotations

import gc
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from retrograd._functions.autocast import is_autocast_enabled
from retrograd._tensor import Tensor, dtypes
from retrograd._tensor.size import Size
from retrograd.autograd import backward, grad
from retrograd.autograd.grad_mode import is_grad_enabled
from retrograd.fx._files import OPERATORS, unpacked
from retrograd.fx._naming import torch
from retrograd.fx.graph import Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.node import Node, map_aggregate
from retrograd.overrides import TorchFunctionMode, resolve_name
from retrograd.random import Generator
from retrograd.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

ASKED = frozenset("""shape ndim dtype device layout requires_grad grad grad_fn is_leaf is_cpu is_cuda is_meta is_mps is_sparse
    is_quantized is_xpu is_nested itemsize nbytes names output_nr retains_grad _version""".split())
VALUES = frozenset("""item tolist numpy __bool__ __int__ __float__ __index__ __complex__ __array__ __contains__ is_nonzero equal
    allclose data_ptr untyped_storage storage __dlpack__ __repr__ __format__ __str__""".split())

COUNTED = frozenset("""masked_select nonzero argwhere unique _unique2 unique_consecutive unique_dim bincount repeat_interleave
    combinations""".split())
SHAPES = frozenset("shape size numel nelement __len__ __iter__ unbind split chunk tensor_split stride nbytes".split())

DERIVATIVES = (grad, backward, Tensor.backward)


class Refused(RuntimeError):
    """The program does something that a graph cannot repeat."""


class Computed:
    """A number that the graph computes."""

    make: Callable[[], Node]
    asked: Callable[[str], None]
    made: Node | None = None

    @property
    def node(self) -> Node:
        """Its node, which is made when somebody asks."""
        if self.made is None:
            self.made = self.make()
        return self.made

    def step(self, function: Callable[[Any, Any], Any], pair: tuple[Any, Any]) -> Callable[[], Node]:
        """What makes the node of function(*pair)."""
        return lambda: self.node.graph.call_function(function, tuple(x.node if isinstance(x, Computed) else x for x in pair))


class Number(Computed, int):
    """A size; only what is done with it by +, -, *, // and % stays in the graph.

    asked  is called when the program makes something else of it
    """

    @classmethod
    def of(cls, value: int, make: Callable[[], Node], asked: Callable[[str], None]) -> Number:
        made = cls(value)
        made.make, made.asked = make, asked
        return made

    def combined(self, function: Callable[[int, int], int], other: Any, turned: bool = False) -> Any:
        if not isinstance(other, int) or isinstance(other, bool):
            return NotImplemented
        pair = (other, self) if turned else (self, other)
        return Number.of(function(int(pair[0]), int(pair[1])), self.step(function, pair), self.asked)


class Item(Computed):
    """An element of a tensor.  No number, as in PyTorch: it refuses to be made one, and with numbers it makes Items."""

    def __init__(self, value: Any, make: Callable[[], Node], asked: Callable[[str], None]) -> None:
        self.value, self.make, self.asked = value, make, asked

    def combined(self, function: Callable[[Any, Any], Any], other: Any, turned: bool = False) -> Any:
        if not isinstance(other, (int, float, Item)):
            return NotImplemented
        pair: tuple[Any, Any] = (other, self) if turned else (self, other)
        return Item(function(*plain(pair)), self.step(function, pair), self.asked)

    def refuse(self, *args: Any) -> NoReturn:
        self.asked("item")
        raise AssertionError("an item was read")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = refuse
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __abs__ = __hash__ = __format__ = refuse

    def __neg__(self) -> Any:
        return self.combined(operator.mul, -1)


def _arithmetic(function: Callable[[Any, Any], Any], turned: bool = False) -> Any:
    return lambda self, other: self.combined(function, other, turned)


def _value(name: str, as_what: str) -> Any:
    """int's method, which makes of a size what the graph does not compute."""
    method = getattr(int, name)

    def asked(self: Number, *args: Any) -> Any:
        if as_what != "compare" or sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] != "retrograd":
            self.asked(as_what)                 # our own layers compare sizes to check them
        return method(self, *args)
    return asked


for _name in ("truediv", "rtruediv", "pow", "rpow", "neg", "float"):
    setattr(Number, f"__{_name}__", _value(f"__{_name}__", "__float__"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Number, f"__{_name}__", _value(f"__{_name}__", "compare"))
Number.__hash__ = int.__hash__  # type: ignore[method-assign]  # which __eq__ took
for _name in ("add", "mul", "sub", "floordiv", "mod", "truediv", "pow"):
    for _kind in (Number, Item) if _name not in ("truediv", "pow") else (Item,):
        setattr(_kind, f"__{_name}__", _arithmetic(getattr(operator, _name)))
        setattr(_kind, f"__r{_name}__", _arithmetic(getattr(operator, _name), True))


def plain(a: Any) -> Any:
    """a, its Numbers as ints."""
    if isinstance(a, Size):
        return Size([int(n) for n in a])
    if isinstance(a, tuple):
        return type(a)(*map(plain, a)) if hasattr(a, "_fields") else tuple(map(plain, a))
    if isinstance(a, list):
        return [plain(x) for x in a]
    if isinstance(a, dict):
        return {k: plain(x) for k, x in a.items()}
    if isinstance(a, slice):
        return slice(plain(a.start), plain(a.stop), plain(a.step))
    return int(a) if isinstance(a, Number) else a.value if isinstance(a, Item) else a


def modes() -> tuple[bool, bool]:
    """What a graph does not repeat: are gradients recorded, and does autocast choose dtypes?"""
    return is_grad_enabled(), is_autocast_enabled("cpu")


def alive() -> dict[int, Tensor]:
    """Every tensor that there is, by its id.  The search takes longer the more objects there are, tensors or not."""
    return {id(x): x for x in gc.get_objects() if issubclass(type(x), Tensor)}


class Recorder(TorchFunctionMode):
    """Within it, calls of torch's functions become nodes of `graph`.

    attributes  what the graph may refer to by a path: parameters, buffers
    sizes       are sizes computed by the graph?  Else they are fixed.
    read        called with a function's name when the program reads a value of the graph's: raises, warns or does nothing
    constant    names tensors from elsewhere, which become attributes
    elements    does the graph compute what item() gives?
    there       the tensors that the program may take from elsewhere: those that are there now, unless given
    """

    whole_layers = True                         # recurrent ones are one step, whatever the length of a sequence

    def __init__(self, attributes: dict[str, Tensor], sizes: bool, read: Callable[[str], None],
                 constant: str = "_tensor_constant", elements: bool = False, there: dict[int, Tensor] | None = None) -> None:
        self.graph = Graph()
        self.sizes, self.read, self.constant, self.elements = sizes, read, constant, elements
        self.branches: dict[str, GraphModule] = {}      # of cond
        self.attributes = dict(attributes)
        self.paths = {id(t): path for path, t in reversed(attributes.items())}
        self.nodes: dict[int, Node] = {}
        self.kept: list[Any] = []               # an id is of one tensor while the graph is made
        self.there = alive() if there is None else there
        self.mode = modes()
        self.counted: set[int] = set()          # ids of tensors whose sizes depend on values

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Calls become nodes here, too."""
        super().__enter__()
        try:
            yield
        finally:
            self.__exit__(None, None, None)

    def known(self, x: Tensor, node: Node) -> Tensor:
        node.meta["val"] = x.detach().to("meta") if not x.is_meta else x
        self.nodes[id(x)] = node
        self.kept.append(x)
        return x

    def placeholder(self, name: str, x: Any) -> Node:
        """An input."""
        node = self.graph.placeholder(name)
        if isinstance(x, Tensor):
            self.known(x, node)
        return node

    def node_of(self, x: Tensor) -> Node:
        """The node of a tensor that the program uses."""
        found = self.nodes.get(id(x))
        if found is not None:
            return found
        path = self.paths.get(id(x))
        if path is None:
            if id(x) not in self.there:
                made = "" if x.grad_fn is None else f", {x.grad_fn.name()}"
                raise Refused(
                    f"a tensor of shape {tuple(x.shape)}{made} comes from something that is no function of torch, as those of "
                    "torch.autograd.Function and torch.func do: it cannot be in the graph")
            path = f"{self.constant}{sum(name.startswith(self.constant) for name in self.attributes)}"
            self.attributes[path] = x
        node = self.graph.get_attr(path)
        self.known(x, node)
        return node

    def argument(self, a: Any) -> Any:
        """a as an argument of a node."""
        if isinstance(a, Size):
            a = tuple(a)
        return map_aggregate(a, self.leaf)

    def leaf(self, x: Any) -> Any:
        if isinstance(x, Tensor):
            return self.node_of(x)
        if isinstance(x, Computed):
            return x.node
        if isinstance(x, Generator) or callable(x) and not isinstance(x, type):
            advice = "torch.where or torch.cond in place of loops by value" if callable(x) else "the default generator"
            raise Refused(f"the program passes {x!r} to a function of torch, which a graph cannot hold; use {advice}")
        return x

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        path = resolve_name(func) or ""
        *above, name = path.split(".")
        if name == "__get__":
            name = above.pop()
            above += ["__get__"]
        if func in DERIVATIVES:
            raise Refused("the program takes a derivative, which no node can stand for")
        plain_args, plain_kwargs = plain(args), plain(kwargs)
        if path == "torch.cond":
            return self.cond(*args, **kwargs)
        if path == "torch.while_loop":
            return self.loop(*args, **kwargs)
        if name == "item" and self.elements and id(args[0]) in self.nodes:
            x = args[0]
            return Item(func(x), lambda: self.graph.call_method("item", (self.node_of(x),)), self.read)
        if name in VALUES and above[-1:] == ["Tensor"] or name in ("equal", "allclose", "is_nonzero"):
            if any(isinstance(x, Tensor) and id(x) in self.nodes for x in tree_leaves((args, kwargs))):
                self.read(name)
            return func(*plain_args, **plain_kwargs)
        if name in SHAPES and args and id(args[0]) in self.counted:
            self.read("size")
        result = func(*plain_args, **plain_kwargs)
        if self.counts(name, args, kwargs):
            self.counted.update(id(x) for x in tree_leaves(result) if isinstance(x, Tensor) and x.ndim)
        if name != "__setitem__" and not any(isinstance(x, Tensor) for x in tree_leaves(result)):
            return self.size(name, args, result) if self.sizes else result
        if modes() != self.mode:                # not before: the end of a block is a call, too
            self.read("mode")
        if above[-1:] == ["__get__"]:
            if name in ASKED:
                return result
            node = self.graph.call_function(getattr, self.argument((args[0], name)))
        elif name in ("__getitem__", "__setitem__"):
            node = self.graph.call_function(getattr(operator, name.strip("_")), self.argument(args), self.argument(kwargs))
        elif above[-1:] == ["Tensor"] and name.startswith("__"):
            node = self.operator(name.strip("_"), args)
        elif above[-1:] == ["Tensor"]:
            node = self.graph.call_method(name, self.argument(args), self.argument(kwargs))
        else:
            node = self.graph.call_function(func, self.argument(args), self.argument(kwargs))
        self.results(node, result)
        return result

    def operator(self, name: str, args: tuple[Any, ...]) -> Node:
        """A call of Tensor.__name__, as what Python's operator calls."""
        if name[0] == "r" and not hasattr(operator, name):
            name, args = name[1:], args[::-1]
        for own in (name, f"{name}_"):
            if own in OPERATORS:
                return self.graph.call_function(getattr(operator, own), self.argument(args))
        raise Refused(f"the program calls Tensor.__{name}__, which no node can stand for")

    def counts(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Do sizes of a call's result depend on values?"""
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        if any(id(x) in self.counted for x in given):
            return True
        found: list[Any] = []
        map_aggregate((args, kwargs), found.append)
        if (name == "__getitem__" or name.strip("_") not in OPERATORS) and any(
                isinstance(x, Item) and isinstance(x.value, int) for x in found):
            return True
        if name == "__getitem__":
            return any(x.dtype is dtypes.bool for x in tree_leaves(args[1]) if isinstance(x, Tensor))
        return (name in COUNTED or name == "where" and len(given) == 1) and any(id(x) in self.nodes for x in given)

    def results(self, node: Node, result: Any) -> None:
        """The tensors of a call's result are the node's."""
        if isinstance(result, Tensor):
            self.known(result, node)
        elif isinstance(result, (tuple, list)):
            if self.sizes and getattr(node.target, "__name__", node.target) in ("unbind", "split"):
                node = self.graph.call_function(unpacked, (node, len(result)))
            for i, x in enumerate(result):
                if isinstance(x, Tensor):
                    self.known(x, self.graph.call_function(operator.getitem, (node, i)))

    def size(self, name: str, args: tuple[Any, ...], result: Any) -> Any:
        """A size, as the graph computes it."""
        if not args or not isinstance(args[0], Tensor):
            return result
        x = args[0]

        def dim(i: int) -> Number:
            return Number.of(int(x.array.shape[i]), lambda: self.graph.call_method("size", (self.node_of(x), i)), self.read)
        if name == "shape" or (name == "size" and isinstance(result, tuple)):
            return tuple.__new__(Size, [dim(i) for i in range(x.array.ndim)])     # Size() makes them ints
        if name == "size":
            return dim(args[1] % x.array.ndim if len(args) > 1 else 0)
        if name == "__len__":
            return result
        return Number.of(result, lambda: self.graph.call_method("numel", (self.node_of(x),)), self.read) if name in (
            "numel", "nelement") else result

    def cond(self, pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
        """The result of cond: by a value of the graph's both branches become graphs, else the one taken is part of this."""
        if not isinstance(pred, Tensor) or id(pred) not in self.nodes:
            taken = torch().cond(pred, lambda *_: true_fn, lambda *_: false_fn, operands)
            with self.listening():
                return taken(*operands)
        value = bool(pred)
        first = Branch(self, true_fn, operands, ())
        second = Branch(self, false_fn, operands, first.taken)
        first.take(second.taken[len(first.taken):])
        if first.form != second.form:
            raise Refused(
                "the branches of cond return tensors of different kinds: "
                + " and ".join(", ".join(f"{dtype} {list(shape)}" for shape, dtype in b.form[1]) for b in (first, second)))
        nodes = [self.branch("true", first), self.branch("false", second)]
        node = self.graph.call_function(torch().cond, (self.node_of(pred), *nodes, tuple(self.leaf(x) for x in first.taken)))
        results = (first if value else second).results_
        self.results(node, tuple(results))
        return tree_unflatten(results, first.form[0])

    def branch(self, name: str, made: Branch) -> Node:
        """The node of a branch's graph."""
        path = f"{name}_graph_{sum(p.startswith(name) for p in self.branches)}"
        self.branches[path] = GraphModule(dict(made.branches), made.graph)
        return self.graph.get_attr(path)

    def loop(self, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
        """The result of while_loop: its functions become graphs, which carry what they read of this one along."""
        start = tuple(carried_inputs)
        if not all(isinstance(x, Tensor) for x in start):
            raise Refused("while_loop carries something that is no tensor, which would be fixed in the graph")
        carried = [x.detach() for x in start]       # in the loop they are others than those that it starts with
        test = Branch(self, cond_fn, carried, ())
        body = Branch(self, body_fn, carried, test.taken)
        test.take(body.taken[len(test.taken):])
        if len(test.results_) != 1 or not isinstance(test.results_[0], Tensor):
            raise Refused("cond_fn of while_loop does not return a tensor of one element, so the graph would fix what it decides")
        kinds = [(tuple(x.shape), x.dtype) for x in start]
        if body.form[1] != kinds:
            raise Refused("body_fn of while_loop does not return what it takes: " + " and ".join(
                ", ".join(f"{dtype} {list(shape)}" for shape, dtype in some) for some in (body.form[1], kinds)))
        more = body.taken[len(start):]
        decides, last = test.graph.output_node(), body.graph.output_node()
        decides.args = tuple(decides.args[0])
        last.args = ((*last.args[0], *[body.nodes[id(x)] for x in more]),)
        node = self.graph.call_function(torch().while_loop, (
            self.branch("while_cond", test), self.branch("while_body", body), tuple(self.leaf(x) for x in (*start, *more))))
        results = torch().while_loop(cond_fn, body_fn, start)
        self.results(node, results)
        return results


class Branch(Recorder):
    """The graph of a branch of cond, run with operands.

    taken   what it takes: the operands' tensors, and what else it reads of the graph around
    """

    def __init__(self, around: Recorder, function: Callable[..., Any], operands: Any, more: Any) -> None:
        super().__init__({}, around.sizes, around.read, around.constant, around.elements, around.there)
        self.around = around
        self.taken: list[Any] = []
        self.take([x for x in [*tree_leaves(operands), *more] if isinstance(x, (Tensor, Computed))])
        with self.listening():
            result = function(*operands)
        self.results_, spec = tree_flatten(result)
        self.graph.output(tuple(self.argument(x) for x in self.results_))
        self.form = spec, [(tuple(x.shape), x.dtype) if isinstance(x, Tensor) else ((), type(x)) for x in self.results_]

    def take(self, values: Any) -> None:
        """These come from the graph around."""
        for x in values:
            if not any(x is y for y in self.taken):
                after = [n for n in self.graph.nodes if n.op != "placeholder"]
                with self.graph.inserting_before(after[0]) if after else nullcontext():
                    node = self.graph.placeholder(f"arg{len(self.taken)}_1")
                self.taken.append(x)
                if isinstance(x, Tensor):
                    self.known(x, node)

    def node_of(self, x: Tensor) -> Node:
        if id(x) not in self.nodes:
            self.around.node_of(x)              # refuses what no graph can have
            self.take([x])
        return self.nodes[id(x)]
