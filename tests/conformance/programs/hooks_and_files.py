"""torch.save of a hooked tensor: hooks are lost, with a warning."""

import io

import torch

from _log import T, t


def again(x):
    buffer = io.BytesIO()
    torch.save(x, buffer)
    buffer.seek(0)
    return torch.load(buffer)


x = t(2.0)
x.register_hook(lambda g: None)
T("tensor with a hook", again, x)
x = t(2.0)
x.register_post_accumulate_grad_hook(lambda p: None)
T("with a post-accumulate hook", again, x)
