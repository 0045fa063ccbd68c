"""Names of torch's about its compilers, devices and build."""
from __future__ import annotations

from typing import Any

import pytest
from both_engines import both


@both
def test_symbolic_functions_compute_with_numbers(torch: Any) -> None:
    assert [torch.sym_int(2.7), torch.sym_int(-2.7), torch.sym_max(2, 5), torch.sym_sum([1, 2, 3])] == [2, -2, 5, 6]
    found = torch.sym_float(3), torch.sym_max(4, 3.0), torch.sym_min(3, 4.0), torch.sym_sqrt(9), torch.sym_not(3)
    assert found == (3.0, 4.0, 3.0, 3.0, False) and [type(x) for x in found] == [float] * 4 + [bool]
    assert torch.sym_ite(True, 1, 2) == 1 and torch.sym_fresh_size(3) == 3 and not isinstance(3, torch.SymInt)
    for args, text in (((1, 1, 2), "expected SymBool or bool, got <class 'int'>"), ((True, 1, 2.0), "type mismatch")):
        with pytest.raises(AssertionError, match=text):
            torch.sym_ite(*args)
    torch.sym_constrain_range(3, min=1, max=4)
    torch.sym_constrain_range_for_size(3, min=0, max=4)
    with pytest.raises(RuntimeError, match=r"Invalid value range for 3 between \[5, 9\]"):
        torch.sym_constrain_range(3, min=5, max=9)


@both
def test_devices_have_modules_and_errors(torch: Any) -> None:
    assert torch.get_device_module() is torch.get_device_module("cpu") is torch.cpu
    assert torch.get_device_module(torch.device("cuda")) is torch.cuda
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.get_device_module("foo")
    assert issubclass(torch.OutOfMemoryError, RuntimeError) and issubclass(torch.AcceleratorError, RuntimeError)
    assert not torch.is_vulkan_available() and torch.has_lapack and torch.compiled_with_cxx11_abi()
    torch.set_anomaly_enabled(True, False)
    assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
    torch.set_anomaly_enabled(False)
    assert not torch.is_anomaly_enabled() and torch.init_num_threads() is None


@both
def test_arguments_of_factories_are_gathered(torch: Any) -> None:
    gathered = torch.nn.factory_kwargs
    assert gathered(None) == {} and gathered({"device": "cpu"}) == {"device": "cpu"}
    assert gathered({"factory_kwargs": {"dtype": 1}, "device": 2}) == {"dtype": 1, "device": 2}
    for wrong, text in (({"foo": 1}, "unexpected kwargs {'foo'}"), ({"dtype": 1, "factory_kwargs": {"dtype": 2}}, "twice")):
        with pytest.raises(TypeError, match=text):
            gathered(wrong)
