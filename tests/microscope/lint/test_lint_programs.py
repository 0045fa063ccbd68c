"""lint on programs as people write them: what is right is not spoken of, and what is wrong is found however it is written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import warm

from retrograd.microscope import lint_source

SILENT = '''
# -- activations by a factory, as in PyTorch's forum
activation = {}
def get_activation(name):
    def hook(model, input, output):
        activation[name] = output.detach()
    return hook
for name, layer in model.named_modules():
    layer.register_forward_hook(get_activation(name))
loss.backward()
# -- hooks of what each iteration makes
for fold in range(3):
    model = build()
    for layer in model.modules():
        layer.register_forward_hook(hook)
    for x in loader:
        for y in model(x):
            y.register_hook(print)
        loss.backward()
# -- two factories whose inner functions have one name
def save_forward(store):
    def hook(module, args, output):
        store.append(output.detach())
    return hook
def save_gradient(store):
    def hook(grad):
        store.append(grad)
    return hook
layer.register_forward_hook(save_forward(kept))
x.register_hook(save_gradient(kept))
model.register_full_backward_hook(lambda m, gi, go: None)
# -- two functions that each have a hook of their own
def forward_ones(model):
    def hook(m, args, out):
        print(out.shape)
    return model.register_forward_hook(hook)
def leaves(model):
    def hook(p):
        p.grad = None
    for p in model.parameters():
        p.register_post_accumulate_grad_hook(hook)
# -- hooks of optimizers
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
optimizer.register_state_dict_pre_hook(lambda o: None)
optimizer.register_state_dict_post_hook(lambda o, state: state)
optimizer.register_load_state_dict_pre_hook(lambda o, state: state)
optimizer.register_load_state_dict_post_hook(lambda o: None)
optimizer.register_step_post_hook(lambda o, args, kwargs: None)
# -- hooks of an object that is an optimizer or a module
thing.register_state_dict_pre_hook(lambda o: None)
thing.register_state_dict_pre_hook(lambda module, prefix, keep_vars: None)
thing.register_load_state_dict_pre_hook(lambda module, state_dict, prefix, meta, strict, missing, unexpected, errors: None)
# -- methods and partials as hooks
class GradCAM:
    def __init__(self, model, layer):
        self.handles = [layer.register_forward_hook(self.save_activation),
                        layer.register_full_backward_hook(self.save_gradient)]
    def save_activation(self, module, input, output):
        self.activation = output.detach()
    def save_gradient(self, module, grad_input, grad_output):
        self.gradient = grad_output[0].detach()
    @staticmethod
    def scale(g):
        return g * 2
    def __call__(self, x):
        out = self.model(x)
        out.register_hook(self.scale)
        out.sum().backward()
# --
from functools import partial
def note(name, module, args, output, *, log=None):
    print(name)
for name, m in model.named_modules():
    m.register_forward_hook(partial(note, name))
    m.register_forward_hook(partial(note, name, log=[]))
    m.register_forward_hook(lambda m, a, o, name=name: print(name))
# -- kept with the graph, for a loss
features = {}
def keep(name):
    def hook(module, args, output):
        features[name] = output
    return hook
student.layer4.register_forward_hook(keep("student"))
loss = F.mse_loss(features["student"], features["teacher"])
loss.backward()
# -- kept without a graph
features = []
model.fc.register_forward_hook(lambda module, args, output: features.append(output))
with torch.no_grad():
    model(images)
# -- a hook for one step of the loop, and one that comes at the first
for step, x in enumerate(loader):
    if step == 0:
        model.register_forward_hook(first)
    handle = model.fc.register_forward_hook(lambda m, a, o: print(step))
    model(x).sum().backward()
    handle.remove()
# -- a module that each round makes anew
for value in (1, 2):
    m = Scaled()
    m.register_full_backward_hook(lambda module, gi, go: (gi[0] * value,))
    m(x).sum().backward()
# -- a hook on what the round has made
for x in loader:
    out = model(x)
    out.register_hook(print)
    out.grad_fn.register_hook(lambda gi, go: None)
    out.sum().backward()
# -- gradients that are replaced rightly
def clip(module, grad_input, grad_output):
    if grad_input[0] is None:
        return None
    return tuple(None if g is None else g.clamp(-1, 1) for g in grad_input)
model.register_full_backward_hook(clip)
model.register_full_backward_hook(lambda m, gi, go: gi[:1] + (None,))
model.register_full_backward_hook(lambda m, gi, go: (gi[0].add(1),))
model.register_full_backward_hook(lambda m, gi, go: (gi[0].log(),) + gi[1:])
model.register_full_backward_hook(lambda m, gi, go: saved[m])
model.register_full_backward_pre_hook(lambda m, go: tuple(2 * g for g in go))
# -- a function that is defined anew
def hook(m, args, out):
    return None
model.register_forward_hook(hook)
def hook(grad):
    return None
w.register_post_accumulate_grad_hook(hook)
# -- a hook from elsewhere under a name that a function has, too
from hooks import watch
def other():
    def watch(a):
        pass
model.register_forward_hook(watch)
def register(model, watch):
    model.register_forward_hook(watch)
# -- forward by name
class Wrapped(nn.Linear):
    def forward(self, x):
        return nn.Linear.forward(self, x) + super().forward(x) + super(Wrapped, self).forward(x) + type(self).forward(self, x)
# -- leaves that are meant
w = nn.Parameter(torch.randn(3, requires_grad=True) * 0.1)
(torch.ones(2, requires_grad=True) * 2).sum().backward()
y = torch.randn(3, requires_grad=True) * 2
print(y.is_leaf, y.grad_fn)
z = torch.randn(3, requires_grad=True).clone()
z.retain_grad()
print(z.grad)
x = torch.tensor(frame.numpy(), requires_grad=True)
# -- .data of what is no tensor, and shown
image = np.array(dataset.data) * 2
body = json.loads(response.data)
loader = DataLoader(self.data)
print(w.grad.data, w.data)
# -- the optimizer has the new head
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.head = nn.Parameter(torch.zeros(3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# -- and the new head is added
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.head = nn.Parameter(torch.zeros(3))
optimizer.add_param_group({"params": [model.head]})
# -- out_proj of an attention that calls it
class Attention(nn.Module):
    def forward(self, x):
        return self.out_proj(x)
model.layers[0].self_attn.out_proj.register_forward_hook(hook_of_mine)
# -- one name, several modules
m = nn.Linear(2, 2)
m.register_backward_hook(print)  # lint: RG102
m = nn.Linear(2, 2)
m.register_full_backward_hook(print)
# -- compiled, not called yet
fast = torch.compile(model)
model.register_forward_hook(watch)
fast(x)
# -- backward of something that runs it for others
accelerator.backward(loss)
accelerator.backward(other)
loss.backward(retain_graph=keep)
loss.backward()
net = Network()
net.backward()
net.backward()
# -- in place, behind a module without a hook
body = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True), nn.Linear(2, 2))
body[2].register_full_backward_hook(print)
# -- a sum over a list
total = sum(v.item() for v in losses)
table = torch.tensor([v.item() for v in losses])
'''

LOUD = '''
# RG107 -- of layers, in each batch of each epoch
for epoch in range(3):
    for x in loader:
        for name, layer in model.named_modules():
            layer.register_forward_hook(hook)
        model(x).sum().backward()
# RG106 -- a factory's hook
def make(name):
    def hook(module, output):
        print(name)
    return hook
model.register_forward_hook(make("fc"))
# RG106 -- a method
class Watch:
    def __init__(self, model):
        model.register_forward_hook(self.look)
    def look(self, module, output):
        print(output)
# RG106 -- a partial that leaves too few
from functools import partial
def note(name, module, output):
    print(name)
model.register_forward_hook(partial(note, "fc"))
# RG106 -- an optimizer's
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_state_dict_pre_hook(lambda o, prefix, keep: None)
# RG106 -- of neither
thing.register_state_dict_post_hook(lambda a: None)
# RG106 -- of every module
torch.nn.modules.module.register_module_forward_hook(lambda module, out: None)
# RG109 -- by a factory
def keep(name):
    def hook(module, args, output):
        kept[name] = output
    return hook
model.fc.register_forward_hook(keep("fc"))
model(x).sum().backward()
# RG109 -- by a method
class Watch:
    def __init__(self, model):
        model.register_forward_hook(self.look)
    def look(self, module, args, output):
        self.seen = output
model(x).sum().backward()
# RG109 -- by a partial
def note(name, module, args, output):
    store[name] = args[0]
model.fc.register_forward_hook(functools.partial(note, "fc"))
model(x).sum().backward()
# RG103 -- a function defined in the loop
for name, m in model.named_modules():
    def hook(module, args, out):
        print(name)
    m.register_forward_hook(hook)
# RG103 -- a module that is looked up
for name in names:
    m = model.get_submodule(name)
    m.register_forward_hook(lambda module, args, out: print(name))
# RG105 -- one tensor
def twice(module, grad_input, grad_output):
    return grad_input[0] * 2
model.register_full_backward_hook(twice)
# RG105 -- of a pre-hook
model.register_full_backward_pre_hook(lambda m, go: -go[0])
# RG105 -- nothing, twice
model.register_full_backward_hook(lambda m, gi, go: (print(gi), print(go)))
# RG101 -- of a part
y = self.encoder.layers[0].forward(x)
# RG118 -- with the default said
loss.backward(retain_graph=False)
loss.backward()
# RG121 -- of parameters
for p in model.parameters():
    p.copy_(p.data * 0.9)
# RG120 -- and backward
loss = torch.tensor([v.item() for v in losses], requires_grad=True)
'''


def programs(text: str) -> list[Any]:
    parts = re.split(r"^# (RG\d+ )?--(.*)\n", text, flags=re.M)[1:]
    return [pytest.param(rule, code, id=(name or str(i)).strip()) for i, (rule, name, code) in enumerate(
        zip(parts[::3], parts[1::3], parts[2::3]))]


@pytest.mark.parametrize(("rule", "code"), programs(SILENT))
def test_what_is_right_is_not_spoken_of(rule: None, code: str) -> None:
    assert lint_source(code) == []


@pytest.mark.parametrize(("rule", "code"), programs(LOUD))
def test_what_is_wrong_is_found(rule: str, code: str) -> None:
    assert {p.rule for p in lint_source(code)} == {rule.strip()}


WRONG = "y = model.forward(x)\n"


def command(*arguments: Any, cwd: Path, given: bytes = b"") -> Any:
    return warm.run("-m", "retrograd", "lint", *arguments, input=given, cwd=cwd, text=False)


def test_files_in_other_encodings(tmp_path: Path) -> None:
    """As Python reads them: by their first lines, or a mark of the order of bytes."""
    (tmp_path / "latin.py").write_bytes("# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1") + WRONG.encode())
    (tmp_path / "marked.py").write_bytes(b"\xef\xbb\xbf" + WRONG.encode())
    (tmp_path / "none.py").write_bytes("name = 'é'\n".encode("latin-1") + WRONG.encode())
    (tmp_path / "odd.py").write_bytes(b"# coding: no-such\n" + WRONG.encode())
    (tmp_path / "null.py").write_bytes(b"x = 1\0\n" + WRONG.encode())
    done = command("latin.py", "marked.py", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout.startswith(b"latin.py:3: RG101") and b"marked.py:1: RG101" in done.stdout
    for name in ("none.py", "odd.py", "null.py"):
        done = command(name, cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith(f"retrograd: {name} is not Python".encode()), done
        assert b"Traceback" not in done.stderr
    assert command("-", cwd=tmp_path, given=b"\xef\xbb\xbf" + WRONG.encode()).returncode == 1


def test_a_file_that_is_not_python_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "wrong.py").write_text(WRONG)
    done = command("broken.py", "wrong.py", "gone.py", cwd=tmp_path)
    assert done.returncode == 2 and b"wrong.py:1: RG101" in done.stdout
    assert b"broken.py is not Python: invalid syntax, line 1" in done.stderr and b"gone.py: No such file" in done.stderr


def test_folders(tmp_path: Path) -> None:
    for name in ("a.py", "deep/b.py", "deep/.hidden/c.py", "deep/notes.txt", "__pycache__/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(WRONG)
    done = command(".", cwd=tmp_path)
    places = [line.partition(":")[0] for line in done.stdout.decode().splitlines() if "RG101" in line]
    assert done.returncode == 1 and places == ["a.py", str(Path("deep/b.py"))]
    (tmp_path / "none").mkdir()
    done = command("none", cwd=tmp_path)
    assert done.returncode == 2 and b"no Python files" in done.stderr


def notebook(*cells: str, kind: str = "code") -> str:
    return json.dumps({"cells": [{"cell_type": "markdown", "source": ["# text"]}, *(
        {"cell_type": kind, "source": code.splitlines(keepends=True), "outputs": [], "metadata": {}} for code in cells)],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_notebooks(tmp_path: Path) -> None:
    """Magics are for IPython; a finding names the cell and the line in it."""
    (tmp_path / "a.ipynb").write_text(notebook(
        "%matplotlib inline\n!pip install torch\nimport torch\nfiles = !ls\nif files:\n    %time x = 1\ntorch?\n",
        "%%bash\necho $HOME\nmodel.forward(\n", "%%time\ny = model.forward(x)\nprint('%d'\n      % 3)\n"))
    done = command("a.ipynb", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout.startswith(b"a.ipynb, cell 4:2: RG101"), done
    assert b"1 problem\n" in done.stdout
    for text, says in ((notebook("def f(:"), "cell 2, line 1: invalid syntax"), ("{}", "not a notebook"), ("[", "not a notebook"),
                       ('{"cells": 3}', "not a notebook")):
        (tmp_path / "b.ipynb").write_text(text)
        done = command("b.ipynb", cwd=tmp_path)
        assert done.returncode == 2 and says.encode() in done.stderr and b"Traceback" not in done.stderr, done
    done = command("--run", "a.ipynb", cwd=tmp_path)
    assert done.returncode == 2 and b"--run" in done.stderr


@pytest.mark.parametrize("code", [
    "x = " + "+".join(["a"] * 20_000), "x" + ".add(1)" * 3_000 + "\n" + WRONG, "x = " + "(" * 150 + "1" + ")" * 150,
    "x = " + "-" * 5_000 + "1", "x = " + "[" * 500, "if a:\n  pass\n" + "elif a:\n  pass\n" * 3_000], ids=range(6))
def test_deep_code_is_read_or_refused(code: str, tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text(code)
    done = command("deep.py", cwd=tmp_path)
    assert done.returncode in (0, 1, 2) and b"Traceback" not in done.stderr, done.stderr[-500:]
    assert done.returncode != 2 or b"deep.py" in done.stderr


def test_large_files_in_time_of_their_length() -> None:
    code = "".join(f"def f{i}(model, x):\n    for m in model.modules():\n        m.register_forward_hook(lambda m, a, o: None)\n"
                   f"    y = model(x)\n    y.sum().backward()\n" for i in range(4_000))
    assert lint_source(code + WRONG)[0].line == 20_001
