"""torch.nn.utils.prune: hooks, parameters, buffers, gradients, state dicts, prunings on prunings, bad input."""

import copy
import io

import torch
import torch.nn.utils.prune as prune
from torch import nn

from _log import T


def layer(rows=3, columns=4):
    m = nn.Linear(columns, rows)
    with torch.no_grad():
        m.weight.copy_(torch.tensor([(-1.0) ** i * (7 * i % (rows * columns) + 1) for i in range(rows * columns)]).view(rows, columns))
        m.bias.copy_(torch.arange(1.0, rows + 1))
    return m


def state(m):
    print([(n, tuple(p.shape), p.requires_grad) for n, p in m.named_parameters()], [n for n, _ in m.named_buffers()])
    print([type(h).__name__ for h in m._forward_pre_hooks.values()], prune.is_pruned(m), list(m.state_dict()))
    print(m.weight, type(m.weight).__name__, m.weight.is_leaf, m.weight.grad_fn)


print("-- by hand")
m = layer()
print(prune.is_pruned(m), m)
print(prune.l1_unstructured(m, "weight", amount=0.3) is m, m)
state(m)
print(m.weight_mask, m.weight_orig)
y = m(torch.ones(2, 4))
print(y)
y.sum().backward()
print(m.weight_orig.grad, m.bias.grad)
optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
optimizer.step()
print(m.weight)
m(torch.ones(1, 4))
print(m.weight)
hook = next(iter(m._forward_pre_hooks.values()))
print(hook._tensor_name, hook.amount, hook.PRUNING_TYPE)
T("deepcopy", lambda: copy.deepcopy(m))
with torch.no_grad():
    m(torch.ones(1, 4))
print(m.weight)
twin = copy.deepcopy(m)
print(torch.equal(twin(torch.ones(1, 4)), m(torch.ones(1, 4))), prune.is_pruned(twin))

print("-- prunings on prunings")
prune.ln_structured(m, "weight", amount=1, n=2, dim=0)
state(m)
prune.l1_unstructured(m, "bias", amount=1)
prune.custom_from_mask(m, "weight", torch.tensor([[1, 1, 1, 0]] * 3))
prune.identity(m, "weight")
print([(type(h).__name__, h._tensor_name) for h in m._forward_pre_hooks.values()])
container = list(m._forward_pre_hooks.values())[-1]
print(len(container), [type(c).__name__ for c in container], type(container[1]).__name__, container[-1].PRUNING_TYPE)
print(m.weight_mask, m.bias_mask, m.bias)

print("-- state dicts")
saved = io.BytesIO()
torch.save(m.state_dict(), saved)
saved.seek(0)
fresh = layer()
T("into an unpruned layer", lambda: fresh.load_state_dict(m.state_dict()))
prune.identity(fresh, "weight")
prune.identity(fresh, "bias")
print(fresh.load_state_dict(torch.load(saved)))
print(torch.equal(fresh(torch.ones(1, 4)), m(torch.ones(1, 4))), fresh.weight)
m.double()
print(m.weight_mask.dtype, m.weight_orig.dtype, m.weight.dtype, m(torch.ones(1, 4, dtype=torch.float64)).dtype, m.weight.dtype)
m.float()

print("-- removed")
print(prune.remove(m, "weight"))
state(m)
print(m.bias, prune.remove(m, name="bias").bias)
state(m)
T("again", prune.remove, m, "bias")

print("-- channels")
for dim in (0, 1, -1):
    for n in (1, 2, float("inf"), -float("inf")):
        print(dim, n, prune.ln_structured(layer(), "weight", amount=0.5, n=n, dim=dim).weight_mask)
conv = nn.Conv2d(2, 3, 2)
with torch.no_grad():
    conv.weight.copy_(torch.arange(24.0).view(3, 2, 2, 2) - 9)
print(prune.ln_structured(conv, "weight", 1, 2, 0).weight_mask.sum((1, 2, 3)), conv.weight)
prune.ln_structured(conv, "weight", 1, 1, 0)
print(conv.weight_mask.sum((1, 2, 3)))
print(prune.ln_structured(layer(), "weight", 0, 2, 0).weight_mask)

print("-- at random")
torch.manual_seed(0)
for amount in (0, 5, 12, 0.0, 0.25, 1.0):
    print(amount, int(prune.random_unstructured(layer(), "weight", amount).weight_mask.sum()))
m = prune.random_unstructured(layer(), "weight", 4)
print(int(prune.random_unstructured(m, "weight", 0.5).weight_mask.sum()))
for amount, dim in ((1, 0), (2, 1), (0.5, 1), (0, 0), (3, 0)):
    mask = prune.random_structured(layer(), "weight", amount, dim).weight_mask
    print(amount, dim, sorted(mask.sum(1 - dim).tolist()))
m = prune.random_structured(layer(), "weight", 1, 0)
print(sorted(prune.random_structured(m, "weight", 1, 0).weight_mask.sum(1).tolist()))

print("-- scores")
scores = torch.arange(12.0).view(3, 4)
print(prune.l1_unstructured(layer(), "weight", 4, importance_scores=scores).weight_mask)
print(prune.ln_structured(layer(), "weight", 1, 2, 1, importance_scores=scores.flip(1)).weight_mask)

