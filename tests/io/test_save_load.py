"""torch.save and torch.load: PyTorch's files are read, ours are read by PyTorch, refused ones: test_hostile_files."""

from __future__ import annotations

import collections
import io
import os
import pickle
import re
import shutil
import signal
import sys
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both_engines import both
from saved_files import again, file_with, members, read, recorded, written, zipped

import retrograd as torch
from retrograd.io import archive, beside, pth
from retrograd.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

# ---- PyTorch's files ----


def test_reads_what_pytorch_wrote() -> None:
    x = read(recorded())
    assert list(x) == [
        "views", "sd", "param", "optimizer", "kinds", "expanded", "empty", "scalar", "plain", "dtype", "size", "epoch"]
    part, turned, base = x["views"]
    assert part.tolist() == [2, 3, 4] and turned.shape == (4, 3) and turned.stride() == (1, 4)
    base[2] = 50.0
    assert part[0] == 50 and turned[2, 0] == 50
    assert type(x["sd"]) is collections.OrderedDict and x["sd"]._metadata == {"": {"version": 1}}
    assert x["sd"]["weight"].tolist() == [[1, -2], [3, 4]]
    assert x["sd"]["bias"].tolist() == pytest.approx([0.4, -0.6])
    assert type(x["param"]) is torch.nn.Parameter and not x["param"].requires_grad
    assert [k.dtype for k in x["kinds"]] == [
        torch.float64, torch.float32, torch.float16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool]
    assert [k.tolist() for k in x["kinds"]] == [[0, 1, 2]] * 8 + [[False, True, True]]
    assert x["expanded"].stride() == (0, 0) and x["expanded"].tolist() == [[1, 1]] * 3
    assert x["empty"].shape == (0, 3) and x["scalar"].requires_grad and x["scalar"].item() == 2.5
    assert x["plain"] == [None, True, -1, 2**40, 1.5, "é", b"abc", (1, 2, 3, 4), {1, 2}, 1 + 2j]
    assert x["dtype"] is torch.float32 and x["size"] == torch.Size([2, 3]) and type(x["size"]) is torch.Size


def test_optimizer_goes_on_from_pytorchs_state() -> None:
    x = read(recorded())
    w, b = (torch.nn.Parameter(x["sd"][name]) for name in ("weight", "bias"))
    o = torch.optim.Adam([w, b])
    o.load_state_dict(x["optimizer"])
    assert o.param_groups[0]["lr"] == 0.1 and o.state[w]["step"].item() == 1
    ((w.sum()) * b).sum().backward()
    o.step()
    assert o.state[w]["step"].item() == 2


def test_file_is_pytorchs_but_for_padding() -> None:
    ours, theirs = members(written(read(recorded()))), members(recorded())
    assert {name for name in theirs if "serialization_id" not in name} == set(ours)
    for name, data in ours.items():
        if "/data/" in name or "byteorder" in name or name.endswith(".format_version"):
            assert data == theirs[name], name


def test_data_are_aligned(tmp_path: Path) -> None:
    save([torch.ones(n) for n in (1, 2, 3)], tmp_path / "x.pt")
    with open(tmp_path / "x.pt", "rb") as f:
        reader = archive.Reader(f)
        assert all(place % 64 == 0 for place, _, _ in reader.members.values())
        assert reader.root == "x"


# ---- round trips ----

PLAIN = [
    None, True, False, 0, 255, 256, 65535, 65536, -1, 2**31, -(2**31) - 1, 2**100, -(2**100), 0.1, float("inf"), "",
    "a\nb", "\ud800", "x" * 300, b"", b"\x00\xff", bytearray(b"ab"), (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], {},
    set(), {1, "a"}, 1 - 2j, {("a", 1): [None]}, collections.Counter("aab"), collections.OrderedDict(b=1, a=2),
    list(range(2500)), {i: str(i) for i in range(2500)}]


@pytest.mark.parametrize("x", PLAIN, ids=[f"{type(x).__name__}-{i}" for i, x in enumerate(PLAIN)])
def test_plain_values_come_back(x: Any) -> None:
    got = again(x)
    assert got == x and type(got) is type(x)


