"""A listing of document 000: Both hooks of a leaf, without retain_graph."""

import torch

# both hooks fire exactly once per backward pass, also when w is used twice
w = torch.nn.Parameter(torch.tensor(1.0))
log = []
w.register_hook(lambda g: log.append(("hook", g.item(), None if w.grad is None else w.grad.item())))
w.register_post_accumulate_grad_hook(lambda p: log.append(("post", p is w, p.grad.item())))
(w * 2 + w * 3).backward()
(w * 4).backward()
print(*log, sep="\n")
# document: "retain_graph=True is needed": it is not, the second backward uses another graph
w = torch.nn.Parameter(torch.tensor(1.0))
y1 = w * 2
y1.backward()
y2 = w * 3
y2.backward()
print(w.grad)
