"""torch.save and torch.load: PyTorch's files are read, ours are read by PyTorch, hostile and damaged ones refused."""

from __future__ import annotations

import base64
import collections
import io
import os
import pickle
import re
import struct
import sys
import threading
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.io import archive, pth
from retrograd.serialization import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

# torch.save of PyTorch 2.13.0: base 85 of zlib
RECORDED = (
    b"c-pO4dwf$@9lvQyS~Av_$I4@XY&sXlR`O2EqbV6n+3tjL3o{}$yG?GJKwiJxlhUGfowI>X_R={8b#6KzxcPqUg${?4sbz}W7$_<-o!exBQ$PBL"
    b"pO2nLn%;A=HjwOoKDTL-^L^ak`JLbSopj38HIh_UCly_d(kw~Mgrl*3ZFxjRYIAyfJm9aFws6;Q)euP5;4}>Ak7+w}Fm*$fHH=ai*&NEESX{S+"
    b"GFneI7LSCGmef<3P`|?h)mCe;7K3y=Qti{AhCwWWcuGZG>_ZDo3!3m48<>OD_%)o)LajUlLET2VO0FJ(>9T1AETiFYDjwIuD3(g<mJOMRmeC?>"
    b"V_{^0i<T;Y$6u^KeH1H3YogPl<|yT8*eFYKja;3BM%g6S<Y4A#lnkGRV73Bt#Nn5a;WI{{iAc_6L+2rwufPH=SVbNr0+-TH7g~d6{C<ZP>x&{-"
    b"G)_dH#14xwT@8YF5V|V4DhEsOizx?}G0Mvkyi<X91@W9nJuy{>D>%FZ-i`592(F~~5wH?FOBwbm1j`h-Iy(f{1gGP{p@fE1GIP*Ozh53C(+ajB"
    b"u+z}@YZ)Df3>>ma*YzGchiNsVCcrt#{LybUq-8AN;(R&5&3t+CzP!X&3-i^AV1)uJ*_&0nV6_5m)L<%&Vu{#JEd#zGXlF^JBNb_|W(fRNSsH?C"
    b"tuz!m($cV&lXSs#Ski<bfF+maL(qX>odVa>$I}MVA+^5`Zs1^Ukl75}SeSwLuo+m-C^jJIRA6J!GC>j20ThnK16_<|Q-NhOW4Vd3yca=Gf%j!)"
    b"(-3U2MtSRAct5kg)nL6F!3PuwMR~g|a5D?6nh$Ib32c}_A_z1EdZWCzR_J4pXdV(HkZlaI9YI`yL^d0oF+SU&zDz2c)*;yqsUb*PX*S0*03E)^"
    b"_mXQLotPe+Ogdybd}qeUb)>_0_TSH)Xxg<b2RdDy8s<P9ZPyLndD^yT1?6XJAQaKU>L6rgiO!3f(EBoK1o}sVr0OKp0h$D`W0Zc~o62ZvI0^&n"
    b"=@f+3G|Fbwp11~sqrrOoNhH?Wi&uCO#ptIyN2$Hutgc1igX@D$WQZ2Vj}+G;A<n^vM(N6=Pp!jHH+&f9m~7IrYL;?rk0m2I+|muhRu<8GO<J4E"
    b"Vx>Y+x|K%AZiA2DI9DUMjl>yOqmPm}kFYrB5bRQ5cVS{E!VaShaeE%|F@o5`5O*NBQ-QlU;dN@fw;+2rBXPhzjO62al1~tldl|_m5!|Q1r#O-u"
    b"Q^~#p$)_2K6ZSHaeR-145R%U_lFuQyUxCkaB-bY=it+=D!vzmAjxXdnzDPJ8VjN#W@MQ(Q!f|v(Q<({tuQC=l>}M=r%d<R8SRP?4Uq|o_1-{9#"
    b"TpLw01(I(u5)XWvk$fjl@?ApmJx20<1V2#VQI5nvh$iOqF-GEr#~H~Jd6Fjy$pJ?4Lj*rk;3=LYm5LWg4l<G!_%S1SI!|(lko<&^JcHn;3LMsG"
    b"-s9S$CL=g!pXHOJ6@JEw!_O%LDJ{Ri|42C)V=PAyJg2}fX~t@aG#Z3oaSRR{9K{S0f?pE`iEMGtV<KFfUSJF_A~>eNOLQ^lVKuI1;5biVhZD@i"
    b"Z)k<uO<})9a8iNav3(-0#**;+Zuo<B{q7t7hp*esv}-VR`2NHC2g-D4Kb#7O!YRA}b&HlH|5)IUv|gw^VK_}a#8nha+TrCK{7Hd7<1LNs?xecD"
    b"5)OsP&V#=Wg)F*;cl5t>!>e?JHUh6H@H#gloJ!zTKVX5scKFUQ7ai^Sb|wdB6nI0U?jvY0t-;^&^VmyT4kzwO&a%CR6r*$FIg8&|;P1px4&EGr"
    b"e<<)z7Ws4v7pZ^Awb|xQxwdYZWB*IlcuymD=cFywT&bndQZ?g3mrzkCzY7QaE}^qJzspY4A3b~WHd6Y@J-PY<$vdH*@4G^3Jl2;?;A$H1JIgWP"
    b"aS;Q)9q<~N?y4yb%#?fu13h>Jrbw$6@UJZE!Sh!<hEQB19!6HbJfCEfc}frUQXALRF1H2zD=IL+SciT156-l9d=KOM0em0C_bHNnYj7`(?<M%Q"
    b"tszbahI-p<q^~XEbPn&-9`H9x#rjnH;J7y7zjV%<Z#2>lerkRf&+iEMZ5JGgBV%K2`}WR%is+uc;+45XsIG+WDqhza@V7|i$Dcg^u#f29z0v$)"
    b"8TzhD^@;YjZ4W*|sz*%;?RH+<9q_NJB>lID3dGB1`N=b7%)h6c`F|Vrz2)gw6#te=<BxOSM{eTbvbIAHmyv(1mE_+6G<!9<iT-`Z(W27&4bn=X"
    b"uHX{rmEM;8JLk*)L+j90bthc&@SAxh{45jv;6it$R7U+Jn&|`2+Q`vkMhQ)?py?=c|HEXfnDXKOrd}_-|1?Oe1!Y|RTBVBDzbXG(Wmtz}TlZ`z"
    b"C;qMrjK8U{^VinxtnXh`PW;_v$KQmtiSpWq)~zfj{+`O>Z>l2Vw~TJ8BTa2}32~wP*u53k|H|}RD%Up={b!DM-&2l$YvudjWc6QqO9MWk=do4T"
    b"e@^wVvjr_&*BYcE|4V4~Xntbh)1~(>qyNIep(6iI3sFCMf8XZP{rh6cF>!#PkECmv7(PMlRLO6zp;#o~Z@xe?Hm}X@bvZqDx5MdaZS{Cu?iRbl"
    b"=5)K9E{7X`>T$cgPLG$k+<KR5(29LnsY??rb>lvb2e8H>=i=|!BHDO>n#&=(rc09@*+dfKA!q?da@0stbn+5;j0c&S9FJm=iVsjC+<3aE=itXI"
    b"l5qABvBr}Fj~%{9z}iKuvHRz-r$nqn#2Pzy9!q{l<WCDC*0}O{>~Rt660yckmB((nSiri^AA3r~dd}bT&GiD-D`JgZCXanV#I}f7V}~fjxk13T"
    b"idbVe*TBbF#M+Az%h;Cj;Ao==F3K!pXT^h07J-XW%h&|*;G1TO;G*0zb~8Nq)go|Fav2*E9=vsy2rkMl<A%<Ij}?JE=MV0hErN^k%ea;E;OC3L"
    b"EmI}7pgcze7c%UvcWN%PMX;kN!;Bj!4{pCi1Q%tPasT7N_Zq;H)P3W&w3q|WYLZH9n4PlOeD(PDT769cxlnjL%zj;!9%~wJ@6EMzrWZ}L|DEzQ"
    b"Gs7&T<Js8%1NcS*+y"
)


