"""retrograd trace, explain, lint, view; exports; files that are no recordings."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warm
from both_engines import ENGINES, both

from retrograd.cli.command_line import main
from retrograd.microscope import TraceError, load, record
from retrograd.microscope.record.export import to_chrome, to_dot, to_json

SCRIPT = """
import sys
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.idle = nn.Linear(4, 4), nn.Linear(4, 2), nn.Linear(2, 2)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))

torch.manual_seed(0)
net = Net()
net.a.weight.register_hook(lambda g: g * 2)
net.idle.register_full_backward_hook(lambda m, gi, go: None)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(3, 4)).sum().backward()
optimizer.step()
print("args", sys.argv[1:])
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


def step(torch: Any) -> Any:
    torch.manual_seed(0)
    m = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    m[0].weight.register_hook(lambda g: g * 2)
    with record(m) as rec:
        m(torch.ones(2, 3)).sum().backward()
    return rec


def run(*arguments: Any, cwd: Path, input: str = "") -> subprocess.CompletedProcess[str]:
    return warm.run("-m", "retrograd", *arguments, cwd=cwd, env=os.environ | {"COLUMNS": "300"}, input=input)


@both
def test_trace_of_a_script(torch: Any, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SCRIPT)
    real = ["--torch"] if torch.__name__ == "torch" else []
    done = run("trace", "-o", "run.trace", *real, "net.py", "3", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    text = " ".join(done.stdout.split())
    assert "args ['3']" in text and "hooks that changed something" in text and "hooks that never fired" in text
    assert "idle.weight" in text and "module_not_called" in text and "gradients by parameter" in text
    rec = load(tmp_path / "run.trace")
    assert rec.engine == torch.__name__ and rec.error == "the script exited with status 3"
    assert [h["name"] for h in rec.hooks if h["changed"]] == ["<lambda>"]
    assert all(rec.where(h["registered"]).startswith(str(tmp_path / "net.py")) for h in rec.hooks)


def test_trace_of_a_module_and_of_standard_input(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text(SCRIPT)
    done = run("trace", "-o", "run.trace", "-m", "package.train", "4", "--epochs", "1", cwd=tmp_path)
    assert done.returncode == 4 and "args ['4', '--epochs', '1']" in done.stdout, done.stderr
    assert load(tmp_path / "run.trace").parameters
    done = run("trace", "--paths", "-o", "run.dot", "-", "0", cwd=tmp_path, input=SCRIPT)
    assert done.returncode == 0 and "args ['0']" in done.stdout and "graph written to" in done.stdout, done.stderr


def test_options_of_trace_may_follow_the_script(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SCRIPT)
    done = run("trace", "net.py", "-o", "a.trace", "--limit=1000", "--values", "0", "-o", "b.trace", cwd=tmp_path)
    assert done.returncode == 0 and "args ['0', '-o', 'b.trace']" in done.stdout, done.stderr
    assert load(tmp_path / "a.trace").header["limit"] == 1000 and not (tmp_path / "b.trace").exists()
    done = run("trace", "--limit", "1000", "net.py", "-oc.trace", "--", "0", "--torch", cwd=tmp_path)
    assert done.returncode == 0 and "args ['0', '--torch']" in done.stdout, done.stderr
    assert load(tmp_path / "c.trace").engine == "retrograd"
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "main.py").write_text(SCRIPT)
    done = run("trace", "-m", "net.main", "-o", "d.trace", "--", "-0", cwd=tmp_path)
    assert done.returncode == 0 and "args ['-0']" in done.stdout, done.stderr
    for wrong in (["trace"], ["trace", "-m"], ["trace", "--limit"], ["trace", "net.py", "--limit", "many"]):
        done = run(*wrong, cwd=tmp_path)
        assert done.returncode == 2 and "usage: retrograd" in done.stderr and "Traceback" not in done.stderr
    assert "\n  retrograd trace train.py\n" in run("trace", "--help", cwd=tmp_path).stdout


def test_what_follows_two_dashes_is_the_scripts(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SCRIPT)
    done = run("explain", "net.py", "a.weight", "--", "5", "-x", cwd=tmp_path)
    assert done.returncode == 2 and "args ['5', '-x']" in done.stdout and "the script exited with status 5" in done.stderr
    assert "did you mean net.a.weight?" in done.stderr
    done = run("explain", "net.py", "net.a.weight", "--", "0", cwd=tmp_path)
    assert done.returncode == 0 and "net.a.weight.grad is the sum of" in done.stdout, done.stderr
    (tmp_path / "clean.py").write_text("import sys\nprint(sys.argv[1:])\nsys.exit(len(sys.argv) - 1)\n")
    assert run("lint", "--run", "clean.py", cwd=tmp_path).returncode == 0
    done = run("lint", "--run", "clean.py", "--", "-a", cwd=tmp_path)
    assert done.returncode == 2 and "['-a']" in done.stdout and "the script exited with status 1" in done.stderr


def test_an_interrupted_script_leaves_its_recording(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(
        "import os, signal, torch\ntorch.ones(2, requires_grad=True).sum().backward()\nos.kill(os.getpid(), signal.SIGINT)\n"
        "while True: pass\n")
    done = run("trace", "-o", "run.trace", "long.py", cwd=tmp_path)
    assert done.returncode == 130 and "KeyboardInterrupt" in done.stderr, done.stderr
    rec = load(tmp_path / "run.trace")
    assert not rec.complete and rec.error == "the script exited with status 130" and len(list(rec.of("accumulate"))) == 1


def test_a_tied_weight_is_explained_by_each_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "tied.py").write_text(
        "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Embedding(5, 2), nn.Linear(2, 5))\n"
        "net[1].weight = net[0].weight\nnn.init.ones_(net[0].weight)\nnet(torch.arange(3)).sum().backward()\n")
    done = run("explain", "tied.py", "net.0.weight", "net.1.weight", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.count("net.0.weight.grad is the sum of") == 2, done.stderr
    run("trace", "tied.py", "-o", "tied.trace", cwd=tmp_path)
    listed = run("explain", "tied.trace", cwd=tmp_path).stdout.splitlines()
    assert listed[0] == "net.0.weight  (5, 2)"          # as the modules are, not as their weights were first seen
    assert sorted(listed[1:3]) == ["net.1.bias  (5,)", "net.1.weight  (5, 2)"]


def test_nothing_recorded_is_said_and_writes_no_page(tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("print('hello')\n")
    done = run("trace", "none.py", cwd=tmp_path)
    assert done.returncode == 0 and "nothing was recorded" in done.stderr and not (tmp_path / "trace.html").exists()


def test_commands_on_a_recording(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    step(ENGINES[0]).save("run.trace")
    assert main(["explain", "run.trace"]) == 0
    assert "0.weight  (3, 3)" in capsys.readouterr().out
    assert main(["explain", "run.trace", "0.weight"]) == 0
    out = capsys.readouterr().out
    assert "0.weight: float32 (3, 3)" in out and "0.weight.grad is the sum of" in out
    assert main(["view", "--no-browser", "run.trace"]) == 0
    assert "hooks that changed something" in capsys.readouterr().out
    for name in ("out.json", "out.dot", "again.trace"):
        assert main(["view", "--no-browser", "-o", name, "run.trace"]) == 0
        assert (tmp_path / name).stat().st_size > 500
    capsys.readouterr()


def test_lint_command(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "x.py"
    path.write_text("y = model.forward(x)\n")
    assert main(["lint", str(path)]) == 1
    assert f"{path}:1: RG101" in capsys.readouterr().out
    assert main(["lint", "--json", str(path)]) == 1
    assert json.loads(capsys.readouterr().out)[0]["rule"] == "RG101"
    path.write_text("y = model(x)\n")
    assert main(["lint", str(path)]) == 0
    assert main(["lint", "--rules"]) == 0
    assert "RG311" in capsys.readouterr().out


def test_lint_run_names_places_in_one_way(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def late(layer):\n    layer.register_full_backward_hook(lambda m, gi, go: None)\n")
    (tmp_path / "x.py").write_text(
        "import torch\nimport helper\nlayer = torch.nn.Linear(3, 2)\nother = torch.nn.Linear(3, 2)\nhelper.late(other)\n"
        "y = layer.forward(torch.ones(1, 3))\ny.sum().backward()\n")
    done = run("lint", "--run", "--json", "x.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert {"RG101", "RG301", "RG302"} <= {p["rule"] for p in found}
    assert {p["file"] for p in found} == {"x.py", "helper.py"} and all(p["line"] > 0 for p in found), found
    absolute = json.loads(run("lint", "--run", "--json", tmp_path / "x.py", cwd=tmp_path).stdout)
    assert {p["file"] for p in absolute if p["line"] == 6} == {str(tmp_path / "x.py")}


@both
def test_a_page_that_cannot_be_written_is_named(torch: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "absent" / "x.html")
    for write in (step(torch).to_html, step(torch).to_dot, step(torch).to_chrome, step(torch).save):
        with pytest.raises(FileNotFoundError) as caught:
            write(path)
        assert caught.value.filename == path and ".tmp" not in str(caught.value)


@pytest.mark.parametrize("arguments, says", [
    (["trace", "absent.py"], "no such script: 'absent.py'"),
    (["trace", "-o", "no/such/x.trace", "net.py"], "no such folder: 'no/such'"),
    (["trace", "-o", "run.foo", "net.py"], "-o run.foo: the ending gives the format: .html, .json, .dot or .trace"),
    (["view", "-o", "run", "net.py"], "-o run: the ending gives the format"),
    (["trace", "--limit", "0", "net.py"], "--limit must be at least 1"),
    (["trace", "."], "is a directory"),
    (["view", "absent.trace"], "No such file"),
    (["view", "net.py"], "net.py is a script; record it with retrograd trace net.py"),
    (["view", "other.txt"], "this is not a recording"),
    (["trace", "-m", "no.such.module"], "no module named 'no.such.module'"),
    (["lint", "net.py", "--", "--epochs", "3"], "arguments after -- go to the script, which needs --run"),
    (["explain", "other.txt", "--", "3"], "other.txt is a recording"),
    (["explain", "absent.trace", "w"], "No such file"),
    (["lint"], "name a Python file"),
    (["lint", "absent.py"], "No such file"),
    (["lint", "broken.py"], "is not Python"),
])
def test_users_mistakes(tmp_path: Path, monkeypatch: Any, capsys: Any, arguments: list[str], says: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(SCRIPT)
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "other.txt").write_text("some text\n")
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("retrograd: ") and says in error and error.count("\n") == 1


# exports


@both
def test_chrome_trace(torch: Any) -> None:
    """Slices nest, arrows have both ends, counters are numbers: what Perfetto demands."""
    rec = step(torch)
    found = json.loads(json.dumps(to_chrome(rec), allow_nan=False))["traceEvents"]
    slices = [e for e in found if e["ph"] == "X"]
    assert {e["cat"] for e in slices} == {"enter", "op", "begin", "node", "hook", "accumulate"}
    stack: list[float] = []
    for e in slices:
        while stack and stack[-1] <= e["ts"]:
            stack.pop()
        assert not stack or e["ts"] + e["dur"] <= stack[-1] + 0.0021, e
        stack.append(e["ts"] + e["dur"])
    flows = [e for e in found if e["ph"] in "sf"]
    assert {e["id"] for e in flows if e["ph"] == "s"} == {e["id"] for e in flows if e["ph"] == "f"} != set()
    where = {(e["tid"], e["ts"]) for e in slices}
    assert all((e["tid"], e["ts"]) in where for e in flows)                # each end lies on a slice
    for start in (e for e in flows if e["ph"] == "s"):
        (end,) = (e for e in flows if e["ph"] == "f" and e["id"] == start["id"])
        assert start["ts"] <= end["ts"] and end["bp"] == "e" and (start["cat"], start["name"]) == (end["cat"], end["name"])
    assert all(e["pid"] == 1 and e["dur"] > 0 and e["ts"] >= 0 for e in slices)
    names = {(e["name"], e["tid"]) for e in found if e["ph"] == "M"}
    assert {("thread_name", e["tid"]) for e in slices} | {("process_name", 0)} == names
    for thread in {e["tid"] for e in slices}:
        times = [e["ts"] for e in slices if e["tid"] == thread]
        assert times == sorted(times)
    assert {e["ph"] for e in found} == {"M", "X", "s", "f", "C"}
    counters = [e for e in found if e["ph"] == "C"]
    assert [e["ts"] for e in counters] == sorted(e["ts"] for e in counters)
    assert len(counters) == 4 and all(isinstance(v, float) for e in counters for v in e["args"].values())


@both
def test_dot_and_json(torch: Any) -> None:
    rec = step(torch)
    dot = to_dot(rec)
    assert dot.count("{") == dot.count("}") and "cluster" in dot and "0.weight" in dot
    nodes = set(re.findall(r"^\s+(n\d+) \[", dot, re.M))
    assert {n for pair in re.findall(r"(n\d+) -> (n\d+)", dot) for n in pair} <= nodes
    assert len(nodes) == len(rec.node_rows)
    assert "more nodes are not shown" in to_dot(rec, limit=2)
    found = to_json(rec)
    assert len(found["events"]) == len(rec) and found["header"]["version"] == 1


# files


@both
def test_files_that_are_none(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    step(torch).save(path)
    lines = path.read_bytes().splitlines(keepends=True)

    def refused(data: bytes, says: str) -> None:
        path.write_bytes(data)
        with pytest.raises(TraceError, match=says):
            load(path)

    for notes in (b"5", b"true", b'"text"', b'{"a":1}', b"[1]", b"null"):
        damaged = re.sub(rb'"notes":\[.*?\]', b'"notes":' + notes, lines[-1])
        refused(b"".join(lines[:-1]) + damaged, f"line {len(lines)}: end-of-file: 'notes' must be a list of strings")
    for given in (b"5", b"null", b"[1]", b'"net.py"'):
        damaged = re.sub(rb'"argv":\[.*?\]', b'"argv":' + given, lines[0])
        refused(damaged + b"".join(lines[1:]), "line 1: header: 'argv' must be a list of strings")
    refused(b"", "is empty")
    refused(b"hello\n", "this is not a recording")
    refused(b"[1]\n", "this is not a recording")
    refused(b'{"a":1}\n', "expected an object")
    refused(b'{"kind":"header"}\n', "not a recording")
    refused(lines[0].replace(b'"version":1', b'"version":2', 1), "schema 2; this retrograd reads up to 1")
    refused(lines[0].replace(b'"version":1', b'"version":"x"', 1), "schema version must be")
    refused(b"".join(lines[:-1]), "cut off")
    refused(b"".join(lines)[:-10], "cut off")
    refused(b"".join([*lines, lines[1]]), "after the end")
    refused(b"".join(lines[:3] + lines[4:]), "expected number")
    refused(lines[0] + b'{"kind":"surprise","i":0}\n', "no lines of kind 'surprise'")
    refused(lines[0] + b"[" * 100_000 + b"\n", "not JSON")
    event = next(i for i, line in enumerate(lines) if b'"kind":"op"' in line)
    row = json.loads(lines[event])
    for name, wrong, says in (("site", 10 ** 9, "'site' must be an integer"), ("inputs", "x", "'inputs' must be a list"),
                              ("t", -1, "'t' must be"), ("flags", ["odd"], "'flags' must be"),
                              ("outputs", [-7], "'outputs' must be")):
        changed = json.dumps({**row, name: wrong}).encode() + b"\n"
        refused(b"".join([*lines[:event], changed, *lines[event + 1:]]), says)
    short = json.dumps({k: v for k, v in row.items() if k != "module"}).encode() + b"\n"
    refused(b"".join([*lines[:event], short, *lines[event + 1:]]), "no 'module'")

    def changed_in(kind: str, says: str, **fields: Any) -> None:
        at = next(i for i, line in enumerate(lines) if f'"kind":"{kind}"'.encode() in line)
        refused(b"".join([*lines[:at], json.dumps({**json.loads(lines[at]), **fields}).encode() + b"\n", *lines[at + 1:]]), says)

    last = next(i for i, line in enumerate(reversed(lines)) if b'"kind":"node"' in line)
    changed_in("header", "'error' must be null or a text", error=True)
    changed_in("value", "'stats' must have counts", stats=["inf", 0, 0, 0, 0, 0, 0])
    changed_in("value", "'stats' must have counts", stats=[1, 0, 0, 0, 0, "nan", 0])
    changed_in("hook", "'changed' must be true, false or null", changed="hook")
    changed_in("hook", "'returned' must be true, false or null", returned=1)
    changed_in("enter", "'facts' must be an object", facts=None)
    changed_in("enter", "'keywords' must be a list of strings", facts={"tensors": 1, "keywords": [1]})
    changed_in("exit", "'tensors' must be a list of integers", facts={"type": "Tensor", "tensors": [[-1]]})
    backward = json.loads(lines[len(lines) - 1 - last])["i"]
    changed_in("graph", f"made by event {backward}, which is of a backward pass", op=backward)
    path.write_bytes(b"".join(lines))
    assert load(path).complete


@pytest.mark.parametrize("torch", [[], ["--torch"]], ids=["retrograd", "torch"])
def test_leaves_of_a_script_have_the_names_of_their_variables(torch: list[str], tmp_path: Path) -> None:
    if torch:
        pytest.importorskip("torch")
    (tmp_path / "s.py").write_text(
        "import torch\nw = torch.ones(2, requires_grad=True)\nidle = torch.ones(2, requires_grad=True)\n"
        "layer = torch.nn.Linear(2, 2)\nweight = layer.weight\nx = torch.ones(2)\n(layer(w * x)).sum().backward()\n")
    done = run("trace", *torch, "-o", "s.trace", "s.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rec = load(tmp_path / "s.trace")
    assert sorted(rec.parameters) == ["idle", "layer.bias", "layer.weight", "w"]
    assert rec.why_none("idle").code == "never_used" and rec.why_none("w").code == "has_grad"
    assert [e.kind for e in rec.ledger("w").entries] == ["use"]


@both
def test_values_of_another_recording_are_refused(torch: Any, tmp_path: Path) -> None:
    for name, size in (("one", 3), ("two", 4)):
        x = torch.ones(size, requires_grad=True)
        with record(values="parameters", engine=torch.__name__) as rec:
            (x * 2).sum().backward()
        rec.save(tmp_path / name)
    (tmp_path / "one.safetensors").replace(tmp_path / "two.safetensors")
    with pytest.raises(TraceError, match=r"shape \(3,\), in the recording \(4,\)"):
        load(tmp_path / "two")


def test_values_of_complex128_are_pairs_in_the_file(torch: Any, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    m, path = torch.nn.Linear(3, 2, dtype=torch.complex128), tmp_path / "c.trace"
    with record(m, values="all") as rec:
        m(torch.randn(4, 3, dtype=torch.complex128)).abs().sum().backward()
    rec.save(path)
    again = load(path)
    assert any(a.dtype == np.complex128 for a in rec.arrays.values()) and again.arrays.keys() == rec.arrays.keys()
    for n, a in rec.arrays.items():
        assert again.arrays[n].dtype == a.dtype and np.array_equal(again.arrays[n], a)
    beside = tmp_path / "c.trace.safetensors"
    whole = safetensors.load_file(beside)
    name = next(name for name, a in whole.items() if rec.arrays[int(name)].dtype == np.complex128)
    for damaged in (whole[name][..., :1], whole[name].astype(np.float32), whole[name][None]):
        safetensors.save_file({**whole, name: np.ascontiguousarray(damaged)}, beside)
        with pytest.raises(TraceError, match="they do not belong together"):
            load(path)
