"""torch.nn.attention: which kernels of scaled_dot_product_attention a program allows."""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from _log import P, T

cuda = torch.backends.cuda
q = torch.ones(1, 1, 2, 2)


def allowed():
    return cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled(), cuda.cudnn_sdp_enabled()


def inside(backends, **kwargs):
    with sdpa_kernel(backends, **kwargs) as given:
        return given, allowed(), F.scaled_dot_product_attention(q, q, q).sum()


P(allowed(), SDPBackend.MATH, str(SDPBackend.MATH), int(SDPBackend.MATH), SDPBackend(1), SDPBackend.MATH == 0, SDPBackend.MATH.name)
P(list(SDPBackend.__members__))
for backend in SDPBackend.__members__.values():
    T(str(backend), inside, backend)
T("two", inside, [SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION], set_priority=True)
for wrong in ([], "x", 3, None, [3], [SDPBackend.MATH, 3], (SDPBackend.MATH,)):
    T(f"{wrong}", inside, wrong)


@sdpa_kernel(SDPBackend.MATH)
def decorated():
    return allowed()


def nested():
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        with sdpa_kernel(SDPBackend.MATH):
            first = allowed()
        return first, allowed()


def raising():
    with sdpa_kernel(SDPBackend.MATH):
        raise KeyError(1)


T("decorated", decorated)
T("decorated again", decorated)
T("nested", nested)
T("raising", raising)
P(allowed())
for name in ("flash", "mem_efficient", "cudnn", "math"):
    getattr(cuda, f"enable_{name}_sdp")(False)
    P(allowed())
T("none", F.scaled_dot_product_attention, q, q, q)
T("none, with a mask", F.scaled_dot_product_attention, q, q, q, attn_mask=torch.zeros(2, 2))
T("attention layer", lambda: torch.nn.MultiheadAttention(2, 1)(q[0], q[0], q[0], need_weights=False)[0].shape)
cuda.enable_math_sdp(True)
T("math alone", F.scaled_dot_product_attention, q, q, q)
