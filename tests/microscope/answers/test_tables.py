"""to_pandas, to_arrow and to_parquet: the numbers are those of what was given, and files are read by others."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import retrograd as torch
from retrograd import microscope, nn

F = nn.functional


@pytest.fixture
def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 4), nn.Tanh(), nn.Flatten(), nn.Linear(8, 2))


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([[0, 1], [4, 4], [2, 3]]), torch.tensor([0, 1, 1])


def captured(model: nn.Module) -> Any:
    x, y = batch()
    with microscope.capture(model) as cap:
        F.cross_entropy(model(x), y).backward()
    return cap


def test_events_of_a_recording(model: nn.Module) -> None:
    x, y = batch()
    with microscope.record(model) as rec:
        F.cross_entropy(model(x), y).backward()
    table = microscope.to_arrow(rec)
    assert table.num_rows == len(rec) and table.column("event").to_pylist() == list(range(len(rec)))
    frame = microscope.to_pandas(rec)
    assert list(frame.columns) == table.column_names
    arrived = frame[frame.kind == "accumulate"].set_index("what").norm
    assert {name: pytest.approx(p.grad.norm().item(), rel=1e-5) for name, p in model.named_parameters()} == arrived.to_dict()
    ops = frame[frame.kind == "op"]
    assert ops[ops.module == "1"].norm.iloc[-1] == pytest.approx(model[1](model[0](x)).norm().item(), rel=1e-5)
    assert frame[frame.kind == "enter"].norm.isna().all()


def test_a_long_recording_is_written_in_blocks(model: nn.Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    from retrograd.microscope.answers import tables
    with microscope.record(model) as rec:
        model(batch()[0]).sum().backward()
    whole = microscope.to_arrow(rec)
    monkeypatch.setattr(tables, "EVENTS", 7)
    microscope.to_parquet(rec, tmp_path / "events.parquet")
    assert parquet.ParquetFile(tmp_path / "events.parquet").num_row_groups == -(-len(rec) // 7)
    assert parquet.read_table(tmp_path / "events.parquet").equals(whole)


def test_rows_of_reports(model: nn.Module) -> None:
    x, y = batch()
    cap = captured(model)
    coverage = cap.coverage()
    assert [tuple(row.values()) for row in microscope.to_arrow(coverage).to_pylist()] == [
        (r.name, list(r.shape), *r[2:]) for r in coverage]
    with microscope.record(model) as rec:
        F.cross_entropy(model(x), y).backward()
    ledger = rec.ledger("1.weight")
    assert microscope.to_arrow(ledger).to_pylist() == ledger.rows()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with microscope.watch(model, every=1) as watched:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    assert microscope.to_arrow(watched).to_pylist() == list(watched.rows)
    assert microscope.to_pandas(watched).grad_norm.dropna().tolist() == [
        r["grad_norm"] for r in watched.rows if r["grad_norm"] is not None]


@pytest.mark.parametrize("dtype", [None, "float16", "bfloat16"])
def test_factors_of_a_store_give_the_gradients_again(model: nn.Module, tmp_path: Path, dtype: str | None) -> None:
    from pyarrow import parquet

    grads = captured(model).grads()
    with microscope.FactorStore(tmp_path / "store", dtype=dtype) as store:
        store.append(grads, step=7, samples=[10, 20, 30], token_mask=None)
    store = microscope.FactorStore(tmp_path / "store", "r")
    microscope.to_parquet(store, tmp_path / "factors.parquet")
    table = parquet.read_table(tmp_path / "factors.parquet")
    assert table.equals(microscope.to_arrow(store)) and set(table.column("step").to_pylist()) == {7}
    each, seen = grads.per_sample(), 0
    tolerance = {None: 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    for row in table.to_pylist():
        wanted = each[row["layer"]][[10, 20, 30].index(row["sample"])].numpy()
        if row["kind"] == "outer":
            a, delta = (np.array(row[name]).reshape(row["tokens"], -1) for name in ("a", "delta"))
            found = delta.T @ a
        elif row["kind"] == "rows":
            found = np.zeros(row["shape"])
            np.add.at(found, np.array(row["ids"]), np.array(row["delta"]).reshape(row["tokens"], -1))
        else:
            found = np.array(row["gradient"]).reshape(row["shape"])
        assert np.allclose(found, wanted, rtol=tolerance, atol=tolerance * abs(wanted).max()), row["layer"]
        seen += 1
    assert seen == 3 * len(grads.names) and {"outer", "rows", "dense"} == set(table.column("kind").to_pylist())


def test_float64_factors_keep_their_digits(tmp_path: Path) -> None:
    model = nn.Linear(3, 2).double()
    with microscope.capture(model) as cap:
        model(torch.rand(2, 3, dtype=torch.float64)).sum().backward()
    with microscope.FactorStore(tmp_path) as store:
        store.append(cap.grads(), step=0)
        store.flush()
        row = microscope.to_arrow(store).to_pylist()[0]
        assert row["a"] == store.read("weight", 0)["a"].reshape(-1).tolist()


def test_a_mask_and_ranks_are_columns(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    with microscope.capture(model) as cap:
        model(torch.rand(2, 4, 3)).sum().backward()
    mask = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1]])
    for rank in (0, 1):
        with microscope.FactorStore(tmp_path, rank=rank) as store:
            store.append(cap.grads(), step=0, token_mask=mask)
    rows = [row for row in microscope.to_arrow(microscope.FactorStore(tmp_path, "r")).to_pylist() if row["layer"] == "weight"]
    assert [(r["rank"], r["sample"], r["mask"]) for r in rows] == [
        (rank, sample, mask[sample].tolist()) for rank in (0, 1) for sample in (0, 1)]


def test_nothing_is_a_table_without_rows(tmp_path: Path) -> None:
    store = microscope.FactorStore(tmp_path)
    assert microscope.to_arrow(store).num_rows == 0 and len(microscope.to_pandas(store)) == 0
    store.close()
    with microscope.record() as rec:
        pass
    assert microscope.to_arrow(rec).column("norm").type == pa.float64()


@pytest.mark.oracle
def test_a_recording_of_pytorch(tmp_path: Path) -> None:
    theirs = pytest.importorskip("torch")
    model = theirs.nn.Linear(3, 2)
    with microscope.record(model) as rec:
        model(theirs.ones(4, 3)).sum().backward()
    frame = microscope.to_pandas(rec)
    assert frame[frame.kind == "accumulate"].set_index("what").norm["weight"] == pytest.approx(model.weight.grad.norm().item())
    with microscope.capture(model) as cap:
        model(theirs.ones(4, 3)).sum().backward()
    with microscope.FactorStore(tmp_path) as store:
        store.append(cap.grads(), step=0)
        store.flush()
        assert microscope.to_arrow(store).to_pylist()[0]["a"] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_package_is_named(model: nn.Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name, *args)

    coverage = captured(model).coverage()
    monkeypatch.setattr(builtins, "__import__", refuse)
    path = tmp_path / "x.parquet"
    for call in ([lambda: microscope.to_pandas(coverage)] if package == "pandas" else
                 [lambda: microscope.to_arrow(coverage), lambda: microscope.to_parquet(coverage, path)]):
        with pytest.raises(ImportError, match=f"the package {package}: pip install {package}"):
            call()
    assert not path.exists()


def test_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="to_arrow: found must be"):
        microscope.to_arrow([1, 2])
