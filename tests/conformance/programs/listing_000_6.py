"""A listing of document 000: A tuple has no backward."""

g = torch.autograd.grad(loss, w, create_graph=True)
g.backward()
