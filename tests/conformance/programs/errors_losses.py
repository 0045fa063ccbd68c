"""mse_loss, l1_loss, nll_loss, cross_entropy: values, gradients, weights, ignore_index, and what they refuse."""

import torch

from _log import T, t

F, L = torch.nn.functional, torch.tensor
q = [[1.0, 2.0, 3.0], [3.0, 1.0, 0.5]]
k = L([2, 0])


def through(fn):
    def run():
        x = t(q)
        y = fn(x)
        y.sum().backward()
        return y, type(y.grad_fn).__name__, x.grad

    return run


target = L([[0.0, 2.0, 5.0], [3.0, 0.0, 1.0]])
for label, fn in {
    "mse": lambda x: F.mse_loss(x, target),
    "mse sum": lambda x: F.mse_loss(x, target, reduction="sum"),
    "mse none": lambda x: F.mse_loss(x, target, reduction="none"),
    "mse broadcast": lambda x: F.mse_loss(x, target[0]),
    "mse double": lambda x: F.mse_loss(x, target.double()),
    "l1": lambda x: F.l1_loss(x, target),
    "l1 sum": lambda x: F.l1_loss(x, target, reduction="sum"),
    "l1 none": lambda x: F.l1_loss(x, target, reduction="none"),
    "smooth_l1": lambda x: F.smooth_l1_loss(x, target),
    "huber": lambda x: F.huber_loss(x, target, delta=0.5),
    "nll": lambda x: F.nll_loss(x, k),
    "nll sum": lambda x: F.nll_loss(x, k, reduction="sum"),
    "nll none": lambda x: F.nll_loss(x, k, reduction="none"),
    "nll weight": lambda x: F.nll_loss(x, k, weight=L([1.0, 2.0, 3.0])),
    "nll ignore": lambda x: F.nll_loss(x, k, ignore_index=0),
    "nll ignore all": lambda x: F.nll_loss(x, L([1, 1]), ignore_index=1),
    "nll -100": lambda x: F.nll_loss(x, L([-100, 1])),
    "nll 1-d": lambda x: F.nll_loss(x[0], L(1)),
    "ce": lambda x: F.cross_entropy(x, k),
    "ce sum": lambda x: F.cross_entropy(x, k, reduction="sum"),
    "ce none": lambda x: F.cross_entropy(x, k, reduction="none"),
    "ce weight": lambda x: F.cross_entropy(x, k, weight=L([1.0, 2.0, 3.0])),
    "ce ignore": lambda x: F.cross_entropy(x, k, ignore_index=2),
    "ce -100": lambda x: F.cross_entropy(x, L([-100, 1])),
    "ce smoothing": lambda x: F.cross_entropy(x, k, label_smoothing=0.1),
    "ce weight and smoothing": lambda x: F.cross_entropy(x, k, weight=L([1.0, 2.0, 3.0]), label_smoothing=0.1),
    "ce 1-d": lambda x: F.cross_entropy(x[0], L(1)),
    "ce probabilities": lambda x: F.cross_entropy(x, L([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])),
    "ce 3-d": lambda x: F.cross_entropy(x[:, :, None], k[:, None]),
    "ce large": lambda x: F.cross_entropy(x * 1000, k),
    "bce": lambda x: F.binary_cross_entropy(x.sigmoid(), (target > 1).float()),
    "bce logits": lambda x: F.binary_cross_entropy_with_logits(x, (target > 1).float()),
    "kl": lambda x: F.kl_div(x.log_softmax(1), target.softmax(1), reduction="batchmean"),
}.items():
    T(label, through(fn))


def target_gradient():
    x, y = t([1.0, 2.0]), t([3.0, 5.0])
    (F.mse_loss(x, y) + F.l1_loss(x, y)).backward()
    return x.grad, y.grad


