"""The pictures of docs/how-it-works.md, as SVG: graphs and orders are taken from runs, figures from benchmarks/results."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from math import log10
from pathlib import Path
from typing import Any

import retrograd as torch
from retrograd import nn
from retrograd.microscope import record
from retrograd.microscope.page.layout import Graph

ROOT = Path(__file__).resolve().parent.parent
WIDE, HIGH = 8.0, 30            # of a letter, of a box
STORED, PASSING, INK, PAPER, BAD = "#1f6feb", "#8b949e", "#1f2328", "#ffffff", "#c4321c"
STYLE = ("text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:" + INK + "} .small{font-size:11px;fill:#57606a} "
         "rect{fill:#f6f8fa;stroke:#57606a} path{fill:none;stroke-width:1.6}")


def files() -> dict[Path, str]:
    made = {"graph": graph, "order": order, "hooks": hooks, "flow": flow, "versions": versions, "views": views, "door": door,
            "cost": cost}
    return {ROOT / "docs" / "how-it-works" / f"{name}.svg": draw() for name, draw in made.items()}


# -- what is drawn

def graph() -> str:
    """The two-layer network of step 1, with the shape of each gradient."""
    x, w1, w2 = torch.randn(4, 3), torch.randn(3, 5, requires_grad=True), torch.randn(5, 1, requires_grad=True)
    loss = ((x @ w1).relu() @ w2).sum()
    drawing = Drawing()
    whole = Nodes(drawing, [loss.grad_fn], {w1: "w1.grad", w2: "w2.grad"}, loss)
    shapes: dict[Any, str] = {}
    for node in whole.found:
        for (to, _), grad in zip(node.next_functions, whole.parts[node]):
            if to is not None:
                shapes[node, to] = "scalar" if not grad.shape else "×".join(map(str, grad.shape))
    whole.lay(20, 20, shapes)
    drawing.legend([(STORED, "stored in .grad"), (PASSING, "exists during the pass")])
    return drawing.svg("The graph of a two-layer network with the shapes of its gradients")


def order() -> str:
    """A diamond: which node runs when."""
    x = torch.tensor(1.0, requires_grad=True)
    a = x.exp()
    drawing = Drawing()
    y = a * (a.sin() + a)
    whole = Nodes(drawing, [y.grad_fn], {x: "x.grad"}, y)
    waits = {node: sum(to is node for other in whole.found for to, _ in other.next_functions) for node in whole.found}
    for n, node in enumerate(whole.ran, 1):
        counted = max(waits[node], 1)
        whole.notes[node] = f"runs {ordinal(n)}, after {counted} gradient{'s' * (counted > 1)}"
    whole.lay(20, 20, {})
    return drawing.svg("Order of execution in a diamond")


def hooks() -> str:
    """One training step of a layer with every kind of hook, in the order in which they fired."""
    fired: list[tuple[str, str]] = []

    def note(phase: str, text: str) -> Callable[..., None]:
        return lambda *args, **kwargs: fired.append((phase, text))

    layer = nn.Linear(3, 2)
    layer.register_forward_pre_hook(note("forward", "forward pre-hook of the layer"))
    layer.register_forward_hook(note("forward", "forward hook of the layer"))
    layer.register_full_backward_pre_hook(note("backward", "full backward pre-hook of the layer"))
    layer.register_full_backward_hook(note("backward", "full backward hook of the layer"))
    layer.weight.register_hook(note("backward", "tensor hook of the weight"))
    layer.weight.register_post_accumulate_grad_hook(note("backward", "post-accumulate-grad hook of the weight"))
    optimizer = torch.optim.SGD([layer.weight], lr=0.1)
    optimizer.register_step_pre_hook(note("step", "pre-hook of the optimizer's step"))
    optimizer.register_step_post_hook(note("step", "post-hook of the optimizer's step"))
    out = layer(torch.randn(4, 3, requires_grad=True))
    out.register_hook(note("backward", "tensor hook of the output"))
    out.grad_fn.register_prehook(note("backward", "pre-hook of the output's node"))
    out.grad_fn.register_hook(note("backward", "post-hook of the output's node"))
    out.sum().backward()
    optimizer.step()
    drawing = Drawing()
    colours = {"forward": "#2da44e", "backward": STORED, "step": "#8250df"}
    for n, (phase, text) in enumerate(fired):
        y = 24 + n * 34
        if n == 0 or fired[n - 1][0] != phase:
            rows = sum(other == phase for other, _ in fired)
            drawing.line([(110, y), (110, y + rows * 34 - 14)], colours[phase], arrow=True)
            drawing.text(20, y + 16, phase)
        drawing.text(130, y + 12, f"{n + 1:2d}  {text}")
    return drawing.svg("When each hook of a linear layer fires")


def flow() -> str:
    """How much gradient each layer of a deep network gets, with two activations."""
    drawing = Drawing()
    for n, activation in enumerate((nn.Sigmoid, nn.ReLU)):
        torch.manual_seed(0)
        layers = [nn.Linear(16, 16, dtype=torch.float64) for _ in range(12)]
        for layer in layers:
            nn.init.kaiming_normal_(layer.weight)
        model = nn.Sequential(*(part for layer in layers for part in (layer, activation())))
        with record(model) as rec:
            model(torch.randn(32, 16, dtype=torch.float64)).square().mean().backward()
        norms = {event.label: rec.value(event.gradient).norm for event in rec.of("accumulate")}
        left = 20 + n * 330
        drawing.text(left, 24, activation.__name__)
        for i in range(len(layers)):
            norm, y = norms[f"{2 * i}.weight"], 36 + 18 * i
            wide = round(16 * (9 + log10(norm)))
            drawing.text(left, y + 11, f"{i + 1:2d}", small=True)
            drawing.put(f'<rect x="{left + 24}" y="{y}" width="{wide}" height="13" style="fill:{STORED};stroke:none"/>',
                        left + 24 + wide, y + 13)
            drawing.text(left + 30 + wide, y + 11, f"{norm:.0e}", small=True)
    return drawing.svg("Norms of the weights' gradients in twelve layers, with sigmoid and with ReLU, on a logarithmic scale")


def versions() -> str:
    """exp keeps its result; an edit of it before backward."""
    y = torch.tensor(3.0, requires_grad=True).exp()
    seen = [y._version, y.add_(1)._version]
    try:
        y.backward()
    except RuntimeError:
        pass
    else:
        raise AssertionError("backward did not compare versions")
    drawing = Drawing()
    for n, (code, said, colour) in enumerate([
            ("y = x.exp()", f"y is at version {seen[0]}; the node notes {seen[0]}", INK),
            ("y.add_(1)", f"y is at version {seen[1]}", INK),
            ("y.backward()", f"{seen[1]} is not {seen[0]}: RuntimeError", BAD)]):
        drawing.box(20, 20 + n * 60, code, wide=140)
        drawing.text(185, 40 + n * 60, said, colour)
        if n:
            drawing.line([(90, 60 * n - 10), (90, 60 * n + 18)], PASSING, arrow=True)
    return drawing.svg("A version counter and the comparison in backward")


def views() -> str:
    """The history of a base before and after an edit through its view."""
    drawing = Drawing()
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    base = x * 1
    view = base[:2]
    at = 20.0
    for title in ("before view.mul_(10)", "after"):
        if title == "after":
            view.mul_(10)
        drawing.text(at, 24, title)
        whole = Nodes(drawing, [base.grad_fn, view.grad_fn], {x: "x.grad"})
        whole.notes = {base.grad_fn: "base.grad_fn", view.grad_fn: "view.grad_fn"}
        at = whole.lay(at, 44, {}) + 60
    return drawing.svg("The history of a base and of its view, before and after an edit through the view")


def door() -> str:
    """A call and who may answer it."""
    ways = ("a mode", "a type with __torch_function__", "a level of vmap", "a listener: microscope.record")
    names = ["torch.softmax(x, 1)", "the door: does anybody take part?", *ways, "the implementation"]
    edges = [(0, 1), (1, 6), *((1, n) for n in range(2, 6)), *((n, 6) for n in range(2, 6))]
    drawing = Drawing()
    boxes = Layered(names, edges)
    boxes.notes[1] = "blue: no, in almost every program"
    boxes.lay(drawing, 20, 20, lambda a, b: ("", STORED if (a, b) == (1, 6) else PASSING))
    return drawing.svg("A call of a public function and who may answer it")


def cost() -> str:
    """benchmarks/results/one.json: chain-200x8."""
    results = json.loads((ROOT / "benchmarks" / "results" / "one.json").read_text("utf-8"))["works"]["chain-200x8"]["engines"]
    names = {"retrograd": "retrograd", "torch": "PyTorch", "numpy": "NumPy, by hand", "jax": "JAX (jit)",
             "autograd": "HIPS autograd", "mygrad": "MyGrad"}
    times = sorted((row["median"], names[engine]) for engine, row in results.items())
    drawing = Drawing()
    for n, (time, name) in enumerate(times):
        y = 20 + 30 * n
        long = 400 * time / times[-1][0]
        drawing.text(20, y + 14, name)
        drawing.put(f'<rect x="150" y="{y}" width="{long:.1f}" height="18" '
                    f'style="fill:{STORED if name == "retrograd" else "#d0d7de"};stroke:none"/>', 150 + long, y + 18)
        drawing.text(158 + long, y + 14, f"{time:.2g} µs" if time < 10 else f"{time:.1f} µs")
    return drawing.svg("Microseconds per operation in a chain of 200 operations on 8 numbers")


def ordinal(n: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(n, f"{n}th")


# -- how

class Drawing:
    """Shapes, and how far they reach."""

    def __init__(self) -> None:
        self.shapes: list[str] = []
        self.right = self.low = 0.0

    def put(self, shape: str, right: float, low: float) -> None:
        self.shapes.append(shape)
        self.right, self.low = max(self.right, right), max(self.low, low)

    def text(self, x: float, y: float, text: str, colour: str = INK, small: bool = False) -> None:
        kind = ' class="small"' if small else f' style="fill:{colour}"' if colour != INK else ""
        self.put(f'<text x="{x:.1f}" y="{y:.1f}"{kind} xml:space="preserve">{escape(text)}</text>',
                 x + (6.8 if small else WIDE) * len(text), y + 4)

    def box(self, x: float, y: float, text: str, note: str = "", wide: float = 0, stored: bool = False) -> None:
        wide = wide or wide_of(text, note)
        high = HIGH + 16 * bool(note)
        edge = f' style="stroke:{STORED};fill:#ddf4ff"' if stored else ""
        self.put(f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high}" rx="6"{edge}/>', x + wide, y + high)
        self.text(x + (wide - WIDE * len(text)) / 2, y + 20, text)
        if note:
            self.text(x + (wide - 6.8 * len(note)) / 2, y + 37, note, small=True)

    def line(self, points: list[tuple[float, float]], colour: str, arrow: bool = False) -> None:
        path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        end = f' marker-end="url(#{"stored" if colour == STORED else "passing"})"' if arrow else ""
        self.put(f'<path d="{path}" style="stroke:{colour}"{end}/>', max(x for x, _ in points), max(y for _, y in points))

    def legend(self, rows: list[tuple[str, str]]) -> None:
        y = self.low + 30
        for colour, text in rows:
            self.line([(20, y), (50, y)], colour)
            self.text(60, y + 4, text)
            y += 20

    def svg(self, title: str) -> str:
        wide, high = self.right + 20, self.low + 20
        heads = "".join(f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                        f'<path d="M0 0 L8 4 L0 8z" style="fill:{colour}"/></marker>'
                        for name, colour in (("stored", STORED), ("passing", PASSING)))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" '
                f'height="{high:.0f}" role="img"><title>{escape(title)}</title><style>{STYLE}</style><defs>{heads}</defs>'
                f'<rect width="{wide:.0f}" height="{high:.0f}" rx="8" style="fill:{PAPER};stroke:none"/>\n'
                + "\n".join(self.shapes) + "\n</svg>\n")


def wide_of(text: str, note: str = "") -> float:
    return max(WIDE * len(text), 6.8 * len(note)) + 24


class Layered:
    """Boxes in rows, by the layout of the microscope's page."""

    def __init__(self, names: list[str], edges: list[tuple[int, int]]) -> None:
        self.names, self.notes, self.stored = names, [""] * len(names), [False] * len(names)
        self.layout = Graph()
        for n in range(len(names)):
            self.layout.add(n, n)
        for a, b in edges:
            self.layout.join(a, b, a * len(names) + b)
        self.layout.arrange(lambda source: None)

    def lay(self, drawing: Drawing, left: float, top: float, look: Callable[[int, int], tuple[str, str]]) -> float:
        """Draw it; look(a, b) is the label and colour of an edge.  -> the right end."""
        [rows] = self.layout.rows
        wide = {i: wide_of(self.names[i], self.notes[i]) if i < len(self.names) else 20 for row in rows for i in row}
        whole = max(sum(wide[i] + 24 for i in row) - 24 for row in rows)
        ends: dict[int, tuple[float, float, float]] = {}               # middle, top, bottom
        y = top
        for row in rows:
            x = left + (whole - sum(wide[i] + 24 for i in row) + 24) / 2
            high = HIGH + 16 * any(i < len(self.names) and self.notes[i] for i in row)
            for i in row:
                own = HIGH + 16 * bool(i < len(self.names) and self.notes[i])
                ends[i] = (x + wide[i] / 2, y, y + (own if i < len(self.names) else high))
                if i < len(self.names):
                    drawing.box(x, y, self.names[i], self.notes[i], wide[i], self.stored[i])
                x += wide[i] + 24
            y += high + 44
        for a, b, source in self.layout.edges:
            label, colour = look(*divmod(source, len(self.names)))
            (ax, _, ay), (bx, by, low) = ends[a], ends[b]
            bend = b >= len(self.names)
            drawing.line([(ax, ay), (bx, by)] + [(bx, low)] * bend, colour, arrow=not bend)
            if label and a < len(self.names):
                drawing.text((ax + bx) / 2 + 8, (ay + by) / 2 + 4, label, small=True)
        return left + whole


