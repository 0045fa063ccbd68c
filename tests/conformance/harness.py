"""Run a program on retrograd or on PyTorch and compare what it prints with the transcript, line by line.

A program is programs/NAME.py, written for torch. Its transcript, transcripts/NAME.txt, is what PyTorch 2.13.0 printed.
Every line must be equal, except where deviations.py says otherwise. Ignored: addresses, folders, "(Triggered internally
at ...)", frames outside the programs in tracebacks, the list after "but expected one of:", the name of the package, a
relative difference of 1e-4 in numbers, and a line of our own after the text of an exception.

    python tests/conformance/harness.py [-v] [NAME...]     share of equal lines per program; -v shows the differences
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import warm  # noqa: E402

PROGRAMS = HERE / "programs"
TRANSCRIPTS = HERE / "transcripts"
TORCH = "2.13.0"
TOLERANCE = 1e-4
OURS = "    | "  # how programs/_log.py begins the second and later lines of an exception's text

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?(?![\w])")
SIGNATURE = re.compile(r"^    \|(\s+\* \(.*|\s+didn't match because .*)?$")  # the list after "but expected one of:"
ORDERED = re.compile(r"OrderedDict\(\{((?:[^{}]|\{[^{}]*\})+)\}\)")
ITEM = re.compile(r"('[^']*'|\d+): (\{[^{}]*\}|(?:[^,()\[\]]|\([^()]*\)|\[[^\[\]]*\])*)")
ABSTRACT = re.compile(r"without an implementation for abstract method '(\w+)'")
FRAME = re.compile(r'^\s*File "[^"]*", line \d+, in ')


@dataclass(frozen=True)
class Deviation:
    """Where we print something else than PyTorch: `torch` in the transcript becomes `ours`.

    program is a name or "*"; torch is plain text, or a regular expression when regex is True, over whole transcripts
    (^ and $ match at lines); reason goes to docs/deviations.md. An entry that matches no transcript is stale.
    """

    program: str
    torch: str
    ours: str
    reason: str
    regex: bool = False

    def covers(self, name: str) -> bool:
        return self.program in ("*", name)

    def apply(self, text: str) -> tuple[str, int]:
        """The text with every occurrence replaced, and how many there were."""
        if self.regex:
            return re.subn(self.torch, self.ours, text, flags=re.M)
        return text.replace(self.torch, self.ours), text.count(self.torch)


def names() -> list[str]:
    return sorted(p.stem for p in PROGRAMS.glob("[!_]*.py"))


def transcript(name: str) -> str:
    return (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8")


# ---- running ----


def run_retrograd(name: str, timeout: float = 300) -> str:
    """What `retrograd run programs/NAME.py` prints, then the exception that ended it, if any; normalised."""
    done = warm.run("-m", "retrograd", "run", PROGRAMS / f"{name}.py", cwd=PROGRAMS, env=environment(), timeout=timeout)
    return normal(done.stdout + (ending(done.stderr) if done.returncode else ""))


def run_torch(name: str, python: str = sys.executable, packages: tuple[str, ...] = warm.TORCH) -> str:
    """The same for `python NAME.py`, with PyTorch."""
    done = warm.run(f"{name}.py", packages=packages, cwd=PROGRAMS, env=environment(), python=python)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{name} ended PyTorch's process with {done.returncode}: {done.stderr[-500:]}")
    return normal(done.stdout + (ending(done.stderr) if done.returncode else ""))


def torch_version(python: str = sys.executable) -> str:
    return warm.run("-c", "import torch; print(torch.__version__)", packages=warm.TORCH, python=python).stdout.strip()


def environment() -> dict[str, str]:
    env = dict(os.environ, PYTHONIOENCODING="utf-8", PYTHONHASHSEED="0", OMP_NUM_THREADS="1")
    for key in ("PYTHONWARNINGS", "PYTHONSTARTUP"):
        env.pop(key, None)
    if path := env.get("PYTHONPATH"):  # may be relative, and the program runs elsewhere
        env["PYTHONPATH"] = os.pathsep.join(os.path.abspath(p) for p in path.split(os.pathsep))
    return env


def ending(stderr: str) -> str:
    """The exception at the end of a traceback, without the frames."""
    lines = stderr.rpartition("Traceback (most recent call last):")[2].strip("\n").splitlines()
    while lines and lines[0].startswith("  "):
        del lines[0]
    return "\n".join(["(ended by an exception)", *lines, ""])


# ---- comparing ----


def as_python_3_11(text: str) -> str:
    """What later Pythons word otherwise, as the Python that made the transcripts did."""
    text = ABSTRACT.sub(r"with abstract method \1", text.replace(" and no __dict__ for setting new attributes", ""))
    return ORDERED.sub(lambda m: "OrderedDict([" + ITEM.sub(r"(\1, \2)", m[1]) + "])", text)


def normal(text: str) -> str:
    text = as_python_3_11(text.replace("\r\n", "\n"))
    text = re.sub(r"\b0x[0-9a-fA-F]{4,}", "0xADDRESS", text)
    text = re.sub(r" ?\(Triggered internally at [^)]*\)", "", text)
    text = text.replace("retrograd.", "torch.").replace("module 'retrograd'", "module 'torch'")
    text = text.replace("torch._tensor.Tensor", "torch.Tensor")
    kept, skipping = [], False
    for line in text.splitlines():
        line = line.rstrip()
        if FRAME.match(line):
            path = Path(line.split('"')[1])
            skipping = path.parent not in (PROGRAMS, Path(".")) or not (PROGRAMS / path.name).exists()
            line = line.replace(str(path), path.name)
        elif not line.startswith("    "):
            skipping = False
        if not skipping and not SIGNATURE.match(line):
            kept.append(line)
    return "".join(line + "\n" for line in kept)


def same(a: str, b: str) -> bool:
    """Equal text around the numbers; numbers of the same form (digits after the point, exponent) and nearly equal."""
    if a == b:
        return True
    if a.startswith("~") and b.startswith("~"):  # a program marks a line of random numbers so
        return NUMBER.sub("#", a).split() == NUMBER.sub("#", b).split()
    if NUMBER.split(a) != NUMBER.split(b):
        return False
    return all(x == y or _near(x, y) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True))


def _near(x: str, y: str) -> bool:
    if "." not in x or "." not in y:
        return False
    (x_head, _, x_exp), (y_head, _, y_exp) = x.partition("e"), y.partition("e")
    digits = [len(h.partition(".")[2]) for h in (x_head, y_head)]
    if bool(x_exp) != bool(y_exp) or (digits[0] != digits[1] and min(digits) <= 4):
        return False
    if float(x) == float(y) == 0:
        return x.startswith("-") == y.startswith("-")
    return abs(float(x) - float(y)) <= TOLERANCE * max(abs(float(x)), abs(float(y)))


def expected(name: str, deviations: tuple[Deviation, ...] | None = None) -> str:
    """The transcript with our deviations applied."""
    text = transcript(name)
    for d in listed() if deviations is None else deviations:
        if d.covers(name):
            text = d.apply(text)[0]
    return text


def stale(deviations: tuple[Deviation, ...] | None = None) -> list[Deviation]:
    """Deviations whose text of PyTorch's is in no transcript. (One whose own text we no longer print fails `diff`.)"""
    entries = listed() if deviations is None else deviations
    return [d for d in entries if not any(d.apply(transcript(n))[1] for n in names() if d.covers(n))]


