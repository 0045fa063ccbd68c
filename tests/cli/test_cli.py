"""The command line: a script runs as python runs it, but for torch; what a user gets wrong is answered in one line."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import warm

import retrograd
from retrograd._missing import missing, module_getattr
from retrograd.cli.run import CannotRun, run_script, torch_means_retrograd

Done = subprocess.CompletedProcess[str]


def python(*arguments: str | Path, folder: Path | None = None) -> Done:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=folder)


def started(*arguments: str | Path, folder: Path | None = None) -> Done:
    return python("-m", "retrograd", *arguments, folder=folder)


def retrograd_(*arguments: str | Path, folder: Path | None = None) -> Done:
    """The same in a fork, where it is not about the process."""
    return warm.run("-m", "retrograd", *arguments, cwd=folder)


@pytest.fixture
def script(tmp_path: Path) -> Any:
    """script(text) writes a script and returns its path."""

    def write(text: str, name: str = "script.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


# retrograd run


def test_functions_of_our_own_are_known_in_a_run_where_they_name_modules_of_torch(tmp_path: Path) -> None:
    (tmp_path / "dual.py").write_text("""
import torch
from torch.autograd import forward_ad
weight = torch.nn.Linear(2, 1).weight
with forward_ad.dual_level():
    y = torch.nn.functional.linear(torch.ones(3, 2), forward_ad.make_dual(weight, torch.ones(1, 2)))
    print(forward_ad.unpack_dual(y).tangent.tolist())
""")
    done = started("run", "dual.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == ("[[2.0], [2.0], [2.0]]\n", "")


def test_standard_input_is_run_as_python_runs_it() -> None:
    text = "import sys, torch; print(__name__, sys.argv, repr(sys.path[0])); torch.nothing"
    ours = subprocess.run([sys.executable, "-m", "retrograd", "run", "-", "a", "-b"], input=text, capture_output=True,
                          text=True, timeout=300, check=False)
    assert ours.stdout == "__main__ ['-', 'a', '-b'] ''\n" and ours.returncode == 1
    assert ours.stderr.splitlines()[:2] == ["Traceback (most recent call last):", '  File "<stdin>", line 1, in <module>']


@pytest.mark.parametrize(("code", "status", "out", "error"), [
    ("import sys, torch; print(torch.__name__, __name__, sys.argv, repr(sys.path[0]))", 0,
     "torch __main__ ['-c', 'a', '-b'] ''\n", ""),
    ("import torch\n1 / 0", 1, "", "ZeroDivisionError: division by zero\n"),
    ("x = (", 1, "", "SyntaxError: '(' was never closed\n"),
    ("raise SystemExit(3)", 3, "", ""),
])
def test_code_of_the_command_line_is_run_as_python_runs_it(code: str, status: int, out: str, error: str) -> None:
    ours = started("run", "-c", code, "a", "-b")
    assert (ours.returncode, ours.stdout) == (status, out) and ours.stderr.endswith(error)
    if "torch" not in code:
        theirs = python("-c", code, "a", "-b")
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


EVIL = """
    import torch
    model = torch.nn.Sequential()
    model.add_module("a\\x1b[31m", torch.nn.Linear(2, 1))
    model.add_module("b\\x9b\\x07", torch.nn.Linear(1, 1))
    model[0](torch.ones(3, 2)).sum().backward()
    torch.optim.SGD(model.parameters(), 0.1).step()
