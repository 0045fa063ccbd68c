"""What cannot be answered is refused, or named in the coverage report; never a wrong number."""
from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrograd import microscope
from retrograd.microscope import CaptureError, FactorStore, StoreError, UncoveredError, capture


def two(torch: Any) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))


def test_a_model_without_parameters(torch: Any) -> None:
    with pytest.raises(CaptureError, match="Sequential has no parameters"):
        capture(torch.nn.Sequential(torch.nn.ReLU()))


def test_something_that_is_no_model() -> None:
    with pytest.raises(TypeError, match="expected a module"):
        capture(3)


def test_a_tensor_instead_of_a_model(torch: Any) -> None:
    with pytest.raises(TypeError, match="expected a module, got Tensor"):
        capture(torch.zeros(3))


def test_a_layer_never_called_is_named(torch: Any) -> None:
    model = two(torch)
    model.spare = torch.nn.Linear(2, 2)
    with capture(model) as cap:
        model[2](model[1](model[0](torch.randn(3, 4)))).sum().backward()
    row = cap.coverage()["spare.weight"]
    assert row.status == "no gradient" and row.how == "never called" and "linear.py" in row.where


def test_a_layer_never_called_is_named_with_the_class_of_the_users_that_has_it(torch: Any) -> None:
    class Mine(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 3))

        def forward(self, x: Any) -> Any:
            return self.inner[0](x)
    with capture(torch.nn.Sequential(Mine())) as cap:
        cap.model(torch.randn(3, 4)).sum().backward()
    file, _, line = cap.coverage()["0.inner.1.weight"].where.rpartition(":")
    assert file == __file__ and Path(file).read_text().splitlines()[int(line) - 1].strip().startswith("class Mine")


def test_backward_never_run(torch: Any) -> None:
    model = two(torch)
    with capture(model) as cap:
        model(torch.randn(3, 4))
    with pytest.raises(CaptureError, match="no gradient has arrived"):
        cap.grads()
    with pytest.raises(CaptureError, match="run backward"):
        cap.check()
    assert {r.status for r in cap.coverage()} == {"no gradient"}
    assert "no gradient came back" in cap.coverage()["0.weight"].how


def test_a_frozen_model(torch: Any) -> None:
    model = two(torch).requires_grad_(False)
    with capture(model) as cap:
        model(torch.randn(3, 4).requires_grad_()).sum().backward()
    with pytest.raises(CaptureError, match="no gradient has arrived: every parameter is frozen"):
        cap.grads()


def test_nothing_called_at_all(torch: Any) -> None:
    with capture(two(torch)) as cap:
        pass
    with pytest.raises(CaptureError, match="never called"):
        cap.grads()


def test_forward_without_recording(torch: Any) -> None:
    model = two(torch)
    with capture(model) as cap, torch.no_grad():
        model(torch.randn(3, 4))
    assert {r.how for r in cap.coverage()} == {"called under no_grad() or inference_mode(), where no gradient is recorded"}


def test_an_input_without_batch_dimension(torch: Any) -> None:
    model = two(torch)
    with capture(model) as cap:
        model(torch.randn(4)).sum().backward()
    assert {r.status for r in cap.coverage()} == {"whole batch"}
    assert max(cap.check().values()) < 1e-5
    with pytest.raises(UncoveredError, match="has no batch of 4"):
        cap.grads().norms()


def test_mixed_batch_sizes(torch: Any) -> None:
    nn = torch.nn

    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.Linear(4, 3), nn.Linear(4, 3)

        def forward(self, x: Any, y: Any) -> Any:
            return self.one(x).sum() * self.two(y).sum()
    model = Two()
    with capture(model) as cap:
        model(torch.randn(5, 4), torch.randn(2, 4)).backward()
    assert [r.status for r in cap.coverage()] == ["factors", "per sample", "whole batch", "whole batch"]
    with pytest.raises(UncoveredError, match="two.weight"):
        cap.grads().dots()
    assert cap.grads(layers="one").norms().shape == (5,)
    assert cap.grads(partial=True).names == ["one.weight", "one.bias"]