T("gradient of the target", target_gradient)
T(
    "probabilities gradient",
    lambda: (lambda x, p: (F.cross_entropy(x, p).backward(), x.grad, p.grad)[1:])(t([[1.0, 2.0]]), t([[0.5, 0.5]])),
)
x = L(q)
for label, fn in {
    "mse shapes": lambda: F.mse_loss(x, torch.ones(2)),
    "mse warns": lambda: F.mse_loss(x, torch.ones(1, 3)),
    "l1 warns": lambda: F.l1_loss(x, torch.ones(3)),
    "mse reduction": lambda: F.mse_loss(x, x, reduction="avg"),
    "mse None": lambda: F.mse_loss(x, None),
    "mse int": lambda: F.mse_loss(L([1, 2]), L([1, 3])),
    "mse number": lambda: F.mse_loss(x, 1.0),
    "mse size_average": lambda: F.mse_loss(x, x, size_average=False),
    "nll target float": lambda: F.nll_loss(x, L([1.0, 0.0])),
    "nll target int32": lambda: F.nll_loss(x, L([1, 0], dtype=torch.int32)),
    "nll batch": lambda: F.nll_loss(x, L([1, 0, 1])),
    "nll range": lambda: F.nll_loss(x, L([3, 0])),
    "nll negative": lambda: F.nll_loss(x, L([-1, 0])),
    "nll target 2-d": lambda: F.nll_loss(x, L([[1], [0]])),
    "nll 0-d": lambda: F.nll_loss(L(1.0), L(0)),
    "nll weight size": lambda: F.nll_loss(x, k, weight=torch.ones(2)),
    "nll weight dtype": lambda: F.nll_loss(x, k, weight=torch.ones(3).double()),
    "nll reduction": lambda: F.nll_loss(x, k, reduction="avg"),
    "nll int": lambda: F.nll_loss(x.long(), k),
    "nll target list": lambda: F.nll_loss(x, [1, 0]),
    "ce target float": lambda: F.cross_entropy(x, L([1.0, 0.0])),
    "ce target int32": lambda: F.cross_entropy(x, L([1, 0], dtype=torch.int32)),
    "ce batch": lambda: F.cross_entropy(x, L([1, 0, 1])),
    "ce range": lambda: F.cross_entropy(x, L([3, 0])),
    "ce negative": lambda: F.cross_entropy(x, L([-1, 0])),
    "ce target 2-d": lambda: F.cross_entropy(x, L([[1], [0]])),
    "ce probabilities shape": lambda: F.cross_entropy(x, torch.ones(2, 2)),
    "ce smoothing": lambda: F.cross_entropy(x, k, label_smoothing=1.5),
    "ce weight size": lambda: F.cross_entropy(x, k, weight=torch.ones(2)),
    "ce 0-d": lambda: F.cross_entropy(L(1.0), L(0)),
    "ce int": lambda: F.cross_entropy(x.long(), k),
    "ce ignore with probabilities": lambda: F.cross_entropy(x, x, ignore_index=0),
    "ce None": lambda: F.cross_entropy(x, None),
    "ce swapped": lambda: F.cross_entropy(k, x),
    "ce bool target": lambda: F.cross_entropy(x, L([True, False])),
    "ce no classes": lambda: F.cross_entropy(torch.empty(2, 0), k),
    "ce empty batch": lambda: F.cross_entropy(torch.empty(0, 3), torch.empty(0, dtype=torch.long)),
    "bce range": lambda: F.binary_cross_entropy(x, x),
    "bce shapes": lambda: F.binary_cross_entropy(torch.ones(2), torch.ones(3)),
    "bce logits shapes": lambda: F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(3)),
    "dropout training False": lambda: F.dropout(x, 0.9, training=False),
    "dropout 0": lambda: F.dropout(x, 0.0),
    "dropout 1": lambda: F.dropout(x, 1.0),
    "relu": lambda: F.relu(L([-1.0, 2.0])),
    "relu inplace": lambda: (lambda v: (F.relu(v, inplace=True) is v, v))(L([-1.0, 2.0])),
    "linear": lambda: F.linear(x, torch.ones(1, 3), torch.ones(1)),
}.items():
    T(label, fn)
