"""A tensor that carries a unit, and refuses to add metres to seconds."""

import torch

from _log import T


class Unit(torch.Tensor):
    @staticmethod
    def __new__(cls, data, unit):
        return torch.as_tensor(data, dtype=torch.float32).as_subclass(cls)

    def __init__(self, data, unit):
        self.unit = unit

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        units = [getattr(a, "unit", {}) for a in args if isinstance(a, Unit)]
        out = super().__torch_function__(func, types, args, kwargs)
        if not isinstance(out, Unit):
            return out
        if func in (torch.mul, torch.Tensor.mul):
            unit = dict(units[0])
            for name, power in (units[1] if len(units) > 1 else {}).items():
                unit[name] = unit.get(name, 0) + power
        elif func in (torch.add, torch.Tensor.add, torch.Tensor.sub) and len(units) > 1 and units[0] != units[1]:
            raise ValueError(f"cannot add {units[1]} to {units[0]}")
        else:
            unit = units[0] if units else {}
        out.unit = unit
        return out


metres, seconds = Unit([1.0, 2.0], {"m": 1}), Unit([3.0, 4.0], {"s": 1})
for name, value in {"m+m": metres + metres, "m*s": metres * seconds, "2m": 2 * metres, "sum": (metres * metres).sum(),
                    "row": metres[0], "neg": -metres, "abs": torch.abs(metres)}.items():
    print(name, type(value).__name__, value.tolist(), value.unit)
T("m+s", lambda: metres + seconds)
T("torch.add", torch.add, metres, seconds)
print(metres, type(metres.numpy()).__name__, metres.shape, len(metres))
print(type(metres.unit).__name__, isinstance(metres > 1, Unit), bool((metres > 0).all()))