def test_nan_and_dtypes_and_devices_come_back() -> None:
    assert np.isnan(again(float("nan")))
    assert again([torch.uint16, torch.complex64, torch.float8_e5m2]) == [torch.uint16, torch.complex64, torch.float8_e5m2]
    for d in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
        t = torch.ones(2, 3, dtype=getattr(torch, d))
        got = again({"t": t, "d": t.dtype})
        assert got["d"] is t.dtype and got["t"].dtype is t.dtype and torch.equal(got["t"], t)
    assert again(torch.device("cpu")) == torch.device("cpu")


def test_bfloat16_comes_back() -> None:
    t = torch.tensor([1.0, 2.5], dtype=torch.bfloat16)
    assert again(t).dtype is torch.bfloat16 and again(t).tolist() == [1.0, 2.5]


def test_views_stay_views_and_copies_stay_copies() -> None:
    base = torch.arange(12.0)
    a, b, c, other = again([base[3:6], base.view(3, 4).t(), base, base.clone()])
    c[4] = -1.0
    assert a[1] == -1 and b[0, 1] == -1 and other[4] == 4
    assert (a.storage_offset(), b.stride(), b.shape) == (3, (1, 4), (4, 3))


def test_one_object_stays_one() -> None:
    t, table = torch.ones(2), {"a": 1}
    x, y, p, q = again([t, t, table, table])
    assert x is y and p is q
    loop: list[Any] = []
    loop.append(loop)
    got = again(loop)
    assert got[0] is got


def test_parameters_attributes_and_flags_come_back() -> None:
    p = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    p.tag = "x"
    t = torch.ones(1)
    t.note = [1]
    y = torch.ones(2, requires_grad=True) * 2
    got = again([p, t, y, torch.tensor(1.0, requires_grad=True)])
    assert type(got[0]) is torch.nn.Parameter and got[0].tag == "x" and not got[0].requires_grad
    assert type(got[1]) is torch.Tensor and got[1].note == [1]
    assert got[2].requires_grad and got[2].is_leaf and got[3].requires_grad


def test_odd_memory_comes_back() -> None:
    frozen = np.frombuffer(np.arange(8, dtype=np.int32).tobytes(), np.int32)
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for t in (torch.tensor(1).expand(2, 3), torch.zeros(0, 3), torch.zeros(3, 0, 2)[1:], torch.arange(10)[::3]):
        got = again(t)
        assert torch.equal(got, t) and got.shape == t.shape
    assert again(torch.from_numpy(fortran)).tolist() == fortran.tolist()
    assert again(torch.from_numpy(fortran)).stride() == (1, 2)
    assert again(torch.from_numpy(frozen.copy())[2:4]).tolist() == [2, 3]
    assert again(torch.zeros(2, 0)).stride() == (1, 1)


def test_whole_block_is_written() -> None:
    assert len(written(torch.zeros(100_000)[:1])) > 400_000
    assert len(written(torch.zeros(100_000)[:1].clone())) < 10_000


def test_one_block_as_two_types_is_refused() -> None:
    t = torch.ones(2)
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as diff"):
        save([t, torch.from_numpy(t.numpy().view(np.int32))], io.BytesIO())


def test_optimizer_resumes_bit_for_bit() -> None:
    def train(p: Any, o: Any, steps: int) -> None:
        for _ in range(steps):
            o.zero_grad()
            (p * p * torch.arange(3.0)).sum().backward()
            o.step()

    p = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    o = torch.optim.AdamW([p], lr=0.1, amsgrad=True)
    train(p, o, 3)
    kept = written({"p": p, "o": o.state_dict()})
    train(p, o, 3)
    got = read(kept)
    p2 = got["p"]
    o2 = torch.optim.AdamW([p2], lr=0.7)
    o2.load_state_dict(got["o"])
    train(p2, o2, 3)
    assert p2.tolist() == p.tolist()


def test_hooks_are_lost_with_a_warning() -> None:
    t = torch.ones(1, requires_grad=True)
    t.register_hook(lambda g: None)
    with pytest.warns(UserWarning, match="will not be serialized"):
        assert again(t)._backward_hooks in (None, {})


# ---- where to ----


def test_paths_and_files(tmp_path: Path) -> None:
    save([1], tmp_path / "a.pt")
    save([2], str(tmp_path / "b"))
    with open(tmp_path / "c", "wb") as f:
        save([3], f)
    assert [load(tmp_path / "a.pt"), load(str(tmp_path / "b")), load(tmp_path / "c")] == [[1], [2], [3]]
    with open(tmp_path / "a.pt", "rb") as f:
        assert load(f) == [1]
    assert sorted(os.listdir(tmp_path)) == ["a.pt", "b", "c"]