def test_tokens_and_batch_flattened_into_one(torch: Any) -> None:
    nn = torch.nn

    class Flat(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x: Any) -> Any:
            return self.fc(x.reshape(-1, 4))
    model = Flat()
    with capture(model) as cap:
        model(torch.randn(5, 2, 4)).pow(2).sum().backward()
    assert cap.coverage()["fc.weight"].status == "whole batch"
    assert max(cap.check().values()) < 1e-5


def test_parts_called_without_the_model_have_an_unknown_batch(torch: Any) -> None:
    model = two(torch)
    with capture(model) as cap:
        model[2](model[0](torch.randn(3, 4))).pow(2).sum().backward()
    with pytest.raises(UncoveredError, match="batch size is unknown"):
        cap.grads().norms()
    with capture(model, batch_size=3) as cap:
        model[2](model[0](torch.randn(3, 4))).pow(2).sum().backward()
    assert cap.grads().norms().shape == (3,)


def test_an_input_changed_in_place_after_the_call(torch: Any) -> None:
    nn = torch.nn

    class Edits(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(4))
            self.b = nn.Parameter(torch.randn(4))

        def forward(self, x: Any) -> Any:
            y = torch.where(x > 0, self.b, x)
            x.add_(1)
            return y * self.w
    model = Edits()
    with capture(model, check=False) as cap:
        model(torch.randn(3, 4)).sum().backward()
    row = cap.coverage()["b"]
    assert row.status == "not covered" and "changed in place after the call" in row.how
    assert row.where.partition(":")[0].endswith("test_bad_input.py")


def test_entered_twice(torch: Any) -> None:
    model = two(torch)
    with capture(model) as cap, pytest.raises(CaptureError, match="already entered"):
        cap.__enter__()


def test_left_without_having_been_entered(torch: Any) -> None:
    cap = capture(two(torch))
    with pytest.raises(CaptureError, match="capture: not entered"):
        cap.__exit__(None, None, None)
    with cap:
        pass
    with pytest.raises(CaptureError, match="capture: not entered"):
        cap.__exit__(None, None, None)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_follows_a_model_is_not_copied(torch: Any, duplicate: Any, tmp_path: Path) -> None:
    model = two(torch)
    for tool in (capture(model), microscope.record(model), microscope.watch(model), microscope.memory(model),
                 microscope.flight(model, path=tmp_path)):
        name = type(tool).__name__.lower()
        with pytest.raises(TypeError, match=f"^{name}: it belongs to its model and to this process and can be neither copied"):
            duplicate(tool)


def test_an_error_in_the_block_leaves_nothing_behind(torch: Any) -> None:
    model = two(torch)
    add, method = torch.add, torch.Tensor.matmul
    with pytest.raises(ZeroDivisionError), capture(model):
        model(torch.randn(3, 4))
        raise ZeroDivisionError
    assert torch.add is add and torch.Tensor.matmul is method
    assert not model._forward_hooks and not model._forward_pre_hooks
    with capture(model) as cap:
        model(torch.randn(3, 4)).sum().backward()
    assert cap.coverage().complete


def test_arguments_out_of_range(torch: Any) -> None:
    model = two(torch)
    with pytest.raises(ValueError, match="check must be"):
        capture(model, check="sometimes")
    with pytest.raises(ValueError, match="calls must be"):
        capture(model, calls="both")
    with capture(model) as cap:
        model(torch.randn(3, 4)).sum().backward()
    g = cap.grads()
    with pytest.raises(ValueError, match="max_norm must be positive"):
        g.clip(0)
    with pytest.raises(ValueError, match="weights of shape"):
        g.weighted(torch.ones(4))
    with pytest.raises(ValueError, match="'sum' or 'mean'"):
        g.weight_grad("max")
    with pytest.raises(ValueError, match="dim must be positive"):
        g.project(0)
    with pytest.raises(CaptureError, match="among layers="):
        cap.grads(layers="nothing")
    with pytest.raises(CaptureError, match="have no tokens|has no tokens"):
        torch_embedding = torch.nn.Sequential(torch.nn.PReLU())
        with capture(torch_embedding) as other:
            torch_embedding(torch.randn(3, 4)).sum().backward()
        other.grads().per_token()