print("-- globally")
net = nn.Sequential(layer(), nn.ReLU(), layer(2, 3))
net[2].weight.data.add_(0.25)       # no ties
pairs = [(net[0], "weight"), (net[2], "weight")]
print(prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=0.4))
print(net[0].weight_mask, net[2].weight_mask, prune.is_pruned(net), prune.is_pruned(net[1]))
print([type(h).__name__ for h in net[0]._forward_pre_hooks.values()])
prune.global_unstructured(pairs, prune.L1Unstructured, amount=3)
print(net[0].weight_mask, net[2].weight_mask)
net2 = nn.Sequential(layer(), layer(4, 3))
prune.global_unstructured(
    [(net2[0], "weight"), (net2[1], "weight")], prune.L1Unstructured, {(net2[1], "weight"): torch.ones(4, 3) / 2}, amount=12)
print(net2[0].weight_mask, net2[1].weight_mask)


class EveryOther(prune.BasePruningMethod):
    """Prunes every other element."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        print("asked for", tuple(t.shape), tuple(default_mask.shape))
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


class Columns(prune.BasePruningMethod):
    """Prunes the first of the columns that are left."""

    PRUNING_TYPE = "structured"

    def __init__(self, dim):
        self.dim = dim

    def compute_mask(self, t, default_mask):
        print("asked for", tuple(t.shape))
        mask = default_mask.clone()
        mask.select(self.dim, 0).fill_(0)
        return mask


print("-- one's own")
m = layer()
print(type(EveryOther.apply(m, "weight")).__name__, m.weight_mask)
EveryOther.apply(m, "weight")
print(m.weight_mask)
EveryOther.apply(m, "bias")
print(m.bias)
print([type(Columns.apply(n, "weight", dim).__class__).__name__ for n, dim in ((layer(), 1), (layer(), 0))])
m = layer()
for _ in range(3):
    Columns.apply(m, "weight", -1)
    print(m.weight_mask)
print(EveryOther().prune(torch.arange(1.0, 7)), prune.L1Unstructured(2).prune(torch.tensor([3.0, -1.0, 2.0, 0.5])))
print(prune.L1Unstructured(1).prune(torch.tensor([3.0, -1.0, 2.0]), default_mask=torch.tensor([0.0, 1.0, 1.0])))
print(prune.L1Unstructured(1).prune(torch.tensor([3.0, -1.0, 2.0]), importance_scores=torch.tensor([0.0, 1.0, 1.0])))
x = torch.tensor([3.0, -1.0, 2.0], requires_grad=True)
y = prune.L1Unstructured(1).prune(x)
y.sum().backward()
print(y, x.grad)

print("-- hooks in order")
m = layer(2, 2)
m.register_forward_pre_hook(lambda mod, args: print("before pruning's:", mod.weight))
prune.l1_unstructured(m, "weight", 1)
m.register_forward_pre_hook(lambda mod, args: print("after pruning's:", mod.weight))
with torch.no_grad():
    m.weight_orig.mul_(2)
m(torch.ones(1, 2))

print("-- what fails")
T("amount text", prune.l1_unstructured, layer(), "weight", "1")
T("amount negative", prune.l1_unstructured, layer(), "weight", -1)
T("amount float negative", prune.RandomUnstructured, -0.5)
T("amount float", prune.random_structured, layer(), "weight", 1.5, 0)
T("amount too many", prune.l1_unstructured, layer(), "weight", 13)
T("channels too many", prune.random_structured, layer(), "weight", 5, 1)
T("one dimension", prune.ln_structured, layer(), "bias", 1, 2, 0)
T("dim", prune.ln_structured, layer(), "weight", 1, 2, 2)
T("negative dim", prune.ln_structured, layer(), "weight", 1, 2, -3)
T("no parameter", prune.identity, layer(), "weights")
T("mask", prune.custom_from_mask, layer(), "weight", torch.ones(3))
T("scores", prune.l1_unstructured, layer(), "weight", 1, torch.ones(3))
T("prune's scores", prune.L1Unstructured(1).prune, torch.ones(2), None, torch.ones(3))
T("remove", prune.remove, layer(), "weight")
T("abstract", prune.BasePruningMethod)
T("container", prune.PruningContainer, 1)
T("add", prune.PruningContainer().add_pruning_method, 1)
T("add unnamed", prune.PruningContainer().add_pruning_method, prune.L1Unstructured(1))
one, other = prune.L1Unstructured(1), prune.L1Unstructured(1)
one._tensor_name, other._tensor_name = "weight", "bias"


def added():
    try:
        prune.PruningContainer(one).add_pruning_method(other)
    except ValueError as e:
        print(str(e).split(" at 0x")[0], str(e).rpartition(". ")[2])


added()
T("globally nothing to iterate", prune.global_unstructured, 1, prune.L1Unstructured, amount=1)
T("globally scores", prune.global_unstructured, pairs, prune.L1Unstructured, [1], amount=1)
T("globally structured", lambda: prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=1))
T("globally too many", prune.global_unstructured, pairs, prune.L1Unstructured, amount=100)


class Unknown(EveryOther):
    """Of a type that nobody knows."""

    PRUNING_TYPE = "sideways"


class NoDim(EveryOther):
    """Structured, without a dim."""

    PRUNING_TYPE = "structured"


m = prune.identity(layer(), "weight")
T("type", Unknown.apply, m, "weight")
m = prune.identity(layer(), "weight")
T("no dim", NoDim.apply, m, "weight")
m = layer()
T("rolled back", prune.l1_unstructured, m, "weight", 13)
print(sorted(n for n, _ in m.named_parameters()), [n for n, _ in m.named_buffers()], prune.is_pruned(m), type(m.weight).__name__)
m = prune.identity(layer(), "weight")
handle = m.register_forward_pre_hook(prune.L1Unstructured(1))
next(reversed(m._forward_pre_hooks.values()))._tensor_name = "weight"
T("two hooks", prune.l1_unstructured, m, "weight", 1)
