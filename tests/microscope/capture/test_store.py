"""FactorStore: what was appended comes back; crashes, second writers and wrong files are noticed."""
from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from retrograd.microscope import CaptureError, FactorStore, StoreError, capture

pytest.importorskip("safetensors")


def near(a: Any, b: Any, tolerance: float = 1e-4) -> bool:
    assert tuple(a.shape) == tuple(b.shape)
    return float((a - b).norm()) <= tolerance * max(float(b.norm()), 1e-6)


def model_of(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 5), nn.LayerNorm(5), nn.Linear(5, 3))


def grads_of(torch: Any, model: Any, N: int = 4) -> Any:
    model.zero_grad()
    with capture(model, check=True) as cap:
        model(torch.randint(0, 7, (N, 3))).pow(2).mean().backward()
    return cap.grads()


def test_a_query_of_a_model_that_was_wrapped_when_it_was_stored_is_told_how_to_name_it(torch: Any, tmp_path: Any) -> None:
    class Wrapper(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, module: Any) -> None:
            super().__init__()
            self.module = module

        def forward(self, x: Any) -> Any:
            return self.module(x)

    model = model_of(torch)
    with FactorStore(tmp_path) as store:
        store.append(grads_of(torch, Wrapper(model)), 0)
    with pytest.raises(StoreError, match=r"same parameters: .*; capture\(model.module\) gives those of a Distributed"):
        FactorStore(tmp_path, "r", engine=torch.__name__).top(grads_of(torch, model), 1)


def test_written_and_read_again(torch: Any, tmp_path: Any) -> None:
    model = model_of(torch)
    steps = [grads_of(torch, model) for _ in range(3)]
    with FactorStore(tmp_path / "run") as store:
        for step, g in enumerate(steps):
            assert store.append(g, step, samples=[10 * step + n for n in range(4)],
                                token_mask=torch.ones(4, 3) > 0) > 0
    store = FactorStore(tmp_path / "run", "r", engine=torch.__name__)
    assert store.layers == steps[0].names and len(store) == 3 * len(store.layers)
    a, delta = steps[1].factors("1.weight")
    record, = store.records("1.weight", step=1)
    assert record.samples == [10, 11, 12, 13] and record.module == "1" and record.kind == "outer"
    assert near(record.array("a"), a, 0) and near(record.array("delta"), delta, 0)
    assert record.array("mask").dtype == torch.bool
    assert record.about["coverage"] == "factors" and record.about["error"] < 1e-4
    assert record.about["reduction"] == ["mean", 36.0, 1.0] and record.about["tokens_of_calls"] == [3]
    assert store.manifest["layers"]["1.weight"]["module"] == "1" and "float32" in store.manifest["layers"]["1.weight"]["dtype"][0]
    one = store.read("1.weight", sample=12)
    assert near(one["a"], a[2], 0) and near(one["delta"], delta[2], 0)
    assert near(next(store.records("3.*", sample=21)).sample(21)["delta"], steps[2].factors("3.weight")[1][1], 0)
    assert [r.step for r in store.records("0.weight", sample=20)] == [2]
    with pytest.raises(KeyError, match="no sample 99"):
        store.read("1.weight", sample=99)
    for name, each in steps[1].per_sample().items():
        assert near(next(store.records(name, step=1)).term().per_sample(), each)
    store.close()


