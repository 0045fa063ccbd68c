"""The commands trace, explain, lint and view: each takes the parsed arguments and returns the exit status."""
from __future__ import annotations

import importlib.util
import io
import json
import os
import sys
import time
import tokenize
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..distributed.process_group import world
from ..microscope.answers.ranks import merge as merged
from ..microscope.answers.summary import show
from ..microscope.lint.live import NAMES, lint_recording
from ..microscope.lint.source import of_notebook
from ..microscope.lint.static import RULES, Problem, lint_source
from ..microscope.plain_text import printable
from ..microscope.record.exchanges import rank_of_process
from ..microscope.record.recorder import RecordingError, record
from ..microscope.record.recording import Recording, load
from ..microscope.record.trace_file import TraceError

USAGE = 2
GRACE = 1.0             # seconds for other ranks to write their recordings


class Refused(Exception):
    """What a user got wrong, in a line."""


def say(text: str) -> None:
    print(printable(f"retrograd: {text}"), file=sys.stderr)


def guarded(command: Any) -> Any:
    """A command whose users' mistakes end in one line on stderr."""
    def run(found: Any) -> int:
        from .run import INTERRUPTED, CannotRun
        try:
            return int(command(found))
        except BrokenPipeError:                 # whoever read has read enough
            raise
        except KeyboardInterrupt:
            say("interrupted")
            return INTERRUPTED
        except (Refused, CannotRun, TraceError, RecordingError) as error:
            say(str(error))
        except KeyError as error:
            say(str(error.args[0]) if error.args else str(error))
        except OSError as error:
            say(f"{error.filename or 'file'}: {error.strerror or error}")
        return USAGE

    return run


def recorded(script: str, arguments: list[str], torch: bool, module: bool = False, **options: Any) -> tuple[Recording, int]:
    """Run a script, standard input ("-") or a module under a recording -> the recording, the script's exit status."""
    from .run import run_module, run_script
    if torch:
        if importlib.util.find_spec("torch") is None:
            raise Refused("--torch needs PyTorch, which is not installed here: pip install torch")
        import torch as _  # noqa: F401
    if not module and script != "-" and not os.path.isfile(script):
        raise Refused(f"no such script: '{script}'" if not os.path.isdir(script) else f"'{script}' is a directory; name a "
                      "script in it")
    recorder = record(engine="torch" if torch else "retrograd", **options)
    with recorder as rec:
        status = (run_module if module else run_script)(script, arguments, restore=False, alias=not torch)
        main = vars(sys.modules["__main__"])
        for name, value in list(main.items()):          # models, also those never called, and leaves by their variables
            for tap in recorder.taps:
                if name.startswith("_"):
                    continue
                if isinstance(value, tap.Module):
                    recorder.name_model(tap, value, name)
                elif isinstance(value, tap.Tensor) and value.is_leaf and value.requires_grad and \
                        recorder.tensor_number(value) not in rec.tensor_names:
                    recorder.name_tensor(tap, value, name, "parameter")
    if status:
        rec.complete, rec.error = False, f"the script exited with status {status}"
    return rec, status


ENDINGS = (".html", ".htm", ".json", ".dot", ".trace")


def known_ending(path: str | None) -> None:
    """Refuse a name that does not say the format."""
    if path is not None and os.path.splitext(path)[1] not in ENDINGS:
        raise Refused(f"-o {path}: the ending gives the format: .html, .json, .dot or .trace")


def write(rec: Recording, path: str) -> str:
    """Write a recording in the format that the name asks for -> what was written."""
    ending = os.path.splitext(path)[1]
    if ending in (".html", ".htm"):
        rec.to_html(path)
        return f"page written to {path}"
    if ending == ".json":
        rec.to_chrome(path)
        return f"written to {path}: open it in https://ui.perfetto.dev or chrome://tracing"
    if ending == ".dot":
        rec.to_dot(path)
        return f"graph written to {path}: dot -Tsvg {path} -o graph.svg"
    rec.save(path)
    return f"recording written to {path}: retrograd view {path}"