def test_other_threads_are_not_captured(torch: Any) -> None:
    import threading
    model = two(torch)

    def elsewhere() -> None:
        model(torch.randn(7, 4)).sum().backward()
    with capture(model, check=False) as cap:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        hooked = [u for u in cap.uses()]
        model.zero_grad()
        model(torch.randn(3, 4)).sum().backward()
    assert hooked == [] and cap.grads().norms().shape == (3,)


def test_a_model_called_in_another_thread_only_is_not_called_never_called(torch: Any) -> None:
    import threading
    model = two(torch)
    for check in (True, False):
        with capture(model, check=check) as cap:
            thread = threading.Thread(target=lambda: model(torch.randn(7, 4)).sum().backward())
            thread.start()
            thread.join()
        assert all("in another thread" in row.how for row in cap.coverage())
        with pytest.raises(CaptureError, match="in another thread than the one that entered the block"):
            cap.grads()


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_a_model_called_without_gradients_is_not_called_never_called(torch: Any, mode: str) -> None:
    model, x = two(torch), torch.randn(7, 4)
    cap = capture(model)
    for _ in range(2):
        with cap, getattr(torch, mode)():
            model(x)
        assert {row.status for row in cap.coverage()} == {"no gradient"}
        assert all("called under no_grad() or inference_mode()" in row.how for row in cap.coverage())
        with pytest.raises(CaptureError, match="no_grad"):
            cap.grads()
        with cap:
            model(x).sum().backward()
        assert cap.coverage().complete and cap.grads().norms().shape == (7,)


