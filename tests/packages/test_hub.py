"""torch.hub and torch.utils.model_zoo: state dicts from a URL, kept in a folder."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import hub
from retrograd.utils import model_zoo


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(hub, "_dir", None)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "hub" / "checkpoints"


def published(folder: Path, name: str = "net.pth") -> tuple[str, dict[str, Any]]:
    state = {"weight": torch.tensor([1.0, 2.0])}
    torch.save(state, folder / name)
    return (folder / name).as_uri(), state


@pytest.mark.parametrize("load", [hub.load_state_dict_from_url, model_zoo.load_url])
def test_a_state_dict_is_fetched_once(load: Any, cache: Path, tmp_path: Path, capsys: Any) -> None:
    url, state = published(tmp_path)
    assert torch.equal(load(url)["weight"], state["weight"])
    assert capsys.readouterr().err == f'Downloading: "{url}" to {cache / "net.pth"}\n'
    (tmp_path / "net.pth").unlink()
    assert torch.equal(load(url, map_location="cpu")["weight"], state["weight"])
    assert capsys.readouterr().err == "" and os.listdir(cache) == ["net.pth"]


def test_the_file_may_have_another_name_and_folder(cache: Path, tmp_path: Path) -> None:
    url, _ = published(tmp_path)
    hub.load_state_dict_from_url(url + "#version=2", str(tmp_path / "models"), file_name="mine.pth")
    assert os.listdir(tmp_path / "models") == ["mine.pth"] and not cache.exists()


def zipped(folder: Path, name: str, member: str) -> str:
    with zipfile.ZipFile(folder / name, "w") as z:
        z.writestr(zipfile.ZipInfo(member), (folder / "net.pth").read_bytes())      # keeps the name as it is
    return (folder / name).as_uri()


def test_a_zip_of_one_file_is_unpacked(cache: Path, tmp_path: Path) -> None:
    _, state = published(tmp_path)
    for name, member in (("one.zip", "net.pth"), ("same.pth", "same.pth")):
        url = zipped(tmp_path, name, member)
        for _ in range(2):
            with pytest.warns(FutureWarning, match=re.escape("Falling back to the old format < 1.6.")):
                found = hub.load_state_dict_from_url(url)
            assert torch.equal(found["weight"], state["weight"])
    assert sorted(os.listdir(cache)) == ["net.pth", "one.zip", "same.pth"]


@pytest.mark.oracle
def test_a_zip_writes_nowhere_else(cache: Path, tmp_path: Path) -> None:
    pytorch = pytest.importorskip("torch")
    published(tmp_path)
    for i, member in enumerate(("../up.pth", "/nowhere/abs.pth", "a/../../up.pth")):
        url = zipped(tmp_path, f"{i}.zip", member)
        said = []
        for load in (hub.load_state_dict_from_url, pytorch.hub.load_state_dict_from_url):
            with pytest.raises(ValueError, match="Archive entry") as refused, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                load(url, str(cache))
            said.append(str(refused.value))
        assert said[0] == said[1]
    assert sorted(os.listdir(cache)) == ["0.zip", "1.zip", "2.zip"] and not (cache.parent / "up.pth").exists()


def test_a_wrong_hash_leaves_no_file(cache: Path, tmp_path: Path) -> None:
    published(tmp_path)
    digest = hashlib.sha256((tmp_path / "net.pth").read_bytes()).hexdigest()
    for named in (digest[:8], "00000000"):
        (tmp_path / f"net-{named}.pth").write_bytes((tmp_path / "net.pth").read_bytes())
    hub.load_state_dict_from_url((tmp_path / f"net-{digest[:8]}.pth").as_uri(), check_hash=True)
    wrong = (tmp_path / "net-00000000.pth").as_uri()
    with pytest.raises(RuntimeError, match=re.escape(f'invalid hash value (expected "00000000", got "{digest}")')):
        hub.load_state_dict_from_url(wrong, check_hash=True)
    assert os.listdir(cache) == [f"net-{digest[:8]}.pth"]
    assert set(hub.load_state_dict_from_url(wrong)) == {"weight"}       # as in PyTorch, nobody asked


def test_what_cannot_be_fetched_leaves_no_file(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone.pth"):
        hub.load_state_dict_from_url((tmp_path / "gone.pth").as_uri())
    assert os.listdir(cache) == []


def test_where_downloads_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_dir", None)
    monkeypatch.delenv("TORCH_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.join("some", "cache"))
    assert hub.get_dir() == os.path.join("some", "cache", "torch", "hub")
    monkeypatch.setenv("TORCH_HOME", "home")
    assert hub.get_dir() == os.path.join("home", "hub")
    hub.set_dir(os.path.join("~", "nets"))
    assert hub.get_dir() == os.path.expanduser(os.path.join("~", "nets"))


def test_code_of_repositories_is_not_run() -> None:
    with pytest.raises(NotImplementedError, match="repositories are not fetched here"):
        hub.load("pytorch/vision", "resnet18")