@guarded
def trace(found: Any) -> int:
    if found.limit < 1:
        raise Refused(f"--limit must be at least 1, not {found.limit}")
    known_ending(found.output)
    folder = os.path.dirname(found.output or "") or "."
    if not os.path.isdir(folder):
        raise Refused(f"no such folder: '{folder}'")
    output = None if found.output is None else os.path.abspath(found.output)
    rank = rank_of_process()
    if output is not None and rank is not None:         # each rank writes a file of its own
        output = f".{rank}".join(os.path.splitext(output))
    world.held = rank is not None
    start = os.getcwd()
    rec, status = recorded(found.script, found.arguments, found.torch, found.module, limit=found.limit,
                           values="paths" if found.paths else "parameters" if found.values else None)
    sys.stdout.flush()
    show(rec)
    if not len(rec):
        say("nothing was recorded: the script made no tensor that requires grad and called no module and no backward()"
            if not status else "nothing was recorded before the script ended")
    elif not any(rec.of("begin")):
        say("no backward pass was recorded: the script called neither backward() nor autograd.grad()")
    elif output is None and has_viewer():
        output = os.path.join(start, "trace.html" if rank is None else f"trace.{rank}.trace")
    if output is not None:
        print(write(rec, output))
    if status and rank is not None and world.group is not None:
        time.sleep(GRACE)                               # the others, who wait for this rank, see that it goes, and write theirs
        world.group.comm.Abort(status)
    return status


def has_viewer() -> bool:
    return importlib.util.find_spec("retrograd.microscope.page") is not None


@guarded
def explain(found: Any) -> int:
    rec = recording(found)
    if not found.names:
        place = {module["path"]: i for i, module in enumerate(rec.modules)}
        for name, n in sorted(rec.parameters.items(), key=lambda found: place.get(found[0].rpartition(".")[0], -1)):
            print(printable(f"{name}  {tuple(rec.tensor(n)['shape'])}"))
        for module in rec.modules:
            print(printable(f"{module['path'] or '(the model)'}  {module['type']}"))
    for name in found.names:
        print(rec.explain(name))
        if name in rec.parameters:
            print(rec.ledger(name))
    return 0


@guarded
def compare(found: Any) -> int:
    other = found.steps.pop(0) if found.steps and not is_number(found.steps[0]) else None
    if len(found.steps) not in (0, 2) or not all(map(is_number, found.steps)):
        raise Refused("compare: name two steps, as in: retrograd compare run.trace 1 2")
    steps = [int(step) for step in found.steps]
    if found.output is not None and (other is None or os.path.splitext(found.output)[1] not in ENDINGS[:2]):
        raise Refused("compare: -o FILE.html is the page of two recordings: retrograd compare a.trace b.trace -o page.html")
    if other is not None and not is_recording(other):
        raise Refused(f"compare: '{other}' is not a recording; write one with: retrograd trace -o run.trace {other}")
    rec = recording(found)
    if other is not None:
        return beside(rec, load(other), steps, found.output)
    if not steps:
        from ..microscope.answers.compare import titles
        for line in titles(rec) or ["no steps: the recording has no backward pass and no optimizer step"]:
            print(printable(line))
        return 0
    try:
        print(rec.compare(*steps))
    except ValueError as error:
        raise Refused(str(error)) from None
    return 0


def beside(a: Recording, b: Recording, steps: list[int], page: str | None) -> int:
    """Two recordings, event by event."""
    from ..microscope.answers.side_by_side import compare
    try:
        found = compare(a, b, *steps)
    except ValueError as error:
        raise Refused(str(error)) from None
    print(found)
    if page is not None:
        found.to_html(page)
        print(f"page written to {page}")
    return 0


def is_number(text: str) -> bool:
    return text.isdecimal()


def recording(found: Any) -> Recording:
    """The recording that a command is asked about: a file, or what a script does."""
    if not found.module and is_recording(found.file):
        if found.arguments:
            raise Refused(f"{found.command}: arguments after -- go to a script, but {found.file} is a recording")
        return load(found.file)
    rec, status = recorded(found.file, found.arguments, found.torch, found.module)
    if status:
        say(f"the script exited with status {status}; this is what it did before")
    return rec


def is_recording(path: str) -> bool:
    if path.endswith(".py") or path == "-":
        return False
    with open(path, "rb") as file:
        return file.read(1) == b"{" or not path.endswith(".py")


