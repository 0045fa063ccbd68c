"""Graphs that programs change: nodes, GraphModule, Interpreter, Transformer, replace_pattern, passes, and what errors say."""
import copy
import operator
import pickle

import torch
import torch.fx
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module

from _log import P, T, case


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 8), nn.Linear(8, 2)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x)))) + 1


@fx.wrap
def leaf(x, n):
    return x * n if n > 0 else x


fx.wrap("len")
torch.manual_seed(0)
model = MLP().eval()
x = torch.arange(8.0).reshape(2, 4) / 8


@case
def control_flow():
    for f in (lambda x: x if x.sum() > 0 else -x, lambda x: [y for y in x], lambda x: range(x), lambda x: x[torch.no_grad()],
              lambda *x: x[0] + 1, lambda x: torch.add(*x), lambda x: {x: 1}, lambda x: bool(x), lambda x: int(x)):
        T("1", lambda: P(fx.symbolic_trace(f).code))


@case
def wrapped_functions():
    g = fx.symbolic_trace(lambda x: leaf(x, 3) + len(x) + leaf(torch.ones(2), 2))
    P(g.code, g(x[0][:2]))
    T("2", lambda: fx.wrap(3))
    T("3", lambda: fx.wrap("leaf"))


@case
def a_graph_by_hand():
    g = fx.Graph()
    a, b = g.placeholder("a"), g.placeholder("b", default_value=2)
    c = g.call_function(torch.add, (a, b))
    d = g.call_method("relu", (c,))
    e = g.create_node("call_function", operator.mul, (d, 2), name="twice")
    g.output(e)
    g.lint()
    P(g, len(g.nodes), g.output_node(), g.find_nodes(op="call_function", target=torch.add), c.users, e.all_input_nodes)
    P(c < d, d < c, c.next, c.prev, list(reversed(g.nodes)), e.args, e.kwargs)
    m = fx.GraphModule({}, g)
    P(m(x[0], 1), m.code)
    T("4", lambda: g.erase_node(d))
    with g.inserting_after(c):
        new = g.call_function(torch.neg, (c,))
    d.replace_input_with(c, new)
    P(g)
    e.replace_all_uses_with(d)
    g.erase_node(e)
    m.recompile()
    P(m.code, m(x[0]), e in g.nodes)
    with g.inserting_before(new):
        g.call_function(torch.cos, (c,))
    P(m.graph.eliminate_dead_code(), g)
    c.update_arg(1, 5), c.update_kwarg("alpha", 2)
    P(c.args, c.kwargs, c.format_node(), b.users)
    new.prepend(g.call_function(torch.sin, (a,)))
    T("5", lambda: c.args[0].append(3)), T("6", lambda: g.call_function(torch.cat, ([a, b],)).args[0].append(a))
    T("7", lambda: g.call_module(3)), T("8", lambda: g.call_function("add"))
    with g.inserting_before(c):
        g.call_function(torch.neg, (d,))
    T("9", g.lint)
    T("10", lambda: fx.GraphModule({}, fx.symbolic_trace(model).graph))


@case
def copies_and_pickles():
    g = fx.symbolic_trace(model)
    for other in (copy.deepcopy(g), pickle.loads(pickle.dumps(g)), copy.copy(g)):
        P(torch.equal(other(x), g(x)), other.code == g.code, type(other).__name__, other.training, [n for n, _ in other.named_children()])
    P(copy.deepcopy(g).fc1 is g.fc1, copy.copy(g).fc1 is g.fc1, copy.deepcopy(g.graph).owning_module)


@case
def concrete_arguments():
    def f(x, flag, scale=2.0, *, more=None):
        if flag:
            return x * scale
        return x if more is None else x + more

    def g(d, y):
        return {"sum": d["a"] + d["b"][0], "y": y}

    traced = fx.symbolic_trace(f, concrete_args={"flag": True, "more": None})
    P(traced.code, traced(x[0], True))
    T("11", lambda: traced(x[0], False))
    traced = fx.symbolic_trace(g, concrete_args={"d": {"a": fx.PH, "b": [fx.PH]}})
    P(traced.code, traced({"a": x[0], "b": [x[1]]}, 3))
    T("12", lambda: fx.symbolic_trace(f, concrete_args=(1,)))


