"""torch.overrides: what its functions answer."""

import functools

import torch
from torch.overrides import (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
    has_torch_function_variadic,
    is_tensor_like,
    is_tensor_method_or_property,
    redispatch_function,
    resolve_name,
    wrap_torch_function,
)

from _log import T

Tensor = torch.Tensor


class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("   asked of", func.__name__, [t.__name__ for t in types], len(args), kwargs)
        return 3


class Sub(Tensor):
    pass


FUNCTIONS = {
    "add": torch.add, "Tensor.add": Tensor.add, "shape get": Tensor.shape.__get__, "grad set": Tensor.grad.__set__,
    "split": torch.split, "relu": torch.nn.functional.relu, "linear": torch.nn.functional.linear, "ones": torch.ones,
    "inv": torch.linalg.inv, "erf": torch.special.erf, "Tensor.split": Tensor.split, "rsub": Tensor.__rsub__,
    "uniform_": torch.nn.init.uniform_, "len": len, "is_tensor": torch.is_tensor, "max": torch.max, "Tensor.len": Tensor.__len__,
    "item": Tensor.__getitem__, "where": Tensor.where, "dim": Tensor.dim, "norm": torch.norm,
}
for name, f in FUNCTIONS.items():
    print(name, resolve_name(f), is_tensor_method_or_property(f), f in get_ignored_functions(), f in get_testing_overrides())
overridable = get_overridable_functions()
print(torch.add in overridable[torch], Tensor.add in overridable[Tensor], torch.ones in overridable[torch])
print(Tensor.shape.__get__ in overridable[Tensor.shape], torch.split in overridable[torch.functional])
print(torch.nn.functional.relu in overridable[torch.nn.functional], torch.linalg.inv in overridable[torch.linalg])
print(get_testing_overrides()[torch.nn.functional.relu](1))
plain, duck, sub = torch.ones(1), Duck(), torch.ones(1).as_subclass(Sub)
for value in (plain, duck, sub, 1, torch.nn.Parameter(plain)):
    print(type(value).__name__, is_tensor_like(value), has_torch_function((value,)), has_torch_function_unary(value),
          has_torch_function_variadic(1, value))
T("of no sequence", has_torch_function, 5)
T("handle, nobody", handle_torch_function, torch.add, (1,), 1)
T("handle", handle_torch_function, torch.add, (duck, plain), 1, 2, c=3)


@wrap_torch_function(lambda a, b=None: (a, b))
def mine(a, b=None):
    return "mine"


T("wrapped", mine, plain)
T("wrapped, a duck", mine, plain, b=duck)
print(mine.__name__, isinstance(mine, type(lambda: 0)), functools.WRAPPER_ASSIGNMENTS[0])
state = torch._C
for guard in (torch._C.DisableTorchFunctionSubclass, torch._C.DisableTorchFunction):
    with BaseTorchFunctionMode() as mode, guard():
        print(guard.__name__, has_torch_function((sub,)), state._is_torch_function_enabled(), state._len_torch_function_stack(),
              state._is_torch_function_mode_enabled(), type(sub + 1).__name__)
with guard():
    print(has_torch_function((sub,)), type(sub + 1).__name__)
print(has_torch_function((sub,)), type(sub + 1).__name__)
T("pop", torch.overrides._pop_mode)


class Says(TorchFunctionMode):
    def __init__(self, name):
        self.name = name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        print("  ", self.name, resolve_name(func))
        return func(*args, **kwargs or {})


class Logged(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("  Logged", resolve_name(func) or func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


with Says("outer"), Says("inner") as inner:
    plain + 1
    torch.nn.functional.relu(plain.as_subclass(Logged))
    with inner:
        plain * 2
    print(torch.overrides._get_current_function_mode() is inner, len(torch.overrides._get_current_function_mode_stack()))
T("raises", lambda: Says("x").__enter__() and 1 / 0)
print(torch._C._len_torch_function_stack())
torch.overrides._pop_mode()


def scaled(a, b):
    if has_torch_function((a, b)):
        return handle_torch_function(scaled, (a, b), a, b)
    return a * b + 1


class Deep(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("  deep", func.__name__)
        return redispatch_function(func, types, args, kwargs)


print(type(scaled(torch.ones(1).as_subclass(Deep), plain)).__name__)
print(torch.nn.Parameter.__torch_function__ is torch._C._disabled_torch_function_impl)
print(torch._C._disabled_torch_function_impl(torch.add, (), (plain, 1)))
print({torch.Tensor.grad.__get__, torch.Tensor._base.__get__} <= torch.overrides.get_default_nowrap_functions())
