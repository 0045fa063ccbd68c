"""backward(): arguments, freed graphs, which ops run backward twice."""

import torch
import torch.autograd as A
import torch.nn.functional as F

from _log import T, t

x = t([1.0, 2.0])
T("non scalar", lambda: (x * 2).backward())
T("no grad_fn scalar", lambda: torch.tensor(1.0).backward())
T("no grad_fn vector", lambda: torch.tensor([1.0, 2.0]).backward())
T("int scalar", lambda: torch.tensor(1).backward())
T("one-element vector ok", lambda: (x[:1] * 2).backward())
T("2d one element", lambda: (x[:1].view(1, 1) * 2).backward())
T("zero-element", lambda: (x[:0] * 2).backward())
T("leaf scalar backward on itself", lambda: (lambda a: (a.backward(), a.grad))(t(3.0)))
T("grad shape mismatch", lambda: (x * 2).backward(torch.ones(3)))
T("grad broadcastable mismatch", lambda: (x * 2).backward(torch.ones(1)))
T("grad scalar mismatch", lambda: (x * 2).backward(torch.tensor(1.0)))
T("grad python float", lambda: (x * 2).backward(1.0))
T("grad list of floats", lambda: (x * 2).backward([1.0, 1.0]))
T("grad list of tensor", lambda: (x * 2).backward([torch.ones(2)]))
T("grad dtype other", lambda: (lambda a: ((a * 2).backward(torch.ones(2, dtype=torch.float64)), a.grad))(t([1.0, 2.0])))
T("grad int dtype", lambda: (lambda a: ((a * 2).backward(torch.ones(2, dtype=torch.int64)), a.grad))(t([1.0, 2.0])))
T("grad numpy", lambda: (x * 2).backward(__import__("numpy").ones(2)))
T("backward kw gradient", lambda: (x * 2).backward(gradient=torch.ones(2)))


def f():
    y = (x**2).sum()
    y.backward()
    y.backward()


T("second backward", f)


def f():
    y = (x * 2).sum()
    y.backward()
    y.backward()
    return x.grad


T("second backward, no saved tensors", f)


def f():
    y = (x**2).sum()
    y.backward(retain_graph=True)
    y.backward()
    try:
        y.backward()
    except RuntimeError as e:
        return str(e)[:50]


T("third after retain", f)


def f():
    a = t([1.0, 2.0])
    y = a**2
    z1 = y.sum()
    z2 = (y * 3).sum()
    z1.backward()
    z2.backward()


T("shared subgraph freed", f)


def f():
    a = t([1.0, 2.0])
    y = a * 2
    z1 = y.sum()
    z2 = (y**2).sum()
    z1.backward()
    z2.backward()
    return a.grad


T("shared subgraph w/o saved tensors ok", f)


def f():
    a = t([1.0, 2.0])
    y = a**2
    z = y.sum()
    A.grad(z, y)
    return A.grad(y.sum(), a)


T("grad w.r.t. y does not free below y", f)


def f():
    a = t([1.0, 2.0])
    b = t([1.0, 2.0])
    z = (a**2).sum() + (b**2).sum()
    r = A.grad(z, a)
    return A.grad(z, b)


T("grad wrt a frees only executed nodes?", f)


def f():
    a = t([1.0, 2.0])
    b = t([1.0, 2.0])
    z = (a**2).sum() + (b**2).sum()
    z.backward(inputs=[a])
    z.backward(inputs=[b])
    return a.grad, b.grad


T("backward inputs a then b, disjoint", f)


def f():
    a = t([1.0, 2.0])
    b = t([3.0, 4.0])
    z = (a * b).sum()
    A.grad(z, a)
    return A.grad(z, b)


T("a*b shared node", f)
print("# which ops can be backwarded twice without retain_graph")
y = t([[1.0, 0.5], [2.0, 4.0]])
w = t([[1.0, 2.0], [3.0, 4.0]])
ops = dict(
    neg=lambda: -w,
    add=lambda: w + y,
    sub=lambda: w - y,
    mul_const=lambda: w * 2,
    mul_tc=lambda: w * torch.ones(2, 2),
    mul=lambda: w * y,
    div_s=lambda: w / 2,
    div=lambda: w / y,
    pow=lambda: w**2,
    pow1=lambda: w**1,
    sum=lambda: w.sum(),
    mean=lambda: w.mean(),
    t=lambda: w.t(),
    view=lambda: w.view(4),
    slice=lambda: w[0],
    index=lambda: w[torch.tensor([0])],
    cat=lambda: torch.cat([w, y]),
    stack=lambda: torch.stack([w, y]),
    clone=lambda: w.clone(),
    to=lambda: w.double(),
    exp=lambda: w.exp(),
    relu=lambda: w.relu(),
    abs=lambda: w.abs(),
    sigmoid=lambda: w.sigmoid(),
    mm=lambda: w @ y,
    mm_c=lambda: w @ torch.ones(2, 2),
    max=lambda: w.max(),
    maxd=lambda: w.max(0)[0],
    sort=lambda: w.sort()[0],
    where=lambda: torch.where(w > 1, w, y),
    masked_fill=lambda: w.masked_fill(w > 1, 0.0),
    clamp=lambda: w.clamp(0, 1),
    softmax=lambda: w.softmax(0),
    cumsum=lambda: w.cumsum(0),
    expand=lambda: w[0].expand(2, 2),
    repeat=lambda: w.repeat(2, 1),
    gather=lambda: w.gather(0, torch.zeros(1, 2, dtype=torch.long)),
    mse=lambda: F.mse_loss(w, y),
    linear=lambda: F.linear(w, y),
    norm=lambda: w.norm(),
    var=lambda: w.var(),
    std=lambda: w.std(),
    prod=lambda: w.prod(),
    trace=lambda: w.trace(),
    tril=lambda: w.tril(),
    flip=lambda: w.flip(0),
    round=lambda: w.round(),
    sign=lambda: w.sign(),
    pad=lambda: F.pad(w, (1, 1)),
    split=lambda: w.split(1)[0],
    unbind=lambda: w.unbind(0)[0],
    setitem=lambda: (lambda q: (q.__setitem__(0, 1.0), q)[1])(w.clone()),
    setitem_t=lambda: (lambda q: (q.__setitem__(0, y[0]), q)[1])(w.clone()),
    copy_=lambda: w.clone().copy_(y),
    leaky=lambda: F.leaky_relu(w),
    logsumexp=lambda: w.logsumexp(0),
    log=lambda: w.log(),
    sqrt=lambda: w.sqrt(),
    sin=lambda: w.sin(),
    maximum=lambda: torch.maximum(w, y),
    einsum=lambda: torch.einsum("ij,ij->i", w, y),
    dropout_eval=lambda: F.dropout(w, 0.5, training=False) + 0,
    dropout=lambda: F.dropout(w, 0.5),
    embedding=lambda: F.embedding(torch.tensor([0]), w),
    ce=lambda: F.cross_entropy(w, torch.tensor([0, 1])),
    index_add=lambda: w.index_add(0, torch.tensor([0]), y[:1]),
    median=lambda: w.median(),
    amax=lambda: w.amax(),
    remainder=lambda: w % 2,
)
ok = []
bad = []
for k, fn in ops.items():
    r = fn().sum()
    r.backward()
    try:
        r.backward()
        ok.append(k)
    except RuntimeError as e:
        assert "second time" in str(e)
        bad.append(k)
print("twice OK:", ok)
print("twice ERROR:", bad)
