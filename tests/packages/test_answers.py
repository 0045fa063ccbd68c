"""Small classes and functions of modules that libraries import: each expression gives on PyTorch what it gives here."""
from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch

# module: expressions, apart by blanks, of its names, of torch, and of x = torch.ones(2)
EXPRESSIONS = {
    "": """Stream() Stream().query() Stream().wait_event(Event()) Stream().wait_stream(Stream()) Stream().record_event()
        Stream().device Stream().device_index Stream().stream_id Stream()==Stream('cpu') Stream()==3 Stream().is_capturing()
        Stream().__enter__() Stream(0) Stream(priority=1) Event() Event().query() Event().record() Event().wait()
        Event().elapsed_time(Event()) Event(enable_timing=True)
        Event(enable_timing=True).elapsed_time(Event(enable_timing=True))""",
    "_C._nn": """_parse_to(torch.float64) _parse_to('cpu') _parse_to(device='cpu',dtype=torch.half) _parse_to(x) _parse_to()
        _parse_to('cpu',torch.int32,True) _parse_to(dtype=torch.int8) _parse_to(None) _parse_to(torch.device('cpu'))
        _parse_to(memory_format=torch.channels_last) _parse_to(torch.float32,True,False) _parse_to(x,True)
        _parse_to('cpu',non_blocking=True) _parse_to('cpu',copy=True)""",
    "distributed.tensor.placement_types": """Shard(1) str(Shard(1)) Shard(1)==Shard(1) Shard(1)==Shard(0) Shard(0).is_shard()
        Shard(0).is_shard(1) Replicate() Replicate()==Partial() Replicate().is_replicate() Replicate().is_shard() Partial()
        str(Partial("max")) Partial().is_partial("avg") Partial().is_partial("sum") Partial()==Partial("sum")
        _StridedShard(0,split_factor=2) str(_StridedShard(0,split_factor=2)) _StridedShard(0,split_factor=2).is_shard()
        _StridedShard(0,split_factor=2)==_StridedShard(0,split_factor=2) len({Shard(0),Shard(0),Replicate()})""",
    "distributed": """Backend("GLOO") Backend("Own") Backend(3) Backend.MPI type(Backend.NCCL) Backend.backend_list
        Backend.backend_capability Backend.default_device_backend_map["cpu"] get_default_backend_for_device("cpu:0")
        get_default_backend_for_device("meta")""",
    "distributed.constants": "default_pg_timeout default_pg_nccl_timeout",
    "nn.parallel.scatter_gather": """scatter((1,'a'),[0,1]) scatter([1,{'a':2}],[0,1]) scatter({'a':(1,)},[0,1])
        scatter((),[0,1]) scatter(None,[0]) scatter_kwargs((1,),None,[0,1]) scatter_kwargs((),{'a':1},[0,1]) gather([x,x],'cpu')
        scatter_kwargs((1,2),{'a':1},[0]) gather([None,None],'cpu') gather([{'a':None}]*2,'cpu') gather([{},{'a':1}],'cpu')
        gather([(None,),(None,)],0)""",
}


def found(root: Any, path: str) -> Any:
    """A module of retrograd's or PyTorch's, which is not always one that can be imported."""
    parts = path.split(".") if path else []
    try:
        return import_module(".".join([root.__name__, *parts]))
    except ModuleNotFoundError:
        return getattr(found(root, ".".join(parts[:-1])), parts[-1])


def outcome(root: Any, path: str, text: str) -> str:
    """What an expression gives, or raises."""
    module = found(root, path)
    names = {name: getattr(module, name) for name in ("Event", "Stream", "_parse_to") if hasattr(module, name)}
    try:
        return repr(eval(text, {**vars(module), **names, "torch": root, "x": root.ones(2)}))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


@pytest.mark.oracle
@pytest.mark.parametrize("path", EXPRESSIONS)
def test_answers_are_pytorchs(path: str) -> None:
    import torch as theirs

    texts = EXPRESSIONS[path].split()
    assert [(t, outcome(torch, path, t)) for t in texts] == [(t, outcome(theirs, path, t)) for t in texts]