def recorded() -> bytes:
    return zlib.decompress(base64.b85decode(RECORDED))


def written(obj: Any) -> bytes:
    f = io.BytesIO()
    save(obj, f)
    return f.getvalue()


def read(data: bytes, **kwargs: Any) -> Any:
    return load(io.BytesIO(data), **kwargs)


def again(obj: Any) -> Any:
    return read(written(obj))


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        return {name: z.read(name) for name in z.namelist()}


def zipped(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w", compression) as z:
        for name, data in parts.items():
            z.writestr(name, data)
    return f.getvalue()


def file_with(described: bytes, **storages: bytes) -> bytes:
    """A file with this data.pkl, well made otherwise."""
    parts = {"a/data.pkl": described, "a/byteorder": b"little", "a/version": b"3\n"}
    return zipped({**parts, **{f"a/data/{key[1:]}": data for key, data in storages.items()}})


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


@pytest.mark.parametrize("x", PLAIN, ids=lambda x: repr(x)[:30])
def test_plain_values_come_back(x: Any) -> None:
    got = again(x)
    assert got == x and type(got) is type(x)


def test_nan_and_dtypes_and_devices_come_back() -> None:
    assert np.isnan(again(float("nan")))
    for d in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
        t = torch.ones(2, 3, dtype=getattr(torch, d))
        got = again({"t": t, "d": t.dtype})
        assert got["d"] is t.dtype and got["t"].dtype is t.dtype and torch.equal(got["t"], t)
    assert again(torch.device("cpu")) == torch.device("cpu")


def test_bfloat16_comes_back() -> None:
    pytest.importorskip("ml_dtypes")
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

    for where, name in ((archive.os, "fsync"), (archive.Writer, "close"), (pth.Block, "bytes")):
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
    (b"\x80\x02ctorch\nuint16\n.", "torch.uint16"),
    (b"\x80\x02ctorch\nfloat8_e4m3fn\n.", "torch.float8_e4m3fn"),
    (b"\x80\x02ctorch.serialization\n_get_layout\nX\x10\0\0\0torch.sparse_coo\x85R.", "sparse tensors"),
    (b"\x80\x02(X\x07\0\0\0storagectorch\nComplexFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x02tQ.",
     "torch.ComplexFloatStorage")])
def test_tensors_of_a_kind_that_we_lack(described: bytes, lacks: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=f"retrograd has no {lacks}(.|\n)*Convert it in PyTorch") as caught:
        read(file_with(described))
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


# ---- damaged and hostile files ----


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