"""


def test_control_characters_of_a_program_do_not_reach_the_terminal(script: Any, tmp_path: Path) -> None:
    path, trace = script(EVIL), str(tmp_path / "run.trace")
    for command in (["trace", str(path), "-o", trace], ["explain", trace], ["explain", trace, "a\x1b[31m.weight"],
                    ["view", trace, "--no-browser", "-o", str(tmp_path / "page.html")], ["lint", "--run", str(path)]):
        done = retrograd_(*command)
        said = done.stdout + done.stderr
        assert not set(said) & {"\x1b", "\x9b", "\x07"}, said
        assert command[0] == "lint" or r"a\x1b[31m" in said, said


PACKAGE = {
    "__init__.py": "import torch",
    "__main__.py": "import sys, torch; print(torch.__name__, __name__, __package__, __spec__.name, sys.argv[1:])",
    "part.py": """if 1:
        import os, sys
        from . import __name__ as package
        print(package, __name__, sys.argv[1:], sys.argv[0] == __file__, sys.path[0] == os.getcwd())
        sys.exit(3)""",
    "broken.py": "x = = 1",
    "sub/__init__.py": "",
    "sub/raises.py": "1 / 0",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / "parcel" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_module_is_run_as_python_runs_it(package: Path) -> None:
    done = retrograd_("run", "-m", "parcel", "-h", "--run", "-m", folder=package)
    assert done.stdout == "torch __main__ parcel parcel.__main__ ['-h', '--run', '-m']\n", done.stderr
    done = retrograd_("run", "-m", "parcel.part", "x", folder=package)
    assert done.stdout == "parcel __main__ ['x'] True True\n" and done.returncode == 3


@pytest.mark.parametrize(("name", "said"), [
    ("nothing", "retrograd: no module named 'nothing'"),
    ("parcel.nothing", "retrograd: no module named 'parcel.nothing'"),
    ("parcel.sub", "retrograd: 'parcel.sub' is a package without a __main__; name a module in it"),
    ("math", "retrograd: module 'math' has no Python code to run"),
])
def test_a_module_that_cannot_be_run_is_said_in_one_line(package: Path, name: str, said: str) -> None:
    done = retrograd_("run", "-m", name, folder=package)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", said)


def test_errors_of_a_module_are_its_own(package: Path) -> None:
    done = retrograd_("run", "-m", "parcel.broken", folder=package)
    assert done.returncode == 1 and done.stderr.endswith("SyntaxError: invalid syntax\n")
    done = retrograd_("run", "-m", "parcel.sub.raises", folder=package)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and lines[-1] == "ZeroDivisionError: division by zero" and "raises.py" in lines[1]


def test_torch_and_its_submodules_are_the_modules_of_retrograd(script: Any) -> None:
    path = script("""
        import sys
        import torch, torch.nn as nn, torch.nn.functional as F, torch.optim, torch.autograd
        from torch.autograd import Function
        from torch.utils.checkpoint import checkpoint
        from torch.utils.data import DataLoader
        import retrograd, retrograd.nn.functional, retrograd.utils.data
        ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
        assert len(ours) >= 8, ours
        for name, module in ours.items():
            assert module is sys.modules["retrograd" + name[5:]], name
            assert module.__spec__.name == "retrograd" + name[5:], name
            assert module.__name__ == ("torch" if name == "torch" else "retrograd" + name[5:]), name
        assert torch is retrograd and nn is retrograd.nn and F is retrograd.nn.functional
        assert Function is retrograd.autograd.Function and DataLoader is retrograd.utils.data.DataLoader
        print("same")
    """)
    done = started("run", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", "")


def test_what_is_public_says_the_package_that_has_it(script: Any) -> None:
    """As in PyTorch, whatever private module it was written in, and when it is made late."""
    done = started("run", script("""
        import torch
        from torch.func import grad
        late = (torch.as_strided_copy, torch.i0)
        some = (torch.set_num_threads, torch.get_default_dtype, grad, torch.vmap, torch.onnx.export, *late)
        print(*(f.__module__ for f in some))
    """))
    assert done.stdout == "torch torch torch.func torch.func torch.onnx torch torch\n", done.stderr


def test_another_torch_in_the_way_is_not_imported(script: Any) -> None:
    script("raise SystemExit('the other torch was imported')", "torch.py")
    done = started("run", script("import torch; print(torch.__name__)"))
    assert (done.returncode, done.stdout) == (0, "torch\n"), done.stderr


LIKE_PYTHON = {
    "what a script sees": """
        import inspect, os, pickle, sys
        class Point:
            pass
        assert type(pickle.loads(pickle.dumps(Point()))) is Point
        print(sys.argv, sys.path[0], __file__, __name__, __spec__, __package__, type(__loader__).__name__)
        print(inspect.getsource(Point), os.getcwd(), Point.__module__, sys.modules["__main__"].Point is Point)
        print(sorted(set(globals()) - {"__annotations__", "__cached__"}), type(__builtins__))
    """,
    "no future import leaks in": "def f(x: print('evaluated')): pass",
    "imports from its own folder": "import neighbour; print(neighbour.__file__)",
    "exception": """
        def inner():
            return 1 / 0
        def outer():
            try:
                inner()
            except ZeroDivisionError as error:
                raise ValueError("again") from error
        outer()
    """,
    "exception in an import": "import neighbour; neighbour.fail()",
    "no such module": "import no_such_module",
    "syntax error": "x = (",
    "exception group": "raise ExceptionGroup('two', [ValueError(1), KeyError(2)])",
    "own excepthook": """
        import sys
        sys.excepthook = lambda kind, error, traceback: print("mine", kind.__name__, traceback.tb_lineno)
        raise RuntimeError
    """,
    "warning": "import warnings; warnings.warn('look', DeprecationWarning)",
    "exit": "import sys; print('out'); sys.exit()",
    "exit 7": "import sys; sys.exit(7)",
    "exit True": "import sys; sys.exit(True)",
    "exit with a message": "import sys; sys.exit('bye')",
    "threads and atexit": """
        import atexit, threading
        def late(who):
            import sys
            print(who, sys.modules["__main__"].late is late, sys.argv[0])
        atexit.register(late, "atexit")
        threading.Thread(target=lambda: (threading.main_thread().join(), late("thread"))).start()
    """,
}


@pytest.mark.parametrize("name", LIKE_PYTHON)
def test_a_script_runs_as_python_runs_it(script: Any, name: str) -> None:
    script("def fail():\n    raise LookupError('here')\n", "neighbour.py")
    path = script(LIKE_PYTHON[name])
    again = started if name == "threads and atexit" else retrograd_
    for run, command, folder in ((started, [path, "--help", "-x", "a b"], None), (again, [path.name], path.parent)):
        theirs, ours = python(*command, folder=folder), run("run", *command, folder=folder)
        assert (ours.stdout, ours.stderr, ours.returncode) == (theirs.stdout, theirs.stderr, theirs.returncode)


def test_an_interrupt_ends_with_130_and_the_scripts_traceback(script: Any) -> None:
    done = started("run", script("raise KeyboardInterrupt"))
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt" and "run.py" not in done.stderr


def test_threads_and_atexit_functions_can_still_import_torch(script: Any) -> None:
    done = started(
        "run",
        script("""
            import atexit, threading
            def late():
                import torch.utils.data
                print(torch.__name__)
            atexit.register(late)
            threading.Thread(target=lambda: (threading.main_thread().join(), late())).start()
        """),
    )
    assert (done.stdout, done.stderr) == ("torch\n" * 2, "")


@pytest.mark.parametrize(
    ("statement", "last_lines"),
    [
        (
            "import torch.optin",
            ["ModuleNotFoundError: No module named 'torch.optin'", "retrograd has no 'torch.optin'; near names: optim"],
        ),
        (
            "from torch.fxx import a",
            ["ModuleNotFoundError: No module named 'torch.fxx'", "retrograd has no 'torch.fxx'"],
        ),
        (
            "from torch.nn import Linaer",
            ["ImportError: cannot import name 'Linaer'", "retrograd has no 'torch.nn.Linaer'; near names: Linear"],
        ),
        (
            "from torch.nn.functional import rleu",
            ["ImportError: cannot import name 'rleu'", "retrograd has no 'torch.nn.functional.rleu'; near names: "],
        ),
        (
            "import torch; torch.tensr",
            ["AttributeError: module 'retrograd' has no attribute 'tensr'", "retrograd has no 'torch.tensr'; near na"],
        ),
        (
            "import torch; torch.Linear",
            ["AttributeError: module 'retrograd' has no", "retrograd has no 'torch.Linear'; it has torch.nn.Linear"],
        ),
    ],
)
def test_what_retrograd_lacks_is_named_with_what_is_near(script: Any, statement: str, last_lines: list[str]) -> None:
    path = script(statement)
    done = started("run", path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert [line[: len(start)] for line, start in zip(lines[-2:], last_lines)] == last_lines
    assert [line for line in lines if line.startswith("  File")] == [f'  File "{path}", line 1, in <module>']


def test_a_lacking_module_is_not_found_by_who_only_asks() -> None:
    from importlib.util import find_spec

    with torch_means_retrograd():
        assert find_spec("torch") is not None
        assert find_spec("torch.optim") is not None
        assert find_spec("torch.no_such_module") is None


@pytest.mark.parametrize(("text", "status"), [("import torch.nn", 0), ("import torch.nn; 1 / 0", 1), ("exit(3)", 3)])
def test_a_run_in_this_process_leaves_nothing(
    script: Any, text: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = ModuleType("torch")  # as if PyTorch had been imported
    monkeypatch.setitem(sys.modules, "torch", theirs)
    before = dict(sys.modules), sys.meta_path[:], sys.argv, sys.path[:], sys.excepthook, dict(os.environ)
    assert run_script(str(script(text)), ["a"]) == status
    new = {name for name in sys.modules if name not in before[0]}
    assert not {name for name in new if name.partition(".")[0] == "torch"}
    assert sys.modules["torch"] is theirs and sys.modules["__main__"] is before[0]["__main__"]
    assert (sys.meta_path, sys.argv, sys.path, sys.excepthook, os.environ) == before[1:]
    assert ("ZeroDivisionError" in capsys.readouterr().err) == (status == 1)


def test_pythons_that_a_program_starts_run_on_retrograd_too(script: Any, tmp_path: Path) -> None:
    path = script("""
        import importlib.metadata, multiprocessing, subprocess, sys, torch

        def child(queue):
            import torch.nn as nn
            queue.put(repr(nn.Linear))

        def said(*command):
            return subprocess.run(command, capture_output=True, text=True).stdout.strip()

        if __name__ == "__main__":
            again = "import subprocess, sys, torch; subprocess.run([sys.executable, '-c', sys.argv[1]])"
            code = "import torch.nn as nn, torch, sys; print(torch.__version__, nn.Linear, sys.modules['torch'] is torch)"
            print(said(sys.executable, "-c", code))
            print(said(sys.executable, "-c", again, code))
            for method in multiprocessing.get_all_start_methods():
                context = multiprocessing.get_context(method)
                queue = context.Queue()
                process = context.Process(target=child, args=(queue,))
                process.start()
                print(queue.get())
                process.join()
            print(said(sys.argv[1], "-c", "import sys; import torch; print(torch.word)"))
            print(importlib.metadata.version("torch") == torch.__version__)
    """)
    other = tmp_path / "other"                  # another environment, with a torch of its own
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", other], check=True)
    interpreter, = (found for found in (other / "bin" / "python", other / "Scripts" / "python.exe") if found.exists())
    site = subprocess.run([interpreter, "-c", "import site; print(site.getsitepackages()[-1])"], capture_output=True, text=True)
    Path(site.stdout.strip(), "torch.py").write_text("word = 'theirs'")
    done = started("run", path, interpreter)
    linear = "<class 'torch.nn.modules.linear.Linear'>"
    methods = len(multiprocessing.get_all_start_methods())
    first = f"{retrograd.__version__} {linear} True"
    assert done.stdout.split("\n") == [first, first, *[linear] * methods, "theirs", "True", ""], done.stderr


def test_a_run_inside_a_run_keeps_torch_as_retrograd(script: Any) -> None:
    with torch_means_retrograd():
        import torch

        assert torch is retrograd
        assert run_script(str(script("import torch.optim, retrograd; assert torch is retrograd"))) == 0
        assert sys.modules["torch"] is retrograd
    assert sys.modules.get("torch") is not retrograd


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "no_such.py"], "retrograd: cannot open 'no_such.py': No such file or directory\n"),
        (["run", "folder"], "retrograd: 'folder' is a directory; name a script in it\n"),
        (["run", "model.pt"], "retrograd: 'model.pt' is not a Python script: it contains null bytes\n"),
    ],
)
def test_what_a_user_gets_wrong_is_said_in_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "model.pt").write_bytes(b"PK\3\4\0\0")
    done = retrograd_(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    with pytest.raises(CannotRun):
        run_script(str(tmp_path / arguments[1]))


@pytest.mark.parametrize("arguments", [["run"], ["run", "-m"], ["no-such-command"], ["doctor", "--no-such-option"]])
def test_wrong_usage_ends_with_2_and_no_traceback(arguments: list[str]) -> None:
    done = retrograd_(*arguments)
    assert done.returncode == 2 and "usage" in done.stderr and "Traceback" not in done.stderr
    assert arguments != ["run"] or "the following arguments are required: SCRIPT\n" in done.stderr


# Names that a module lacks


def test_near_names_ignore_case() -> None:
    assert missing("retrograd.nn", "relu", ["Linear", "ReLU"]) == "retrograd has no 'torch.nn.relu'; near names: ReLU"
    assert missing("retrograd", "qqqq", []) == "retrograd has no 'torch.qqqq'"


def test_probes_for_a_name_work_as_on_any_module() -> None:
    assert not hasattr(retrograd, "no_such_name")
    assert getattr(retrograd, "no_such_name", 3) == 3
    for probe in ("__wrapped__", "__path_hooks__", "_private"):
        with pytest.raises(AttributeError) as caught:
            getattr(retrograd, probe)
        assert str(caught.value) == f"module 'retrograd' has no attribute '{probe}'"


def test_lazy_submodules_are_imported_when_used() -> None:
    getattribute = module_getattr("concurrent", lazy=["futures"])
    import concurrent.futures

    assert getattribute("futures") is concurrent.futures


# retrograd doctor


def test_doctor_says_which_build_this_is() -> None:
    done = started("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    facts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert list(facts) == ["retrograd", "build", "Python", "NumPy", "BLAS", "platform", "bfloat16", "PyTorch"]
    assert facts["retrograd"].startswith(retrograd.version.retrograd)
    assert facts["build"].startswith(os.environ.get("RETROGRAD_BUILD", ("pure", "compiled")))
    if facts["build"].startswith("pure"):
        assert "compile" in facts["build"].partition(":")[2]  # why, and what to do about it


def test_doctor_does_not_import_torch() -> None:
    code = "import sys; from retrograd.cli.doctor import report; report(); sys.exit('torch' in sys.modules)"
    assert python("-c", code).returncode == 0


def test_version_is_the_packages() -> None:
    assert started("--version").stdout == f"retrograd {retrograd.version.retrograd}\n"


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
def test_a_reader_that_stops_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for command in (["doctor"], ["--version"]):
        done = subprocess.run([sys.executable, "-m", "retrograd", *command], stdout=writing, stderr=subprocess.PIPE,
                              text=True, timeout=300, check=False)
        assert done.stderr == "", command
    os.close(writing)


def test_compare_lists_the_steps_and_puts_two_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import sys\nimport torch\nfrom torch import nn\nnet = nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for scale in map(float, sys.argv[1:]):\n"
        "    optimizer.zero_grad()\n    (net(torch.ones(1, 2)) * scale).square().sum().backward()\n    optimizer.step()\n",
        encoding="utf-8")
    listed = retrograd_("compare", "train.py", "--", "1", "9", folder=tmp_path)
    assert listed.stdout.splitlines() == ["step 1: SGD, train.py:9", "step 2: SGD, train.py:9"]
    assert retrograd_("trace", "train.py", "-o", "run.trace", "1", "9", folder=tmp_path).returncode == 0
    said = retrograd_("compare", "run.trace", "1", "2", folder=tmp_path)
    assert said.returncode == 0 and "net.weight" in said.stdout and "loss (train.py:8)" in said.stdout
    for wrong in (["1"], ["1", "3"], ["1", "2", "--", "x"]):
        refused = retrograd_("compare", "run.trace", *wrong, folder=tmp_path)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1


def test_compare_puts_two_recordings_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import sys\nimport torch\nfrom torch import nn\ntorch.manual_seed(0)\nnet = nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for scale in map(float, sys.argv[1:]):\n"
        "    optimizer.zero_grad()\n    (net(torch.ones(1, 2)) * scale).square().sum().backward()\n    optimizer.step()\n",
        encoding="utf-8")
    for name, scales in (("a", ["1", "2"]), ("b", ["1", "3"])):
        assert retrograd_("trace", "train.py", "-o", f"{name}.trace", *scales, folder=tmp_path).returncode == 0
    said = retrograd_("compare", "a.trace", "b.trace", "-o", "page.html", folder=tmp_path)
    assert said.returncode == 0 and "forward: mul [train.py:9] is the first that differs" in said.stdout
    assert (tmp_path / "page.html").stat().st_size > 80_000
    assert "no difference" in retrograd_("compare", "a.trace", "b.trace", "1", "1", folder=tmp_path).stdout
    assert "uniform [train.py:5], is in a only" in retrograd_("compare", "a.trace", "a.trace", "1", "2", folder=tmp_path).stdout
    for wrong in (["b.trace", "1"], ["b.trace", "1", "9"], ["train.py"], ["missing.trace"], ["b.trace", "c.trace", "a.trace"],
                  ["1", "2", "-o", "page.html"], ["b.trace", "-o", "page.json"]):
        refused = retrograd_("compare", "a.trace", *wrong, folder=tmp_path)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1, wrong


def test_trace_says_that_there_was_no_backward_pass(tmp_path: Path) -> None:
    (tmp_path / "only.py").write_text("import torch\ntorch.nn.Linear(2, 1)(torch.ones(1, 2))\n", encoding="utf-8")
    said = retrograd_("trace", "only.py", folder=tmp_path)
    assert said.returncode == 0
    assert said.stderr == "retrograd: no backward pass was recorded: the script called neither backward() nor autograd.grad()\n"


def test_explain_and_lint_run_a_module(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import torch\n", encoding="utf-8")
    (package / "train.py").write_text(
        "import sys\nimport torch\nfrom torch import nn\n"
        "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\n"
        "net[1](net[0](torch.ones(1, 2)).detach()).sum().backward()\n"
        "print(torch.__name__, sys.argv[1:])\n", encoding="utf-8")
    said = retrograd_("explain", "-m", "package.train", "net.0.weight", "--", "--epochs", "1", folder=tmp_path)
    assert said.returncode == 0 and "torch ['--epochs', '1']" in said.stdout and "train.py:5" in said.stdout
    found = retrograd_("lint", "--run", "-m", "package.train", "--", "x", folder=tmp_path)
    assert found.returncode == 1 and "torch ['x']" in found.stdout
    assert found.stdout.count(f"{Path('package') / 'train.py'}:5: RG302") == 2 and found.stdout.endswith("2 problems\n")
    assert retrograd_("lint", "--run", "-m", "package.none", folder=tmp_path).returncode == 2
    refused = retrograd_("lint", "-m", "package.train", folder=tmp_path)
    assert refused.returncode == 2 and "with --run only" in refused.stderr
    assert retrograd_("explain", "-m", folder=tmp_path).returncode == 2
