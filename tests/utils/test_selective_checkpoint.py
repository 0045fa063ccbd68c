"""Selective checkpointing: which ops a policy is asked about, which run again, and what the gradients are."""
from __future__ import annotations

import importlib
from collections import Counter
from functools import partial
from typing import Any

import pytest
from both_engines import both

import retrograd

SAVED = ((), ("addmm",), ("addmm", "gelu", "native_layer_norm"), ("native_layer_norm",), ("bmm", "_safe_softmax"), ("view", "t"))


def parts(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint")


def selective(torch: Any, function: Any, policy: Any, *args: Any, **options: Any) -> Any:
    it = parts(torch)
    return it.checkpoint(function, *args, use_reentrant=False,
                         context_fn=partial(it.create_selective_checkpoint_contexts, policy, **options))


def transformer(torch: Any) -> Any:
    """A block, and its input."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(8, 32), nn.Linear(32, 8)
            self.norm, self.qkv = nn.LayerNorm(8), nn.Linear(8, 24)

        def forward(self, x: Any) -> Any:
            q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
            x = x + F.scaled_dot_product_attention(q, k, v)
            return x + self.second(F.dropout(F.gelu(self.first(x)), 0.5))

    torch.manual_seed(0)
    return Block(), torch.randn(2, 5, 8, requires_grad=True)


def trained(torch: Any, saved: tuple[str, ...], as_list: bool) -> Any:
    """Operations counted, what the policy was asked, loss and gradients of a checkpointed block."""
    aten = torch.ops.aten
    ops = [getattr(aten, name).default for name in saved]
    asked: list[str] = []
    results: list[Any] = []

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(str(op))
        results.append(context.op_output)
        assert not context.is_recompute
        if op is aten.addmm.default:
            assert [x.shape for x in args] == [args[0].shape, (10, args[1].shape[1]), (args[1].shape[1], len(args[0]))]
        return op in ops

    block, x = transformer(torch)
    counter = importlib.import_module(f"{torch.__name__}.utils.flop_counter").FlopCounterMode(display=False)
    with counter:
        y = selective(torch, block, ops if as_list else policy, x)
        y.square().sum().backward()
    flops = {str(op): count for op, count in counter.get_flop_counts()["Global"].items()}
    kept = {name: Counter(asked)[name] for name in ("aten.addmm.default", "aten.gelu.default", "aten.native_layer_norm.default",
                                                    "aten.bmm.default", "aten._safe_softmax.default", "aten.add.Tensor")}
    return flops, kept, y.detach(), [p.grad for p in (x, *block.parameters())]


@pytest.mark.oracle
@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("saved", SAVED)
def test_the_same_operations_run_again_as_on_pytorch(saved: tuple[str, ...], as_list: bool) -> None:
    torch = pytest.importorskip("torch")
    flops, asked, y, grads = trained(retrograd, saved, as_list)
    their_flops, their_asked, their_y, their_grads = trained(torch, saved, as_list)
    assert flops == their_flops and asked == their_asked
    torch.testing.assert_close(torch.from_numpy(y.numpy()), their_y)
    for g, expected in zip(grads, their_grads, strict=True):
        torch.testing.assert_close(torch.from_numpy(g.numpy()), expected, rtol=1e-4, atol=1e-5)


def network(torch: Any) -> list[Any]:
    """Modules whose nodes keep masks, indices and statistics, or share memory."""
    nn = torch.nn
    torch.manual_seed(1)
    return [nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.GroupNorm(2, 4), nn.Hardswish(),
            nn.Dropout2d(0.5), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16, 8), nn.Dropout(0.3), nn.Tanh(), nn.Softmax(1),
            nn.LayerNorm(8), nn.PReLU(), nn.GLU(), nn.LogSoftmax(1)]


@pytest.mark.parametrize("saves", [lambda i: True, lambda i: False, lambda i: i % 2 == 0, lambda i: i % 3 == 1])
def test_gradients_are_those_without_a_checkpoint(saves: Any) -> None:
    torch = retrograd

    def gradients(policy: Any) -> list[Any]:
        layers = torch.nn.Sequential(*network(torch))
        x = torch.randn(3, 2, 8, 8, requires_grad=True)

        def loss(x: Any) -> Any:
            y = layers(x)
            y = torch.cat([y.max(1).values[:, None], y.sort(1).values, y.cumsum(0), y[torch.tensor([2, 1, 0])]], 1)
            first, second = y.split([5, y.shape[1] - 5], 1)
            return (torch.where(first > -1, first, 2 * first).sum() * second.logsumexp(1).mean()).square()
        value = loss(x) if policy is None else selective(torch, loss, policy, x)
        value.backward()
        return [value.detach(), *(p.grad for p in (x, *layers.parameters()))]

    count = iter(range(10 ** 6))

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
        return bool(saves(next(count)))

    for a, b in zip(gradients(policy), gradients(None), strict=True):
        torch.testing.assert_close(a, b)


@both
def test_a_region_runs_backward_once(torch: Any) -> None:
    x = torch.randn(3, 3, requires_grad=True)
    y = selective(torch, lambda x: (x @ x).sin().sum(), [torch.ops.aten.mm.default], x)
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.backward()


@both
def test_saved_results_are_not_edited(torch: Any) -> None:
    def edited(x: Any) -> Any:
        return (x @ x).relu_() * 2

    x = torch.randn(3, 3, requires_grad=True)
    mm = [torch.ops.aten.mm.default]
    with pytest.raises(RuntimeError, match="Tensor cached during selective activation checkpoint has been mutated"):
        selective(torch, edited, mm, x).sum().backward()
    selective(torch, edited, mm, x, allow_cache_entry_mutation=True).sum().backward()
    found, x.grad = x.grad, None
    edited(x).sum().backward()
    torch.testing.assert_close(found, x.grad)


@both
def test_a_function_must_do_the_same_twice(torch: Any) -> None:
    runs = []

    def changing(x: Any) -> Any:
        runs.append(1)
        return (x.sin() if len(runs) == 1 else x.cos()).exp()

    x = torch.randn(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="aten.cos.default encountered during backward but not found in storage"):
        selective(torch, changing, [torch.ops.aten.exp.default], x).sum().backward()


@both
def test_a_checkpoint_inside_runs_as_it_is(torch: Any) -> None:
    layers = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(3))

    def inner(x: Any) -> Any:
        return layers[2](layers[1](x).tanh())

    def outer(x: Any) -> Any:
        return parts(torch).checkpoint(inner, layers[0](x), use_reentrant=False).sin()

    x = torch.randn(2, 3)
    selective(torch, outer, [torch.ops.aten.tanh.default, torch.ops.aten.sin.default], x).sum().backward()
    found = [p.grad for p in layers.parameters()]
    for p in layers.parameters():
        p.grad = None
    inner(layers[0](x)).sin().sum().backward()
    torch.testing.assert_close(found, [p.grad for p in layers.parameters()])


@both
def test_what_is_no_list_of_operators_is_refused(torch: Any) -> None:
    contexts = parts(torch).create_selective_checkpoint_contexts
    with pytest.raises(ValueError, match="if you have `torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`"):
        contexts([torch.ops.aten.mm])
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload but got: 1 of type <class 'int'>"):
        contexts([1])
    with pytest.raises(TypeError, match="policy_fn_or_list must be either a function or a list of ops"):
        contexts(3)
    assert torch.ops.aten.detach.default in parts(torch).SAC_IGNORED_OPS
    assert torch.ops.aten._scaled_dot_product_efficient_attention.default not in parts(torch).SAC_IGNORED_OPS


@both
def test_a_function_may_compute_gradients_inside(torch: Any) -> None:
    def inside(x: Any) -> Any:
        y = x @ x
        [g] = torch.autograd.grad(y.sum(), x, create_graph=True)
        return y.sin() * g

    x = torch.randn(3, 3, requires_grad=True)
    selective(torch, inside, [torch.ops.aten.mm.default], x).sum().backward()
    found, x.grad = x.grad, None
    inside(x).sum().backward()
    torch.testing.assert_close(found, x.grad)

