"""The layer for AWS Lambda and the example's handler, run as Lambda runs them: from the unpacked zip file alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import retrograd as torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import lambda_layer  # noqa: E402

REQUESTS = ({"body": "[[1, 2, 3, 4], [0, 0, 0, 9]]"}, {"body": "[[1, 2]]"}, {"body": "no JSON"}, {})


def installed(target: Path) -> None:
    """What pip install --target would put there, taken from this environment."""
    for name in ("retrograd", "numpy", "ml_dtypes", "mypy_extensions", "retrograd__mypyc"):
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            assert name == "retrograd__mypyc", name     # a pure build has none
            continue
        source = Path(spec.origin)
        if source.name == "__init__.py":
            shutil.copytree(source.parent, target / name)
            libraries = source.parent.with_name(f"{name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, target / libraries.name)
        else:
            shutil.copy2(source, target)


def test_a_layer_serves_a_state_dict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = zipfile.ZipFile                     # packs less closely here, in a tenth of the time
    monkeypatch.setattr(zipfile, "ZipFile", lambda *args, **options: whole(*args, **options | {"compresslevel": 1}))
    target, function = tmp_path / "layer" / "python", tmp_path / "function"
    target.mkdir(parents=True)
    installed(target)
    unpacked, zipped = lambda_layer.pack(target, tmp_path / "layer.zip")
    assert 0 < zipped < 50e6 and zipped < unpacked <= 100e6
    shutil.rmtree(target)
    with zipfile.ZipFile(tmp_path / "layer.zip") as archive:
        assert not [name for name in archive.namelist() if "/tests/" in name or name.endswith((".pyc", ".pyi"))]
        archive.extractall(tmp_path / "opt")
    function.mkdir()
    shutil.copy(ROOT / "examples" / "lambda" / "handler.py", function)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    torch.save(model.state_dict(), function / "model.pth")
    program = (f"import json, sys; sys.path[:0] = {[str(function), str(tmp_path / 'opt' / 'python')]!r}\n"
               "import handler, retrograd\n"
               f"print(retrograd.__file__); print(json.dumps([handler.handler(event, None) for event in {REQUESTS!r}]))")
    run = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    where, answers = run.stdout.splitlines()
    right, *wrong = json.loads(answers)
    assert Path(where).is_relative_to(tmp_path / "opt")
    expected = model(torch.tensor([[1.0, 2, 3, 4], [0, 0, 0, 9]])).argmax(1).tolist()
    assert right == {"statusCode": 200, "body": json.dumps(expected)}
    assert [answer["statusCode"] for answer in wrong] == [400, 400, 400]
    assert [json.loads(answer["body"])["error"].partition(":")[0] for answer in wrong] == [
        "RuntimeError", "JSONDecodeError", "KeyError"]


def test_a_layer_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "a.py").write_text("x = 1\n" * 100)
    monkeypatch.setattr(lambda_layer, "UNPACKED", 500)
    with pytest.raises(ValueError, match="takes 0.0 MB unpacked"):
        lambda_layer.pack(tmp_path / "python", tmp_path / "layer.zip")
    assert not (tmp_path / "layer.zip").exists()
