"""Small modules that libraries import: dispatch keys, layouts, torch._utils, records."""
from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import pytest

import retrograd as torch


def test_dispatch_keys_are_sets_of_names() -> None:
    key, keys = torch._C.DispatchKey, torch._C.DispatchKeySet
    both = keys(key.CPU) | keys(key.AutocastCPU)
    assert repr(both) == "DispatchKeySet(CPU, AutocastCPU)" and both.has(key.CPU) and not both.remove(key.CPU).has(key.CPU)
    assert both - keys(key.CPU) == keys(key.AutocastCPU) and str(key.CPU) == "DispatchKey.CPU"
    with torch._C._ExcludeDispatchKeyGuard(both):
        assert torch.ones(1).item() == 1


def test_other_layouts_are_names_only() -> None:
    assert str(torch.sparse_coo) == "torch.sparse_coo" and torch.sparse_csr is not torch.strided
    for _ in range(2):
        with pytest.raises(NotImplementedError, match="no tensors of layout torch.sparse_coo"):
            torch.zeros(2, layout=torch.sparse_coo)


@pytest.mark.oracle
def test_flattened_tensors_are_pytorchs() -> None:
    import torch as theirs
    import torch._utils as their_utils

    ours = __import__("retrograd._utils", fromlist=["_utils"])
    lists = [[m.arange(3.0), m.ones(2, 2), m.arange(2), m.zeros(0)] for m in (torch, theirs)]
    for size in (1, 12, 16, 1000):
        assert [[t.tolist() for t in part] for part in ours._take_tensors(lists[0], size)] == [
            [t.tolist() for t in part] for part in their_utils._take_tensors(lists[1], size)]
    flat = ours._flatten_dense_tensors(lists[0][:2])
    assert flat.tolist() == their_utils._flatten_dense_tensors(lists[1][:2]).tolist()
    assert [t.tolist() for t in ours._unflatten_dense_tensors(flat, lists[0][:2])] == [t.tolist() for t in lists[0][:2]]
    mixed = [lists[0][i] for i in (2, 0, 1)]
    assert [t.tolist() for t in ours._reorder_tensors_as(mixed, lists[0][:3])] == [t.tolist() for t in lists[0][:3]]


def test_a_saved_file_has_records() -> None:
    file = io.BytesIO()
    torch.save({"a": torch.ones(2)}, file)
    file.seek(0)
    reader = torch.PyTorchFileReader(file)
    assert "data.pkl" in reader.get_all_records() and reader.has_record("data/0") and reader.get_record_size("data/0") == 8
    with pytest.raises(RuntimeError, match="failed locating file x"):
        reader.get_record("x")
    with pytest.raises(RuntimeError, match="failed reading zip archive"):
        torch.PyTorchFileReader(io.BytesIO(b"no zip"))


def test_a_fake_of_an_operator_that_is_not_there_waits_for_it() -> None:
    @torch.library.register_fake("around::later")
    def fake(x):
        return x.new_empty(x.shape)
    with pytest.raises(AttributeError):
        torch.ops.around.later  # noqa: B018
    library = torch.library.Library("around", "DEF")
    library.define("later(Tensor x) -> Tensor")
    library.impl("later", lambda x: x + 1, "CPU")
    assert torch.ops.around.later(torch.zeros(2)).tolist() == [1, 1]
    assert torch.ops.around.later.default._entry.fake is fake
    library._destroy()


def test_operators_of_aten_without_a_function() -> None:
    x, aten = torch.arange(6.0).reshape(2, 3), torch.ops.aten
    assert aten._to_copy(x, dtype=torch.int64).tolist() == x.long().tolist() and aten.alias(x).data_ptr() == x.data_ptr()
    assert aten.slice.Tensor(x, 1, 0, 3, 2).tolist() == [[0, 2], [3, 5]]
    assert aten.index.Tensor(x, [None, torch.tensor([2])]).tolist() == [[2], [5]]
    with pytest.raises(NotImplementedError, match="sparse"):
        aten._sparse_addmm(x, x, x)


def test_a_schema_may_mark_an_argument_that_is_changed_by_a_bare_mark() -> None:
    library = torch.library.Library("around_marks", "DEF")
    library.define("into.out(Tensor A, Tensor! out) -> ()")
    schema = torch.ops.around_marks.into.out._schema
    assert str(schema) == "around_marks::into.out(Tensor A, Tensor($0! -> ) out) -> ()" and schema.is_mutable
    library._destroy()


