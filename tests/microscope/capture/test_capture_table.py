"""Every case of cases.py, on both engines: against a batch-of-one loop and against .grad."""
from __future__ import annotations

from typing import Any

import pytest
from cases import CASES, TABLE, Case, engine_named

from retrograd import microscope


def loss_of(case: Case, out: Any) -> Any:
    if case.loss is not None:
        return case.loss(out)
    out = case.out(out)
    return (out.sin() * out + out.pow(2)).sum()


def call(case: Case, inputs: Any) -> Any:
    return case.model(*inputs, **case.kwargs)


def one_by_one(torch: Any, case: Case, N: int) -> dict[str, Any]:
    """{parameter: (N, *shape)}: each sample through the model alone."""
    found: dict[str, list[Any]] = {}
    for n in range(N):
        case.model.zero_grad(set_to_none=True)
        alone = tuple(x.narrow(case.batch_dim, n, 1) if case.batched is None or case.batched[i] else x
                      for i, x in enumerate(case.inputs))
        loss_of(case, call(case, alone)).backward()
        for name, p in case.model.named_parameters():
            if p.requires_grad:
                found.setdefault(name, []).append(
                    torch.zeros_like(p).detach() if p.grad is None else p.grad.clone())
    case.model.zero_grad(set_to_none=True)
    return {name: torch.stack(rows) for name, rows in found.items()}


def near(torch: Any, got: Any, want: Any, scale: float, tolerance: float) -> bool:
    assert tuple(got.shape) == tuple(want.shape)
    return float((got.double() - want.double()).norm()) <= tolerance * max(float(want.norm()), 1e-2 * scale)


@pytest.mark.parametrize("engine, name", TABLE)
def test_captured_factors_give_the_gradients_of_each_sample(engine: str, name: str) -> None:
    torch = engine_named(engine)
    torch.manual_seed(0)
    case = CASES[name](torch)
    N = case.inputs[0].shape[case.batch_dim]
    double = next(case.model.parameters()).dtype == torch.float64
    tolerance = 1e-9 if double else 2e-4

    with microscope.capture(case.model, batch_dim=case.batch_dim, **case.options) as cap:
        out = call(case, case.inputs)
        loss_of(case, out).backward()
    grads = {n: p.grad.clone() for n, p in case.model.named_parameters() if p.grad is not None}
    scale = float(sum(float(g.norm()) ** 2 for g in grads.values()) ** 0.5)

    # coverage names exactly what is not covered, and nothing with a gradient is left out
    report = cap.coverage()
    assert {r.name for r in report} == {n for n, _ in case.model.named_parameters()}
    assert {r.name for r in report if r.status == "whole batch"} == set(case.whole), report
    assert {r.name for r in report if r.status == "not covered"} == set(case.missing), report
    assert {r.name for r in report if r.status in ("factors", "per sample", "whole batch", "not covered")} == set(grads)
    for r in report.missing:
        assert ":" in r.where and r.how
    for each in case.factors:
        assert report[each].status == "factors", report

    # the check agrees, for what is covered
    assert all(e <= tolerance for n, e in cap.check().items() if n not in case.missing), cap.errors

    # sums against .grad
    if case.missing:
        with pytest.raises(microscope.UncoveredError) as refused:
            cap.grads().norms()
        assert all(each in str(refused.value) for each in case.missing)
    g = cap.grads(partial=bool(case.missing))
    if not case.whole:
        got = g.weight_grad()
        assert set(got) == set(grads) - set(case.missing)
        for n, value in got.items():
            assert near(torch, value, grads[n], scale, tolerance), n
    else:
        for n, value in cap.grads().weight_grad().items():
            assert near(torch, value, grads[n], scale, tolerance), n
        with pytest.raises(microscope.UncoveredError) as refused:
            cap.grads().norms()
        assert all(each in str(refused.value) for each in case.whole)
        if set(case.whole) == set(grads):
            return
        g = cap.grads(partial=True)

    # every quantity against the loop
    truth = {n: v for n, v in one_by_one(torch, case, N).items() if n in g.names}
    assert set(truth) == set(g.names)
    flat = torch.cat([truth[n].reshape(N, -1).double() for n in g.names], 1)
    for n, value in g.per_sample().items():
        assert near(torch, value, truth[n], scale / N ** 0.5, tolerance), n
    norms = flat.norm(dim=1)
    assert near(torch, g.norms(), norms, float(norms.norm()), tolerance)
    for n, value in g.norms(per_layer=True).items():
        assert near(torch, value, truth[n].reshape(N, -1).norm(dim=1), float(norms.norm()), 5 * tolerance), n
    assert near(torch, g.dots(), flat @ flat.t(), 1.0, tolerance)
    limit = float(norms.sort()[0][N // 2])
    weights = (limit / norms).clamp(max=1.0)
    for n, value in g.clip(limit).items():
        want = (truth[n].reshape(N, -1) * weights.reshape(-1, 1).to(truth[n].dtype)).sum(0).reshape(value.shape)
        assert near(torch, value, want, scale, tolerance), n
