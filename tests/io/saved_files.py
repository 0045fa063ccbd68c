"""Files of torch.save for tests: one of PyTorch, and how to write, read, open and make them in memory."""

from __future__ import annotations

import base64
import io
import zipfile
import zlib
from typing import Any

from retrograd.serialization import load, save

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
