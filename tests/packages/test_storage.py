"""torch.storage: blocks of memory that tensors show."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import pytest

import retrograd as torch
from retrograd._engine.warn import said
from retrograd.storage import TypedStorage, UntypedStorage


def typed(t: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)            # PyTorch has deprecated it
        return t.storage()


def test_a_storage_shares_memory_with_its_tensor_and_their_views() -> None:
    t = torch.arange(6.0).reshape(2, 3)
    numbers, data = typed(t[1]), t[:, 1:].untyped_storage()
    numbers[0] = 9.0
    assert t[0, 0] == 9 and len(numbers) == 6 and data.nbytes() == 24 and data == t.untyped_storage()
    data.fill_(0)
    assert t.tolist() == [[0, 0, 0], [0, 0, 0]] and numbers.tolist() == [0] * 6
    assert numbers.data_ptr() == data.data_ptr() == t.data_ptr()


def test_a_copy_of_a_storage_is_its_own() -> None:
    t = torch.tensor([1, 2])
    for make in (lambda s: s.clone(), copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))):
        for s in (typed(t), t.untyped_storage()):
            other = make(s)
            assert type(other) is type(s) and other.tolist() == s.tolist()
            other.fill_(7)
    assert t.tolist() == [1, 2]


def test_a_tensor_takes_the_memory_of_a_storage() -> None:
    t = torch.arange(4.0)
    for source in (t, typed(t), t.untyped_storage()):
        x = torch.empty(0).set_(source, 1, (3,))
        assert x.tolist() == [1, 2, 3] and x.data_ptr() == t.data_ptr() + 4
    for x in (torch.Tensor(typed(t)), torch.FloatTensor(t.untyped_storage()), t.new(typed(t)), torch.empty(0).set_(source=t)):
        assert x.data_ptr() == t.data_ptr() and x.tolist() == t.tolist()
    assert torch.empty(0).set_(typed(t), 0, (2, 2), (1, 2)).tolist() == [[0, 2], [1, 3]]
    assert torch.ones(2).set_().tolist() == []


def test_a_storage_keeps_its_length() -> None:
    s = torch.zeros(2).untyped_storage()
    assert s.resize_(8) is s
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        s.resize_(16)


def test_memory_that_others_see_stays_and_other_memory_does_not_move() -> None:
    t = torch.ones(2).share_memory_()
    assert t.untyped_storage().share_memory_() == t.untyped_storage()
    with pytest.raises(RuntimeError, match="Share its tensor"):
        torch.ones(2).untyped_storage().share_memory_()


def test_the_classes_name_their_dtype() -> None:
    assert torch.LongStorage([1, 2]).dtype is torch.int64 and torch.FloatStorage(3).nbytes() == 12
    assert isinstance(typed(torch.ones(2)), torch.FloatStorage) and not isinstance(typed(torch.ones(2)), torch.LongStorage)
    assert torch.ones(2).storage_type() is torch.FloatStorage
    assert torch.is_storage(typed(torch.ones(2))) and not torch.is_storage(torch.ones(2))


def test_storage_is_deprecated_and_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for made in (torch.ones(2).storage, lambda: torch.TypedStorage(2, dtype=torch.int32), lambda: torch.FloatStorage(3)):
        monkeypatch.setattr(said, "texts", set())
        with pytest.warns(UserWarning, match="TypedStorage is deprecated") as caught:
            kept = made()
            made()
        assert len(caught) == 1 and caught[0].filename == __file__
        monkeypatch.setattr(said, "texts", set())
        assert pickle.loads(pickle.dumps(kept)).tolist() == kept.tolist()       # without a word


SAME = """
    repr(t.storage())|repr(t.untyped_storage()[:5])|t.storage().type()|t.untyped_storage().type()|t.storage().double().tolist()
    t.storage().pickle_storage_type()|t.untyped_storage()[100]|t.untyped_storage()["a"]|t.storage()[5]|t.storage()[0.5]
    t.storage()[0:2]|torch.UntypedStorage("a")|torch.FloatStorage("a")|torch.FloatStorage(1, 2)|torch.UntypedStorage([1, 2])
    torch.TypedStorage([1, 2], dtype=torch.int64)|t.untyped_storage().copy_(torch.UntypedStorage(3))|list(t.untyped_storage())
    torch.empty(0, dtype=torch.int32).set_(t.storage())
    torch.empty(0, dtype=torch.int32).set_(t)|torch.empty(2).set_(t.storage(), -1, (1,))
    torch.empty(2).set_(t.view(2, 2).t(), 0, (2,))|torch.ones(2, requires_grad=True).set_(t)|len(t.storage())|t.storage().size()
    t.storage().element_size()|t.untyped_storage().element_size()|t.storage().is_shared()|t.untyped_storage().device
    torch.FloatStorage.from_buffer(b"abcdefgh", "little").tolist()|torch.is_storage(5)|t.untyped_storage().pin_memory()
    t.storage().complex_float().tolist()|t.untyped_storage().complex_double().tolist()|t.clone().share_memory_().storage().is_shared()
    t.storage().to(device="cpu").tolist()|t.clone().share_memory_().storage().share_memory_().tolist()
"""


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("text", [part.strip() for line in SAME.strip().splitlines() for part in line.split("|")])
def test_storages_answer_as_pytorchs(text: str) -> None:
    def answer(module: Any) -> str:
        try:
            return str(eval(text, {"torch": module, "t": module.arange(4.0)})).replace("retrograd", "torch")
        except Exception as error:
            return f"{type(error).__name__}: {error}".replace("retrograd", "torch")

    assert answer(torch) == answer(pytest.importorskip("torch"))


def test_the_names_are_in_torch_storage() -> None:
    assert torch.UntypedStorage is UntypedStorage and torch.TypedStorage is TypedStorage