@case
def interpreters():
    class Log(fx.Interpreter):
        def run_node(self, n):
            out = super().run_node(n)
            P(n.op, n.name, tuple(out.shape) if isinstance(out, torch.Tensor) else out)
            return out

        def call_function(self, target, args, kwargs):
            return super().call_function(torch.sigmoid if target is torch.relu else target, args, kwargs)

    g = fx.symbolic_trace(model)
    P(Log(g).run(x))
    T("13", lambda: fx.Interpreter(g).run(x[:, :3]))
    T("14", lambda: fx.Interpreter(g).run())
    P(fx.Interpreter(g).boxed_run([x]))
    T("15", lambda: fx.Interpreter(g).boxed_run([]))


@case
def transformers():
    class Swap(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.tanh if target is torch.relu else target, args, kwargs)

        def call_module(self, target, args, kwargs):
            return args[0] if "drop" in target else super().call_module(target, args, kwargs)

    P(Swap(fx.symbolic_trace(model)).transform().code)


@case
def patterns():
    def f(x, w1, w2):
        m1 = torch.cat([w1, w2]).sum()
        m2 = torch.cat([w1, w2]).sum()
        return x + torch.max(m1) + torch.max(m2)

    g = fx.symbolic_trace(f)
    found = fx.replace_pattern(g, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))
    P(len(found), g.code, [m.anchor for m in found])
    g = fx.symbolic_trace(lambda x: torch.relu(torch.relu(torch.relu(x))) + F.relu(x))
    P(len(fx.replace_pattern(g, lambda x: torch.relu(x), lambda x: torch.tanh(x))), g.code)
    g = fx.symbolic_trace(lambda x, y: (x + y) * 2 + (y + 3) * 2)
    P(len(fx.replace_pattern(g, lambda a, b: (a + b) * 2, lambda a, b: a - b)), g.code)


@case
def shapes():
    g = fx.symbolic_trace(model)
    ShapeProp(g).propagate(x)
    for n in g.graph.nodes:
        P(n.name, n.meta["tensor_meta"], n.meta["type"].__name__)
    P(g.print_readable(print_output=False))


@case
def pieces():
    g = fx.symbolic_trace(model)
    counts = iter([0, 0, 1, 1, 2, 2])
    where = {}
    split = split_module(g, model, lambda n: where.setdefault(n, next(counts)))
    P(split.code, [(n, m.code) for n, m in split.named_children()], torch.equal(split(x), g(x)))


@case
def code_changed_as_text():
    g = fx.symbolic_trace(model)
    with g.graph.on_generate_code(lambda before: lambda body: ["# here\n", *body]):
        g.recompile()
        P(g.code)
    g.recompile()
    P(g.code)


@case
def tracers():
    class Leafless(fx.Tracer):
        def is_leaf_module(self, m, name):
            return False

    class Pool(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.act = nn.Linear(4, 4), nn.GELU()

        def forward(self, x):
            return self.act(self.fc(x))

    m = Pool()
    P(Leafless().trace(m))
    P(fx.GraphModule(m, Leafless().trace(m)).code)
    P(fx.GraphModule(m, fx.Tracer(param_shapes_constant=True).trace(m)).code)
    tracer = fx.Tracer()
    g = tracer.trace(m)
    P({k: (v[0], v[1] and v[1].__name__) for k, v in tracer.node_name_to_scope.items()})
    P([n.meta.get("nn_module_stack") and list(n.meta["nn_module_stack"]) for n in g.nodes])


@case
def a_module_with_dots():
    g = fx.symbolic_trace(nn.Sequential(nn.Sequential(nn.Linear(1, 1)), nn.ReLU()))
    P(g.code, g.add_submodule("a.b", nn.ReLU()), g.delete_submodule("a.b"), g.delete_submodule("zz"))
    g.delete_all_unused_submodules()
    P([n for n, _ in g.named_modules()])


@case
def a_gradient_through_a_traced_module():
    g = fx.symbolic_trace(model)
    g(x).sum().backward()
    P(model.fc1.weight.grad is not None, model.fc1.weight is g.fc1.weight, g.fc2.bias.grad)


@case
def proxies_by_hand():
    g = fx.symbolic_trace(lambda x: x + 1)
    node = next(iter(g.graph.nodes))
    with g.graph.inserting_after(node):
        out = fx.Proxy(node).relu() * 2
    P(out, out.node.graph is g.graph, g.graph, repr(fx.Proxy(node).weight), fx.Proxy(node).tracer.__class__.__name__)