def test_what_is_out_of_scope_is_refused_where_it_is_used() -> None:
    flex, pipes = (import_module(f"retrograd.{name}") for name in (
        "nn.attention.flex_attention", "utils.data.datapipes.iter.combinatorics"))
    assert not isinstance(torch.ones(1), (flex.BlockMask, pipes.ShufflerIterDataPipe))
    for call in (flex.flex_attention, flex.BlockMask, pipes.ShufflerIterDataPipe):
        with pytest.raises(NotImplementedError, match=call.__name__):
            call(torch.ones(1))
    for call in (lambda: torch.distributed.Backend.register_backend("own", None),
                 lambda: torch.nn.parallel.scatter(torch.ones(2), [0])):
        with pytest.raises((NotImplementedError, AssertionError), match="MPI alone|CUDA"):
            call()


def counted(root: Any) -> list[Any]:
    """The operations of a few models, forward and backward, by module, and the table of them."""
    nn, counter = root.nn, import_module(f"{root.__name__}.utils.flop_counter")
    x = root.ones(3, 5, 8)
    calls = (
        lambda: nn.Linear(8, 4)(x).sum().backward(),
        lambda: nn.Linear(8, 4, bias=False)(x.clone().requires_grad_()).sum().backward(),
        lambda: nn.MultiheadAttention(8, 2)(x, x, x)[0].sum().backward(),
        lambda: nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 9))(root.ones(700, 8)).sum().backward(),
        lambda: root.no_grad()(nn.TransformerEncoderLayer(8, 2, 16))(x),
        lambda: nn.Conv2d(2, 2, 3)(root.ones(1, 2, 6, 6)).sum().backward(),
        lambda: nn.ConvTranspose2d(2, 2, 3)(root.ones(1, 2, 6, 6).requires_grad_()).sum().backward(),
        lambda: root.einsum("ij,kj->ik", root.ones(2, 3), root.ones(4, 3)),
        lambda: root.ones(2, 3) @ root.ones(3),
        lambda: nn.GRU(8, 4)(x)[0].sum().backward(),
    )
    told = []
    for call in calls:
        with counter.FlopCounterMode(display=False) as mode:
            call()
        told.append((mode.get_total_flops(), {name: {str(op): n for op, n in counts.items()}
                                              for name, counts in sorted(mode.get_flop_counts().items())}))
    return told


@pytest.mark.oracle
def test_flops_are_counted_as_pytorchs() -> None:
    import torch as theirs

    assert counted(torch) == counted(theirs)


def test_flops_of_more_than_products_are_refused_and_one_listener_is_on() -> None:
    counter = import_module("retrograd.utils.flop_counter")
    with pytest.raises(NotImplementedError, match="convolutions alone"):
        counter.FlopCounterMode(custom_mapping={torch.ops.aten.add: lambda *a: 1})
    with counter.FlopCounterMode(display=False), pytest.raises(RuntimeError, match="end it first"), counter.FlopCounterMode():
        pass


@pytest.mark.oracle
def test_gradients_of_a_convolution_are_those_that_the_mask_asks_for() -> None:
    import torch as theirs

    for mask in ((True, True, True), (False, True, False), (True, False, True)):
        given = [[1], [1], [1], False, [0], 1, list(mask)]
        ours, expected = (root.ops.aten.convolution_backward(
            root.arange(8.0).view(1, 2, 4), root.arange(4.0).view(1, 1, 4), root.arange(6.0).view(2, 1, 3), [2], *given)
            for root in (torch, theirs))
        assert [g if g is None else g.tolist() for g in ours] == [g if g is None else g.tolist() for g in expected]