def test_containers_are_taken_apart_under_pytorchs_private_names() -> None:

    import retrograd.utils._pytree as _pytree_module

    _pytree: Any = _pytree_module

    assert _pytree._dict_flatten({"a": 1}) == ([1], ["a"]) and _pytree._dict_unflatten([1], ["a"]) == {"a": 1}
    assert _pytree._dict_flatten_with_keys({"a": 1}) == ([(_pytree.MappingKey("a"), 1)], ["a"])
    assert _pytree._list_flatten([1, 2]) == ([1, 2], None)


@pytest.mark.parametrize("name", ["CUDAGraph", "Event", "Stream"])
def test_classes_of_cuda_can_be_named_and_not_made(name: str) -> None:
    cls = getattr(torch.cuda, name)
    assert not isinstance(torch.ones(1), cls) and cls is getattr(torch.cuda, name)
    with pytest.raises(RuntimeError, match="requires CUDA support|dummy base class"):
        cls()


@pytest.mark.oracle
def test_parts_of_a_repr_are_pytorchs() -> None:
    import torch as theirs

    for values in ([], [1.5, 2e9], [[1, 2], [3, 4]], [True]):
        ours, expected = torch.tensor(values), theirs.tensor(values)
        assert torch._tensor_str._tensor_str(ours, 7) == theirs._tensor_str._tensor_str(expected, 7)
    for width in (5, 90):
        for force in (False, True):
            given = "T([1]" + " " * width, ["a=1", "b=2"], 2, force
            assert torch._tensor_str._add_suffixes(*given) == theirs._tensor_str._add_suffixes(*given)


@pytest.mark.oracle
def test_context_decorator_is_pytorchs() -> None:
    import torch as theirs

    def told(module: Any) -> list[Any]:
        contextlib, seen = module.utils._contextlib, []

        class Told(contextlib._DecoratorContextManager):
            def __enter__(self) -> None:
                seen.append("in")

            def __exit__(self, *args: Any) -> None:
                seen.append("out")

        @Told()
        def run() -> str:
            return "ran"

        @Told()
        def steps() -> Any:
            yield 1
            seen.append("between")
            yield 2

        seen += [run(), *steps()]
        for ctx, func in ((Told, int), (Told(), run)):
            try:
                contextlib.context_decorator(ctx, func)
            except (RuntimeError, AssertionError) as error:
                seen.append(str(error).partition(" at 0x")[0])
        return seen

    import_module("retrograd.utils._contextlib")
    assert told(torch) == told(theirs)


def test_transforms_are_known_to_be_active() -> None:
    seen = []

    def watched(x: Any) -> Any:
        seen.append(torch._C._are_functorch_transforms_active())
        return (x * x).sum()

    watched(torch.ones(2))
    torch.func.grad(watched)(torch.ones(2))
    torch.func.vmap(watched)(torch.ones(2, 2))
    assert seen == [False, True, True]


def test_a_fake_quantizer_of_a_programs_own() -> None:
    quantization = torch.ao.quantization

    class Rounds(quantization.FakeQuantizeBase):
        def forward(self, x: Any) -> Any:
            return x.round()

        def calculate_qparams(self, **kwargs: Any) -> Any:
            return 1, 0

    made = Rounds.with_args()()
    made.disable_fake_quant()
    assert {name: b.tolist() for name, b in made.named_buffers()} == {"fake_quant_enabled": [0], "observer_enabled": [1]}
    with pytest.raises(TypeError, match="abstract"):
        quantization.ObserverBase(torch.float32)


def test_fake_tensors_have_shapes_and_no_memory() -> None:
    from retrograd._subclasses.fake_tensor import FakeTensor, FakeTensorMode, is_fake

    with FakeTensorMode() as mode:
        y = torch.nn.Linear(3, 4)(torch.randn(2, 3))
        assert isinstance(y, FakeTensor) and is_fake(y) and y.shape == (2, 4) and y.grad_fn is not None
    z = mode.from_tensor(torch.ones(2, requires_grad=True))
    assert z.requires_grad and is_fake(z + 1) and not is_fake(torch.ones(2))
    with pytest.raises((RuntimeError, NotImplementedError)):
        z.sum().item()


def test_vf_has_torchs_functions() -> None:
    assert torch._VF.relu is torch.relu and torch._VF.lstm_cell is torch.lstm_cell
    with pytest.raises(AttributeError):
        getattr(torch._VF, "nothing_of_the_kind")  # noqa: B009
