"""torch.utils.weak, collect_env; torch.torch_version."""
from __future__ import annotations

import copy
import gc
import importlib
from typing import Any

import pytest
from both_engines import both

import retrograd


@both
def test_keys_are_compared_by_identity_and_not_held(torch: Any) -> None:
    weak = importlib.import_module(f"{torch.__name__}.utils.weak")
    a, b = torch.ones(2), torch.ones(2)
    table = weak.WeakIdKeyDictionary({a: "a"})
    table[b] = "b"
    assert len(table) == 2 and table[a] == "a" and table[b] == "b" and torch.ones(2) not in table and 3 not in table
    assert table.get(torch.ones(2), "none") == "none" and [k is x for k, x in zip(table, (a, b))] == [True, True]
    assert table == table.copy() and copy.deepcopy(table)[b] == "b" and (table | {}) == table
    with pytest.raises(KeyError):
        table[torch.ones(2)]
    del b
    gc.collect()
    assert len(table) == 1 and list(table.values()) == ["a"] and table.pop(a) == "a" and not table
    assert weak.WeakTensorKeyDictionary is weak.WeakIdKeyDictionary
    reference, one = weak.TensorWeakRef(a), weak.WeakIdRef(a)
    assert reference() is a and one == weak.WeakIdRef(a) and hash(one) == hash(id(a)) and one() is a
    table[a] = 1
    del a
    gc.collect()
    assert reference() is None and one() is None and one == one and len(table) == 0
    with pytest.raises(AssertionError, match="expected torch.Tensor, got <class 'int'>"):
        weak.TensorWeakRef(3)


def test_the_environment_can_be_told() -> None:
    tool = importlib.import_module("retrograd.utils.collect_env")
    text = tool.get_pretty_env_info()
    assert text.startswith(f"PyTorch version: {retrograd.__version__}\nIs debug build: False\nCUDA used to build PyTorch: None")
    assert "[pip3] numpy==" in text and tool.get_env_info().is_cuda_available is False


@both
def test_versions_are_compared_as_versions(torch: Any) -> None:
    version = importlib.import_module(f"{torch.__name__}.torch_version")
    it = version.TorchVersion("2.13.0")
    assert version.__version__ == torch.__version__ and it >= (2, 13) and "2.2" < it < "2.14"
