"""torch.autograd.functional and gradcheck."""

import torch
import torch.autograd as A

from _log import T, t

print("# hessian via functional")
print(
    torch.autograd.functional.hessian(lambda v: (v**3).sum(), torch.tensor([1.0, 2.0])),
    torch.autograd.functional.jacobian(lambda v: v**2, torch.tensor([1.0, 2.0])),
)
print("# gradcheck")
print(A.gradcheck(lambda v: v**3, torch.tensor([1.0, 2.0], dtype=torch.double, requires_grad=True)))
T("gradcheck float32 warn", lambda: A.gradcheck(lambda v: v**3, t([1.0, 2.0]), raise_exception=False))
