"""In which order nodes and leaves run: creation order, ties between leaves (heap order), several roots, inputs=."""

import torch

from _log import t


def logged(**tensors):
    log = []
    for name, x in tensors.items():
        x.register_hook(lambda g, name=name: log.append(name))
    return log


def leaves(n):
    return {f"l{i}": t(float(i)) for i in range(n)}


for n in range(1, 14):
    ls = leaves(n)
    log = logged(**ls)
    torch.stack(list(ls.values())).sum().backward()
    print("stack", n, " ".join(log))
for n in (4, 7):
    ls = leaves(n)
    log = logged(**ls)
    sum(ls.values()).backward()
    print("sum chain", n, " ".join(log))
    ls = {k: t([1.0]) for k in leaves(n)}
    log = logged(**ls)
    torch.cat(list(ls.values())).sum().backward()
    print("cat", n, " ".join(log))
    ls = leaves(n)
    log = logged(**ls)
    torch.stack([x * 2 for x in ls.values()]).sum().backward()
    print("stack of products", n, " ".join(log))

a, b, c = t(2.0), t(3.0), t(4.0)
p = a * b
q = b * c
r = p * q
log = logged(a=a, b=b, c=c, p=p, q=q, r=r)
r.backward()
print("(a*b)*(b*c):", *log)
for label, build in {
    "p+q": lambda p, q, c: p + q,
    "q+p": lambda p, q, c: q + p,
    "(p)+c": lambda p, q, c: p + c,
    "c+(p)": lambda p, q, c: c + p,
    "p*q*c": lambda p, q, c: p * q * c,
    "c*(q*p)": lambda p, q, c: c * (q * p),
}.items():
    a, b, c = t(2.0), t(3.0), t(4.0)
    p = a * b
    q = a - b
    log = logged(a=a, b=b, c=c, p=p, q=q)
    build(p, q, c).backward()
    print(label, *log)

print("# several roots")
for order in ("uv", "vu"):
    a, b = t(1.0), t(2.0)
    u = a * 2
    v = b * 3
    log = logged(a=a, b=b, u=u, v=v)
    torch.autograd.backward([{"u": u, "v": v}[k] for k in order])
    print(order, *log)
a, b = t(1.0), t(2.0)
u = a * b
log = logged(a=a, b=b, u=u)
torch.autograd.backward([u, a, u, b])
print("u a u b:", *log, a.grad, b.grad)
ls = leaves(6)
log = logged(**ls)
torch.autograd.backward(list(ls.values()))
print("leaves as roots:", *log)

print("# inputs=")
a, b, c = t(2.0), t(3.0), t(4.0)
p = a * b
q = p * c
log = logged(a=a, b=b, c=c, p=p, q=q)
q.backward(inputs=[a], retain_graph=True)
print("inputs a:", *log)
log.clear()
q.backward(inputs=[p], retain_graph=True)
print("inputs p:", *log)
log.clear()
q.backward(inputs=[c, b], retain_graph=True)
print("inputs c b:", *log)
log.clear()
torch.autograd.grad(q, [p, a], retain_graph=True)
print("grad p a:", *log)
log.clear()
torch.autograd.grad(q, [a], retain_graph=True)
print("grad a:", *log)

print("# nodes of a deeper graph, prehooks")
x, w, d = t([1.0, 2.0]), t([3.0, 4.0]), t(5.0)
h = (x * w).exp()
k = (h + x).sum() * d
z = k + (h * 2).mean() - w[0]
log, seen, todo = [], set(), [z.grad_fn]
while todo:
    node = todo.pop()
    if node in seen or node is None:
        continue
    seen.add(node)
    node.register_prehook(lambda g, node=node: log.append(type(node).__name__.replace("Backward0", "")))
    todo += [f for f, _ in node.next_functions]
z.backward()
print(*log)
print(x.grad, w.grad, d.grad)

print("# interleaved creation")
a = t(1.0)
ys = [a * float(i + 1) for i in range(5)]
log = logged(a=a, **{f"y{i}": y for i, y in enumerate(ys)})
torch.stack([ys[3], ys[0], ys[4], ys[2], ys[1]]).sum().backward()
print(*log, a.grad)