@pytest.mark.parametrize("dtype, tolerance", [("float16", 1e-3), ("bfloat16", 8e-3)])
def test_half_precision_takes_half_the_room(torch: Any, tmp_path: Any, dtype: str, tolerance: float) -> None:
    model = model_of(torch)
    g = grads_of(torch, model)
    with FactorStore(tmp_path / "all") as store:
        all_bytes = store.append(g, 0)
    with FactorStore(tmp_path / "half", dtype=dtype) as store:
        half_bytes = store.append(g, 0, samples=[5, 6, 7, 8], token_mask=torch.ones(4, 3) > 0)
    with FactorStore(tmp_path / "half") as store:       # goes on as it was begun
        assert store.append(g, 1) == half_bytes - 3 * 4 * 3         # without the masks of three weights
    store = FactorStore(tmp_path / "half", "r", engine=torch.__name__)
    ids = 4 * 3 * 8
    assert half_bytes - 3 * 4 * 3 - ids == (all_bytes - ids) / 2
    assert store.manifest["dtype"] == dtype
    a, delta = g.factors("1.weight")
    one = store.read("1.weight", 6, 0)
    assert one["delta"].dtype == torch.float32 and near(one["a"], a[1], tolerance) and near(one["delta"], delta[1], tolerance)
    for name, each in g.per_sample().items():
        assert near(next(store.records(name, step=0)).term().per_sample(), each, 2 * tolerance), name
    found, where = store.dots(g, step=0)
    assert near(found, g.dots(), 4 * tolerance) and where == [(0, n) for n in (5, 6, 7, 8)]
    assert next(store.records("0.weight", step=0)).array("ids").dtype == torch.int64
    store.close()
    with pytest.raises(ValueError, match="dtype is 'float16', 'bfloat16' or None"):
        FactorStore(tmp_path / "other", dtype="float8")


def test_numbers_out_of_float16s_range_keep_their_precision(torch: Any, tmp_path: Any) -> None:
    model = torch.nn.Linear(4, 3)
    with capture(model) as cap:
        (model(torch.randn(5, 4) * 1e6).sin().sum() * 1e-12).backward()
    g = cap.grads()
    with FactorStore(tmp_path / "run", dtype="float16") as store:
        store.append(g, 0)
    store = FactorStore(tmp_path / "run", "r", engine=torch.__name__)
    for name, each in g.per_sample().items():
        assert near(next(store.records(name)).term().per_sample() * 1e6, each * 1e6, 2e-3), name


def test_other_readers_of_safetensors_read_a_shard(torch: Any, tmp_path: Any) -> None:
    from safetensors.numpy import load_file
    g = grads_of(torch, model_of(torch))
    with FactorStore(tmp_path) as store:
        store.append(g, 0)
    shard = tmp_path / json.loads((tmp_path / "manifest.json").read_text())["shards"][0]["file"]
    tensors = load_file(shard)
    a = g.factors("1.weight")[0]
    assert any(t.shape == tuple(a.shape) and abs(t - a.numpy()).max() == 0 for t in tensors.values())


def test_dots_with_everything_stored(torch: Any, tmp_path: Any, capsys: Any) -> None:
    model = model_of(torch)
    steps = [grads_of(torch, model, N) for N in (4, 2)]
    query = grads_of(torch, model, 3)
    with FactorStore(tmp_path, shard_mb=0.001) as store:
        for step, g in enumerate(steps):
            store.append(g, step)
    store = FactorStore(tmp_path, "r", engine=torch.__name__)
    assert len(store.manifest["shards"]) == 2
    got, where = store.dots(query, progress=True)
    assert where == [(0, n) for n in range(4)] + [(1, n) for n in range(2)]
    assert near(got, torch.cat([query.dots(g) for g in steps], 1))
    one, _ = store.dots(query, layer="1.*", step=1)
    assert near(one, query.select(layers="1").dots(steps[1].select(layers="1")))
    with pytest.raises(StoreError, match="same parameters"):
        store.dots(query.select(layers="1"))


def test_a_crash_loses_the_open_shard_only(torch: Any, tmp_path: Any) -> None:
    model = model_of(torch)
    store = FactorStore(tmp_path)
    store.append(grads_of(torch, model), 0)
    store.flush()
    store.append(grads_of(torch, model), 1)
    store._open.file.close()
    store._lock.close()                         # the process is gone: nothing is closed
    assert len(list(tmp_path.glob("*.open"))) == 1
    reader = FactorStore(tmp_path, "r", engine=torch.__name__)
    assert {r.step for r in reader.records()} == {0}
    with FactorStore(tmp_path) as again:
        assert not list(tmp_path.glob("*.open"))
        again.append(grads_of(torch, model), 2)
    assert {r.step for r in FactorStore(tmp_path, "r", engine=torch.__name__).records()} == {0, 2}


