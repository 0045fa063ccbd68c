"""A listing of document 000: Both hooks of a leaf."""

import torch

w = torch.nn.Parameter(torch.tensor(1.0))


def hook1(grad):
    print("register_hook:", grad)


def hook2(p):
    print("post_accumulate:", p.grad)


handle_1 = w.register_hook(hook1)
handle_2 = w.register_post_accumulate_grad_hook(hook2)

y1 = w * 2  # w gets a gradient of 2

# retain_graph=True is needed to allow multiple backward calls on the same graph
y1.backward(retain_graph=True)

y2 = w * 3  # w gets an additional gradient of 3, total should be 5
y2.backward()

# cleanup
handle_1.remove()
handle_2.remove()