class Nodes:
    """The nodes behind `roots`; with a loss, in which order they ran and what each passed on."""

    def __init__(self, drawing: Drawing, roots: list[Any], leaves: dict[Any, str], loss: Any = None) -> None:
        self.drawing, self.leaves = drawing, {id(leaf): name for leaf, name in leaves.items()}
        self.notes: dict[Any, str] = {}
        self.ran: list[Any] = []
        self.parts: dict[Any, Any] = {}
        found = dict.fromkeys(roots)
        stack = list(found)
        for node in stack:
            for to, _ in node.next_functions:
                if to is not None and to not in found:
                    found[to] = None
                    stack.append(to)
        self.found = list(found)
        if loss is not None:
            for node in self.found:
                node.register_hook(self.seen(node))
            loss.backward()

    def seen(self, node: Any) -> Callable[[Any, Any], None]:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            self.ran.append(node)
            self.parts[node] = grad_inputs
        return hook

    def lay(self, left: float, top: float, labels: dict[Any, str]) -> float:
        names = []
        for node in self.found:
            leaf = getattr(node, "variable", None)
            names.append(node.name().rpartition("::")[2] if leaf is None else self.leaves[id(leaf)])
        numbers = {node: n for n, node in enumerate(self.found)}
        edges = [(numbers[node], numbers[to]) for node in self.found for to, _ in node.next_functions if to is not None]
        boxes = Layered(names, edges)
        boxes.notes = [self.notes.get(node, "") for node in self.found]
        boxes.stored = [hasattr(node, "variable") for node in self.found]
        return boxes.lay(self.drawing, left, top, lambda a, b: (
            labels.get((self.found[a], self.found[b]), ""), STORED if boxes.stored[b] else PASSING))
