"""Operators of torch.library: schemas, kernels, derivatives, names in torch.ops, and what errors say."""
import warnings
from typing import List, Optional, Sequence, Tuple

import torch
from torch import Tensor


def T(l, f):
    try: print(l, '->', f())
    except BaseException as e: print(l, '!!', type(e).__name__, str(e).partition(" is only available")[0])
    print()


@torch.library.custom_op("mylib::sin", mutates_args=())
def sin(x: Tensor, scale: float = 2.0) -> Tensor:
    return torch.sin(x.detach())*scale
print(repr(sin), torch.ops.mylib.sin, repr(torch.ops.mylib.sin), str(torch.ops.mylib.sin.default), repr(torch.ops.mylib.sin.default), torch.ops.mylib, sin._qualname, sin._opoverload._schema, torch.ops.mylib.sin.overloads(), torch.ops.mylib.sin.__name__, torch.ops.mylib.sin.default.__name__, torch.ops.mylib.sin.default.name(), torch.ops.mylib.sin.default.namespace)
x=torch.ones(2,requires_grad=True)
y=sin(x); print(y)
T('bw',lambda: y.sum().backward())
def setup(ctx, inputs, output): 
    print('setup', len(inputs), inputs[1]); ctx.save_for_backward(inputs[0]); ctx.s=inputs[1]
def bw(ctx,g): 
    print('needs',ctx.needs_input_grad); x,=ctx.saved_tensors; return g*x.cos()*ctx.s, None
sin.register_autograd(bw, setup_context=setup)
y=sin(x,3.0); print(y); T('bw',lambda: y.sum().backward()); print(x.grad)
T('missing',lambda: sin()); T('many',lambda: sin(x,1.,2.)); T('type',lambda: sin(3)); T('type2',lambda: sin(x,'a')); T('kw',lambda: sin(x,foo=1)); T('type3',lambda: sin(x,torch.ones(1)))
T('attr',lambda: torch.ops.mylib.nope); T('ov',lambda: torch.ops.mylib.sin.Foo); T('ns', lambda: torch.ops.nonexist.f)
T('grad2',lambda: torch.autograd.grad(sin(x).sum(),x,create_graph=True))
# bad functions
def mk(f,**k): 
    return lambda: torch.library.custom_op("mylib::bad", f, mutates_args=k.get('m',()))
