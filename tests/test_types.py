"""What tools can read: mypy --strict takes the programs of the pages, editors complete names and find where they are written."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retrograd
from retrograd.nn import functional

jedi = pytest.importorskip("jedi")

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(retrograd.__file__).parent
UNTYPED = {"how-it-works.md"}               # readers type its engine themselves, and grow it by redefining its methods
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
         if "```python\n" in path.read_text("utf-8") and path.name not in UNTYPED]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$", re.S | re.M)

REVEALED = """
    torch.tensor([1.]).sum()                    Tensor
    torch.mm(x, x)                              Tensor
    x @ x + 2 * x ** 2 - (x > 0)                Tensor
    x[0, ..., None]                             Tensor
    x.T                                         Tensor
    x.grad                                      Tensor | None
    x.shape                                     Size
    x.size(0)                                   int
    x.dtype                                     dtype
    x.stride()                                  tuple[int, ...]
    x.requires_grad                             bool
    len(x)                                      int
    [row for row in x]                          list[Tensor]
    torch.zeros(2, 3)                           Tensor
    torch.zeros((2, 3), dtype=torch.float64)    Tensor
    x.view(2, -1)                               Tensor
    x.permute(1, 0)                             Tensor
    x.max()                                     Tensor
    x.max(1).indices                            Tensor
    torch.sort(x)[0]                            Tensor
    torch.linalg.svd(x).Vh                      Tensor
    torch.special.expit(x)                      Tensor
    x.split(2)                                  tuple[Tensor, ...]
    torch.where(x > 0, x, 0.)                   Tensor
    torch.allclose(x, x)                        bool
    torch.nn.functional.relu(x)                 Tensor
    torch.nn.functional.max_pool2d(x, 2)        Tensor
    torch.nn.functional.cross_entropy(x, x)     Tensor
    torch.nn.Linear(2, 3)                       Linear
    torch.nn.Linear(2, 3).weight                Parameter
    torch.autograd.grad(x.sum(), x)             tuple[Tensor, ...]
    torch.Generator().manual_seed(3)            Generator
    microscope.capture(model).grads()           Grads
    microscope.capture(model).coverage()        Coverage
    microscope.load("a.trace").why_none("w")    Cause
    microscope.load("a.trace").replay()         Replay
    microscope.load("a.trace").events[0].kind   str
"""
IMPORTED = """
    from retrograd.cuda import is_available     is_available()              bool
    from retrograd.cuda.amp import autocast     autocast()                  autocast
    import retrograd.cuda.amp as amp            amp.GradScaler()            GradScaler
    import retrograd.version                    retrograd.version.PYTORCH   str
    from retrograd.hub import get_dir           get_dir()                   str
    from retrograd.types import Number          [Number][0]                 UnionType[int, float, bool]
    from retrograd._C import Generator          Generator().device          device
    from retrograd.linalg import norm           norm(x)                     Tensor
    from retrograd.amp import autocast as cast  cast("cpu")                 autocast
    from retrograd.storage import is_storage    is_storage(x)               bool
    from retrograd.amp import GradScaler as Sc  Sc("cpu")                   GradScaler
    from retrograd.testing import assert_close  assert_close(x, x)          None
    import retrograd.signal                     torch.signal.windows        ModuleType
    from retrograd.overrides import TorchFunctionMode as Mode   Mode()      TorchFunctionMode
"""
WRONG = """
    torch.sum("x")                              No overload variant of "sum"
    torch.summ(x)                               Module has no attribute "summ"
    torch.nn.functional.reluu(x)                Module has no attribute "reluu"
    torch.optim.Adamm                           Module has no attribute "Adamm"
    torch.linalg.nonsense                       Module has no attribute "nonsense"
    x.summ()                                    "Tensor" has no attribute "summ"
    x.reshape("2")                              Argument 1 to "reshape" of "Methods" has incompatible type "str"
    torch.mv(x)                                 Missing positional argument "vec"
    torch.mv(x, x, x)                           Too many positional arguments for "mv"
    torch.zeros(2, dtype="float32")             No overload variant of "zeros"
    torch.nn.functional.relu([1.])              has incompatible type "list[float]"; expected "Tensor"
    torch.zeros(2).exp(3)                       Too many arguments for "exp"