@guarded
def lint(found: Any) -> int:
    if found.rules:
        for number, name in [*((n, name) for n, (name, _) in RULES.items()), *NAMES.items()]:
            print(f"{number}  {name}")
        return 0
    if not found.files:
        raise Refused("lint: name a Python file")
    if found.arguments and not found.run:
        raise Refused("lint: arguments after -- go to the script, which needs --run")
    problems: list[Problem] = []
    unread = 0
    start = os.getcwd()
    ran = None
    if found.module:                                    # its package is imported as it runs, and no sooner
        if len(found.files) > 1:
            raise Refused("lint --run: one module at a time")
        ran = recorded(found.files[0], found.arguments, found.torch, True)
        found.files = [os.path.relpath(sys.modules["__main__"].__dict__.get("__file__", found.files[0]), start)]
    for path in list(files_of(found.files)):
        try:
            problems.extend(of_file(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
            said = wrong_with(path, error)
            if len(found.files) == 1 and path == found.files[0]:
                raise Refused(said) from None
            say(said)
            unread += 1
    if found.run:
        if len(found.files) > 1 or os.path.isdir(found.files[0]):
            raise Refused("lint --run: one file at a time")
        if found.files[0].endswith(".ipynb"):
            raise Refused("lint --run: notebooks cannot be run; save this one as a script")
        given = {os.path.realpath(found.files[0]): found.files[0]}
        rec, status = ran or recorded(found.files[0], found.arguments, found.torch)
        for p in lint_recording(rec):                   # the script named as it was given, what lies below us relatively
            file = given.get(os.path.realpath(os.path.join(start, p.file)), p.file)
            if file == p.file and os.path.isabs(file) and file.startswith(os.path.join(start, "")):
                file = os.path.relpath(file, start)
            problems.append(replace(p, file=file))
        if status:
            say(f"the script exited with status {status}; lint checked what it did before")
            if not problems:
                print("0 problems")
                return USAGE
    problems = sorted(set(problems))
    if found.json:
        print(json.dumps([vars(p) for p in problems], indent=1))
    else:
        for p in problems:
            print(p)
        print(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}")
    return USAGE if unread else 1 if problems else 0


def files_of(paths: list[str]) -> Iterator[str]:
    """The files that are meant: of a folder, the Python files in it."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        empty = True
        for folder, below, names in os.walk(path):
            below[:] = sorted(n for n in below if n[:1] != "." and n not in ("__pycache__", "site-packages", "node_modules"))
            for name in sorted(names):
                if name.endswith(".py"):
                    empty = False
                    yield os.path.normpath(os.path.join(folder, name))
        if empty:
            raise Refused(f"lint: no Python files in '{path}'")


def of_file(path: str) -> list[Problem]:
    """The problems in a script or notebook."""
    text = source(path)
    if not path.endswith(".ipynb"):
        return lint_source(text, path)
    code, places = of_notebook(text)
    problems = []
    for p in lint_source(code, path):
        cell, line = places[p.line - 1]
        problems.append(replace(p, file=f"{path}, cell {cell}", line=line))
    return problems


def wrong_with(path: str, error: BaseException) -> str:
    """Why a file cannot be looked at."""
    if isinstance(error, OSError):
        return f"{path}: {error.strerror or error}"
    if isinstance(error, SyntaxError):
        return f"{path} is not Python: {error.msg}" + (f", line {error.lineno}" if error.lineno else "")
    if isinstance(error, ValueError):
        return f"{path} is not Python: {error}"
    return f"{path}: too deeply nested to parse"


def source(path: str) -> str:
    """The text of a file, or of standard input, which can be read again, as Python would decode it."""
    if path == "-":
        data = sys.stdin.buffer.read()
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
    else:
        with open(path, "rb") as file:
            data = file.read()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)


@guarded
def view(found: Any) -> int:
    known_ending(found.output)
    if found.file.endswith(".py"):
        raise Refused(f"view: {found.file} is a script; record it with retrograd trace {found.file}")
    rec = load(found.file)
    show(rec)
    output = found.output
    if output is None and has_viewer() and not found.no_browser:
        output = os.path.splitext(os.path.abspath(found.file))[0] + ".html"
    if output is not None:
        print(write(rec, output))
        if output.endswith(".html") and not found.no_browser:
            import webbrowser
            webbrowser.open("file://" + os.path.abspath(output))
    return 0


@guarded
def merge(found: Any) -> int:
    if found.output is not None and not found.output.endswith((".html", ".htm")):
        raise Refused(f"-o {found.output}: ranks are shown as a page, .html")
    ranks = merged(found.files)
    print(ranks.summary())
    if found.output is not None:
        ranks.to_html(found.output)
        print(f"page written to {found.output}")
    return int(ranks.diverged() is not None)