def test_a_layer_called_without_gradients_inside_the_model(torch: Any) -> None:
    class Half(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.idle, self.last = (torch.nn.Linear(4, 4) for _ in range(3))
            self.frozen = False

        def forward(self, x: Any) -> Any:
            with torch.set_grad_enabled(not self.frozen):
                x = self.first(x)
            return self.last(x)
    model, x = Half(), torch.randn(7, 4)
    cap = capture(model)
    for frozen in (False, True, True, False):
        model.frozen = frozen
        with cap:
            model(x).sum().backward()
        report = cap.coverage()
        assert report["last.weight"].status == "factors" and report["idle.weight"].how == "never called"
        assert ("no_grad" in report["first.weight"].how) is frozen


def test_captures_of_other_threads_do_not_take_each_others_gradients(torch: Any) -> None:
    import threading
    model, other = two(torch), two(torch)
    verifying, done = threading.Event(), threading.Event()

    def wait(_: Any) -> None:
        verifying.set()
        assert done.wait(10)

    def elsewhere() -> None:
        with capture(other):
            x = torch.randn(3, 4, requires_grad=True)
            x.register_hook(wait)
            other(x).sum().backward()
    thread = threading.Thread(target=elsewhere)
    with capture(model) as cap:
        loss = model(torch.randn(3, 4)).sum()
        thread.start()
        assert verifying.wait(10)
        loss.backward()
        done.set()
        thread.join()
    assert cap.grads().norms().shape == (3,)


def test_names_of_the_microscope_are_listed_before_they_are_imported() -> None:
    assert "capture" in dir(microscope)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        microscope.nothing  # noqa: B018


def test_torch_is_not_imported_for_a_model_of_ours() -> None:
    import subprocess
    import sys
    code = ("import sys, retrograd as rt; from retrograd import microscope\n"
            "m = rt.nn.Linear(2, 2)\n"
            "with microscope.capture(m) as cap: m(rt.ones(3, 2)).sum().backward()\n"
            "cap.grads().norms(); assert 'torch' not in sys.modules; assert cap.coverage().complete")
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dim", [0, 1])
def test_a_wrong_axis_is_noticed_where_its_length_proves_nothing(torch: Any, dim: int) -> None:
    nn = torch.nn

    class Turns(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.fc = nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return self.fc(self.before(x).tanh().transpose(0, 1)).transpose(0, 1)
    model, x = Turns(), torch.randn(4, 4, 3)
    cap = capture(model, batch_dim=dim)
    for step in range(2):                       # the second step is not checked, but remembers
        with cap:
            model(x).pow(2).sum().backward()
        assert cap.coverage().complete and cap.coverage().verified
        alone = []
        for n in range(4):
            model.zero_grad()
            model(x.narrow(dim, n, 1)).pow(2).sum().backward()
            alone.append(sum(float(p.grad.pow(2).sum()) for p in model.parameters()) ** 0.5)
        assert torch.allclose(cap.grads().norms(), torch.tensor(alone), rtol=1e-4), step


def test_tokens_first_without_saying_so_is_noticed(torch: Any) -> None:
    model = torch.nn.MultiheadAttention(4, 2)
    x = torch.randn(5, 5, 4)
    with capture(model) as cap:
        model(x, x, x)[0].pow(2).sum().backward()
    report = cap.coverage()                     # what is called a sample is a token, of which the last layer alone is made
    assert [r.status for r in report] == ["whole batch", "whole batch", "factors", "per sample"]
    assert report.mixed and "some samples depend on others" in str(report) and "verified" not in str(report)
    with pytest.raises(UncoveredError, match="are not the samples"):
        cap.grads().norms()


def test_samples_that_are_mixed_are_found(torch: Any) -> None:
    nn = torch.nn

    class Mixes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            y = self.one(x)
            return self.two(y - y.mean(0, keepdim=True))
    model = Mixes()
    with capture(model) as cap:
        model(torch.randn(5, 3)).pow(2).sum().backward()
    assert cap.coverage().verified
    assert [r.status for r in cap.coverage()] == ["whole batch", "whole batch", "factors", "per sample"]
    assert max(cap.check().values()) < 1e-5


@pytest.mark.parametrize("lengths", [(2, 4, 3), (3, 3, 3)])
@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_packed_sequences_have_no_samples(torch: Any, kind: str, lengths: Any) -> None:
    nn = torch.nn
    pack = nn.utils.rnn.pack_padded_sequence

    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = getattr(nn, kind)(2, 3, batch_first=True)

        def forward(self, x: Any) -> Any:
            return self.rnn(pack(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False))[0].data
    model = Packed()
    with capture(model) as cap:
        model(torch.randn(3, 4, 2)).pow(2).sum().backward()
    assert {r.status for r in cap.coverage()} == {"whole batch"} and max(cap.check().values()) < 1e-5
    with pytest.raises(UncoveredError, match="PackedSequence"):
        cap.grads().norms()


def test_samples_in_another_order_are_found(torch: Any) -> None:
    nn = torch.nn

    class Sorts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two, self.three = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            order = torch.tensor([2, 0, 1, 4, 3])
            y = self.two(self.one(x).tanh()[order])
            return self.three(y[torch.argsort(order)])
    model, x = Sorts(), torch.randn(5, 3)
    with capture(model) as cap:
        model(x).pow(2).sum().backward()
    assert cap.coverage().complete and cap.coverage().verified
    h = model.one(x).tanh()
    delta = (2 * model.three(model.two(h)) @ model.three.weight).unsqueeze(2)
    assert torch.allclose(cap.grads().per_sample()["two.weight"], delta * h.unsqueeze(1), rtol=1e-4, atol=1e-6)


def test_a_model_that_returns_its_loss_is_not_verified(torch: Any) -> None:
    nn = torch.nn

    class Loss(nn.Linear):
        def forward(self, x: Any) -> Any:
            return super().forward(x).pow(2).sum()
    model = Loss(3, 2)
    with capture(model) as cap:
        model(torch.randn(5, 3)).backward()
    assert cap.coverage().complete and not cap.coverage().verified and "assumed" in str(cap.coverage())


@pytest.mark.parametrize("check", [True, False])
def test_a_gradient_that_no_call_explains_is_noticed_without_a_check_too(torch: Any, check: bool) -> None:
    nn = torch.nn

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, w = ctx.saved_tensors
            return g * w, (g * x).sum(0)

    class Uses(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.w, self.idle = nn.Linear(3, 2), nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))

        def forward(self, x: Any) -> Any:
            return Own.apply(self.fc(x), self.w)
    model = Uses()
    for _ in range(2):                          # the second time into a .grad that is there
        with capture(model, check=check) as cap:
            model(torch.randn(4, 3)).pow(2).sum().backward()
        assert {r.name: r.status for r in cap.coverage()} == {
            "fc.weight": "factors", "fc.bias": "per sample", "w": "not covered", "idle": "no gradient"}
        with pytest.raises(UncoveredError, match="the capture saw no call with it"):
            cap.grads()


def test_a_batch_of_nothing(torch: Any) -> None:
    model = two(torch)
    with pytest.raises(CaptureError, match="a batch of no samples"), capture(model):
        model(torch.randn(0, 4))
    with capture(model) as cap:
        model(torch.randn(3, 4)).sum().backward()
    assert cap.coverage().complete


def test_gradients_that_are_not_finite_are_named(torch: Any) -> None:
    model = two(torch)
    with capture(model) as cap:
        model(torch.full((3, 4), float("nan"))).pow(2).sum().backward()
    report = cap.coverage()
    assert {row.status for row in report} == {"not covered"} and not report.mixed
    assert all("NaN or inf" in row.how for row in report)
    with pytest.raises(UncoveredError, match="NaN or inf"):
        cap.grads()


@pytest.mark.oracle
def test_parameters_without_values_and_complex_ones() -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn
    with pytest.raises(CaptureError, match="0.weight has no shape yet; call the model once"):
        capture(nn.Sequential(nn.LazyLinear(3)))
    with pytest.raises(CaptureError, match="weight is on the meta device"):
        capture(nn.Linear(3, 2, device="meta"))
    model = nn.RMSNorm(4, dtype=torch.complex64)
    with capture(model) as cap:
        model(torch.randn(5, 4, dtype=torch.complex64)).abs().sum().backward()
    assert all(row.status == "not covered" and "complex" in row.how for row in cap.coverage())


def test_factors_of_complex_weights_are_refused_where_they_would_be_wrong(torch: Any, tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 2, dtype=torch.complex64)
    with capture(model) as cap:
        model(torch.randn(5, 3, dtype=torch.complex64)).abs().sum().backward()
    grads = cap.grads()
    with pytest.raises(CaptureError, match="expected real weights, got complex ones: weight, bias"):
        grads.kfac()
    with FactorStore(tmp_path / "store") as store, pytest.raises(StoreError, match="expected real weights"):
        store.append(grads, step=0)
    assert FactorStore(tmp_path / "store", "r").manifest["shards"] == []


def test_a_curvature_of_zero_is_not_divided_by(torch: Any) -> None:
    model = two(torch)
    with torch.no_grad():
        model[2].weight.zero_()                                     # nothing arrives at the first layer
    with capture(model) as cap:
        torch.nn.functional.cross_entropy(model(torch.randn(30, 4)), torch.arange(30) % 3).backward()
    grads = cap.grads()
    numbers = {name: p.detach() for name, p in model.named_parameters()}
    with pytest.raises(CaptureError, match="KFAC.apply: the curvature of 0.weight is 0 along some .* damping=0 divides by it"):
        grads.kfac(damping=0.0).apply(numbers)
    assert all(torch.isfinite(g).all() for g in grads.kfac(damping=1e-3).apply(numbers).values())
    with pytest.raises(TypeError, match="KFAC: damping must be a number, got str"):
        grads.kfac(damping="a")


def test_options_may_be_numbers_of_numpy(torch: Any) -> None:
    net, x = two(torch), torch.ones(6, 4)
    cap = capture(net, batch_dim=np.int64(0), batch_size=np.int64(6), check=np.True_, verify=np.True_, weight_grads=np.True_)
    with cap:
        net(x).sum().backward()
    assert cap.grads(scale="sum").norms().shape == (6,)