"""


def rows(text: str) -> list[tuple[str, str]]:
    pairs = [re.split(r" {2,}", line.strip(), maxsplit=1) for line in text.strip().splitlines()]
    return [(left, right) for left, right in pairs]


def imported() -> list[tuple[str, ...]]:
    return [tuple(re.split(r" {2,}", line.strip())) for line in IMPORTED.strip().splitlines()]


def program(page: Path) -> str:
    """The blocks of a page as one program, each line where it stands on the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for found in BLOCK.finditer(text):
        code = found["code"].splitlines()
        at = text.count("\n", 0, found.start("code"))
        lines[at:at + len(code)] = code
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """{file: what mypy --strict says of it}, in one run."""
    folder = tmp_path_factory.mktemp("programs")
    head = ("import retrograd as torch\nfrom retrograd import microscope\n"
            "x, model = torch.ones(2, 3), torch.nn.Linear(2, 3)\n")
    (folder / "revealed.py").write_text(head + "".join(f"reveal_type({left})\n" for left, _ in rows(REVEALED)), "utf-8")
    (folder / "imported.py").write_text(head + "".join(
        f"{left}\n" for left, _, _ in imported()) + "".join(f"reveal_type({use})\n" for _, use, _ in imported()), "utf-8")
    (folder / "wrong.py").write_text(head + "".join(f"{left}\n" for left, _ in rows(WRONG)), "utf-8")
    for page in PAGES:
        (folder / f"{page.stem.replace('-', '_')}.py").write_text(program(page), "utf-8")
    for example in EXAMPLES:
        (folder / example.name).write_text(example.read_text("utf-8"), "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-color-output", "--config-file=",
               "--disable-error-code=import-untyped",       # of SciPy
               f"--cache-dir={ROOT / '.mypy_cache' / 'programs'}"]
    # In a process of its own: what mypy leaves would be looked through by each collection of garbage after it.
    done = subprocess.run([*command, *map(str, sorted(folder.glob("*.py")))], capture_output=True, encoding="utf-8", check=False)
    assert done.stderr == ""
    found: dict[str, list[str]] = {path.name: [] for path in folder.glob("*.py")}
    for line in done.stdout.splitlines():
        path, _, text = line.partition(":")
        found.setdefault(Path(path).name, []).append(text)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_programs_of_the_page_are_well_typed(page: Path, said: dict[str, list[str]]) -> None:
    assert said[f"{page.stem.replace('-', '_')}.py"] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_example_is_well_typed(example: Path, said: dict[str, list[str]]) -> None:
    assert said[example.name] == []


def test_types_of_results_are_known(said: dict[str, list[str]]) -> None:
    assert dict(zip((left for left, _ in rows(REVEALED)), types(said["revealed.py"]), strict=True)) == dict(rows(REVEALED))


def test_modules_found_by_path_can_be_imported_from(said: dict[str, list[str]]) -> None:
    assert dict(zip((use for _, use, _ in imported()), types(said["imported.py"]), strict=True)) == {
        use: result for _, use, result in imported()}


def types(lines: list[str]) -> list[str]:
    """What mypy revealed; with anything else that it said."""
    return [re.sub(r"[\w.]+\.(?=\w)", "", line.partition('Revealed type is "')[2].rstrip('"') or line) for line in lines]


def test_wrong_programs_are_refused(said: dict[str, list[str]]) -> None:
    errors: dict[int, str] = {}
    for line in said["wrong.py"]:
        number, _, text = line.partition(": error: ")
        if text:
            errors[int(number)] = text
    for i, (left, right) in enumerate(rows(WRONG), 4):
        assert right in errors.get(i, "accepted"), left


