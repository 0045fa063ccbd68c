"""500 random graphs run in the order of std::priority_queue over sequence numbers."""

import random

import torch

from _heap import pop, push

for n in (2, 3, 4, 5, 8, 12):
    h = []
    for i in range(n):
        push(h, i, lambda a, b: False)
    print(n, [pop(h, lambda a, b: False) for _ in range(n)])
INF = 2**64 - 1


def simulate(root, inputs=None):
    lt = lambda a, b: a[0] < b[0]
    deps = {}
    seen = {root}
    st = [root]
    while st:
        n = st.pop()
        for f, _ in n.next_functions:
            if f is None:
                continue
            deps[f] = deps.get(f, 0) + 1
            if f not in seen:
                seen.add(f)
                st.append(f)
    h = []
    push(h, (root._sequence_nr(), root), lt)
    order = []
    while h:
        _, n = pop(h, lt)
        order.append(n)
        for f, _ in n.next_functions:
            if f is None:
                continue
            deps[f] -= 1
            if deps[f] == 0:
                push(h, (f._sequence_nr(), f), lt)
    return order


bad = 0
for trial in range(500):
    rnd = random.Random(trial)
    leaves = [torch.tensor(1.0, requires_grad=True) for _ in range(rnd.randint(1, 7))]
    ts = list(leaves)
    for _ in range(rnd.randint(1, 25)):
        k = rnd.choice(["add", "mul", "neg", "scale", "stack", "unbind", "view"])
        a = rnd.choice(ts)
        b = rnd.choice(ts)
        if k == "add":
            ts.append(a + b)
        elif k == "mul":
            ts.append(a * b)
        elif k == "neg":
            ts.append(-a)
        elif k == "scale":
            ts.append(a * 2)
        elif k == "view":
            ts.append(a.view(1).view(()))
        elif k == "stack":
            xs = [rnd.choice(ts) for _ in range(rnd.randint(1, 6))]
            ts.append(torch.stack(xs).sum())
        else:
            u = torch.stack([a, b]).unbind(0)
            ts.append(u[0] * u[1] if rnd.random() < 0.5 else u[1])
    root = ts[-1]
    if root.grad_fn is None:
        continue
    exp = simulate(root.grad_fn)
    log = []
    hs = []
    for n in set(exp):
        hs.append(n.register_prehook(lambda go, n=n: log.append(n)))
    root.backward(retain_graph=True)
    if log != exp:
        bad += 1
        print("mismatch", trial, len(exp))
print("mismatches", bad, "of 500")
