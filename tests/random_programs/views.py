"""Views, edits in place, hooks, grad modes and passes."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from random_programs.program import Program

KNOWN: list[tuple[str, str]] = [
    (r"squeeze_\((.|\n)*PyTorch: +IndexError: (select\(\) cannot|index -?\d+ is out of bounds for dimension 0 with size 1)",
     "PyTorch looks at the sizes that were there before squeeze_()"),
    (r"is_grads_batched=True", "hooks run once for each gradient of a batch, and retain_grad works"),
    (r"\.backward\([abcv]\d*\)", "PyTorch takes a gradient that was passed in for its own, and edits it"),
    (r"as_strided\(\(2, 2\), \(1, 1\)\)|unfold\(0, 2, 1\)",
     "edits of memory that is shown twice: in PyTorch they depend on the kernel"),
    (r"resize_\(2, 3\)|resize_as_\(|(?s:(expand|broadcast).*resize_\()",
     "a tensor that grows gets memory of its own; in PyTorch others grow with it"),
    (r"(?s)inference_mode.*  PyTorch: .* v[123] .*  retrograd: .* v0 ", "how often PyTorch edits a result of its own"),
    (r"(?s)with torch\.inference_mode\(\): (v\d+|[abc]) = .*\1(\.\w+_\(| .= |\[)",
     "PyTorch edits a tensor of inference mode, then refuses; here it is refused first"),
    (r"(?s)inference_mode.*  retrograd: RuntimeError: Inplace update to inference", "likewise"),
    (r"(?s)inference_mode.*\.data\b", "PyTorch parts the flag from the version counter"),
    (r"returned an invalid gradient", "the size of a gradient is not looked at where rules get along with it"),
    (r"(?s)([abc])\.data = .*(invalid gradient|output with shape|PyTorch: +RuntimeError: The size of tensor|: w\[)",
     "where .data gave a leaf another shape, or a node's output another than its rules read"),
    (r"(?s)inference_mode.*unsafe_.* v0 ", "parts of inference mode count their own edits in PyTorch"),
    (r"(?s)(retain_grad|inputs=).*(squeeze_|\.t_|transpose_|swapaxes_|as_strided_)",
     "retain_grad follows a tensor reshaped in place; in PyTorch it stays behind, and the next edit is an internal error"),
    (r"FillBackward3 leaf=False|\.int64 .* grad=True (torch::autograd::CopySlices|AsStridedBackward0)|"
     r"Autograd not support dtype: Long",
     "integers require no grad"),
    (r"(?s)int64.*PyTorch: +RuntimeError: A view was created in no_grad mode", "likewise"),
    (r"(?s)with torch\.inference_mode\(\): .*backward\(.*  PyTorch: +[abc]\.grad: ",
     "PyTorch adds to a gradient of inference mode, then refuses; here it is refused first"),
    (r"(?s)\A(?!.*\n> ).*inference_mode.*\n  PyTorch: +(\w+): [^;\n]* leaf=True( \[[^;\n]*)?\n"
     r"  retrograd: \1: [^;\n]* leaf=True( \[|\n|$)",
     "PyTorch edits a tensor of inference mode, then refuses; here it is refused first"),
    (r"(?s)is at version \d+; expected.*retrograd: .* output 0 of AsStrided, is at version",
     "the error names the view's node, not that of the op which edited it"),
    (r"(?s)(index_|= 1\.0|\[0\]).*PyTorch: +RuntimeError: (setStorage|unsupp).*retrograd: IndexError",
     "of an index into an empty dimension ours says that it is out of range"),
    (r"(?s)(1:\]|tensor_split|set_\(\)).*(as_strided_?\(|data_ptr.*log\[)",
     "NumPy: a slice without elements lies where its tensor begins"),
    (r"(?s)(expand|broadcast|None|unfold|unsqueeze).*stride.*log\[\d\](\[\d\])?: \d+\n  retrograd: log\[\d\](\[\d\])?: \d",
     "NumPy: the stride of a new dim of one element is 0"),
    (r"(?s)\.data = .*PyTorch: +\w+\.grad: ",
     "after .data gave other memory or another shape, PyTorch's gradient is that of what the node knew"),
    (r"(?s)(expand|broadcast).*PyTorch: +RuntimeError: unsupported operation: more than one.*retrograd: (: None|.*modified by)",
     "PyTorch cannot differentiate an edit of memory that is shown twice"),
    (r"(?s)(no_grad|inference_mode|enabled)\((False)?\): \w+\.(t_|(un)?squeeze_|transpose_|swapaxes_|as_strided_)\(",
     "a shape that was changed without the node's knowing"),
    (r"(?s)\.set_\(.*(setStorage|derivative for set_|invalid gradient|single memory location|\.grad: |\bacc\b)",
     "what a view is of, and what a leaf's node holds, once set_ gave it other memory"),
    (r"view and its base or another view of its base has been modified inplace\n  retrograd: (Runtime|Index)Error|"
     r"PyTorch: +(Runtime|Index)Error.*\n  retrograd: .* is a view and its base or another view of its base has been modified",
     "of two errors: the view's, or what is wrong with the argument"),
    (r"(?s)(no_grad|inference_mode|enabled)\((False)?\): v\d+(, \*v\d+s)? = .*("
     r"> .*Trying to backward through|PyTorch: +RuntimeError: (Trying to|one of the variables .*output 0 of))",
     "what is kept of a view of a leaf that was made under no_grad"),
    (r"(?s)(movedim|permute|axes|transpose|T\b|\.t\(|chunk|split|unfold|::2).*\] = \w+(\[0\])?\n"
     r"(> [^\n]*\n)?  PyTorch: +(\w+): [^;\n]*\n  retrograd: \4: ",
     "an assignment that reads where it writes: in PyTorch it depends on the order of the loop"),
]

TINY = r"[^\[\n]* \[((-?0\.0|-?\d\.\d+e-(0[6-9]|\d\d))(, )?)+\]"
DIGITS: list[tuple[str, str]] = [
    (rf"(?s)(tanh|sigmoid|softmax).*PyTorch: +\S+: {TINY}\n  retrograd: \S+: {TINY}$", "where all digits cancel"),
]

SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (4,), (2, 3), (3, 2), (2, 2), (1, 3), (2, 1), (2, 2, 2), (2, 3, 1)]
VIEWS = """
x.view(-1)|x.reshape(-1)|x.view(x.shape)|x.view_as(x)|x.t()|x.transpose(0, -1)|x.permute(*range(x.dim())[::-1])|x[0]|x[-1]
x[1:]|x[::2]|x[:, 0]|x[..., 0]|x[..., 1:]|x[None]|x[:]|x[...]|x.narrow(0, 0, 1)|x.select(0, 0)|x.select(-1, 1)|x.unsqueeze(0)
x.unsqueeze(-1)|x.squeeze()|x.squeeze(0)|x.squeeze(-1)|x.flatten()|x.diagonal()|x.unfold(0, 2, 1)|x.unfold(-1, 1, 1)
x.expand(2, *x.shape)|x.expand(*x.shape)|x.expand_as(x)|x.unbind()[0]|x.unbind(-1)[-1]|x.split(1)[0]|x.split(2)[-1]
x.chunk(2)[0]|x.chunk(2, -1)[-1]|x.as_strided((2,), (1,))|x.as_strided((2, 2), (1, 1))|x.as_strided((2,), (1,), 1)|x.detach()
x.data|x.unflatten(0, (-1, 1))|x.movedim(0, -1)|x.swapaxes(0, -1)|x.T|x.mT|x.view(1, -1)|x.tensor_split(2)[0]|x.hsplit(1)[0]
torch.atleast_2d(x)|x.ravel()|x.real|x.alias()|x.contiguous()|x.split_with_sizes([1, 1])[1]|x.unsafe_chunk(2)[0]
x.squeeze((0, -1))|torch.broadcast_to(x, (2, *x.shape))|x.type_as(x)|x.to(x.dtype)|x.as_subclass(torch.Tensor)|x.view_as(y)
x.expand_as(y)|x.reshape(2, -1)
""".replace("\n", "|").strip("|").split("|")
SEVERAL = [
    "x.unbind()", "x.unbind(-1)", "x.split(1)", "x.chunk(2)", "x.chunk(2, -1)", "x.tensor_split(2)",
    "torch.broadcast_tensors(x, y)"]
VALUES = """
x * y|x + y|x - y|x / (y * y + 1)|x * 2|x + 1|2 - x|x.exp()|x.sin()|x.tanh()|x.sigmoid()|x.relu()|x.abs()|x * x|x ** 2|x.sum()
x.mean()|x.sum(0)|x.sum(-1, keepdim=True)|x.clone()|x.max()|x.cumsum(0)|torch.cat([x, x])|torch.stack([x, y])
torch.where(x > 0, x, y)|x.amax(0)|x.prod()|x.sqrt()|x.reciprocal()|-x|x.norm()|x.softmax(-1)|x[torch.tensor([0, 0])]|x[x > 0]
x.repeat(2)|x.clamp(-1, 1)|x @ x.t()|x.gather(0, torch.zeros_like(x).long())|x.masked_fill(x > 1, 0.5)
x.index_select(0, torch.tensor([0]))|x.flip(0)|x.roll(1, 0)|x.std()|x.logsumexp(0)
""".replace("\n", "|").strip("|").split("|")
EDITS = """
x.mul_(2)|x.mul_(y)|x.add_(1)|x.add_(y)|x.sub_(y)|x.div_(2)|x.exp_()|x.sin_()|x.tanh_()|x.sigmoid_()|x.relu_()|x.neg_()
x.zero_()|x.fill_(0.5)|x.copy_(y)|x.clamp_(-1, 1)|x.pow_(2)|x.sqrt_()|x.abs_()|x.masked_fill_(x > 0, 2.0)
x.index_fill_(0, torch.tensor([0]), 3.0)|x.reciprocal_()|x.index_add_(0, torch.tensor([0]), x[:1])|x.addcmul_(y, y)
x.lerp_(y, 0.5)|x.cumsum_(0)|x.fill_(y.sum())|x.squeeze_()|x.squeeze_(0)|x.unsqueeze_(0)|x.unsqueeze_(-1)|x.t_()
x.transpose_(0, -1)|x.swapaxes_(0, 1)|x.resize_(x.numel())|x.resize_(x.numel() // 2)|x.resize_(x.shape)
x.resize_(2, 3).fill_(0.5)|x.resize_as_(y).zero_()|x.detach_()|x.requires_grad_()|x.requires_grad_(False)|x.retain_grad()
x.set_(y)|x.as_strided_((2,), (1,))|x.uniform_(1, 1)|x.random_(1, 2)|x.squeeze_(-1)|x.round_()
x.scatter_(0, torch.zeros_like(x).long(), 1.5)|x.index_put_((torch.tensor([0]),), y)|x.threshold_(0.1, 0.2)|x.normal_(0, 0)
x.bernoulli_(1.0)|x.copy_(y.detach())|x.mul_(x)|x.add_(x)|x.mul_(x.detach())|x.set_()
""".replace("\n", "|").strip("|").split("|")
ASSIGNMENTS = """
x[0] = 1.5|x[0] = y|x[0] = y[0]|x[..., 0] = 2.0|x[:1] = y[:1]|x[1] = x[0]|x[1] = x[1][0]|x[:] = y|x[...] = y|x += 1|x *= y
x -= y|x *= 2|x /= 2|x **= 2|x.data = y|x.data = y.detach()|x.data = x.data * 2|x.data = x * 1|x.grad = None
x.grad = torch.ones_like(x)|x.grad = y|x.requires_grad = True|x.requires_grad = False|x[x > 0] = 0.5
x[torch.tensor([0])] = 1.0|x[0] += y|x[0] *= 2|x.data[0] = 2.0|x.data.mul_(2)|x.detach().mul_(2)|x.detach()[0] = 1.0
x[5] = 1.0
""".replace("\n", "|").strip("|").split("|")
HOOKS = """
x.register_hook(lambda g: log.append(('x', copies(g))))|x.register_hook(lambda g: g * 2)|x.register_hook(lambda g: g + 1)
x.register_hook(lambda g: g.mul_(3) and None)
x.grad_fn.register_hook(lambda gi, go: log.append(('x node', copies(gi), copies(go))))
x.grad_fn.register_prehook(lambda go: log.append(('x pre', copies(go))))
x.grad_fn.register_hook(lambda gi, go: tuple(g if g is None else g * 2 for g in gi))
x.grad_fn.register_prehook(lambda go: tuple(g if g is None else g * 2 for g in go))
x.register_post_accumulate_grad_hook(lambda t: log.append(('x after', copies(t.grad))))
x.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2) and None)
torch.autograd.graph.register_multi_grad_hook([x, y], lambda gs: log.append(('x multi', copies(gs))))
torch.autograd.graph.register_multi_grad_hook([x, y], lambda g: log.append(('x any', copies(g))), mode='any')
x.register_hook(lambda g: x.register_hook(lambda h: log.append(('x inner', copies(h)))) and None)
x.register_hook(lambda g: g[:1])|x.register_hook(lambda g: 1)|h = x.register_hook(lambda g: log.append(('x', copies(g))))
h.remove()|x.retain_grad()
held(torch.autograd.graph.get_gradient_edge(x).node).register_hook(lambda gi, go: log.append(('x acc', copies(go))))
held(torch.autograd.graph.get_gradient_edge(x).node).register_prehook(lambda go: log.append(('x acc pre', copies(go))))
""".replace("\n", "|").strip("|").split("|")
PASSES = """
x.backward()|x.sum().backward()|x.backward(torch.ones_like(x))|x.backward(torch.ones_like(x), retain_graph=True)
x.sum().backward(retain_graph=True)|x.sum().backward(create_graph=True)|x.backward(torch.ones_like(x), inputs=[y])
x.sum().backward(inputs=[y, z])|x.sum().backward(inputs=[y], retain_graph=True)|x.sum().backward(inputs=y)|x.backward(y)
torch.autograd.backward([x.sum(), y.sum()])|torch.autograd.backward([x, y], [None, torch.ones_like(y)])
(x * x).sum().backward()|(x * y).sum().backward()|(x * 2 + y).sum().backward(retain_graph=True)|x.sum().backward(inputs=[])
w = copies(torch.autograd.grad(x.sum(), y, allow_unused=True))
w = copies(torch.autograd.grad(x.sum(), [y, z], allow_unused=True))|w = copies(torch.autograd.grad(x.sum(), y))
w = copies(torch.autograd.grad(x.sum(), y, create_graph=True, allow_unused=True))
w = copies(torch.autograd.grad(x, y, torch.ones_like(x), retain_graph=True))
w = copies(torch.autograd.grad((x * x).sum(), [y], create_graph=True))
w = copies(torch.autograd.grad(x.sum(), [y, z], materialize_grads=True))
w = copies(torch.autograd.grad([x.sum(), z.sum()], [y], allow_unused=True, retain_graph=True))|w[0].sum().backward()
(x * w[0]).sum().backward()|w = copies(torch.autograd.grad(x.sum(), y, retain_graph=True, allow_unused=True))
w = copies(torch.autograd.grad(x, y, torch.ones(2, *x.shape), is_grads_batched=True, allow_unused=True))
""".replace("\n", "|").strip("|").split("|")
LOOKS = """
log.append(x._base is y)|log.append(x._is_view())|log.append(x.retains_grad)|log.append(x.output_nr)|log.append(x.stride())
log.append(x.numel() and x.storage_offset())|log.append(x.is_inference())|log.append(copies(x.grad))|log.append(nodes(x))
log.append(x.is_contiguous())|log.append(x.grad_fn is None)|log.append(x.data_ptr() == y.data_ptr())
""".replace("\n", "|").strip("|").split("|")
MODES = ["torch.no_grad()", "torch.enable_grad()", "torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)",
         "torch.inference_mode()", "torch.inference_mode(False)",
         "torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1 if t.is_floating_point() else t.clone(), lambda t: t)",
         "torch.autograd.graph.disable_saved_tensors_hooks('none here')"]


def program(rng: Random) -> Program:
    floats = rng.choices(["", ", dtype=torch.float64"], [8, 1])[0]
    tables = [(VIEWS, 6), (VALUES, 6), (EDITS, 6), (ASSIGNMENTS, 3), (HOOKS, 2), (PASSES, 4), (LOOKS, 1), (SEVERAL, 0.5)]
    return made_of(rng, tables, lambda: leaf(rng, floats), ["({0} * {0}).sum().backward()", "{}.sum().backward()"])


def made_of(rng: Random, tables: list[tuple[list[str], float]], leaf: Callable[[], str], ends: list[str]) -> Program:
    """Statements drawn from the tables, by weight, over leaves; the first two tables make tensors."""
    names = []
    statements = []
    for name in "abc"[: rng.randint(1, 3)]:
        names.append(name)
        statements.append(f"{name} = {leaf()}")
    for _ in range(rng.randint(3, 14)):
        kind = rng.choices([table for table, _ in tables], [weight for _, weight in tables])[0]
        text = rng.choice(kind)
        used = [rng.choice(names[-4:] if rng.random() < 0.6 else names) for _ in range(3)]
        made = "".join({"x": used[0], "y": used[1], "z": used[2]}.get(word, word) for word in words(text))
        if kind is tables[0][0] or kind is tables[1][0]:
            new = f"v{len(names)}"
            names.append(new)
            made = f"{new} = {made}"
        elif kind is SEVERAL:
            new = f"v{len(names)}"
            names += [new, f"{new}s"]
            made = f"{new}, *{new}s = {made}; {new}s = {new}s[-1] if {new}s else {new}"
        shared = kind in (EDITS, ASSIGNMENTS) and "y" in words(text)
        if shared and kind is EDITS:
            made = f"{made} if apart({used[0]}, {used[1]}) else None"
        if kind is HOOKS and made != "h.remove()":
            sound = f"all(t._base is None or t.grad_fn for t in [{', '.join(used)}])"  # PyTorch crashes otherwise
            made = f"if {sound}: {made}"
        elif ".data =" in made:
            made = f"if not {used[0]}._is_view(): {made}"
        elif shared and kind is ASSIGNMENTS:
            made = f"if apart({used[0]}, {used[1]}): {made}"
        elif rng.random() < 0.12:
            made = f"with {rng.choice(MODES)}: {made}"
        statements.append(made)
    if rng.random() < 0.5:
        last = rng.choice(names[-3:])
        statements.append(ends[rng.random() >= 0.5].format(last))
    return statements


def leaf(rng: Random, floats: str) -> str:
    shape = rng.choice(SHAPES)
    count = 1
    for n in shape:
        count *= n
    numbers = [rng.choice([-1.5, -1.0, -0.5, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0]) for _ in range(count)]
    for n in reversed(shape[1:]):
        numbers = [numbers[i : i + n] for i in range(0, len(numbers), n)]  # type: ignore[misc]
    given = numbers if shape else numbers[0]
    dtype = rng.choices([floats, ", dtype=torch.int64"], [8, 0.4])[0]
    wants = ", requires_grad=True" if rng.random() < 0.7 and "int" not in dtype else ""
    if "int" in dtype:
        return f"torch.ones({shape}{dtype})"
    return f"torch.tensor({given}{dtype}{wants})"


def words(text: str) -> list[str]:
    return re.findall(r"\w+|\W", text)