# Editors

HEAD = "import retrograd as torch\nfrom retrograd import nn, optim\nx = torch.tensor([1.0], requires_grad=True)\n"


# In a process of its own, as editors have it: in this one pytest's import hook is found before the files.
@functools.cache
def python() -> Any:
    return jedi.create_environment(sys.executable, safe=False)


def script(line: str) -> Any:
    jedi.settings.cache_directory = str(ROOT / ".mypy_cache" / "jedi")
    return jedi.Script(HEAD + line, environment=python())


@pytest.mark.parametrize(("line", "names"), [
    ("torch.", "mm sum relu tensor zeros float32 nn optim linalg special no_grad manual_seed Tensor Generator save vmap"),
    ("x.", "sum mm view backward grad shape register_hook detach numpy T add_ is_cuda"),
    ("x.sum().", "item exp backward"), ("torch.mm(x, x).", "relu size"),
    ("nn.functional.", "relu cross_entropy conv2d scaled_dot_product_attention ctc_loss"),
    ("torch.linalg.", "svd lu norm vander"), ("torch.special.", "expit bessel_j0"), ("nn.", "Linear Module functional"),
    ("nn.Linear(2, 3).", "weight register_forward_hook parameters state_dict"), ("optim.", "Adam lr_scheduler"),
])
def test_names_are_completed(line: str, names: str) -> None:
    found = {c.name for c in script(line).complete()}
    assert set(names.split()) - found == set()


@pytest.mark.parametrize(("line", "file", "text"), [
    ("torch.mm", "_functions/products.py", "def mm("), ("x.mm", "_functions/products.py", "def mm("),
    ("torch.linalg.svd", "_functions/decomp.py", "def linalg_svd("), ("torch.lu_solve", "_functions/lu.py", "def lu_solve("),
    ("nn.functional.cross_entropy", "_functions/loss_classes.py", "def cross_entropy("),
    ("x.backward", "_tensor/__init__.py", "def backward("),
    ("torch.manual_seed", "_packages/random.py", "def manual_seed("), ("nn.Linear", "nn/modules/linear.py", "class Linear("),
    ("torch.amp.autocast", "_packages/amp/autocast_mode.py", "class autocast("),
    ("torch.testing.assert_close", "_packages/testing/__init__.py", "def assert_close("),
    ("torch.special.softmax", "_functions/activation.py", "def softmax("), ("optim.Adam", "optim/adam.py", "class Adam("),
])
def test_definitions_are_found(line: str, file: str, text: str) -> None:
    (found,) = script(line).infer(4, len(line))
    assert found.module_path == PACKAGE / file
    assert text in found.module_path.read_text("utf-8").splitlines()[found.line - 1]


def test_a_function_shows_what_it_says_and_its_signature() -> None:
    found = script("torch.mm(").get_signatures()[0]
    assert [p.name for p in found.params] == ["input", "mat2", "out"]
    assert "(n, m) @ (m, p)" in script("x.mm").infer(4, 4)[0].docstring()


# The stubs

def declared(stub: str) -> set[str]:
    """Public functions of a stub, or methods of its class."""
    body = ast.parse((PACKAGE / "_typing" / f"{stub}.pyi").read_text("utf-8")).body
    body = next((node.body for node in body if isinstance(node, ast.ClassDef) and node.name == "Methods"), body)
    return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")}


@pytest.mark.parametrize(("stub", "owner"), [
    ("functions", retrograd), ("functional", functional), ("linalg", retrograd.linalg), ("special", retrograd.special),
    ("methods", retrograd.Tensor)])
def test_a_name_of_a_stub_is_there_at_run_time(stub: str, owner: Any) -> None:
    assert [name for name in declared(stub) if not hasattr(owner, name)] == []
