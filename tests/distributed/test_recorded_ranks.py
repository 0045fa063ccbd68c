"""Recordings of several ranks as one: who waited for whom, which call differs, what became of a gradient."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from retrograd.cli.command_line import main
from retrograd.microscope import FactorStore, Recording, RecordingError, TraceError, merge
from retrograd.microscope.answers.ranks import Passed, Ranks

from .ranks import HERE, ended, found, needs_mpi, ours, theirs

pytestmark = [needs_mpi, pytest.mark.once]


def recorded(start: Any, folder: Path, *how: str) -> Ranks:
    start(2, "recorded.py", str(folder), *how, **({"status": None} if start is ours and how else {}))
    return merge(str(folder / "run.*.trace"))


@pytest.fixture(scope="module", params=[ours, pytest.param(theirs, marks=pytest.mark.oracle)], ids=["ours", "pytorch"])
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ranks:
    return recorded(request.param, tmp_path_factory.mktemp("run"))


def test_ranks_that_agree_did_not_diverge_and_each_exchange_has_its_line(ranks: Ranks) -> None:
    assert list(ranks.by_rank) == [0, 1] and ranks.diverged() is None
    waiting = ranks.waiting()
    for one, other in ((0, 1), (1, 0)):
        assert waiting[one]["for_others"] == pytest.approx(waiting[other]["kept_waiting"])
        assert waiting[one]["for_others"] <= waiting[one]["waited"] <= waiting[one]["collectives"]
    assert [one.name for one in ranks.exchanges[0]].count("barrier") == 1
    assert all(one.where is not None and "recorded.py:" in one.where for one in ranks.exchanges[0])


def test_the_late_rank_kept_the_other_waiting() -> None:
    def rank(number: int, clock: int, t: int, dt: int) -> Recording:
        rec = Recording()
        rec.header = {"rank": number, "clock": clock, "host": "a", "groups": {"0": [0, 1]}, "engine": "retrograd"}
        rec.rows.append(("collective", t, dt, 0, "barrier", "0", 1, 0, dt, -1, None))
        return rec

    waiting = merge([rank(1, 1000, 70, 30), rank(0, 900, 50, 160)]).waiting()     # begin at 70 and -50
    assert waiting[0] == pytest.approx({"collectives": 160e-9, "waited": 160e-9, "for_others": 120e-9, "kept_waiting": 0})
    assert waiting[1] == pytest.approx({"collectives": 30e-9, "waited": 30e-9, "for_others": 0, "kept_waiting": 120e-9})


def test_what_became_of_a_gradient_is_the_mean_kept_apart_or_what_a_hook_made(ranks: Ranks) -> None:
    first, apart, second = ranks.averaged("plain.module.a.weight")
    assert apart.code == "mean" and apart.local[0] != pytest.approx(apart.local[1])
    assert (first.code, second.code) == ("mean", "no_sync") and first.after[0] == pytest.approx(first.after[1])
    assert second.where is not None and "recorded.py:" in second.where and second.after[0] != pytest.approx(second.after[1])
    third, = ranks.averaged("hooked.module.a.weight")
    assert third.code == "comm_hook" and "halved" in third.text and third.where is not None
    with pytest.raises(KeyError, match="no parameter 'nothing' was recorded"):
        ranks.averaged("nothing")


def test_a_missing_gradient_and_a_silent_hook_name_the_ranks(ranks: Ranks) -> None:
    cause = ranks.why_none("plain.module.idle.bias")
    assert cause.code == "unused_parameter" and cause.text.startswith("ranks 0, 1: ")
    assert "no rank used it" in cause.text and "find_unused_parameters" not in cause.way_out       # which is set
    cause = ranks.why_not_fired("late")
    assert cause.code == "unused_parameter" and cause.text.startswith("ranks 0, 1: ") and "no rank used it" not in cause.text
    assert ranks.why_none("hooked.module.a.weight").code == "has_grad"
    assert ranks.by_rank[1].why_none("plain.module.idle.bias").text.startswith("rank 1: ")


@pytest.mark.parametrize("start", [ours, pytest.param(theirs, marks=pytest.mark.oracle)], ids=["ours", "pytorch"])
def test_a_mean_is_known_as_one_whatever_came_before_and_happens_after_the_pass(start: Any, tmp_path: Path) -> None:
    start(2, "averaged.py", str(tmp_path))
    def told(kind: str, name: str = "module.a.weight") -> list[tuple[Any, ...]]:
        averaged = merge(str(tmp_path / f"{kind}.*.trace")).averaged(name)
        assert [one.code for one in averaged] == ["mean"] * 3, (kind, averaged)
        return [tuple(value / np.sqrt(3) for value in (*one.local.values(), *one.after.values())) for one in averaged]

    def arrives(i: int, before: tuple[float, float]) -> tuple[float, ...]:
        local = [has + 2 * (i + 1 + 2 * rank) for rank, has in enumerate(before)]
        return (*local, *[sum(local) / 2] * 2)

    for view in (False, True):
        for kind in ("nothing", "step", "before"):
            now = (1.0, 4.0) if kind == "before" else (0.0, 0.0)
            for i, one in enumerate(told(f"{kind}-{view}")):
                assert one == pytest.approx(arrives(i, now))
                now = one[2:]
        for kind in ("none", "zero"):
            assert told(f"{kind}-{view}") == [pytest.approx(arrives(i, (0, 0))) for i in range(3)]
        assert told(f"clip-{view}")[0] == pytest.approx(arrives(0, (0, 0)))
    told("half")
    grown = told("unused", "module.b.weight")
    assert grown[0] == pytest.approx((2, 0, 1, 1)) and grown[1] == pytest.approx((5, 1, 3, 3))
    waits, = merge(str(tmp_path / "waits.*.trace")).averaged("module.b.weight")
    idle = "module.idle.weight, module.idle.bias in rank"
    assert waits.code == "unused_parameter" and waits.text == (
        "not averaged: DistributedDataParallel waits for gradients that no operation computed: "
        f"of {idle} 0; of module.b.weight, module.b.bias, {idle} 1")
    first, second = merge(str(tmp_path / "second.*.trace")).averaged("module.a.weight")
    assert (first.code, second.code) == ("mean", "differs") and second.text.startswith("not averaged: each rank keeps its own")
    some = merge([merge(str(tmp_path / "half.*.trace")).by_rank[1]]).averaged("module.a.weight")[0]
    assert (some.code, some.text) == ("cannot_know", "there is no recording of rank 0")
    assert merge(str(tmp_path / "unused.*.trace")).why_none("module.idle.weight").way_out.startswith("Call it in forward()")


def test_both_parts_of_complex_gradients_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    recordings = [Recording(), Recording()]
    for rank, rec in enumerate(recordings):
        rec.header = {"rank": rank, "clock": 0, "host": "a", "groups": {"0": [0, 1]}, "engine": "retrograd"}
    monkeypatch.setattr("retrograd.microscope.answers.ranks.averaging", lambda rec: {
        1: SimpleNamespace(what="averages", text="0")})

    def what(*after: complex) -> str:
        def value(g: complex) -> Any:
            return SimpleNamespace(array=np.array([g]), norm=abs(g), dtype="complex128")
        seen = {rank: Passed(value(g), None, value(g), value(b)) for rank, (g, b) in enumerate(zip((1 + 2j, 3 - 6j), after))}
        return merge(recordings)._averaged(1, seen).code
    assert what(2 - 2j, 2 - 2j) == "mean" and what(2 - 2j, 2 + 2j) == "differs"


def test_the_page_has_a_lane_for_each_rank_and_no_script(ranks: Ranks, tmp_path: Path) -> None:
    ranks.to_html(tmp_path / "run.html", "<b>")
    page = (tmp_path / "run.html").read_text()
    assert page.count(">rank 0</text>") == page.count(">rank 1</text>") == 1 and "&lt;b&gt;" in page
    assert "<script" not in page and "<b>" not in page and page.count('class="others"') >= 2 and "came last" in page


@pytest.mark.parametrize("start", [ours, pytest.param(theirs, marks=pytest.mark.oracle)], ids=["ours", "pytorch"])
def test_the_first_call_that_differs_is_found_with_its_lines(start: Any, tmp_path: Path, capsys: Any) -> None:
    ranks = recorded(start, tmp_path, "apart")
    apart = ranks.diverged()
    assert apart is not None and [one and one.name for one in apart.calls.values()] == ["all_reduce", "broadcast"]
    lines = [one.where.rpartition(":")[2] for one in apart.calls.values() if one is not None and one.where]
    program = (Path(__file__).parent / "recorded.py").read_text().splitlines()
    assert [program[int(line) - 1].strip() for line in lines] == ["d.all_reduce(torch.ones(2))", "d.broadcast(torch.ones(2), 0)"]
    assert ranks.why_none("plain.module.idle.bias").code == "diverged"
    assert main(["merge", *map(str, tmp_path.glob("*.trace")), "-o", str(tmp_path / "run.html")]) == 1
    assert "ranks took different branches" in capsys.readouterr().out and (tmp_path / "run.html").exists()


def test_ranks_that_go_astray_under_trace_write_their_recordings_before_they_end(tmp_path: Path) -> None:
    (tmp_path / "astray.py").write_text("""