@pytest.mark.oracle
@pytest.mark.parametrize("shared", [False, True])
def test_a_storage_maps_a_file(shared: bool, tmp_path: Path) -> None:
    import torch as theirs

    told = []
    for root in (torch, theirs):
        file = tmp_path / root.__name__
        file.write_bytes(bytes(range(16)))
        storage = root.UntypedStorage.from_file(str(file), shared, 20 if shared else 8)
        seen = [storage.tolist(), storage.filename == str(file)]
        storage.fill_(7)
        seen += [list(file.read_bytes()), storage.tolist()]
        for path, size in ((file, 99), (tmp_path / "no" / "file", 1)):
            if not shared:
                with pytest.raises(RuntimeError) as error:
                    root.UntypedStorage.from_file(str(path), shared, size)
                seen.append(str(error.value).replace(str(path), "FILE").partition("\n")[0])
        told.append(seen)
    assert told[0] == told[1]


@pytest.mark.oracle
def test_samples_of_vmap_are_known_and_unwrapped() -> None:
    import torch as theirs

    def told(root: Any) -> list[Any]:
        functorch, seen = root._C._functorch, []

        def look(x: Any) -> Any:
            seen.extend([functorch.is_batchedtensor(x), tuple(functorch.get_unwrapped(x).shape), functorch.maybe_get_bdim(x),
                         functorch.maybe_get_level(x)])
            return functorch._remove_batch_dim(functorch._add_batch_dim(root.ones(2, 4), 0, 1), 1, 2, 1).sum() + x

        out = root.vmap(look, in_dims=1)(root.ones(3, 2))
        x = root.ones(2)
        with pytest.raises(RuntimeError, match="No wrappers present"):
            functorch.get_unwrapped(x)
        return [*seen, out.tolist(), functorch.is_batchedtensor(x), functorch.maybe_get_bdim(x), functorch.maybe_get_level(x)]

    import_module("retrograd._C._functorch")
    assert told(torch) == told(theirs)


@pytest.mark.oracle
def test_functorch_warns_and_maps() -> None:
    import torch as theirs

    told = []
    for root in (torch, theirs):
        old = import_module(f"{root.__name__}._functorch.deprecated")
        with pytest.warns(FutureWarning) as warned:
            found = old.vmap(lambda x: x * 2)(root.ones(2)).tolist()
        told.append((found, str(warned[0].message)))
    assert told[0] == told[1]
    with pytest.raises(NotImplementedError, match="functional_call"):
        import_module("retrograd._functorch.deprecated").make_functional(torch.nn.Linear(1, 1))


@pytest.mark.oracle
def test_tensors_of_a_module_are_swapped_as_pytorchs() -> None:
    import torch as theirs

    def told(root: Any) -> list[Any]:
        accessor = import_module(f"{root.__name__}.nn.utils._named_member_accessor")
        net = root.nn.BatchNorm1d(1)
        seen = [accessor.swap_tensor(net, name, root.full((1,), 3.0)).tolist() for name in ("weight", "running_mean")]
        seen += [type(net._parameters["weight"]).__name__, net.running_mean.tolist(), net.weight.tolist()]
        for arguments in ((net, "a.b", None), (net, "", None), (net, "nobody", None), (net, "eps", None), (3, "x", None),
                          (net, "weight", 3)):
            try:
                accessor.swap_tensor(*arguments)
            except (TypeError, KeyError, AttributeError) as error:
                seen.append((type(error).__name__, str(error)))
        return seen

    assert told(torch) == told(theirs)


def test_what_is_logged_is_read_by_tensorboard(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from retrograd.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", torch.tensor(1.5) * step, step)
        writer.add_histogram("weights", torch.tensor([0.0, 1, 1]), 1)
        writer.add_text("note", "hello")
        writer.add_scalars("both", {"a": 1, "b": 2}, 0)
        with pytest.raises(NotImplementedError, match="scalars, histograms"):
            writer.add_graph(torch.nn.Linear(1, 1))
        with pytest.raises(AssertionError, match="should contain one element"):
            writer.add_scalar("loss", torch.ones(2))
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert [(e.step, e.value) for e in read.Scalars("loss")] == [(0, 0.0), (1, 1.5), (2, 3.0)]
    [found] = read.Histograms("weights")
    assert (found.histogram_value.num, found.histogram_value.sum, sum(found.histogram_value.bucket)) == (3, 2, 3)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["both_a", "both_b"]