def test_two_writers_are_refused(tmp_path: Any) -> None:
    with FactorStore(tmp_path):
        code = f"from retrograd.microscope import FactorStore; FactorStore({str(tmp_path)!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 1 and "is being written by process" in done.stderr
        with FactorStore(tmp_path, rank=1), pytest.raises(StoreError, match="being written"):
            FactorStore(tmp_path, rank=1)
    FactorStore(tmp_path, rank=1).close()


def test_ranks_are_read_as_one(torch: Any, tmp_path: Any) -> None:
    model = model_of(torch)
    parts = [grads_of(torch, model, 2), grads_of(torch, model, 3)]
    for rank, g in enumerate(parts):
        with FactorStore(tmp_path, rank=rank) as store:
            store.append(g, 0, samples=[10 * rank + n for n in range(len(g))])
    store = FactorStore(tmp_path, "r", engine=torch.__name__)
    assert sorted({s for r in store.records() for s in r.samples}) == [0, 1, 10, 11, 12]
    assert near(store.read("1.weight", 11)["a"], parts[1].factors("1.weight")[0][1], 0)
    with pytest.raises(StoreError, match="give rank="):
        FactorStore(tmp_path)


@pytest.mark.parametrize("memory_mb", [512, 1e-6])
def test_queries_of_all_ranks_are_those_of_the_gradients_themselves_whatever_the_memory(
        torch: Any, tmp_path: Any, memory_mb: float) -> None:
    model = model_of(torch)
    parts, query = [grads_of(torch, model, n) for n in (2, 3, 4)], grads_of(torch, model, 5)
    for rank, g in enumerate(parts):
        with FactorStore(tmp_path, rank=rank) as store:
            store.append(g, rank // 2, samples=[10 * rank + n for n in range(len(g))])

    def flat(g: Any) -> Any:
        return np.concatenate([np.asarray(each.tolist()).reshape(len(g), -1) for each in g.per_sample().values()], 1)

    store = FactorStore(tmp_path, "r", engine=torch.__name__)
    all_of_them = np.concatenate([flat(g) for g in parts])
    wanted = flat(query) @ all_of_them.T
    ids = [(rank, rank // 2, 10 * rank + n) for rank, g in enumerate(parts) for n in range(len(g))]
    blocks = list(store.scores(query, memory_mb=memory_mb))
    assert len(blocks) == (3 if memory_mb > 1 else 9) and [each for _, some in blocks for each in some] == ids
    assert np.allclose(np.concatenate([np.asarray(got.tolist()) for got, _ in blocks], 1), wanted, 1e-4, 1e-5)
    best = store.top(query, 4, memory_mb=memory_mb)
    order = np.argsort(-wanted, 1)[:, :4]
    assert np.allclose(best.values.tolist(), np.take_along_axis(wanted, order, 1), 1e-4, 1e-5)
    assert best.ids == [[ids[i] for i in row] for row in order]
    assert len(store.top(query, 50, memory_mb=memory_mb).ids[0]) == 9
    norms, whose = store.self_influence(memory_mb=memory_mb)
    assert whose == ids and np.allclose(norms.tolist(), (all_of_them ** 2).sum(1), 1e-4)
    total = store.total(memory_mb=memory_mb)
    assert np.allclose(np.concatenate([np.ravel(total[name].tolist()) for name in query.names]), all_of_them.sum(0), 1e-4, 1e-5)
    kfac = query.kfac(damping=0.1)
    solved = kfac.apply({name: torch.cat([g.per_sample()[name] for g in parts]) for name in query.names})
    curved = (all_of_them * np.concatenate([np.asarray(solved[name].tolist()).reshape(9, -1) for name in query.names], 1)).sum(1)
    assert np.allclose(store.self_influence(memory_mb=memory_mb, curvature=kfac)[0].tolist(), curved, 1e-3)
    with pytest.raises(ValueError, match="k must be at least 1"):
        store.top(query, 0)
    with pytest.raises(ValueError, match="memory_mb must be positive"):
        next(store.scores(query, memory_mb=0))
    for ask in (lambda **of: list(store.scores(query, **of)), lambda **of: store.top(query, 3, **of), store.self_influence,
                store.total, lambda **of: store.dots(query, **of)):
        with pytest.raises(StoreError, match=r"no parameter '1\.wieght' is stored; did you mean 1\.weight"):
            ask(layer="1.wieght")
        with pytest.raises(StoreError, match="nothing is stored for step 99"):
            ask(step=99)


def test_wrong_use_is_refused(torch: Any, tmp_path: Any) -> None:
    with pytest.raises(StoreError, match="no store at"):
        FactorStore(tmp_path / "none", "r")
    with pytest.raises(ValueError, match="mode is"):
        FactorStore(tmp_path, "x")
    with pytest.raises(ValueError, match="rank must not be negative, got -1"):
        FactorStore(tmp_path, rank=-1)
    g = grads_of(torch, model_of(torch))
    store = FactorStore(tmp_path / "new", "w")
    with pytest.raises(ValueError, match="4 different sample ids"):
        store.append(g, 0, samples=[1, 1, 2, 3])
    store.append(g, 0)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.append(g, 1)
    with pytest.raises(StoreError, match="exists"):
        FactorStore(tmp_path / "new", "w")
    reader = FactorStore(tmp_path / "new", "r")
    with pytest.raises(StoreError, match="read only"):
        reader.append(g, 1)
    shard = next((tmp_path / "new").glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(StoreError, match="missing or does not have"):
        FactorStore(tmp_path / "new", "r")
    (tmp_path / "new" / "manifest.json").write_text('{"schema": 9, "format": "retrograd factors"}')
    with pytest.raises(StoreError, match="schema 9"):
        FactorStore(tmp_path / "new", "r")
    (tmp_path / "new" / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match="not JSON"):
        FactorStore(tmp_path / "new", "r")


def test_what_is_not_covered_is_not_stored_silently(torch: Any, tmp_path: Any) -> None:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    with capture(model) as cap:
        model(torch.randn(6, 3)).pow(2).sum().backward()
    with FactorStore(tmp_path) as store, pytest.raises(CaptureError, match="batch norm in training mode"):
        store.append(cap.grads(), 0)


def test_a_writer_holds_no_records_of_shards_that_are_written(torch: Any, tmp_path: Any) -> None:
    import tracemalloc
    grads = grads_of(torch, model_of(torch))
    with FactorStore(tmp_path / "run") as store:
        records = 0

        def held(steps: range) -> int:
            nonlocal records
            for step in steps:
                records += len(grads.names)
                store.append(grads, step)
                store.flush()
            return tracemalloc.get_traced_memory()[0]
        tracemalloc.start()
        try:
            first = held(range(20))
            begun = records
            grown = held(range(20, 80)) - first
        finally:
            tracemalloc.stop()
        assert grown < 500 * (records - begun)          # 3 KB where they were kept
        assert len(store) == records                    # and are there for who asks


def test_a_store_of_many_shards_is_opened_and_read_in_little_memory(torch: Any, tmp_path: Any) -> None:
    import tracemalloc
    grads = grads_of(torch, model_of(torch))
    with FactorStore(tmp_path / "run") as store:
        for step in range(60):
            store.append(grads, step)
            store.flush()
    records = 60 * len(grads.names)
    tracemalloc.start()
    try:
        with FactorStore(tmp_path / "run") as store:
            assert sum(1 for _ in store.records()) == records
            read = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert read < 1000 * records                        # 3 KB where all were kept
    with FactorStore(tmp_path / "run", "r") as store:
        early, late = store.read(grads.names[0], 0, 3), store.read(grads.names[0], 0)
        assert early.keys() == late.keys() and all(torch.equal(early[key], late[key]) for key in early)
