"""What a recorder reads of PyTorch's tensors: versions, measures, whether two are equal; of devices once for many."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._measure import same
from ..listen.sizes import local
from .book import UNMEASURED
from .recorder import Recorder
from .tap_common import Tap


class TorchNumbers(Tap):
    """The part of a TorchTap that looks into tensors.

    What is on a device is measured and compared there; flush() fetches the answers together.
    """

    torch: Any

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self.waiting: list[tuple[int, Any]] = []        # values measured on a device: (number, tensor of 6)
        self.comparing: list[tuple[int, Any]] = []      # events of hooks whose results are compared there: (slot, tensor of 1)

    def here(self, t: Any) -> Any:
        """An array that shows a tensor of floats or complex numbers; None where there is none."""
        try:
            return self.engine.here(t) if t.is_floating_point() or t.is_complex() else None
        except (RuntimeError, TypeError, NotImplementedError):  # fake, functorch, nested tensors
            return None

    def here_of(self, t: Any) -> Any:
        part = local(t)
        if part is not t:
            self.recorder._seen.pop(id(part), None)     # edits of a DTensor are not counted there
        return part

    def measure_there(self, t: Any) -> Any:
        """On a device: seven numbers, fetched together at the end of the pass."""
        torch = self.torch
        try:
            measurable = t.is_floating_point() or t.is_complex()
            if not measurable or t.layout is not torch.strided or t.device.type == "cpu" or self.transformed(t):
                return UNMEASURED
            return self.later(t.detach())
        except (RuntimeError, TypeError, NotImplementedError):  # no numbers to read
            return UNMEASURED

    def later(self, t: Any) -> Any:
        torch = self.torch
        if t.numel() == 0:
            return (0, 0.0, 0.0, 0.0, 0, 0, 0)
        t = t.reshape(-1)
        parts = torch.view_as_real(t.resolve_conj()).reshape(-1) if t.is_complex() else t
        x = parts.double() if parts.dtype is torch.float64 else parts.float()
        fine = torch.isfinite(x)
        clean = torch.where(fine, x, torch.zeros((), dtype=x.dtype, device=x.device))
        low, high = torch.where(fine, x, torch.inf).amin(), torch.where(fine, x, -torch.inf).amax()
        numbers = torch.stack([
            torch.linalg.vector_norm(clean, dtype=torch.float64), low.double(), high.double(),
            (t == 0).sum().double(), torch.isnan(t).sum().double(), (torch.isinf(t) & ~torch.isnan(t)).sum().double()])
        self.waiting.append((len(self.recorder.rec.value_likes), numbers))
        return (t.numel(), 0.0, 0.0, 0.0, 0, 0, 0)

    def flush(self) -> None:
        """One synchronisation for all that was measured on devices since the last."""
        if not self.waiting and not self.comparing:
            return
        torch = self.torch
        thread = self.recorder.thread()
        thread.busy += 1
        try:
            with torch._C.DisableTorchFunction():
                waiting, self.waiting = self.waiting, []
                comparing, self.comparing = self.comparing, []
                flat = [v for _, v in waiting] + [c.double().reshape(1) for _, c in comparing]
                numbers = torch.cat([v.to(flat[0].device) for v in flat]).cpu().numpy()
        finally:
            thread.busy -= 1
        stats = self.recorder.rec.stats
        for i, (n, _) in enumerate(waiting):
            row = numbers[6 * i:6 * i + 6]
            for j in range(6):
                stats[7 * n + 1 + j] = float(row[j])
            if not np.isfinite(row[1]):                 # nothing finite in it
                stats[7 * n + 2] = stats[7 * n + 3] = 0.0
        for i, (slot, _) in enumerate(comparing):
            changed = bool(numbers[6 * len(waiting) + i])
            if slot >= 0 and self.recorder.rows[slot][0] == "hook":
                row = list(self.recorder.rows[slot])
                row[9] = bool(row[9]) or changed
                self.recorder.rows[slot] = tuple(row)
                self.recorder.rec.hooks[row[5]]["changed"] += changed

    def same_memory(self, a: Any, b: Any) -> bool:
        try:
            return bool(a.numel() == b.numel() and a.data_ptr() == b.data_ptr())
        except RuntimeError:
            return False

    def deferred(self, t: Any) -> bool:
        return bool(t.device.type != "cpu") and not self.transformed(t)

    def defer_comparison(self, slot: int, old: Any, new: Any) -> None:
        differs = (old != new).any() if old.shape == new.shape else self.torch.ones((), device=new.device)
        self.comparing.append((slot, differs))

    def equal(self, a: Any, b: Any) -> bool:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        x = a.detach() if a.requires_grad else a
        y = b.detach() if b.requires_grad else b
        try:
            return same(x.numpy(), y.numpy())
        except (RuntimeError, TypeError):               # bfloat16, sparse, fake: torch's own, to which NaN differs from NaN
            try:
                if self.transformed(x) or self.transformed(y):
                    return same(inside(self.torch, x), inside(self.torch, y))
                return bool(self.torch.equal(x, y))
            except (RuntimeError, TypeError):           # nobody can tell, and it is another tensor
                return False

    def transformed(self, t: Any) -> bool:
        """Is it one of torch.func's, inside a vmap or grad?"""
        return bool(self.torch._C._functorch.is_functorch_wrapped_tensor(t))

    def array_of(self, t: Any) -> Any:
        try:
            return self.engine.here(t.detach().cpu()) if local(t) is t else None
        except (RuntimeError, TypeError, NotImplementedError):
            return None


def inside(torch: Any, t: Any) -> Any:
    """The numbers of a tensor of torch.func, those of a batch at the front: an array."""
    functorch = torch._C._functorch
    places = []
    while functorch.is_functorch_wrapped_tensor(t):
        if functorch.is_batchedtensor(t):
            places.append(functorch.maybe_get_bdim(t))
        t = functorch.get_unwrapped(t)
    from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
    with temporarily_clear_interpreter_stack():
        t = t.detach()
        found = (t.float() if t.dtype is torch.bfloat16 else t).cpu().numpy()
    for i, place in enumerate(reversed(places)):        # the outermost wrapper was met first
        found = np.moveaxis(found, place + i, i)
    return found
