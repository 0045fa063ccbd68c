"""torch.load of damaged and hostile files: refused, with nothing called that is not listed."""

from __future__ import annotations

import collections
import importlib
import io
import os
import pickle
import struct
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_files import again, file_with, read, recorded, written, zipped

import retrograd as torch
from retrograd.io import pth


@pytest.mark.parametrize("source", ["ours", "PyTorch's"])
def test_truncated_at_every_twentieth(source: str) -> None:
    data = recorded() if source != "ours" else written({"a": torch.arange(1000.0), "b": [torch.ones(3)] * 3})
    for k in range(20):
        with pytest.raises((RuntimeError, EOFError)) as caught:
            read(data[:len(data) * k // 20])
        assert "corrupt" in str(caught.value) or "modified after saving" in str(caught.value) or k == 0


def test_every_damaged_byte_is_noticed_or_harmless() -> None:
    want = [[1.0, 2.0], [3]]
    data = bytearray(written([torch.tensor([1.0, 2.0]), torch.tensor([3])]))
    for i in range(len(data)):
        for flip in (0xFF, 0x01):
            data[i] ^= flip
            try:
                got = read(bytes(data))
                assert [t.tolist() for t in got] == want, i
            except (RuntimeError, EOFError, ValueError, pickle.UnpicklingError, NotImplementedError):
                pass
            data[i] ^= flip


def test_a_damaged_storage_is_noticed() -> None:
    data = written(torch.full((100,), 7.0))
    place = data.index(struct.pack("<f", 7.0) * 3)
    with pytest.raises(RuntimeError, match="checksum of archive/data/0 is wrong"):
        read(data[:place] + b"\1" + data[place + 1:])


def test_other_kinds_of_files(tmp_path: Path) -> None:
    with pytest.raises(EOFError):
        read(b"")
    with pytest.raises(pickle.UnpicklingError, match="the file is no zip archive(.|\n)*check the path") as caught:
        read(b"hello world")
    assert "state_dict" not in str(caught.value)
    old = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
    with pytest.raises(RuntimeError, match="format from before PyTorch 1.6"):
        read(old)
    with pytest.raises(RuntimeError, match="TorchScript"):
        read(zipped({"a/data.pkl": b"\x80\x02N.", "a/constants.pkl": b""}))
    with pytest.raises(RuntimeError, match="TorchScript"):      # PyTorch compresses its code
        read(zipped({"a/code/__torch__.py": bytes(1000), "a/constants.pkl": bytes(1000)}, zipfile.ZIP_DEFLATED))
    with pytest.raises(RuntimeError, match="program that torch.export.save wrote"):
        read(zipped({"a/models/model.json": bytes(1000), "a/archive_format": b"pt2"}))
    with pytest.raises(RuntimeError, match="safetensors file"):
        read(b"\x40\0\0\0\0\0\0\0" + b'{"a":{}}')
    with pytest.raises(RuntimeError, match="file not found: a/data.pkl"):
        read(zipped({"a/x": b""}))
    with pytest.raises(RuntimeError, match="is compressed"):
        read(zipped({"a/data.pkl": bytes(1000)}, zipfile.ZIP_DEFLATED))


def limited(data: bytes, most: int = 20_000_000) -> Exception:
    """The error that reading raises, within `most` bytes of memory."""
    tracemalloc.start()
    try:
        with pytest.raises((RuntimeError, pickle.UnpicklingError, ValueError)) as caught:
            read(data)
        assert tracemalloc.get_traced_memory()[1] < most
        return caught.value
    finally:
        tracemalloc.stop()


P = b"\x80\x02"
STORAGE = b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x04tQ"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n("
END = b"\x89ccollections\nOrderedDict\n)RtR."


def tensor(offset: bytes, size: bytes, stride: bytes) -> bytes:
    return P + REBUILD + STORAGE + offset + size + stride + END


def test_the_pieces_make_a_tensor() -> None:
    described = tensor(b"K\0", b"K\x02K\x02\x86", b"K\x02K\x01\x86")
    data = file_with(described, _0=np.arange(4, dtype=np.float32).tobytes())
    assert read(data).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(("name", "described"), [
    ("offset", tensor(b"K\x01", b"K\x04\x85", b"K\x01\x85")),
    ("size", tensor(b"K\0", b"K\x05\x85", b"K\x01\x85")),
    ("huge size", tensor(b"K\0", b"\x8a\x07\0\0\0\0\0\0\x01\x85", b"K\x01\x85")),
    ("huge size, no stride", tensor(
        b"K\0", b"\x8a\x07\0\0\0\0\0\0\x01\x8a\x07\0\0\0\0\0\0\x01\x86", b"K\0K\0\x86")),
    ("empty and huge", tensor(b"K\0", b"K\0\x8a\x09\0\0\0\0\0\0\0\0\x01\x86", b"K\x01K\x01\x86")),
    ("stride", tensor(b"K\0", b"K\x02K\x02\x86", b"K\x03K\x01\x86")),
    ("huge stride", tensor(b"K\0", b"K\x02\x85", b"\x8a\x09\0\0\0\0\0\0\0\0\x01\x85")),
    ("negative offset", tensor(b"J\xff\xff\xff\xff", b"K\x02\x85", b"K\x01\x85")),
    ("negative stride", tensor(b"K\x03", b"K\x02\x85", b"J\xff\xff\xff\xff\x85")),
    ("negative size", tensor(b"K\0", b"J\xff\xff\xff\xff\x85", b"K\x01\x85")),
    ("dimensions", tensor(b"K\0", b"K\x02\x85", b"K\x01K\x01\x86")),
    ("many dimensions", tensor(b"K\0", b"(" + b"K\x01" * 70 + b"t", b"(" + b"K\x01" * 70 + b"t")),
    ("size no tuple", tensor(b"K\0", b"X\x01\0\0\0a", b"K\x01\x85")),
    ("size of floats", tensor(b"K\0", b"G\0\0\0\0\0\0\0\0\x85", b"K\x01\x85")),
    ("offset no number", tensor(b"N", b"K\x01\x85", b"K\x01\x85")),
    ("storage no storage", P + REBUILD + b"N" + b"K\0K\x01\x85K\x01\x85" + END),
])
def test_tensors_that_leave_their_storage(name: str, described: bytes) -> None:
    limited(file_with(described, _0=bytes(16)))


@pytest.mark.parametrize("pid", [
    STORAGE.replace(b"K\x04", b"K\x05"), STORAGE.replace(b"K\x04", b"K\x03"),
    STORAGE.replace(b"K\x04", b"\x8a\x06\0\0\0\0\0\x01"), STORAGE.replace(b"K\x04", b"J\xff\xff\xff\xff"),
    STORAGE.replace(b"\x000X", b"\x009X"), STORAGE.replace(b"X\x01\0\0\x000", b"X\x0e\0\0\0../../../x.pkl"),
    STORAGE.replace(b"X\x01\0\0\x000", b"X\x0b\0\0\0/etc/passwd"), STORAGE.replace(b"X\x01\0\0\x000", b"N"),
    STORAGE.replace(b"storage", b"module!"), STORAGE.replace(b"FloatStorage", b"float32"),
    STORAGE.replace(b"FloatStorage", b"ComplexFloatStorage"), b"Q", b"NQ", b")Q", b"X\x07\0\0\0storage\x85Q",
], ids=range(15))
def test_storages_that_are_not_there(pid: bytes) -> None:
    limited(file_with(P + REBUILD + pid + b"K\0K\x04\x85K\x01\x85" + END, _0=bytes(16)))


RUNS_CODE = [
    b"cos\nsystem\nX\x04\0\0\0trueq\0\x85R.", b"cposix\nsystem\nX\x04\0\0\0true\x85R.",
    b"cbuiltins\neval\nX\x01\0\0\x001\x85R.", b"c__builtin__\nexec\nX\x01\0\0\x001\x85R.",
    b"cbuiltins\ngetattr\n.", b"ctorch\nload\n.", b"ctorch.serialization\nload\n.", b"cretrograd\nload\n.",
    b"cnumpy\nfromfile\n.", b"ccollections\nnamedtuple\n.", b"ctorch\nos.system\n.", b"ctorch.nn\nLinear\n.",
    b"c_codecs\nencode.__globals__\n.", b"ccollections\nOrderedDict.__reduce__\n.",
    b"(X\x04\0\0\0truei__builtin__\neval\n.", b"(cos\nsystem\nX\x04\0\0\0trueo.",
    b"X\x02\0\0\0osX\x06\0\0\0system\x93.", b"\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    b"\x95\x05\0\0\0\0\0\0\0N.", b"P0\n.", b"\x82\x01.", b"V1\n.", b"I1\n.", b"S'a'\n.", b"F1\n.", b"L1\n.",
    b"]X\x01\0\0\0a)R.", b"N)R.", b"ctorch\nfloat32\n)R.", b"ctorch\nFloatStorage\n)R.",
    b"ccollections\nOrderedDict\n)\x81.",
    b"ccollections\nOrderedDict\n)R}X\x05\0\0\0itemsNsb.",
    b"ccollections\nOrderedDict\n)RK\x01b.", b"]}b.", b"}}b.",
]


@pytest.mark.parametrize("described", RUNS_CODE, ids=range(len(RUNS_CODE)))
def test_nothing_is_called_that_is_not_listed(described: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "system", lambda *a: pytest.fail("code of the file has run"))
    error = limited(file_with(P + described))
    assert "Weights only load failed" in str(error)


BOMBS = [
    b"c__builtin__\nbytearray\n\x8a\x05\0\0\0\0\x01\x85R.", b"c__builtin__\nbytes\n\x8a\x05\0\0\0\0\x01\x85R.",
    b"X\xff\xff\xff\xffabc.", b"\x8a\xffa.", b"r\xff\xff\xff\xff.", b"Nr\xff\xff\xff\xff0.", b"j\xff\xff\xff\xff.",
    b"h\0.", b"t.", b"a.", b"e.", b"s.", b"u.", b"(u.", b"\x86.", b"R.", b"(.", b".", b"", b"N", b"]Na", b"}NN",
    b"}(Nu.",
    b"}]Ns.", b"((e.", b"c__builtin__\nset\n]}a\x85R.", b"c__builtin__\ncomplex\n)R.",
    b"c__builtin__\ncomplex\n]\x85R.", b"ctorch\nSize\n]K\x01a]a\x85R.", b"ctorch\nSize\n\x8a\x05\0\0\0\0\x01\x85R.",
    b"ctorch\ndevice\nX\x03\0\0\0xyz\x85R.", b"ctorch\ndevice\n]\x85R.", b"ctorch\nTensor\n\x8a\x05\0\0\0\0\x01\x85R.",
    b"c_codecs\nencode\nX\x01\0\0\0aX\x03\0\0\0rot\x86R.", b"cos", b"cos\n", b"c\xff\n\xff\n.",
    b"ccollections\nCounter\nX\x02\0\0\0ab\x85R.", b"ccollections\nOrderedDict\n]K\x01a\x85R.",
    b"ctorch._utils\n_rebuild_parameter\nN\x89N\x87R.", b"ctorch._utils\n_rebuild_sparse_tensor\n)R.",
    b"ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\nNNNtR.",
    b"ctorch._tensor\n_rebuild_from_type_v2\n(ccollections\nOrderedDict\nctorch\nTensor\n)NtR.",
]


@pytest.mark.parametrize("described", BOMBS, ids=range(len(BOMBS)))
def test_pickles_that_make_no_sense(described: bytes) -> None:
    limited(file_with(P + described))


def test_keys_that_take_for_ever_to_hash() -> None:
    deep = P + b"}" + b")" + b"\x85" * 1_000_000 + b"Ns."
    shared = P + b"}" + b")" + b"".join(b"q\x01h\x01\x86" for _ in range(200)) + b"Ns."
    for described in (deep, shared, shared[:2] + b"c__builtin__\nset\n](" + shared[3:-3] + b"e\x85R."):
        assert "too many parts" in str(limited(file_with(described), 200_000_000))


LONG = b"\x8a\x0a"
SET, ORDERED = b"c__builtin__\nset\n", b"ccollections\nOrderedDict\n"


def colliding(n: int) -> list[bytes]:
    """Pickled ints whose hash is 0."""
    return [LONG + ((i + 1) * sys.hash_info.modulus).to_bytes(10, "little") for i in range(n)]


@pytest.mark.parametrize("described", [
    b"}(" + b"".join(k + b"N" for k in colliding(20_000)) + b"u.",
    b"}" + b"".join(k + b"Ns" for k in colliding(20_000)) + b".",
    b"".join(b"}(" + b"".join(k + b"N" for k in colliding(300)) + b"u" for _ in range(2)) + b".",
    b"c__builtin__\nset\n](" + b"".join(colliding(20_000)) + b"e\x85R.",
    b"ccollections\nOrderedDict\n](" + b"".join(k + b"N\x86" for k in colliding(20_000)) + b"e\x85R.",
    b"}(" + b"".join(k + b"\x85N" for k in colliding(20_000)) + b"u.",
], ids=range(6))
def test_keys_of_one_hash_are_refused(described: bytes) -> None:
    assert "more than 100 keys have one hash" in str(limited(file_with(P + described), 200_000_000))


def test_one_long_key_again_and_again_is_refused() -> None:
    key = b"(" + b"N" * 900 + b"tq\0"
    for described in (key + b"}" + b"h\0Ns" * 10_000 + b".", SET + b"]" + b"(" + key + b"h\0" * 10_000 + b"e\x85R."):
        assert "too many parts together" in str(limited(file_with(P + described)))
    assert again({tuple(range(i, i + 900)): i for i in range(1500)})[tuple(range(900))] == 0


def test_keys_that_share_a_hash_by_chance_are_not() -> None:
    mixed = {-1: 0, -2: 1, 1.5: 2, 2**61 - 1: 3, 0: 4, (1, 2): 5, None: 6, 2**61: 7, b"1": 8}
    many = [dict(mixed) for _ in range(500)] + [{i: i for i in range(1000)}, {(i, i + 1) for i in range(1000)}]
    assert again(many) == many


MEMO = b"q\0"
LIST = b"](" + b"K\x01" * 50_000 + b"e"
TABLE = b"}(" + b"".join(b"U\5x%04dN" % i for i in range(10_000)) + b"u"


@pytest.mark.parametrize("described", [
    b"](" + b"\x8f" * 50_000 + b"e.",
    SET + b"q\1" + LIST + MEMO + b"](" + b"h\1h\0\x85R" * 10_000 + b"e.",
    ORDERED + b"q\1" + TABLE + MEMO + b"](" + b"h\1)Rh\0b" * 10_000 + b"e.",
    b"ccollections\nCounter\nq\1" + TABLE + MEMO + b"](" + b"h\1h\0\x85R" * 10_000 + b"e.",
    b"ctorch\nSize\nq\1" + LIST + MEMO + b"](" + b"h\1h\0\x85R" * 10_000 + b"e.",
    b"c__builtin__\nbytearray\nq\1X" + struct.pack("<I", 10**6) + b"a" * 10**6 + b"q\0X\6\0\0\0latin1q\2]("
    + b"h\1h\0h\2\x86R" * 10_000 + b"e.",
    REBUILD[:-1] + b"q\1(" + STORAGE + b"K\0K\1\x85K\1\x85\x89" + b"ccollections\nOrderedDict\n)R" + b"tq\0]("
    + b"h\1h\0R" * 20_000 + b"e.",
], ids=["sets", "copies of a set", "attributes", "counters", "sizes", "bytes", "tensors"])
def test_memory_stays_in_proportion_to_the_file(described: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("retrograd.io.unpickler"), "ROOM", 1 << 20)
    said = limited(file_with(P + described, _0=bytes(16)), (1 << 20) + 70 * len(described) + 10_000_000)
    assert "asks for more memory than torch.save's files do" in str(said)


def test_dense_files_of_torch_save_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of container as small as can be; only a long file shows what a byte may take."""
    monkeypatch.setattr(importlib.import_module("retrograd.io.unpickler"), "ROOM", 10_000)
    n = 3000
    for x in ([[] for _ in range(n)], [{} for _ in range(n)], [{1: 1} for _ in range(n)], [[1] for _ in range(n)],
              [set() for _ in range(n)], [collections.OrderedDict() for _ in range(n)], {i: (i,) for i in range(n)},
              set(range(n)), [collections.Counter({1: 1}) for _ in range(n)], list(range(n)), [torch.Size([1])] * n,
              [b""] * n, [bytes([i % 256, 1]) for i in range(n)], [(1, 2) for _ in range(n)]):
        assert again(x) == x


def test_deep_nesting_is_read_without_recursion() -> None:
    x = read(file_with(P + b"]" * 200_000 + b"a" * 199_999 + b"."))
    depth = 0
    while x:
        x = x[0]
        depth += 1
    assert depth == 199_999


def test_shared_parts_do_not_show_in_messages() -> None:
    shared = b")" + b"".join(b"q\x01h\x01\x86" for _ in range(200))
    for described in (
        P + REBUILD + STORAGE + b"K\0" + shared + b"K\x01\x85" + END, P + shared + b")R.", P + shared + b"Q.",
        P + shared + b"]b.", P + b"]" + shared + b"b.", P + REBUILD + STORAGE + shared + b"))" + END,
        P + b"ccollections\nOrderedDict\n)R}" + b"X\x05\0\0\0items" + shared + b"sb.",
        P + shared + b"R.", P + b"c_codecs\nencode\nX\x01\0\0\0a" + shared + b"\x86R.",
    ):
        assert len(str(limited(file_with(described, _0=bytes(16))))) < 2000


def test_members_that_overlap_or_lie() -> None:
    data = written([torch.ones(1000), torch.zeros(1000)])
    names = [b"archive/data/0", b"archive/data/1"]
    entries = [data.rindex(name) - 46 for name in names]
    at = [e + 42 for e in entries]
    both = bytearray(data)
    both[at[1]:at[1] + 4] = data[at[0]:at[0] + 4]           # both entries lead to the same bytes
    assert "overlaps" in str(limited(bytes(both)))
    long = bytearray(data)
    for field in (20, 24):                                  # compressed and uncompressed size
        long[entries[1] + field:entries[1] + field + 4] = struct.pack("<I", 0x7FFFFFFF)
    assert "goes beyond the end" in str(limited(bytes(long))) or "overlaps" in str(limited(bytes(long)))
    off = bytearray(data)
    off[at[1]:at[1] + 4] = struct.pack("<I", 0x7FFFFFF0)
    limited(bytes(off))
    with pytest.warns(UserWarning, match="Duplicate name"):
        f = io.BytesIO()
        with zipfile.ZipFile(f, "w") as z:
            z.writestr("a/data.pkl", b"\x80\x02N.")
            z.writestr("a/data.pkl", b"\x80\x02K\x01.")
    assert "there twice" in str(limited(f.getvalue()))
    assert "outside" in str(limited(zipped({"a/data.pkl": b"\x80\x02N.", "../../b/data/0": b""})))


@pytest.mark.parametrize("offset", [2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 2])
@pytest.mark.parametrize("field", ["offset", "size", "directory"])
def test_places_beyond_any_file(offset: int, field: str) -> None:
    """In zip64 they have 64 bits."""
    data = written([1])
    end = data.rindex(b"PK\5\6")
    entry = data.index(b"PK\1\2")
    size, at = struct.unpack("<II", data[end + 12:end + 20])
    head = bytearray(data[:end])
    extra = b""
    if field in ("offset", "size"):
        count, place = (1, entry + 42) if field == "offset" else (2, entry + 20)
        head[place:place + 4 * count] = b"\xff" * 4 * count
        extra = struct.pack("<HH", 1, 8 * count) + struct.pack("<Q", offset) * count
        name, had = struct.unpack("<HH", head[entry + 28:entry + 32])
        head[entry + 30:entry + 32] = struct.pack("<H", had + len(extra))
        head[entry + 46 + name:entry + 46 + name] = extra
    where = offset if field == "directory" else at
    many = data[end + 10:end + 12]
    zip64 = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, many[0], many[0], size + len(extra), where)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(head), 1)
    last = data[end:end + 12] + b"\xff" * 8 + data[end + 20:]
    assert isinstance(limited(bytes(head) + zip64 + locator + last), RuntimeError)


def test_one_storage_read_as_two_types() -> None:
    int_storage = STORAGE.replace(b"FloatStorage", b"IntStorage")
    one = REBUILD + STORAGE + b"K\0K\x04\x85K\x01\x85" + END[:-1]
    two = REBUILD + int_storage + b"K\0K\x04\x85K\x01\x85" + END[:-1]
    a, b = read(file_with(P + one + two + b"\x86.", _0=np.ones(4, np.float32).tobytes()))
    assert a.tolist() == [1.0] * 4 and b.tolist() == [0x3F800000] * 4


def test_bools_are_bools() -> None:
    described = P + REBUILD + STORAGE.replace(b"FloatStorage", b"BoolStorage") + b"K\0K\x04\x85K\x01\x85" + END
    got = read(file_with(described, _0=b"\0\x01\x02\xff"))
    assert got.numpy().view(np.uint8).tolist() == [0, 1, 1, 1]


def test_random_pickles_are_read_or_refused_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    found: set[Any] = set()
    alphabet = [bytes([op]) for op in pth.Unpickler.load.__globals__["TABLE"]] + [
        b"K\x01", b"h\0", b"q\0", b"ccollections\nOrderedDict\n", b"ctorch\nSize\n", STORAGE, REBUILD,
        b"c__builtin__\nset\n", b"X\x01\0\0\0a"]
    for _ in range(3000):
        described = P + b"".join(alphabet[i] for i in rng.integers(0, len(alphabet), 30)) + b"."
        try:
            read(file_with(described, _0=bytes(16)))
            found.add(None)
        except Exception as error:
            found.add(type(error))
    assert found - {None} <= {pickle.UnpicklingError, RuntimeError, ValueError}