def f1(x): return x
def f2(x: Tensor): return x
def f4(x: Tensor, *a: Tensor) -> Tensor: return x
for f in (f1,f2,f4): T(f.__name__, mk(f))
T('m', mk(sin._init_fn, m=("z",)))
T('name', lambda: torch.library.custom_op("nons", f2, mutates_args=()))
def g(x: Tensor, y: Optional[Tensor], zs: List[Tensor], n: int, ns: Sequence[int], b: bool=True, *, s: str='a', d: Optional[torch.dtype]=None) -> Tuple[Tensor, Tensor]: return x,x
print(torch.library.infer_schema(g, mutates_args=()), torch.library.infer_schema(g, mutates_args=("x",)), torch.library.infer_schema(g, mutates_args="unknown"))
@torch.library.custom_op("mylib::alias", mutates_args=())
def alias(x: Tensor) -> Tensor: return x
@torch.library.custom_op("mylib::inc", mutates_args=("x",))
def inc(x: Tensor) -> None: x.add_(1)
z=torch.zeros(2); print(inc(z), z, z._version) 
T('autograd on mutable',lambda: inc.register_autograd(bw))
@torch.library.custom_op("mylib::two", mutates_args=())
def two(x: Tensor) -> Tuple[Tensor, Tensor]: return x.clone(), x+1
print(two(torch.ones(1)))
@torch.library.custom_op("mylib::lst", mutates_args=())
def lst(xs: List[Tensor]) -> List[Tensor]: return [x.clone() for x in xs]
print(lst([torch.ones(1)]))
@torch.library.custom_op("mylib::devs", mutates_args=(), device_types="cuda")
def devs(x: Tensor) -> Tensor: return x.clone()
T('devs', lambda: devs(torch.ones(1)))
@devs.register_kernel("cpu")
def _(x): return x*5
T('devs', lambda: devs(torch.ones(1)))
lib=torch.library.Library("foo","DEF")
print(lib, lib.define("mul2(Tensor x, Scalar a=2) -> Tensor"))
T('noimpl', lambda: torch.ops.foo.mul2(torch.ones(1)))
lib.impl("mul2", lambda x,a=2: x*a, "CPU"); print(torch.ops.foo.mul2(torch.ones(1)), torch.ops.foo.mul2(torch.ones(1), 3))
T('reimpl', lambda: lib.impl("mul2", lambda x,a=2: x*a, "CPU"))
T('undefimpl', lambda: lib.impl("zzz", lambda x,a=2: x*a, "CPU"))
T('kind', lambda: torch.library.Library("foo","XXX"))
T('kind', lambda: torch.library.Library("prim","DEF"))
T('badschema', lambda: lib.define("mul2(Tensor x"))
lib.define("comp(Tensor x) -> Tensor"); lib.impl("comp", lambda x: x*x, "CompositeImplicitAutograd")
T('comp', lambda: torch.autograd.grad(torch.ops.foo.comp(x).sum(), x))
xx=torch.ones(1,requires_grad=True) 
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter('always')
    r=torch.ops.foo.mul2(xx); print(r); T('bwd cpu only', lambda: r.backward()); print([str(i.message).partition(' (Trig')[0] for i in w], xx.grad)
torch.library.define("foo::defd", "(Tensor x) -> Tensor")
@torch.library.impl("foo::defd", "cpu")
def defd(x): return x+10
print(torch.ops.foo.defd(torch.ones(1)))
@torch.library.register_fake("foo::defd")
def _(x): return torch.empty_like(x)
T('regauto', lambda: torch.library.register_autograd("foo::defd", lambda ctx,g: g*7)) 
T('bw', lambda: torch.autograd.grad(torch.ops.foo.defd(xx), xx))
T('fake2', lambda: torch.library.register_fake("foo::nope", lambda x: x))

print(torch.ops.aten.add, repr(torch.ops.aten.add.Tensor), torch.ops.aten.add.Tensor(torch.ones(1), 2), torch.ops.aten.relu(-x))
T('aten overload', lambda: torch.ops.aten.add.Nope)
traced = torch.fx.symbolic_trace(lambda x: torch.ops.mylib.sin(x, 3.0) + torch.ops.aten.mul.Tensor(x, 2) + sin(x))
print(traced.code, traced.graph, traced(torch.zeros(2)))
@torch.library.custom_op("mylib::total", mutates_args=())
def total(xs: List[Tensor], w: Optional[Tensor] = None, *, k: int = 1) -> Tensor:
    return sum(xs) * k
def setup_total(ctx, inputs, keyword_only_inputs, output):
    print(len(inputs[0]), inputs[1], keyword_only_inputs)
    ctx.k, ctx.n = keyword_only_inputs["k"], len(inputs[0])
def total_backward(ctx, g):
    print(ctx.needs_input_grad)
    return ([g * ctx.k] * ctx.n,)
total.register_autograd(total_backward, setup_context=setup_total)
a, b = torch.ones(2, requires_grad=True), torch.ones(2)
total([a, b], k=3).sum().backward()
print(a.grad, total([b], k=2))
lib.define("ov.a(Tensor x) -> Tensor"); lib.define("ov.b(Tensor x, int n) -> Tensor")
lib.impl("ov.a", lambda x: x, "CPU"); lib.impl("ov.b", lambda x, n: x * n, "CPU")
print(torch.ops.foo.ov(b), torch.ops.foo.ov(b, 2), torch.ops.foo.ov.overloads(), torch.ops.foo.ov.b._schema)