def listed() -> tuple[Deviation, ...]:
    return the_list().DEVIATIONS  # type: ignore[no-any-return]


def the_list() -> Any:
    from conformance import deviations

    return deviations


def diff(want: str, got: str) -> tuple[int, list[str]]:
    """How many of want's lines were printed, and the others, readable: - PyTorch's, + ours."""
    a, b = want.splitlines(), got.splitlines()
    rough = [[NUMBER.sub(lambda m: f"{float(m[0]):.2g}", x) for x in side] for side in (a, b)]
    equal, out = 0, []
    for _, i, j, k, m in difflib.SequenceMatcher(None, *rough, autojunk=False).get_opcodes():
        left, right = a[i:j], b[k:m]
        if len(left) == len(right):
            pairs = [(x, y) for x, y in zip(left, right, strict=True) if not same(x, y)]
            equal += len(left) - len(pairs)
            left, right = [x for x, _ in pairs], [y for _, y in pairs]
        if right and not left and all(y.startswith(OURS) for y in right):
            continue  # a hint of ours after PyTorch's text
        if left or right:
            where = f"@ line {i + 1}, after {a[i - 1][:60]!r}" if i else "@ line 1"
            out += [where, *(f"- {x}" for x in left), *(f"+ {y}" for y in right)]
    return equal, out


def main(args: list[str]) -> int:
    verbose = "-v" in args
    total = good = 0
    for name in [a for a in args if a != "-v"] or names():
        want = expected(name)
        try:
            equal, lines = diff(want, run_retrograd(name))
        except subprocess.TimeoutExpired:
            equal, lines = 0, ["timeout"]
        total, good = total + len(want.splitlines()), good + equal
        print(f"{name:32s} {equal:4d}/{len(want.splitlines()):<4d}{'' if lines else ' equal'}", flush=True)
        if verbose:
            print("\n".join("    " + x for x in lines))
    print(f"{good}/{total} lines")
    return int(good < total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
