"""conj() as a view: what programs see of the memory that it shares, and gradients through edits of either side."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd

# of a, complex (2, 2), and x = a.conj(): what views it is, and who refuses it
SEEN = """
x.is_conj() | a.is_conj() | x.clone().is_conj() | x.contiguous() is x | x.T.is_conj() | x[0].is_conj() | x.detach().is_conj()
x[[0, 1]].is_conj() | x.reshape(-1).is_conj() | x.unbind()[0].is_conj() | x.expand(2, 2, 2).is_conj() | x.data.is_conj()
(x + 1).is_conj() | torch.cat([x, a]).is_conj() | x.conj().is_conj() | x.conj()._base is a | x.conj().data_ptr() == a.data_ptr()
x.data_ptr() == a.data_ptr() | x.untyped_storage().data_ptr() == a.untyped_storage().data_ptr() | a[1].conj().storage_offset()
a[:, 1].conj().stride() | a.T.conj().stride() | x._base is a | x.imag._base is a | x.is_set_to(a) | x.is_neg() | x.real.is_neg()
x.imag.is_neg() | a.imag.is_neg() | x.imag.abs().is_neg() | x.imag.detach().is_neg() | x.imag[0].is_neg()
x.imag.clone().is_neg()
x.resolve_conj() is x | a.resolve_conj() is a | x.resolve_conj() | x.imag.resolve_neg() | x.imag | x.real | x.imag.tolist()
a.mH.is_conj() | a.H.is_conj() | a.adjoint().is_conj() | x.mH.is_conj() | torch.fft.ihfft(a.real).is_conj()
x.to(torch.cfloat).is_conj()
x.numpy() | x.imag.numpy() | x.numpy(force=True) | torch.view_as_real(x) | x.view(torch.double) | x.imag.view(torch.int64)
x.view(torch.cdouble) | x.imag.view(torch.double) | x.__dlpack__() | x.conj_physical().is_conj() | x.mul_(2).is_conj()
copy.deepcopy(x).is_conj() | pickle.loads(pickle.dumps(x)) == x | pickle.loads(pickle.dumps(x)).is_conj()
pickle.loads(pickle.dumps(x.imag)).is_neg() | pickle.loads(pickle.dumps(a.imag[1])) | pickle.loads(pickle.dumps(a[0].real))
pickle.loads(pickle.dumps(x[1].imag)) | pickle.loads(pickle.dumps(a.real.view(torch.int64)[0]))
pickle.loads(pickle.dumps(x)).T.mul_(1j)
torch.vdot(x[0], a[0]) | a @ x | a @ a.mH | x == a | x.abs() | x[0, 0].item() | x._version | (a.mul_(2)._version, x._version)
x.real._neg_view().is_neg() | a._neg_view()._neg_view().is_neg() | a.real._neg_view()._base is a.real._base
torch._neg_view(a).sum() | (a._neg_view().mul_(2), a) | a._is_zerotensor() | copy.copy(x).is_conj()
x.set_(torch.ones(2, dtype=torch.cdouble) * 1j), x.is_conj() | torch.ones(2, dtype=torch.cdouble).set_(x[0]), x
x.set_(a[1].untyped_storage(), 1, (2,), (1,)) | x[0].set_(a[1]).mul_(1j), a, x
x.mul_(2), a | a.mul_(2j), x | x.imag.zero_(), a | x.real.zero_(), a, x | a.imag.add_(1), x | x[0].fill_(5j), a
x.conj().mul_(1j), x, a | a[1].conj().add_(1j), a, x | a.T.conj().add_(a), a, x | a.add_(x), x | x.copy_(a), a | a.zero_(), x.imag
a.data.mul_(2), x | x.data.mul_(2), a | x.view(4)[1:3].exp_(), a | torch.exp(a, out=x), a | x.normal_(), a | a.resize_(4), x
a.requires_grad_().conj().grad_fn | a.requires_grad_().conj().imag.grad_fn | a.requires_grad_().conj().mul_(2)
a.requires_grad_().conj().imag.mul_(2)
"""
# of a leaf and b = a * (1 + 1j): programs that edit one side and use the other
EDITS = """
y = b.conj(); y.mul_(2j); r = b | y = b.conj(); y[0] = a[0] * 3; r = b * y | y = b.conj().imag; y.mul_(a.real); r = b
y = b.conj().real; y.mul_(a.real); r = b | y = b.conj(); b.mul_(a); r = y | y = b.T.conj(); y.mul_(a); r = b
y = b.mH; y[1].mul_(a[0]); r = b @ y | y = b.conj(); z = y.imag; b.mul_(a); r = z | y = b.conj(); y.copy_(a * a); r = b
y = b.conj(); z = y[1]; y.add_(a.conj()); r = z * b | y = b.conj(); z = y * y; y.add_(1); r = z
y = b[0].conj(); y.mul_(a[1]); r = b
y = b.conj().conj(); y.mul_(a); r = b | y = b.conj(); y.imag.copy_(a.real); r = b | y = b.conj().T.conj(); y[0].mul_(a[1]); r = b
y = b.conj(); y.imag[0].mul_(a.imag[1]); r = y * b
"""


def shown(torch: Any, expression: str) -> str:
    torch.manual_seed(0)
    a = torch.tensor([[1 + 2j, 3 - 4j], [0.5j, 2.0]], dtype=torch.cdouble)
    names = {"torch": torch, "a": a, "x": a.conj(), "copy": copy, "pickle": pickle}
    try:
        found = repr(eval(expression, names))
    except Exception as e:
        found = f"{type(e).__name__}: {str(e).splitlines()[0]}"
    return found.partition(" object at ")[0].replace("retrograd.", "torch.").replace("-0.", "0.").replace("+0.", "0.")


@pytest.mark.oracle
@pytest.mark.parametrize("line", SEEN.strip().splitlines())
def test_what_programs_see_is_pytorchs(line: str) -> None:
    theirs = pytest.importorskip("torch")
    for expression in line.split(" | "):
        assert (expression, shown(retrograd, expression)) == (expression, shown(theirs, expression))


def derived(torch: Any, program: str) -> Any:
    a = torch.tensor([[1 + 2j, 3 - 4j], [0.5j, 2.0]], dtype=torch.cdouble).requires_grad_()
    names = {"torch": torch, "a": a, "b": a * (1 + 1j)}
    try:
        exec(program, names)
        r: Any = names["r"]
        first, = torch.autograd.grad((r.abs() ** 2).sum(), a, create_graph=True)
        second, = torch.autograd.grad((first.abs() ** 2 * torch.arange(1.0, 5).view(2, 2)).sum(), a)
    except RuntimeError as e:
        return str(e).partition("]")[0]
    return [t.detach().resolve_conj().resolve_neg().numpy() for t in (r, first, second)]


@pytest.mark.oracle
@pytest.mark.parametrize("program", EDITS.strip().replace("\n", " | ").split(" | "))
def test_gradients_through_edits_of_either_side_are_pytorchs(program: str) -> None:
    got, want = (derived(torch, program) for torch in (retrograd, pytest.importorskip("torch")))
    assert isinstance(got, str) == isinstance(want, str), (got, want)
    if isinstance(got, str):
        assert got == want
    else:
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(x, y, 1e-12, 1e-10)


@both
def test_data_may_become_what_shows_other_memory_conjugated(torch: Any) -> None:
    a, y = torch.tensor([1 + 2j, 3 - 4j]), torch.zeros(2, dtype=torch.cfloat)
    y.data = a.conj()
    assert y.is_conj()
    y.add_(1j)
    a.mul_(2)
    assert y.tolist() == [2 - 2j, 6 + 10j]


FILED = ("z, z.conj(), z.conj()[1], z.T.conj()", "z.conj().imag", "z.conj().imag[1:]", "torch.nn.Parameter(z.conj())")


@pytest.mark.oracle
@pytest.mark.parametrize("what", FILED)
@pytest.mark.parametrize("written, read", [(retrograd, "theirs"), ("theirs", retrograd), (retrograd, retrograd)], ids=str)
def test_files_keep_what_is_conjugated(what: str, written: Any, read: Any) -> None:
    import torch as theirs

    written, read = (theirs if lib == "theirs" else lib for lib in (written, read))
    given = eval(what, {"torch": written, "z": written.tensor([[1 + 2j, 3 - 4j], [0.5j, 2.0]])})
    file = io.BytesIO()
    written.save(given, file)
    file.seek(0)
    back = read.load(file, weights_only=True)
    pairs = list(zip(given, back, strict=True)) if isinstance(given, tuple) else [(given, back)]
    for x, y in pairs:
        assert (y.is_conj(), y.is_neg(), y.tolist()) == (x.is_conj(), x.is_neg(), x.tolist())
        if len(pairs) > 1:                          # all of them show the first one's memory
            back[0].mul_(1j)
            given[0].mul_(1j)
            assert y.tolist() == x.tolist()


@both
def test_memory_nobody_shows_conjugated_is_let_go(torch: Any) -> None:
    a = torch.zeros(3, dtype=torch.cfloat)
    for _ in range(3):
        a.conj().add_(1j)
    assert a.tolist() == [-3j, -3j, -3j]
    y = a.conj()
    del a
    y.mul_(2)
    assert y.tolist() == [6j, 6j, 6j]


def test_a_version_forgets_mirrors_that_are_gone() -> None:
    a = retrograd.zeros(3, dtype=retrograd.cfloat)
    for _ in range(5):
        a.conj()
    a.add_(1)
    assert a.version.mirrors == []


# of a and x as above: (is_conj, is_neg, shape, what was there before) of a view that is given another shape
RESIZED = """
x[1].resize_(4) | x.resize_as_(a[0]) | x.resize_as_(torch.zeros(4)) | a[1].conj().resize_(4) | a[1].conj().resize_as_(a)
a[1].conj().resize_as_(x) | x.T.resize_as_(torch.zeros(1)) | x.imag.resize_as_(torch.zeros(4)) | x.imag[1].resize_(2)
a[1].conj().imag.resize_(7) | a._neg_view().resize_as_(a[0]) | a[1].conj()._neg_view().resize_(4) | a[1].resize_as_(x)
x.resize_as_(a, memory_format=torch.contiguous_format) | a.resize_(3).conj() | x.resize_as_(x[:, 0]).mul_(2j)
x.requires_grad_().resize_as_(a[0]) | a[1].conj().resize_(-1)
"""


@pytest.mark.oracle
@pytest.mark.parametrize("expression", RESIZED.strip().replace("\n", " | ").split(" | "))
def test_a_conjugate_of_another_shape_is_pytorchs(expression: str) -> None:
    found = []
    for torch in (retrograd, pytest.importorskip("torch")):
        a = torch.tensor([[1 + 2j, 3 - 4j], [0.5j, 2.0]], dtype=torch.cdouble)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                y = eval(expression, {"torch": torch, "a": a, "x": a.conj()})
                seen = (y.is_conj(), y.is_neg(), tuple(y.shape), y.flatten()[:2].tolist())
            except RuntimeError as e:
                seen = str(e).splitlines()[0]
        found.append((seen, [str(w.message).partition(" (Trig")[0] for w in told]))
    assert found[0] == found[1]


def test_edits_of_a_resized_conjugate_are_its_own() -> None:
    a = retrograd.tensor([1 + 2j, 3 - 4j])
    x = a.conj().resize_(3)
    x[:2].mul_(1j)
    x.conj().mul_(2)
    assert x[:2].tolist() == [4 + 2j, -8 + 6j]
    assert a.tolist() == [1 + 2j, 3 - 4j]