def test_a_file_that_only_writes_will_do() -> None:
    class Pipe:
        def __init__(self) -> None:
            self.data = b""

        def write(self, data: Any) -> int:
            self.data += bytes(data[:7])        # a raw file may take a part only
            return min(len(data), 7)

    pipe = Pipe()
    save({"t": torch.arange(5)}, pipe)
    assert read(pipe.data)["t"].tolist() == [0, 1, 2, 3, 4]


def test_after_other_data_in_a_file() -> None:
    f = io.BytesIO(b"header!" + written([1, torch.ones(2)]))
    f.seek(7)
    assert load(f)[0] == 1


def test_interrupted_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    save("old", path)
    os.chmod(path, 0o640)

    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    for where, name in ((beside.os, "fsync"), (archive.Writer, "close"), (pth.Block, "bytes")):
        with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
            m.setattr(where, name, interrupted)
            save(torch.ones(2), path)
        assert load(path) == "old" and os.listdir(tmp_path) == ["x.pt"]
    with pytest.raises(AttributeError, match="Can't pickle local object"):
        save([lambda: 1], path)
    assert load(path) == "old"
    save("new", path)
    assert load(path) == "new" and os.stat(path).st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real" / "x.pt", tmp_path / "x.pt")
    save(1, tmp_path / "x.pt")
    assert (tmp_path / "x.pt").is_symlink() and load(tmp_path / "real" / "x.pt") == 1
    save(2, os.devnull)


def test_where_nothing_can_be_written_or_read(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Parent directory .*nowhere does not exist"):
        save(1, tmp_path / "nowhere" / "x.pt")
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with a 'write'"):
        save(1, 5)
    with pytest.raises(AttributeError, match="'int' object has no attribute .*You can only torch.load from a file"):
        load(5)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "x.pt")
    with pytest.raises(RuntimeError, match="_use_new_zipfile_serialization"):
        save(1, io.BytesIO(), _use_new_zipfile_serialization=False)


def test_threads_may_save_to_one_path(tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=save, args=({"t": torch.full((1000,), float(i))}, tmp_path / "x")) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got = load(tmp_path / "x")["t"].tolist()
    assert len(set(got)) == 1 and os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("letters", [100, 127])
