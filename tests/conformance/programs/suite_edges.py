"""Behaviours that PyTorch's own tests of GradientEdge, nodes and their metadata check, as programs."""

import gc
import weakref

import torch
from torch.autograd import Function, backward, grad
from torch.autograd.graph import GradientEdge, get_gradient_edge

from _log import case, t


class Triple(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 3


# as: test_grad_to_node
@case
def gradients_at_edges():
    for op in (lambda x: x * 2, Triple.apply, lambda x: x):
        x = t([1.0, 2.0])
        y = op(x)
        z = y.clone()
        edge = get_gradient_edge(y)
        by_tensor, by_edge = grad(z.sum(), y, retain_graph=True), grad(z.sum(), edge)
        print("  ", by_tensor, by_edge, edge.node is y.grad_fn, edge.output_nr)
    x = t([1.0, 2.0])
    y = x * 1
    hand = GradientEdge(y.grad_fn, 0)
    return grad((y * 5).sum(), hand)


# as: test_grad_to_node_set
@case
def an_edge_outlives_set():
    x = t([1.0, 2.0])
    edge = get_gradient_edge(x)
    out = x.clone()
    with torch.no_grad():
        x.set_(torch.tensor([5.0, 6.0]))
    print("  ", grad(out.sum(), edge, retain_graph=True), x)
    return grad(out.sum(), x)


# as: test_grad_to_node_inplace
@case
def an_edge_from_before_an_edit():
    x = t([1.0, 2.0]).clone()
    edge = get_gradient_edge(x)
    x *= 2
    old, new = grad(x.sum(), (edge, x))
    return old, new


# as: test_grad_to_node_multi
@case
def several_edges():
    x, y = t([1.0, 2.0]).clone(), t([3.0, 4.0]).clone()
    out = x + 2 * y
    ex, ey = get_gradient_edge(x), get_gradient_edge(y)
    return grad(out.sum(), (ex, ey), retain_graph=True), grad(out.sum(), (ey, x, ey))


# as: test_grad_to_node_materialize
@case
def zeros_have_no_shape_at_an_edge():
    x, y = t([1.0, 2.0]).clone(), t([3.0]).clone()
    edge = get_gradient_edge(y)
    print("  ", grad(x.sum(), (x, y), allow_unused=True, materialize_grads=True, retain_graph=True))
    print("  ", grad((x.sum() + y.sum()), (x, edge), materialize_grads=True, retain_graph=True))
    grad(x.sum(), (x, edge), allow_unused=True, materialize_grads=True)


# as: test_gradient_edge_output
@case
def edges_as_roots():
    for op in (lambda x: x * 2, lambda x: x, Triple.apply):
        x = t([1.0, 2.0])
        y = op(x)
        edge = get_gradient_edge(y)
        seed = torch.tensor([1.0, 10.0])
        print("  ", grad(edge, x, grad_outputs=seed, retain_graph=True))
        backward(edge, seed, retain_graph=True)
        print("  ", x.grad)
        for call in (
            lambda: grad(edge, x, retain_graph=True),
            lambda: grad(edge, x, grad_outputs=torch.ones(3), retain_graph=True),
            lambda: backward(edge, torch.ones(3)),
            lambda: grad(edge, x, grad_outputs=torch.ones(2, dtype=torch.float64), retain_graph=True),
            lambda: grad((edge, y.sum()), x, grad_outputs=(seed, None)),
        ):
            try:
                print("  ", call())
            except Exception as e:
                print("  ", type(e).__name__, e)
    return [f.requires_grad for f in (edge.node,)]


# as: test_gradient_edge_graph_ownership
@case
def an_edge_keeps_the_graph():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    found = []
    for op in (torch.clone, Double.apply, Triple.apply):
        x = t([1.0, 2.0])
        y = op(x)
        edge = get_gradient_edge(op(y))
        alive = weakref.ref(y)
        del y
        gc.collect()
        (g,) = grad(edge, x, grad_outputs=torch.ones(2))
        found.append((g, alive() is None))
    return found


# as: test_grad_fn_badcalls
@case
def nodes_called_with_too_few_or_too_many():
    for build, args in (
        (lambda: (t([1.0]) + 3).grad_fn, (1, 2)),
        (lambda: t([1.0, 2.0]).unbind()[0].grad_fn, (torch.ones(()),)),
        (lambda: (t([1.0]) ** 2).grad_fn, ()),
        (lambda: get_gradient_edge(t([1.0])).node, ()),
        (lambda: Triple.apply(t([1.0])).grad_fn, (torch.ones(1), torch.ones(1))),
        (lambda: (t([1.0]) ** 2).grad_fn, (1.0,)),
        (lambda: (t([1.0]) ** 2).grad_fn, (None,)),
        (lambda: Triple.apply(t([1.0])).grad_fn, (torch.ones(1),)),
    ):
        try:
            print("  ", build()(*args))
        except Exception as e:
            print("  ", type(e).__name__, str(e).partition("\n")[0])


# as: test_grad_fn_input_metadata
@case
def what_a_node_knows_of_its_outputs():
    x, y = t([[1.0, 2.0], [3.0, 4.0]]), t([[1.0], [2.0]], dtype=torch.float64)
    chunks = x.chunk(2)

    class Three(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a.sum(), "text", b.double().view(-1)

        @staticmethod
        def backward(ctx, g, s, h):
            return g.expand(2, 2), None

    three = Three.apply(x, x)
    for node in (
        (x * y).grad_fn,
        chunks[0].grad_fn,
        x.sum().grad_fn,
        get_gradient_edge(x).node,
        get_gradient_edge(y).node,
        torch.var_mean(x, 0)[0].grad_fn,
        x.max(0)[0].grad_fn,
        three[0].grad_fn,
        x[:0].grad_fn,
    ):
        print("  ", node.name(), [(tuple(m.shape), m.dtype, m.device, m.is_nested_tensor) for m in node._input_metadata])
    m = (x * 2).grad_fn._input_metadata[0]
    print("  ", type(m).__name__, m.is_cpp_nested_tensor, type(m.shape).__name__)


@case
def what_a_node_knows_whose_tensor_nobody_asked():
    node = (t([1.0, 2.0]).exp() * 2).grad_fn.next_functions[0][0]
    return [m.shape for m in node._input_metadata]


# as: test_not_implemented_grad
@case
def an_op_without_a_derivative():
    a = t([3.0, 5.0])
    b = a // 2
    print("  ", b.requires_grad, b.grad_fn)
    b.sum().backward()


# as: test_autograd_node_isinstance
@case
def what_is_a_node():
    Node = torch.autograd.graph.Node
    x = t([1.0, 2.0])
    y = Triple.apply(x)
    nodes = (x * 2).grad_fn, get_gradient_edge(x).node, y.grad_fn
    print("  ", [isinstance(n, Node) for n in nodes], [issubclass(type(n), Node) for n in nodes])
    print("  ", [isinstance(n, type(nodes[2])) for n in nodes], isinstance(Triple, Node), issubclass(Triple, Node))

    class C:
        pass

    print("  ", isinstance(C(), Node), issubclass(C, Node), isinstance(None, Node), isinstance(x, Node))
    return isinstance(y.grad_fn, torch.autograd.Function), [n.name() for n in nodes]


# as: test_next_functions
@case
def edges_of_nodes():
    x, y = t([1.0]), t([2.0])
    a = x + y
    (fx, nx), (fy, ny) = a.grad_fn.next_functions
    print("  ", type(fx).__name__, fx.variable is x, nx, fy.variable is y, ny, len(fx.next_functions))
    b = a + 5
    print("  ", [f for f in b.grad_fn.next_functions if f[0] is None], b.grad_fn.next_functions[0][0] is a.grad_fn)
    chunks = torch.ones(4, requires_grad=True).mul(1).chunk(2)
    return (chunks[1] * 1).grad_fn.next_functions


# as: test_variable_traverse
@case
def a_graph_without_its_tensors():
    def run():
        x, k = t(1.0), t(2.0)
        x = x * k
        for _ in range(3):
            x = x * k
            x.tag = x  # a cycle through the tensor
        (x * 1).backward()
        return k.grad

    found = run()
    gc.collect()
    return found