import torch, torch.distributed as d
d.init_process_group("gloo")
torch.ones(2, requires_grad=True).sum().backward()
if d.get_rank():
    d.barrier()
d.all_reduce(torch.ones(2))
""")
    command = [found() or "", "-n", "2", sys.executable, "-m", "retrograd", "trace", "-o", str(tmp_path / "run.trace")]
    assert ended([*command, str(tmp_path / "astray.py")], 60, {}, None).returncode != 0
    apart = merge(str(tmp_path / "run.*.trace")).diverged()
    assert apart is not None and "all_reduce in rank 0 at" in str(apart) and "barrier in rank 1 at" in str(apart)


@pytest.mark.oracle
def test_shards_of_pytorchs_fully_shard_are_the_parameters_whose_whole_gradients_a_pass_computes(tmp_path: Path) -> None:
    theirs(2, "fully_sharded.py", str(tmp_path))
    ranks = merge(str(tmp_path / "run.*.trace"))
    assert ranks.diverged() is None
    assert [one.code for one in ranks.averaged("a.weight")] == ["mean", "no_sync", "mean"]
    assert ranks.averaged("b.bias")[1].text == "not averaged: set_requires_gradient_sync(False) kept it apart"
    assert {one.name for one in ranks.exchanges[0]} == {"all_gather_into_tensor", "reduce_scatter_tensor"}
    assert ranks.why_none("idle.bias").code == "module_not_called" and ranks.why_none("b.bias").code == "has_grad"
    assert ranks.why_not_fired("late").code == "sharded"


@pytest.mark.oracle
@pytest.mark.once
def test_on_a_mesh_of_ranks_shards_are_compared_with_the_mean_over_rows_and_dtensors_exchanges_are_seen(tmp_path: Path) -> None:
    theirs(4, "mesh_sharded.py", str(tmp_path))
    told = {}
    for kind in ("mesh", "clipped", "copies", "columns", "row", "parts"):
        ranks = merge(str(tmp_path / f"{kind}.*.trace"))
        assert ranks.diverged() is None
        told[kind] = [] if kind == "parts" else [[one.code for one in ranks.averaged(name)] for name in ("0.weight", "2.bias")]
    assert told == {"mesh": [["mean", "no_sync", "differs"]] * 2, "clipped": [["mean"]] * 2, "copies": [["mean"]] * 2,
                    "columns": [["no_sync"]] * 2, "row": [["mean"]] * 2, "parts": []}
    made = [(one.name, one.bytes, one.error) for one in ranks.exchanges[1] if one.name != "scatter"]
    assert made == [*[("all_gather_into_tensor", 128, None)] * 3, ("all_reduce", 4, None), ("all_gather_into_tensor", 0, None)]
    ranks = merge(str(tmp_path / "mesh.*.trace"))
    assert ranks.averaged("0.weight")[0].text.endswith("each rank keeps its shard, and ranks 0, 1 and 2, 3 the same")
    assert ranks.averaged("0.weight")[1].text.startswith("averaged among ranks 0, 1 and among ranks 2, 3 alone: no all_reduce")
    some = merge([rec for rank, rec in ranks.by_rank.items() if rank != 2])
    assert [one.text for one in some.averaged("2.bias")][:1] == ["there is no recording of rank 2"]
    clips = [one for one in merge(str(tmp_path / "clipped.*.trace")).exchanges[0] if "mesh_sharded.py" in str(one.where)]
    assert [one.name for one in clips].count("all_reduce") == 2 + 1        # of two modules' gradients, and of the norm


def test_the_example_of_the_page_does_on_two_ranks_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, code, _, said, *_ = re.split(r"```(?:python|text)?\n", (HERE.parents[1] / "docs" / "ranks.md").read_text(), maxsplit=4)
    (tmp_path / "ranks.py").write_text(code)
    done = ended([sys.executable, "-m", "retrograd", "launch", "-n", "2", "ranks.py"], 60, {}, 0)
    ranks = merge("run.*.trace")
    assert "waited 0.6 s" in said and ranks.waiting()[0]["for_others"] > 0.5       # more on a busy machine
    told = [re.sub(r"\d+\.\d s", "", line) for line in (said, done.stdout)]
    assert told[0] == told[1] and (tmp_path / "run.html").exists()


def test_recordings_that_do_not_belong_together_are_refused(ranks: Ranks) -> None:
    with pytest.raises(RecordingError, match="two recordings are of rank 0"):
        merge([ranks.by_rank[0], ranks.by_rank[0]])
    other = Recording()
    other.header = {**ranks.by_rank[1].header, "rank": 2, "groups": {"0": [0, 1, 2, 3]}}
    with pytest.raises(RecordingError, match="recordings of several runs: there were 2 ranks in rank .'s, and 4 "):
        merge([*ranks.by_rank.values(), other])
    with pytest.raises(RecordingError, match="no recordings"):
        merge([])


@pytest.mark.parametrize("change, text", [
    ({"groups": None}, "'groups' must map names to lists of ranks"), ({"groups": {"0": [1]}}, "among them 'rank'"),
    ({"groups": {"0": [0, "a"]}}, "'groups' must map"), ({"host": []}, "'host' must be a text"),
    ({"kind": "optimizer", "tensors": [10**6]}, "'tensors' must be a list of integers"),
    ({"kind": "averaged", "gradients": []}, "'tensors', 'gradients' must have one length"),
])
def test_files_that_are_damaged_where_ranks_are_told_are_refused(
        change: dict[str, Any], text: str, ranks: Ranks, tmp_path: Path) -> None:
    ranks.by_rank[0].save(tmp_path / "run.trace")
    lines = [json.loads(line) for line in (tmp_path / "run.trace").read_text().splitlines()]
    kind = change.get("kind", "header")
    next(line for line in lines if line["kind"] == kind).update(change)
    (tmp_path / "run.trace").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(TraceError, match=text):
        merge(str(tmp_path / "run.trace"))


BEFORE = {"distributed.md": """
import torch
data = torch.utils.data.TensorDataset(torch.ones(4, 4))
""", "ranks.md": """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from retrograd import microscope
dist.init_process_group("mpi")
model, x, y = DistributedDataParallel(torch.nn.Linear(3, 1)), torch.ones(4, 3), torch.ones(4, 1)
loss_of, kfac, loader = torch.nn.functional.mse_loss, microscope.KFAC(), [([5, 6, 7, 8], x, y)] * 2
def train():
    loss_of(model(x), y).backward()
"""}


@pytest.mark.parametrize("page", BEFORE)
def test_the_other_blocks_of_the_pages_run_on_two_ranks(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python no-run\n(.*?)```", (HERE.parents[1] / "docs" / page).read_text(), re.DOTALL)
    assert len(blocks) == (1 if page == "distributed.md" else 3)
    (tmp_path / "blocks.py").write_text("\n".join([BEFORE[page], *blocks]))
    ended([sys.executable, "-m", "retrograd", "launch", "-n", "2", "blocks.py"], 60, {}, 0)
    if page == "ranks.md":
        store = FactorStore("factors", "r")
        assert len(store.self_influence()[1]) == 16 and store.total()["weight"].shape == (1, 3)