def test_file_names_may_be_as_long_as_the_system_takes(tmp_path: Path, letters: int) -> None:
    path = tmp_path / ("é" * letters)
    save([1], path)
    save([2], path)
    assert load(path) == [2] and os.listdir(tmp_path) == [path.name]
    with pytest.raises(OSError, match="File name too long") as error:
        save(1, tmp_path / ("é" * 128))
    assert error.value.filename == str(tmp_path / ("é" * 128)) and str(error.value).endswith("é'")
    with pytest.raises(RuntimeError, match="File name too long"):       # PyTorch's class
        save(1, tmp_path / ("a" * 256))
    with pytest.raises(RuntimeError, match="Is a directory"):
        save(1, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_all_names_of_a_file_and_its_mode_stay(tmp_path: Path) -> None:
    path, other = tmp_path / "x.pt", tmp_path / "y.pt"
    save(1, path)
    os.chmod(path, 0o604)
    os.link(path, other)
    save(2, path)
    assert load(other) == 2 and os.path.samefile(path, other) and os.stat(path).st_mode & 0o7777 == 0o604


def as_somebody(run: Any) -> str:
    """What run() says in a process without root's rights."""
    read_end, write_end = os.pipe()
    if not os.fork():
        try:
            os.setgid(65534)
            os.setuid(65534)
            said = str(run())
        except BaseException as error:
            said = f"{type(error).__name__} {error}"
        os.write(write_end, said.encode())
        os._exit(0)
    os.close(write_end)
    os.wait()
    with open(read_end) as file:
        return file.read()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be somebody else")
def test_owners_and_rights() -> None:
    folder = Path(tempfile.mkdtemp())           # pytest's are root's alone
    path = folder / "x.pt"
    try:
        save(1, path)
        os.chown(path, 65534, 65533)
        inode = os.stat(path).st_ino
        save(2, path)
        known = os.stat(path)
        assert (known.st_uid, known.st_gid) == (65534, 65533) and known.st_ino != inode and load(path) == 2
        folder.chmod(0o755)                     # somebody else can write the file, and make none beside it
        assert as_somebody(lambda: save(3, path)) == "None" and load(path) == 3
        assert os.stat(path).st_ino == known.st_ino and os.listdir(folder) == ["x.pt"]
        assert as_somebody(lambda: save(3, folder / "new.pt")) == (
            f"PermissionError [Errno 13] Permission denied: '{folder / 'new.pt'}'")
        folder.chmod(0o777)                     # a file of root's that all may write stays root's
        os.chown(path, 0, 0)
        path.chmod(0o666)
        assert as_somebody(lambda: save(4, path)) == "None" and load(path) == 4
        assert os.stat(path).st_uid == 0 and os.listdir(folder) == ["x.pt"]
        path.chmod(0o444)
        assert as_somebody(lambda: save(5, path)) == f"PermissionError [Errno 13] Permission denied: '{path}'"
        assert load(path) == 4
    finally:
        shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_save_removes_what_killed_ones_left_and_nothing_else(tmp_path: Path) -> None:
    def start(name: str) -> int:
        """A process in the middle of a save."""
        read_end, write_end = os.pipe()
        pid = os.fork()
        if not pid:
            def write(file: Any) -> None:
                file.write(b"half")
                file.flush()
                os.write(write_end, b"x")
                signal.pause()

            beside.write_beside(str(tmp_path / name), write)
            os._exit(0)
        os.read(read_end, 1)
        os.close(read_end), os.close(write_end)
        return pid

    def kill(pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    pids = [start(f"{i}.pt") for i in range(3)]
    (tmp_path / ".torch-save-mine").write_text("not a save's")
    assert len(os.listdir(tmp_path)) == 4
    kill(pids[0]), kill(pids[2])
    save([1], tmp_path / "x.pt")
    assert len(os.listdir(tmp_path)) == 3       # the one that lives keeps its own
    kill(pids[1])
    save([2], tmp_path / "x.pt")
    assert sorted(os.listdir(tmp_path)) == [".torch-save-mine", "x.pt"] and load(tmp_path / "x.pt") == [2]


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine").write_text("mine")
    os.symlink(tmp_path / "mine", tmp_path / "folder" / ".torch-save-0.tmp")
    save([1], tmp_path / "folder" / "x.pt")
    assert load(tmp_path / "folder" / "x.pt") == [1] and (tmp_path / "mine").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that do not wait")
def test_a_pipe_that_takes_no_more_is_an_error() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    with open(read_end, "rb", buffering=0) as pipe, open(write_end, "wb", buffering=0) as file:
        with pytest.raises(BlockingIOError) as error:
            save(torch.zeros(1_000_000), file)
        assert error.value.characters_written == len(pipe.read(5_000_000))

    class Silent(io.BytesIO):
        def write(self, data: Any) -> Any:
            super().write(data)                 # and says nothing: all was taken

    class Full:
        def write(self, data: Any) -> int:
            return 0

    silent = Silent()
    save([1], silent)
    assert read(silent.getvalue()) == [1]
    with pytest.raises(OSError, match="Full.write took none of"):
        save([1], Full())


# ---- options ----


def test_map_location() -> None:
    data = written(torch.ones(2))
    seen: list[str] = []

    def place(storage: Any, location: str) -> Any:
        seen.append(location)
        return storage

    for where in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, place, lambda storage, location: None):
        assert read(data, map_location=where).tolist() == [1, 1]
    assert seen == ["cpu"]
    on_gpu = file_with(members(data)["archive/data.pkl"].replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0"),
                       _0=bytes(8))
    for where in (None, "cuda", {"cuda:0": "cuda:1"}):
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
            read(on_gpu, map_location=where)
    for where in ("cpu", {"cuda:0": "cpu"}, lambda storage, location: storage):
        assert read(on_gpu, map_location=where).tolist() == [0, 0]


@both
def test_what_map_location_raises_comes_as_it_is(torch: Any) -> None:
    f = io.BytesIO()
    torch.save(torch.ones(2), f)
    for error in (KeyError("k"), TypeError("t"), IndexError(3), AttributeError("a"), RuntimeError("r")):
        def place(storage: Any, location: str) -> Any:
            raise error  # noqa: B023

        f.seek(0)
        with pytest.raises(type(error)) as caught:
            torch.load(f, map_location=place)
        assert caught.value is error and error.__cause__ is error.__context__ is None
    f.seek(0)
    with pytest.raises(TypeError):
        torch.load(f, map_location=lambda storage, location: "cpu")


def test_what_map_location_raises_is_not_called_damage() -> None:
    def place(storage: Any, location: str) -> Any:
        raise error

    error = pickle.UnpicklingError("mine")
    with pytest.raises(pickle.UnpicklingError) as caught:
        read(written(torch.ones(2)), map_location=place)
    assert caught.value is error


class Picky:
    def __init__(self, n: int = 0) -> None:
        self.n = n

    def __reduce__(self) -> Any:
        return Picky, (self.n,), {"n": self.n}

    def __setstate__(self, state: Any) -> None:
        if self.n:
            raise IndexError("not that one")


@both
def test_what_an_allowed_class_raises_comes_as_it_is(torch: Any) -> None:
    f = io.BytesIO()
    torch.save(Picky(1), f)
    f.seek(0)
    with torch.serialization.safe_globals([Picky]), pytest.raises(IndexError, match="^not that one$"):
        torch.load(f)


def test_mmap_shares_memory_inside_the_file_and_never_writes_it(tmp_path: Path) -> None:
    base = torch.arange(6.0)
    save([base, base[2:4], torch.zeros(0), torch.tensor([True])], tmp_path / "x")
    a, b, empty, flag = load(tmp_path / "x", mmap=True)
    a[2] = 9.0
    assert b.tolist() == [9, 3] and empty.shape == (0,) and flag.tolist() == [True]
    assert load(tmp_path / "x")[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert len(written(b)) < 5000               # the block of its own, not the whole file
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        read(written(1), mmap=True)


def test_weights_only_makes_no_difference() -> None:
    data = file_with(b"\x80\x02cos\nsystem\nX\x04\0\0\0echo\x85R.")
    for kwargs in ({}, {"weights_only": True}, {"weights_only": False}):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed(.|\n)*never runs code"):
            read(data, **kwargs)
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        read(data, pickle_module=pickle)


class Settings:
    def __init__(self, x: int) -> None:
        self.x = x


def test_classes_the_user_allows() -> None:
    data = written([Settings(3)])
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global: GLOBAL .*Settings was not an allowed global"):
        read(data)
    with safe_globals([Settings]):
        assert get_safe_globals() == [Settings]
        got = read(data)[0]
        assert type(got) is Settings and got.x == 3
    assert get_safe_globals() == []
    add_safe_globals([Settings])
    assert read(data)[0].x == 3
    clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        read(data)


SCALAR = (                                      # of torch.save({"best": np.float64(1.5)}, f) in PyTorch 2.13.0
    b"\x80\x02}q\0X\x04\0\0\0bestq\x01cnumpy._core.multiarray\nscalar\nq\x02cnumpy\ndtype\nq\x03X\x02\0\0\0f8q\x04\x89\x88"
    b"\x87q\x05Rq\x06(K\x03X\x01\0\0\0<q\x07NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tq\x08bc_codecs\nencode\nq\x09X\x09\0\0\0"
    b"\0\0\0\0\0\0\xc3\xb8?q\x0aX\x06\0\0\0latin1q\x0b\x86q\x0cRq\x0d\x86q\x0eRq\x0fs.")


@pytest.mark.parametrize("x", [
    np.float64(1.5), np.float32(2.5), np.int64(-3), np.bool_(True), np.arange(6).reshape(2, 3).T, np.array(["a", "bc"]),
    np.random.RandomState(0).get_state()[1], np.dtype("f4"), np.float32, np.sin, len], ids=repr)
def test_numpys_values_and_c_functions_are_written_as_pickle_does(x: Any) -> None:
    data = written({"best": x, "again": [x]})
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        got = pickle.loads(z.read("archive/data.pkl"))
    assert type(got["best"]) is type(x) and np.array_equal(got["best"], x) and got["again"][0] is got["best"]
    with pytest.raises(pickle.UnpicklingError, match="(?s)was not an allowed global.*never runs code"):
        read(data)


def test_numpys_scalars_load_once_allowed() -> None:
    scalar = np.float64(1.5).__reduce__()[0]
    with safe_globals([(scalar, "numpy._core.multiarray.scalar"), np.dtype, np.dtypes.Float64DType]):
        assert read(file_with(SCALAR)) == {"best": 1.5}


@pytest.mark.parametrize(("described", "lacks"), [
    (b"\x80\x02ctorch._utils\n_rebuild_tensor_v3\n((X\x07\0\0\0storagectorch.storage\nUntypedStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x02"
     b"tQK\0K\x01\x85K\x01\x85\x89}ctorch\nuint16\ntR.", "tensors of torch.uint16"),
    (b"\x80\x02ctorch.serialization\n_get_layout\nX\x10\0\0\0torch.sparse_coo\x85R.", "sparse tensors"),
    (b"\x80\x02(X\x07\0\0\0storagectorch\nQInt32Storage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x02tQ.",
     "torch.QInt32Storage")])
def test_tensors_of_a_kind_that_we_lack(described: bytes, lacks: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=f"retrograd has no {lacks}(.|\n)*Convert it in PyTorch") as caught:
        read(file_with(described, _0=b"\1\0"))
    assert "state_dict" not in str(caught.value) and "add_safe_globals" not in str(caught.value)


def test_a_damaged_pickle_says_so() -> None:
    with pytest.raises(pickle.UnpicklingError, match="pickle data was truncated\nThe file is damaged"):
        read(file_with(b"\x80\x02X\x10\0\0\0"))


def test_big_endian_files() -> None:
    parts = members(written([torch.tensor([1.5, -2.0]), torch.tensor([1, 2], dtype=torch.int8)]))
    parts["archive/byteorder"] = b"big"
    parts["archive/data/0"] = np.array([1.5, -2.0], ">f4").tobytes()
    got = read(zipped(parts))
    assert got[0].tolist() == [1.5, -2.0] and got[1].tolist() == [1, 2]
    parts["archive/byteorder"] = b"middle"
    with pytest.raises(ValueError, match="Unknown endianness type: middle"):
        read(zipped(parts))
    alone = members(written(torch.tensor(1.5)))                         # one element, no dims
    alone["archive/byteorder"], alone["archive/data/0"] = b"big", np.array(1.5, ">f4").tobytes()
    assert read(zipped(alone)).item() == 1.5


@pytest.mark.parametrize(("version", "text"), [
    (None, 'Expected hasRecord("version") to be true, but got false.'),
    (b"x\n", "[enforce fail at inline_container.cc:215] . Couldn't parse the version x"),
    (b"0\n", "[enforce fail at inline_container.cc:219] . Attempted to read a PyTorch file with version 0, but the minimum"),
    (b"99\n", "[enforce fail at inline_container.cc:230] . Attempted to read a PyTorch file with version 99, but the maximum"),
])
def test_a_file_without_a_version_that_we_know_is_refused(version: bytes | None, text: str) -> None:
    parts = members(written(torch.ones(2)))
    del parts["archive/version"]
    if version is not None:
        parts["archive/version"] = version
    with pytest.raises(RuntimeError, match="^" + re.escape(text)):
        read(zipped(parts))


# ---- safetensors ----


def test_safetensors(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    from retrograd.io import safetensors

    table = {
        "a": torch.arange(6.0).view(2, 3), "t": torch.arange(6.0).view(2, 3).t(), "n": torch.tensor(3),
        "b": torch.tensor([True, False]), "e": torch.zeros(0, 2), "h": torch.ones(2, dtype=torch.float16)}
    safetensors.save_file(table, tmp_path / "x.safetensors", {"made": "here"})
    got = safetensors.load_file(tmp_path / "x.safetensors")
    assert set(got) == set(table)
    for name, t in table.items():
        assert torch.equal(got[name], t) and got[name].dtype is t.dtype and got[name].shape == t.shape
    got["a"][0, 0] = 5.0
    with pytest.raises(RuntimeError, match="Some tensors share memory"):
        safetensors.save({"x": table["a"], "y": table["a"][0]})
    with pytest.raises(ValueError, match="is invalid, expected torch.Tensor"):
        safetensors.save({"x": 1})
    with pytest.raises(Exception, match="(?i)header|invalid|deserializ"):
        safetensors.load(b"\xff" * 20)


# ---- live PyTorch ----


@pytest.mark.oracle
def test_pytorch_reads_ours_and_we_read_pytorchs(tmp_path: Path) -> None:
    real = pytest.importorskip("torch")

    def make(T: Any) -> Any:
        base = T.arange(24.0)
        p = T.nn.Parameter(T.ones(2, 3))
        p.tag = 3
        table = collections.OrderedDict(a=T.zeros(2, 2))
        table._metadata = collections.OrderedDict({"": {"version": 1}})  # type: ignore[attr-defined]
        return {
            "views": [base[2:5], base.view(4, 6).t(), base], "e": T.ones(1).expand(3, 4), "p": p, "od": table,
            "kinds": [
                T.ones(2, dtype=getattr(T, d)) for d in "float64 float16 int64 int32 int16 int8 uint8 bool".split()],
            "empty": T.zeros(0, 3), "s": T.tensor(2.5, requires_grad=True), "dt": T.float32, "sz": T.Size([2]),
            "plain": [x for x in PLAIN if x != b""]}

    def shown(x: Any, T: Any) -> Any:
        if isinstance(x, T.Tensor):
            return (type(x).__name__, str(x.dtype), tuple(x.shape), tuple(x.stride()), x.storage_offset(),
                    x.requires_grad, x.tolist(), getattr(x, "tag", None))
        if isinstance(x, (list, tuple)):
            return type(x).__name__, [shown(y, T) for y in x]
        if isinstance(x, dict):
            return type(x).__name__, [(shown(k, T), shown(v, T)) for k, v in x.items()], getattr(x, "_metadata", None)
        return type(x).__name__, repr(x)

    want = shown(make(real), real)
    real.save(make(real), tmp_path / "theirs.pt")
    save(make(torch), tmp_path / "ours.pt")
    for mapped in (False, True):
        assert shown(load(tmp_path / "theirs.pt", mmap=mapped), torch) == want
        assert shown(real.load(tmp_path / "ours.pt", weights_only=True, mmap=mapped), real) == want
        assert shown(load(tmp_path / "ours.pt", mmap=mapped), torch) == want


@pytest.mark.oracle
def test_meta_tensors_are_saved_and_loaded_as_such() -> None:
    import torch as theirs

    for mine, other in ((torch, theirs), (theirs, torch)):
        file = io.BytesIO()
        layer = mine.nn.Linear(2, 2, device="meta")
        mine.save({"state": layer.state_dict(), "w": layer.weight, "turned": mine.empty(2, 3, device="meta").T}, file)
        for engine in (mine, other):
            file.seek(0)
            found = engine.load(file)
            assert all(t.is_meta for t in (*found["state"].values(), found["w"], found["turned"]))
            assert isinstance(found["w"], engine.nn.Parameter)
            assert found["w"].requires_grad and not found["turned"].requires_grad
            assert tuple(found["turned"].shape) == (3, 2) and tuple(found["turned"].stride()) == (1, 3)


@pytest.mark.parametrize("where", ["meta", torch.device("meta"), {"cpu": "meta"}], ids=str)
def test_tensors_are_loaded_onto_the_meta_device(where: Any) -> None:
    file = io.BytesIO()
    torch.save({"a": torch.ones(2, 3).T, "p": torch.nn.Parameter(torch.ones(2))}, file)
    file.seek(0)
    found = torch.load(file, map_location=where)
    assert found["a"].is_meta and found["a"].stride() == (1, 3) and found["p"].is_meta and found["p"].requires_grad
    layer = torch.nn.Linear(2, 1, device="meta")
    layer.load_state_dict({"weight": found["p"][None], "bias": found["p"][:1]}, assign=True)
    assert layer.weight.is_meta and layer.weight.shape == (1, 2)


@pytest.mark.parametrize("arguments", [
    (torch.float32, (1 << 50,), (1,), False), (torch.float32, (2,), (), False), (torch.float32, (-1,), (1,), False),
    ("float32", (2,), (1,), False), (torch.float32, [2], (1,), False)])
def test_a_meta_tensor_of_a_stranger_is_bounded(arguments: Any) -> None:
    with pytest.raises((pickle.UnpicklingError, ValueError)):
        pth._rebuild_meta(*arguments)
