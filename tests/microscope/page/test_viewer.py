"""The page of a recording: what it holds, that it is built from viewer/, and how it behaves in Chromium."""

from __future__ import annotations

import base64
import importlib
import json
import math
import os
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from three_steps import training

import retrograd as torch
from retrograd import microscope, nn
from retrograd.microscope import Recording, flight, load, record
from retrograd.microscope.page import contents, pairs
from retrograd.microscope.page.write import page_of, template

ROOT = Path(__file__).resolve().parents[3]
KB = 1000


class Block(nn.Module):
    def __init__(self, wide: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(wide)
        self.up, self.act, self.down = nn.Linear(wide, 2 * wide), nn.ReLU(), nn.Linear(2 * wide, wide)

    def forward(self, x: Any) -> Any:
        return x + self.down(self.act(self.up(self.norm(x))))


def halve(g: Any) -> Any:
    return g * 0.5


def step_of(blocks: int = 2, wide: int = 4) -> tuple[Any, Recording]:
    """One training step of a small residual net, with a hook that changes a gradient."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, wide), *[Block(wide) for _ in range(blocks)], nn.Linear(wide, 2))
    model[0].weight.register_hook(halve)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1])
    with record(model) as rec:
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model, rec


def held(page: str) -> dict[str, Any]:
    """The data inside a page."""
    [packed] = re.findall(r'id="data">([A-Za-z0-9+/=]*)</script>', page)
    return json.loads(zlib.decompress(base64.b64decode(packed)))


# -- the file

def test_the_page_holds_the_whole_recording() -> None:
    _, rec = step_of()
    data = held(page_of(rec))
    assert [row[0] for row in data["events"]] == [row[0] for row in rec.rows]
    assert [m["path"] for m in data["modules"]] == [m["path"] for m in rec.modules]
    assert {v["name"] for v in data["names"].values() if v["role"] == "parameter"} == set(rec.parameters)
    norms = [row[2] for row in data["values"] if len(row) > 1]
    measured = [rec.value(n).norm for n, row in enumerate(data["values"]) if len(row) > 1]
    np.testing.assert_allclose(np.array(norms, float), measured, rtol=1e-4)
    texts = [text for *_, text in data["sites"]]
    assert "return x + self.down(self.act(self.up(self.norm(x))))" in texts


def test_the_page_of_a_saved_recording_is_that_of_the_live_one(tmp_path: Path) -> None:
    _, rec = step_of()
    rec.save(tmp_path / "run.trace")
    live, read = held(page_of(rec)), held(page_of(load(tmp_path / "run.trace")))
    assert live.keys() == read.keys()
    for name in ("sites", "values", "vertices", "groups", "graphs", "ofNode", "tensors", "nodes"):
        assert live[name] == read[name], name


def test_a_saved_recording_shows_its_own_source_lines_not_this_machines(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("password = 'hunter2'\n")
    _, rec = step_of()
    rec.save(tmp_path / "run.trace")
    lines = [json.loads(line) for line in (tmp_path / "run.trace").read_text().splitlines()]
    for line in lines:
        if line["kind"] == "site":
            line.update(file=str(secret), line=1, text="as recorded")
    (tmp_path / "run.trace").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert {site[3] for site in held(page_of(load(tmp_path / "run.trace")))["sites"]} == {"as recorded"}


def test_pages_stay_small() -> None:
    """The page without data stays under 200 KB, that of a transformer's step under 400 KB."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 4)
    with record(model) as rec:
        model(torch.randn(2, 5, 16)).sum().backward()
    assert len(template().read_bytes()) < 200 * KB
    assert len(page_of(rec).encode()) < 400 * KB


def test_to_html_replaces_a_file_as_a_whole(tmp_path: Path) -> None:
    _, rec = step_of(blocks=1)
    rec.to_html(tmp_path / "trace.html", title="a <b> & c")
    page = (tmp_path / "trace.html").read_text(encoding="utf-8")
    assert "<title>a &lt;b&gt; &amp; c</title>" in page
    assert os.listdir(tmp_path) == ["trace.html"]
    with pytest.raises(OSError):
        rec.to_html(tmp_path / "missing" / "trace.html")


def test_the_page_names_no_address_and_forbids_the_network() -> None:
    page = template().read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    addresses = set(re.findall(r"https?://[^\s\"'`)]+", page)) - {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML", "http://www.w3.org/1999/xhtml"}
    assert addresses == set()


def test_a_notebook_shows_tables_and_on_request_the_page() -> None:
    model, rec = step_of(blocks=1)
    shown = rec._repr_html_()
    assert f"<td style=\"text-align:left\">{np.linalg.norm(model[0].weight.grad.numpy()):.4g}</td>" in shown
    assert "<td style=\"text-align:left\">halve</td>" in shown
    frame = rec.view(height=300)._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts"') and "height:300px" in frame
    assert frame.count("<") == 2                                        # the page inside is one escaped attribute
    with pytest.raises(ValueError, match="height must be a positive number of pixels, not 0"):
        rec.view(0)


def test_a_notebook_shows_ledgers_coverage_and_watches_as_tables_and_names_as_text() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.add_module("<b>", nn.Linear(2, 2))

        def forward(self, x: torch.Tensor) -> Any:
            return getattr(self, "<b>")(x)

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with microscope.watch(net) as watched, record(net, values="parameters") as rec:
        net(torch.ones(3, 2)).sum().backward()
        optimizer.step()
    with microscope.capture(net) as cap:
        net(torch.ones(3, 2)).sum().backward()
    for shown in (rec.ledger("<b>.weight"), cap.coverage(), watched):
        page = shown._repr_html_()
        assert "&lt;b&gt;.weight" in page and "<b>" not in page and page.count("<table>") == 1
    assert "covered 2/2 parameters" in cap.coverage()._repr_html_()


def test_the_committed_page_is_what_viewer_builds(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    shutil.copytree(ROOT / "viewer", tmp_path / "viewer", ignore=shutil.ignore_patterns("node_modules"))
    here = {"cwd": tmp_path / "viewer", "check": True, "timeout": 120}
    subprocess.run(["npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-update-notifier"], **here)
    subprocess.run(["node", "build.mjs", str(tmp_path / "viewer.html")], **here)
    built = (tmp_path / "viewer.html").read_bytes()
    assert built == (ROOT / "src" / "retrograd" / "microscope" / "page" / "viewer.html").read_bytes(), "run: npm run build"
    assert built == template().read_bytes()                               # the wheel has it, too


# -- in the browser

class Page:
    """A recording's page, open in the browser."""

    def __init__(self, chromium: Any, rec: Any, folder: Path) -> None:
        self.chromium = chromium
        self.requests: list[str] = []
        rec.to_html(folder / "trace.html")
        self.address = (folder / "trace.html").as_uri()
        self.complaints()
        chromium.get(self.address)
        self.wait("document.documentElement.dataset.ready === 'true'")

    def js(self, code: str, *arguments: Any) -> Any:
        return self.chromium.execute_script(code, *arguments)

    def wait(self, condition: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait
        WebDriverWait(self.chromium, 120, poll_frequency=0.02).until(lambda _: self.js(f"return {condition}"), condition)

    def keys(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains
        for key in keys:
            ActionChains(self.chromium).send_keys(key).perform()
        self.settle()

    def settle(self) -> None:
        """Until what was asked for is drawn."""
        self.chromium.execute_async_script(
            "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => setTimeout(done, 0)), 0)")

    def click(self, selector: str) -> None:
        self.chromium.find_element("css selector", selector).click()
        self.settle()

    def text(self, selector: str) -> str:
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def rows(self) -> list[str]:
        """The outline's rows in sight: name, then the norm if there is one."""
        return self.js("""return [...document.querySelectorAll('[role=treeitem]')]
                          .map(row => row.innerText.replace(/\\s+/g, ' ').trim())""")

    def step(self) -> tuple[int, int]:
        at, of = self.text("[data-testid=step]").split(" of ")
        return int(at), int(of)

    def colours(self) -> set[int]:
        """Which colours the graph's canvas has."""
        return set(self.js("""
            const canvas = document.querySelector('.graph canvas');
            const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const found = new Set();
            for (let i = 0; i < data.length; i += 4) found.add(data[i] * 65536 + data[i + 1] * 256 + data[i + 2]);
            return [...found]"""))

    def picture(self) -> str:
        """The graph as drawn."""
        self.settle()
        self.settle()
        return self.js("return document.querySelector('.graph canvas').toDataURL()")

    def complaints(self) -> list[str]:
        """Console messages, and requests beyond the page itself, since the last call."""
        found = [entry["message"] for entry in self.chromium.get_log("browser")]
        for entry in self.chromium.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                if address != getattr(self, "address", None):
                    found.append(f"asked for {address}")
        return [text for text in found if "willReadFrequently" not in text]     # of colours()


@pytest.fixture
def open_page(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    pages: list[Page] = []

    def open_it(rec: Any) -> Page:                      # a recording, or two side by side
        pages.append(Page(chromium, rec, tmp_path))
        return pages[-1]

    yield open_it
    for page in pages:
        assert page.complaints() == []


def digits(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def norms(page: Page) -> dict[str, str]:
    return {name: norm for name, _, norm in (row.rpartition(" ") for row in page.rows()) if name}


def test_it_opens_with_the_modules_closed(open_page: Any) -> None:
    _, rec = step_of()
    page = open_page(rec)
    assert [row.split()[0] for row in page.rows()] == [
        "input", "input", "Sequential", "0", "1", "2", "3", "log_softmax", "nll_loss"]
    assert len(page.colours()) > 20                                     # something is drawn
    assert "This recording" in page.text("aside")
    assert "halve" in page.text("aside")


def test_a_module_opens_and_closes(open_page: Any) -> None:
    _, rec = step_of()
    page = open_page(rec)
    closed = page.rows()
    before = page.colours()
    page.js("document.querySelectorAll('[role=treeitem]')[4].querySelector('.twist').click()")
    page.settle()
    opened = [row.split()[0] for row in page.rows()]
    assert opened[4:10] == ["1", "norm", "up", "act", "down", "add"]
    assert page.colours() != before
    page.js("document.querySelectorAll('[role=treeitem]')[4].querySelector('.twist').click()")
    page.settle()
    assert page.rows() == closed


def test_stepping_shows_gradients_as_they_arrive(open_page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    model, rec = step_of(blocks=1)
    page = open_page(rec)
    total = page.step()[1]
    steps = [e for e in rec.events if e.kind not in ("enter", "exit", "note")]
    assert total == len(steps)
    page.keys("e", Keys.HOME)
    assert page.step() == (1, total)
    assert page.rows().count("weight") == sum(name.endswith("weight") for name in rec.parameters)   # none has a norm
    page.keys("b")
    assert page.step()[0] == 1 + next(i for i, e in enumerate(steps) if e.kind == "begin")
    first = next(i for i, e in enumerate(steps) if e.kind == "accumulate")
    page.keys(*[Keys.ARROW_RIGHT] * (first + 1 - page.step()[0]))
    assert page.step()[0] == first + 1
    parameter = dict(model.named_parameters())[rec.name_of_tensor(steps[first].tensor)]
    assert "gradient arrives" in page.text(".now") and rec.name_of_tensor(steps[first].tensor) in page.text(".now")
    shown = [digits(row.split()[1]) for row in page.rows() if re.match(r"(weight|bias) ", row)]
    assert shown == [pytest.approx(np.linalg.norm(parameter.grad.numpy()), rel=1e-3)]
    page.keys(Keys.ARROW_LEFT)
    assert not any(re.match(r"(weight|bias) ", row) for row in page.rows())
    page.keys(Keys.END)
    assert page.step() == (total, total)
    assert sum(bool(re.match(r"(weight|bias) ", row)) for row in page.rows()) == len(rec.parameters)


def test_playing_goes_on_to_the_end_and_stops(open_page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(engine="retrograd") as rec:
        (x * x).sum().backward()
    page = open_page(rec)
    page.js("""window.played = false;                     // it may be over before we look
               new MutationObserver(() => { window.played ||= !!document.querySelector('[aria-label=Pause]') })
                   .observe(document.body, {subtree: true, childList: true, attributes: true})""")
    page.keys(Keys.END, Keys.SPACE)
    page.wait("window.played && document.querySelector('[aria-label=Play]')")
    assert page.step()[0] == page.step()[1]


def test_search_finds_a_parameter_and_shows_its_account(open_page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    model, rec = step_of()
    page = open_page(rec)
    page.keys("/", "0.weight")
    assert page.text("[role=option][aria-selected=true] .name") == "0.weight"
    page.keys(Keys.ENTER)
    account = page.text("aside")
    assert "parameter, 4\u00d73 float32" in account
    assert "halve: It returned another value." in account
    assert "pass 1: accumulated" in account and "SGD.step" in account
    table = page.js("""return [...document.querySelectorAll('.entry')].map(e => [...e.querySelectorAll('tbody tr')]
                       .map(r => [...r.children].map(c => c.innerText)))""")
    hook, accumulate, _ = table
    norm = np.linalg.norm(model[0].weight.grad.numpy())
    assert digits(hook[0][2]) == pytest.approx(2 * norm, rel=1e-3)
    assert digits(hook[1][2]) == pytest.approx(norm, rel=1e-3)
    assert accumulate[0] == ["had", "none"]
    assert digits(accumulate[2][2]) == pytest.approx(norm, rel=1e-3)
    terms = page.js("""return [...document.querySelectorAll('.values th .badge')].map(e => e.parentElement.innerText)""")
    assert [text.split()[0] for text in terms] == [row["kind"] for row in rec.ledger("0.weight").rows(ways=True)]
    assert [text.split()[0] for text in terms] == ["use", "way", "way", "hook"]
    assert page.js("return document.querySelector('.row.chosen').innerText").startswith("weight")


class Loop(nn.Module):
    """One cell, called again and again."""

    def __init__(self, times: int, functional: bool = False, residual: bool = False) -> None:
        super().__init__()
        self.times, self.functional, self.residual = times, functional, residual
        self.cell = nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        for _ in range(self.times):
            y = torch.tanh(x @ self.cell.weight if self.functional else self.cell(x))
            x = x + y if self.residual else y
        return x


def loop_of(times: int, **how: Any) -> Recording:
    torch.manual_seed(0)
    model = Loop(times, **how)
    with record(model) as rec:
        model(torch.randn(2, 3)).square().mean().backward()
    return rec


def terms(page: Page) -> list[list[str]]:
    """The ledger in the details: what, and the norm."""
    return page.js("""return [...document.querySelectorAll('.ledger tbody tr')].map(row =>
                      [row.children[1].innerText.split('\\n')[0], row.lastChild.innerText])""")


@pytest.mark.parametrize("residual", [False, True])
def test_each_of_fifty_calls_has_its_row_in_the_ledger_with_its_own_norm(open_page: Any, residual: bool) -> None:
    from selenium.webdriver.common.keys import Keys

    rec = loop_of(50, residual=residual)
    page = open_page(rec)
    page.keys("/", "cell.weight", Keys.ENTER)
    uses = rec.ledger("cell.weight").uses
    shown = terms(page)
    assert [text.rpartition(", call ")[2] for text, _ in shown] == [str(call) for call in range(50, 0, -1)]
    assert [digits(norm) for _, norm in shown] == [pytest.approx(use.norm, rel=5e-3) for use in uses]
    assert "Used 50 times" in page.text("aside") and "cell, call 50" in page.text("aside")
    ways = page.js("return [...document.querySelectorAll('.ledger [aria-expanded=false]')].map(b => b.innerText)")
    assert ways == [f"{len(use.ways)} ways" for use in uses if use.ways] and bool(ways) is residual
    if residual:
        page.click(".ledger [aria-expanded=false]")
        opened = next(use for use in uses if use.ways)
        assert [text.split()[0] for text, _ in terms(page)].count("way") == len(opened.ways)


def test_uses_in_one_call_are_counted_in_the_order_of_the_forward_pass(open_page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    rec = loop_of(120, functional=True)
    page = open_page(rec)
    page.keys("/", "cell.weight", Keys.ENTER)
    assert len(terms(page)) == 101                                      # a hundred, and a button for the others
    assert page.js("return [...document.querySelectorAll('.ledger tbody .go')].map(b => b.innerText)") == ["show 20 more"]
    page.click(".ledger tbody .go")
    shown = terms(page)
    assert [text.rpartition(", ")[2] for text, _ in shown] == [f"{i} of 120" for i in range(120, 0, -1)]
    assert [digits(norm) for _, norm in shown] == [pytest.approx(use.norm, rel=5e-3) for use in rec.ledger("cell.weight").uses]


def test_repeated_calls_of_a_module_are_folded_and_open_to_each(open_page: Any) -> None:
    page = open_page(loop_of(50))
    names = [row.rpartition(" ")[0] for row in page.rows()]
    assert names == ["input", "Loop", "cell \u00d7 50", "pow", "mean"]
    page.js("document.querySelectorAll('[role=treeitem]')[2].querySelector('.twist').click()")
    page.settle()
    opened = [row.rpartition(" ")[0] for row in page.rows()]
    assert opened[3:7] == ["cell \u00b7 call 1", "tanh", "cell \u00b7 call 2", "tanh"]
    page.js("document.querySelectorAll('[role=treeitem]')[2].click()")
    page.settle()
    assert page.text("aside section:nth-of-type(2) h2") == "cell \u00d7 50"
    calls = page.js("return [...document.querySelectorAll('aside section section:last-child .go')].map(b => b.innerText)")
    assert calls == [f"cell \u00b7 call {i}" for i in range(1, 51)]


def folded(rec: Recording) -> list[list[Any]]:
    """Name and number of calls of each fold."""
    return [[group[4], group[1]] for group in held(page_of(rec))["groups"] if len(group) > 4]


def test_only_rounds_alike_in_one_forward_pass_are_folded() -> None:
    layers, act = [nn.Linear(2, 2) for _ in range(4)], nn.ReLU()
    chain = nn.Sequential(*[m for layer in layers for m in (layer, act)])
    with record(chain) as shared:
        chain(torch.ones(1, 2)).sum().backward()
    assert folded(shared) == []                                         # act is called four times, each between others
    layer = layers[0]
    with record(layer) as passes:
        for _ in range(3):
            layer(torch.ones(1, 2)).sum().backward()
    assert folded(passes) == []
    head = nn.Linear(2, 2)
    with record(nn.ModuleList([layer, head, act])) as rounds:
        x = torch.ones(1, 2)
        for _ in range(5):
            x = torch.tanh(layer(x))
            head(x)
        layer(act(x))                                                   # is no round of the loop
    assert folded(rounds) == [["0", 5]]


def test_a_folded_loop_keeps_every_vertex_and_has_no_edge_back() -> None:
    data = held(page_of(loop_of(7, residual=True)))
    assert {number for kind, number, _ in data["vertices"] if kind == 0} == {
        i for i, row in enumerate(data["events"]) if row[0] == "op"}
    for _, parts, edges in data["graphs"]:
        row_of = {item: r for rows in parts for r, row in enumerate(rows) for item in row}
        assert all(row_of[a] < row_of[b] for a, b, _ in edges)


def clipped(torch: Any) -> tuple[Any, Recording, float]:
    """A step whose gradients are unscaled and clipped twice; the norm of all before clipping."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    with record(model) as rec:
        scaler.scale(model(torch.ones(5, 3)).square().mean()).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(
            model.parameters(), 0.5,
        )
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimizer.step()
    return model, rec, float(norm)


@pytest.mark.parametrize("engine", ["retrograd", pytest.param("torch", marks=pytest.mark.oracle)])
def test_clipping_and_unscaling_are_one_box_one_row_and_one_step_each(open_page: Any, engine: str) -> None:
    from selenium.webdriver.common.keys import Keys

    model, rec, norm = clipped(pytest.importorskip(engine))
    assert folded(rec) == [["unscale_", 0], ["clip_grad_norm_", 0], ["clip_grad_value_", 0]]
    page = open_page(rec)
    page.keys("e", Keys.END)
    rows = page.rows()
    last = max(i for i, row in enumerate(rows) if row.startswith("mean") or row.startswith("mul"))
    assert rows[last + 1:last + 4] == ["unscale_", "clip_grad_norm_", "clip_grad_value_"]     # nothing of what is inside
    assert not any("norm" in row for row in rows if row != "clip_grad_norm_")
    titles = []
    for _ in range(4):
        titles.append(page.text(".now h2"))
        page.keys(Keys.ARROW_LEFT)
    assert titles == ["SGD.step", "clip_grad_value_", "clip_grad_norm_", "unscale_"]
    page.keys(Keys.END, "/", "clip_grad_norm_", Keys.ENTER)
    before, after = page.js("""return [...[...document.querySelectorAll('aside tr')].find(
        row => row.innerText.startsWith('together')).querySelectorAll('td')].map(cell => cell.innerText)""")
    assert digits(before) == pytest.approx(norm, rel=1e-3) and digits(after) == pytest.approx(min(norm, 0.5), rel=1e-3)
    page.keys("/", "0.weight", Keys.ENTER)
    left = np.linalg.norm(np.array(model[0].weight.grad.tolist()))
    assert digits(page.js("return document.querySelector('.row.chosen .norm').innerText")) == pytest.approx(left, rel=1e-3)
    assert "clip_grad_norm_" in page.text("aside") and "unscale_" in page.text("aside")


def test_closing_all_fits_the_graph_to_its_pane(open_page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page = open_page(step_of(blocks=6)[1])
    page.keys("c")
    page.click("[aria-label^='Fit the graph']")
    fitted = page.picture()
    page.keys("e")
    canvas = page.chromium.find_element("css selector", ".graph canvas")
    ActionChains(page.chromium).drag_and_drop_by_offset(canvas, 250, -300).perform()
    page.keys("c")
    assert page.picture() == fitted


def test_it_says_why_there_is_no_gradient_and_why_a_hook_is_silent(open_page: Any) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[0].weight.requires_grad_(False)
    handle = model[1].bias.register_hook(halve)
    with record(model) as rec:
        model[0](torch.ones(1, 2)).sum().backward()
    page = open_page(rec)
    said = page.text("aside")
    for name in ("0.weight", "1.weight", "1.bias"):
        assert rec.why_none(name).text in said and rec.why_none(name).way_out in said
    assert rec.why_not_fired(handle).text in said


def test_a_large_recording_says_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "WORK", 3)
    data = held(page_of(step_of(blocks=1)[1]))
    assert data["ledgers"] == {} and "rec.ledger(name)" in data["leftOut"][0]


def test_search_says_when_there_is_nothing(open_page: Any) -> None:
    page = open_page(step_of(blocks=1)[1])
    page.keys("/", "no such thing")
    assert page.text(".found") == "nothing found"


def test_the_outline_and_the_timeline_work_by_keyboard(open_page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page = open_page(step_of()[1])
    page.js("document.querySelector('[role=tree]').focus()")
    page.keys(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    assert page.js("return document.querySelector('.row.chosen').getAttribute('aria-expanded')") == "false"
    page.keys(Keys.ARROW_RIGHT)
    assert page.js("return document.querySelector('.row.chosen').getAttribute('aria-expanded')") == "true"
    chosen = page.js("return document.querySelector('.row.chosen').id")
    assert page.js("return document.querySelector('[role=tree]').getAttribute('aria-activedescendant')") == chosen
    page.js("document.querySelector('[role=slider]').focus()")
    page.keys(Keys.HOME)
    slider = "return document.querySelector('[role=slider]').getAttribute(arguments[0])"
    assert page.js(slider, "aria-valuenow") == "1"
    page.keys(Keys.ARROW_RIGHT)
    assert page.js(slider, "aria-valuenow") == "2"
    assert page.js(slider, "aria-valuetext").startswith("op: ")
    page.keys("?")
    assert page.js("return document.querySelector('dialog').open") is True
    page.keys(Keys.ESCAPE)
    assert page.js("return document.querySelector('dialog').open") is False


def choose(page: Page, a: int | None, b: int | None) -> None:
    """Choose these in the dialog: steps counted from 1, None for all."""
    page.js("""const [a, b] = document.querySelectorAll('.compare select');
               [a.value, b.value] = arguments;
               for (const s of [a, b]) s.dispatchEvent(new Event('change', {bubbles: true}))""",
            *("" if n is None else n - 1 for n in (a, b)))
    page.settle()


def told_rows(page: Page, section: str) -> list[tuple[str, bool]]:
    """(first cell, is it marked?) of the dialog's tables, with all that was folded or left for later."""
    while page.js(f"""const more = document.querySelector('[data-testid={section}] .fold .go, [data-testid={section}] > .go');
                      more?.click();
                      return !!more"""):
        page.settle()
    return [tuple(row) for row in page.js(f"""
        return [...document.querySelectorAll('[data-testid={section}] tbody tr')].map((row) =>
            [row.querySelector('th').innerText.replace('\u2260 ', ''), row.classList.contains('marked')])""")]


def agrees(page: Page, found: Any) -> None:
    """The dialog says what microscope.compare says."""
    assert told_rows(page, "events") == [(f"{r.text} {r.kind}", r.marked) for r in found.rows]
    said, sentence = page.text("[data-testid=first]"), str(found.first or "no difference")
    assert said.partition(": norm")[0] == sentence.partition(": norm")[0]
    caption = page.text("[data-testid=events] caption")
    marked = len(found.differences)
    assert caption.endswith(f": {marked} of {len(found.rows)} differ" if marked else ": none differs"), caption


@pytest.mark.parametrize("engine", ["retrograd", pytest.param("torch", marks=pytest.mark.oracle)])
def test_two_steps_are_chosen_by_keyboard_and_compared_as_rec_compare_does(open_page: Any, engine: str, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    training(importlib.import_module(engine)).save(tmp_path / "run.trace")
    rec = load(tmp_path / "run.trace")
    page = open_page(rec)
    page.keys("d")
    assert page.js("return document.querySelector('.compare').open") is True
    assert page.js("return document.activeElement.labels[0].innerText").startswith("a")
    for a, b in ((2, 3), (1, 3), (1, 2)):
        choose(page, a, b)
        assert page.text(".compare h2") == f"Compare step {a} with step {b}"
        rows, wanted = told_rows(page, "facts"), rec.compare(a, b)
        assert sorted(rows) == sorted((r.name, r.marked) for r in wanted.rows)
        assert [name for name, marked in rows if marked] and page.text("[data-testid=differ]") == (
            f"{len(wanted.differences)} of {len(rows)} rows differ")
        agrees(page, microscope.compare(rec, rec, a, b))
    page.keys(Keys.HOME, "d")                           # of the list of steps, not of the page
    page.keys(Keys.ESCAPE)
    assert page.js("return document.querySelector('.compare').open") is False
    assert not page.js("return [...document.querySelectorAll('.compare select, .compare button')].filter((x) => !x.innerText)")


def test_a_page_of_two_recordings_opens_at_what_differs_first(open_page: Any) -> None:
    rec = training(torch)
    found = microscope.compare(rec, rec, 1, 2)
    page = open_page(found)
    assert page.js("return document.querySelector('.compare').open") is True
    assert page.text(".compare h2") == "Compare step 1 with step 2"
    agrees(page, found)
    page.js("document.querySelector('[data-testid=events] tbody button').click()")
    assert page.js("return document.querySelector('.compare').open") is False


def two_runs(how: dict[str, Any], other: dict[str, Any]) -> tuple[Recording, Recording]:
    """Steps of two runs: the weights of the second are 1 % larger."""
    found = []
    for larger, its in ((1.0, how), (1.01, other)):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        with torch.no_grad():
            model[2].weight.mul_(larger)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.randn(5, 3)
        with record(model, **its) as rec:
            for step in range(3):
                optimizer.zero_grad()
                y = model(x)
                ((y if step != 1 else y.tanh()) > 0).sum()
                y.square().sum().backward()
                optimizer.step()
        found.append(rec)
    return found[0], found[1]


@pytest.mark.parametrize("how, other", [({}, {}), ({"values": "all"}, {"values": "all"}), ({"values": "all"}, {}),
                                        ({"norms": False}, {"norms": False}), ({"values": "all", "norms": False},) * 2])
def test_steps_of_two_recordings_are_chosen_in_the_page_and_compared_as_in_python(open_page: Any, how: Any, other: Any) -> None:
    a, b = two_runs(how, other)
    page = open_page(microscope.compare(a, b))
    assert page.text(".compare h2") == "Compare all of a with all of b"
    agrees(page, microscope.compare(a, b))
    for m, n in ((1, 1), (1, 2), (3, 2), (None, 3)):
        choose(page, m, n)
        agrees(page, microscope.compare(a, b, m, n))
    choose(page, 2, 3)
    assert page.text(".compare h2") == "Compare step 2 of a with step 3 of b"


@pytest.mark.oracle
def test_a_page_of_recordings_of_two_engines_compares_what_both_have(open_page: Any) -> None:
    import torch as pytorch

    a, b = training(torch), training(pytorch)
    page = open_page(microscope.compare(a, b))
    agrees(page, microscope.compare(a, b))
    assert "operations and nodes of two engines are not compared" in page.text(".compare")


def test_recorded_values_that_only_changed_places_differ_in_the_page(open_page: Any) -> None:
    def run(x: list[float]) -> Recording:
        with record(values="all") as rec:
            torch.tensor(x, requires_grad=True).exp().sum().backward()
        return rec

    found = microscope.compare(run([1.0, 2.0, 3.0]), run([3.0, 1.0, 2.0]))
    page = open_page(found)
    agrees(page, found)
    assert {"exp operation", "ExpBackward0 node"} <= {name for name, marked in told_rows(page, "events") if marked}


def test_long_stretches_alike_are_folded_around_what_differs(open_page: Any) -> None:
    def run(factor: float) -> Recording:
        x = torch.ones(3, requires_grad=True)
        with record() as rec:
            for i in range(30):
                x = x * (factor if i == 12 else 1.0)
        return rec

    found = microscope.compare(run(1.0), run(1.0))
    assert told_folds(open_page(found)) == ["30 alike"]
    found = microscope.compare(run(1.0), run(2.0))
    page = open_page(found)
    assert told_folds(page) == ["10 alike"] and page.text("[data-testid=first]").startswith("forward: mul [")
    assert len(page.js("return document.querySelectorAll('[data-testid=events] tbody tr')")) == 30 - 10 + 1
    agrees(page, found)


def told_folds(page: Page) -> list[str]:
    return page.js("return [...document.querySelectorAll('.fold')].map((row) => row.innerText)")


def test_the_page_of_two_recordings_holds_what_only_one_has(open_page: Any, tmp_path: Path) -> None:
    rec = training(torch)
    found = microscope.compare(rec, rec, 1, 2)
    found.to_html(tmp_path / "compare.html")
    data = held((tmp_path / "compare.html").read_text(encoding="utf-8"))
    assert data["header"]["opens"] == found.first.event_a
    page = open_page(found)
    told_rows(page, "events")
    cells = page.js("""return [...document.querySelectorAll('[data-testid=events] tbody tr')].map((row) =>
                       [...row.querySelectorAll('.number')].map((cell) => cell.innerText))""")
    assert any("none" in row for row in cells) and [row[0] == "none" for row in cells] == [r.a is None for r in found.rows]
    assert [row[2] == "\u221e" for row in cells] == [math.isinf(r.apart) for r in found.rows]


class WithMemory:
    """A recording whose page has the memory under its events."""

    def __init__(self, rec: Recording, mem: Any) -> None:
        self.rec, self.mem = rec, mem

    def to_html(self, path: Path) -> None:
        self.rec.to_html(path, memory=self.mem)


@pytest.mark.parametrize("engine", ["retrograd", pytest.param("torch", marks=pytest.mark.oracle)])
def test_memory_is_drawn_under_the_events_and_told_of_each(open_page: Any, engine: str) -> None:
    from selenium.webdriver.common.keys import Keys

    torch = importlib.import_module(engine)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    with microscope.memory(model) as mem, record(model) as rec:
        model(torch.randn(128, 64)).square().sum().backward()
    height = "return document.querySelector('footer canvas').getBoundingClientRect().height"
    without = open_page(rec).js(height)
    page = open_page(WithMemory(rec, mem))
    assert page.js(height) > without
    page.keys(Keys.END)
    tops = page.js("""
        const canvas = document.querySelector('footer canvas');
        const [wide, high] = [canvas.width, Math.round(canvas.height * 42 / canvas.getBoundingClientRect().height)];
        const { data } = canvas.getContext('2d').getImageData(0, canvas.height - high, wide, high);
        const grey = (x, y) => data[4 * (y * wide + x)];
        return [...Array(wide).keys()].slice(wide / 4).map((x) =>
            [...Array(high).keys()].find((y) => grey(x, y) !== grey(x, 0)))""")
    assert len(set(tops)) > 3                           # bars of different heights
    page.keys(Keys.HOME)
    told = []
    for _ in range(len(rec.rows)):
        page.keys(Keys.ARROW_RIGHT)
        told.append(page.js("""return [...document.querySelectorAll('aside summary')].map((s) => s.innerText)
                               .find((text) => text.startsWith('memory after it'))"""))
    assert any("100 % of the peak" in text for text in told) and len(set(told)) > 3


def test_a_recording_of_one_step_offers_no_comparison(open_page: Any) -> None:
    page = open_page(step_of()[1])
    page.keys("d")
    assert page.js("return document.querySelector('.compare').open") is False
    assert "Compare" not in page.text(".tools")


def test_a_page_of_very_many_facts_says_which_steps_it_can_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "ROOM", 30)
    data = held(page_of(training(torch)))
    [side] = data["compared"]["sides"]
    assert 0 < len(side["steps"]) < 3
    assert any("can be compared here" in text for text in data["leftOut"])


def test_every_control_has_a_name(open_page: Any) -> None:
    page = open_page(step_of()[1])
    tree = page.chromium.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles: dict[str, list[str]] = {}
    for node in tree:
        if not node.get("ignored"):
            roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in ("button", "tree", "treeitem", "slider", "image", "combobox", "toolbar", "navigation", "complementary"):
        assert roles.get(role) or roles.get({"combobox": "searchbox"}.get(role, role)), role
        assert all(roles.get(role, ["x"])), (role, roles[role])


def test_a_click_in_the_graph_selects_what_is_there(open_page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with record(engine="retrograd") as rec:
        x.exp()
    page = open_page(rec)
    canvas = page.chromium.find_element("css selector", ".graph canvas")
    # a pill above a box in the middle of the pane
    ActionChains(page.chromium).move_to_element_with_offset(canvas, 0, 25).click().perform()
    page.settle()
    assert page.text("aside section:nth-of-type(2) h2") == "exp"
    ActionChains(page.chromium).move_to_element_with_offset(canvas, 300, 0).click().perform()
    page.settle()
    assert "This recording" in page.text("aside")


def test_light_and_dark(open_page: Any) -> None:
    page = open_page(step_of(blocks=1)[1])
    light = page.js("return getComputedStyle(document.body).backgroundColor")
    page.keys("t")
    dark = page.js("return getComputedStyle(document.body).backgroundColor")
    assert brightness(light) > 200 and brightness(dark) < 60
    media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.keys("t")
    page.js("delete document.documentElement.dataset.theme")
    page.chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    assert page.js("return getComputedStyle(document.body).backgroundColor") == dark
    media["features"][0]["value"] = "light"
    page.chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def brightness(colour: str) -> float:
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


HOSTILE = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script></script>{{x}}&lt;%%DATA%%"


def test_what_a_stranger_wrote_is_text(open_page: Any, tmp_path: Path) -> None:
    """Each text of a recording's file is replaced by markup: none of it becomes an element."""
    _, rec = step_of(blocks=0)
    rec.save(tmp_path / "run.trace")
    lines = [json.loads(line) for line in (tmp_path / "run.trace").read_text().splitlines()]
    for line in lines:
        if line["kind"] == "header":
            line.update(argv=[HOSTILE], engine=HOSTILE, versions={HOSTILE: HOSTILE}, python=HOSTILE, error=HOSTILE)
        for name in ("file", "function", "text", "type", "on", "dtype", "error"):
            if isinstance(line.get(name), str) or (name == "error" and "error" in line):
                line[name] = HOSTILE
        if line["kind"] in ("op", "graph", "registration", "tensor") and "name" in line:
            line["name"] = HOSTILE + line["name"]
        if "names" in line:
            line["names"] = [HOSTILE + name for name in line["names"]]
        if line["kind"] == "module":
            line["path"] += HOSTILE
        if line["kind"] == "end-of-file":
            line.update(notes=[HOSTILE], dropped={HOSTILE: 3})
    (tmp_path / "run.trace").write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = load(tmp_path / "run.trace")
    page = open_page(read)
    from selenium.webdriver.common.keys import Keys
    page.keys("e", Keys.HOME)
    tags = set()
    for _ in range(page.step()[1]):
        page.js("document.querySelector('aside section:first-of-type .go')?.click()")
        page.keys(Keys.ARROW_RIGHT)
        tags |= set(page.js("return [...document.querySelectorAll('img, iframe, object, script, svg')].map(e => e.tagName)"))
    assert tags == {"SCRIPT"} and page.js("return document.scripts.length") == 2
    page.keys("/", "onerror", Keys.ENTER, Keys.ESCAPE)
    assert page.js("return window.hit") is None
    assert "<img src=x onerror=" in page.text("aside")
    shown = read._repr_html_()
    assert "<img" not in shown and "<script" not in shown and "&lt;img" in shown


def test_a_damaged_recording_is_refused_or_drawn(tmp_path: Path) -> None:
    """One field at a time holds something else: `load` says so, or the page can be made."""
    import random

    from retrograd.microscope import TraceError

    step_of(blocks=0)[1].save(tmp_path / "run.trace")
    lines = [json.loads(line) for line in (tmp_path / "run.trace").read_text().splitlines()]
    dice = random.Random(0)
    refused = 0
    for _ in range(150):
        i = dice.randrange(len(lines))
        field = dice.choice([name for name in lines[i] if name not in ("kind", "i")])
        bad = {**lines[i], field: dice.choice([None, -1, 10**6, "x", [], {}, 1.5, True, [[]], "nan"])}
        text = "".join(json.dumps(line) + "\n" for line in [*lines[:i], bad, *lines[i + 1:]])
        (tmp_path / "bad.trace").write_text(text)
        try:
            read = load(tmp_path / "bad.trace")
        except TraceError as error:
            assert str(error).startswith(str(tmp_path / "bad.trace"))
            refused += 1
        else:
            page_of(read)
            read._repr_html_()
    assert 0 < refused < 150


def test_a_damaged_page_says_so(chromium: Any, tmp_path: Path) -> None:
    page = Page(chromium, step_of(blocks=1)[1], tmp_path)
    text = (tmp_path / "trace.html").read_text(encoding="utf-8")
    start = text.index('id="data">') + 300
    (tmp_path / "cut.html").write_text(text[:start] + text[text.index("</script>", start):], encoding="utf-8")
    chromium.get((tmp_path / "cut.html").as_uri())
    assert page.text("#app").startswith("This page's recording cannot be read:")
    page.complaints()


def test_the_page_works_inside_a_notebooks_cell(chromium: Any, tmp_path: Path) -> None:
    page = Page(chromium, step_of(blocks=1)[1], tmp_path)
    (tmp_path / "cell.html").write_text("<!doctype html>" + step_of(blocks=1)[1].view()._repr_html_(), encoding="utf-8")
    assert page.complaints() == []
    page.address = (tmp_path / "cell.html").as_uri()
    chromium.get(page.address)
    chromium.switch_to.frame(0)
    page.wait("document.documentElement.dataset.ready === 'true'")
    assert [row.split()[0] for row in page.rows()][2:5] == ["Sequential", "0", "1"]
    chromium.switch_to.default_content()
    assert [text for text in page.complaints() if "srcdoc" not in text] == []


def test_odd_numbers_are_marked(open_page: Any) -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with record(engine="retrograd") as rec:
        (x.sqrt() * x).sum().backward(torch.tensor(math.inf))
    page = open_page(rec)
    said = page.text("aside")
    assert all(str(finding) in said for finding in rec.trouble()) and "backward: " in said
    assert [row.rpartition(" ")[2] for row in page.rows() if row.startswith(("sqrt", "mul", "sum"))] == ["NaN", "inf", "inf"]


@pytest.mark.parametrize("bad", [True, False])
def test_an_operation_that_made_nan_is_red_without_a_backward_pass(open_page: Any, bad: bool) -> None:
    from selenium.webdriver.common.keys import Keys
    x = torch.tensor([-1.0 if bad else 2.0, 1.0], requires_grad=True)
    with record(engine="retrograd") as rec:
        (x.sqrt() * x).sum()
    page = open_page(rec)
    page.keys(Keys.END)
    red = page.js("return getComputedStyle(document.documentElement).getPropertyValue('--bad').trim()")
    assert (int(red[1:], 16) in page.colours()) is bad


@pytest.mark.parametrize("asked", [{}, {"ops": False}, {"nodes": False}, {"norms": False}, {"limit": 12}])
def test_recordings_of_parts_open(open_page: Any, asked: dict[str, Any]) -> None:
    from selenium.webdriver.common.keys import Keys

    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    with record(model, **asked) as rec:
        model(torch.ones(2, 3)).sum().backward()
    page = open_page(rec)
    page.keys("e", Keys.HOME, *[Keys.ARROW_RIGHT] * 10, "b", Keys.END)
    assert page.step() == (sum(e.kind not in ("enter", "exit", "note") for e in rec.events),) * 2
    assert ("The limit was reached. Dropped" in page.text("aside")) == bool(rec.dropped)


def test_an_empty_recording_and_one_that_failed_open(open_page: Any) -> None:
    with record(engine="retrograd") as empty:
        pass
    page = open_page(empty)
    page.keys("b", "e", "c")
    assert "No events" in page.text("aside")
    with pytest.raises(ValueError, match="of mine"), record(engine="retrograd") as failed:
        torch.ones(2)
        raise ValueError("of mine")
    assert "It ended early: ValueError: of mine" in open_page(failed).text("aside")


@pytest.mark.oracle
def test_the_page_of_a_step_on_pytorch(open_page: Any) -> None:
    theirs = pytest.importorskip("torch")
    theirs.manual_seed(0)
    model = theirs.nn.TransformerEncoder(
        theirs.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 3, enable_nested_tensor=False)
    model.layers[1].linear1.weight.register_hook(halve)
    model.layers[2].register_full_backward_hook(lambda module, grad_input, grad_output: None)
    with record(model) as rec:
        model(theirs.randn(2, 5, 16)).square().mean().backward()
    assert len(page_of(rec).encode()) < 400 * KB
    page = open_page(rec)
    page.keys("e", "/", "layers.1.linear1.weight")
    page.keys("\ue007")
    account = page.text("aside")
    assert "halve: It returned another value." in account and "parameter, 32\u00d716 float32" in account
    assert held(page_of(rec))["header"]["engine"] == "torch"


def test_several_iterations_and_passes(open_page: Any) -> None:
    """Each pass starts afresh: a parameter shows what the pass at the cursor left in .grad."""
    from selenium.webdriver.common.keys import Keys

    w = nn.Parameter(torch.tensor([2.0]))
    optimizer = torch.optim.SGD([w], lr=0.0)
    with record(engine="retrograd") as rec:
        for scale in (3.0, 4.0):
            optimizer.zero_grad()
            (w * scale).sum().backward()
    page = open_page(rec)
    steps = [e for e in rec.events if e.kind not in ("enter", "exit", "note")]
    seen = []
    page.keys(Keys.HOME)
    for event in steps:
        if event.kind == "end" or event.kind == "zero":
            page.js("document.querySelectorAll('[role=treeitem]')[0].click()")
            pills = [row for row in page.rows() if row.startswith("input")]
            seen.append(pills[0].split()[2:] if pills else None)
        page.keys(Keys.ARROW_RIGHT)
    assert seen in ([[], ["3"], [], ["4"]], [["3"], [], ["4"]])


def test_a_pass_is_shown_in_the_calls_that_it_goes_through(open_page: Any) -> None:
    layer = nn.Linear(2, 2)
    with record(layer) as rec:
        for _ in range(3):
            layer(torch.ones(1, 2)).sum().backward()
    page = open_page(rec)
    page.keys("c")
    assert [bool(re.search(r"\d$", row.removeprefix(f"Linear \u00b7 call {i}"))) for i, row in enumerate(
        (row for row in page.rows() if row.startswith("Linear")), 1)] == [False, False, True]


def test_a_large_graph_is_usable(open_page: Any) -> None:
    """20,000 operations: opens, steps, finds; the page holds only the rows in sight."""
    from selenium.webdriver.common.keys import Keys

    x = torch.ones(2, requires_grad=True)
    with record(engine="retrograd") as rec:
        y = x
        for i in range(10_000):
            y = y * 0.5 if i % 2 else y + x
        y.sum().backward()
    assert sum(row[0] in ("op", "node") for row in rec.rows) > 20_000
    page = open_page(rec)
    assert len(page.rows()) < 100
    page.keys(Keys.HOME, Keys.ARROW_RIGHT)
    assert page.step()[0] == 2
    page.keys("/", "SumBackward", Keys.ENTER)
    assert page.text("aside section:nth-of-type(2) h2") == "sum"


def test_the_page_of_a_flight_opens_at_the_first_bad_number(open_page: Any, tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    with flight(net, path=tmp_path / "flight") as flown:
        for scale in (1.0, -1.0):
            torch.log(net(torch.ones(4, 2)).square().sum() * scale).backward()
    rec = load(tmp_path / "flight.trace")
    assert "made by log" in flown.reports[0]
    page = open_page(rec)
    moments = [e for e in rec.events if e.kind not in ("enter", "exit", "note")]
    assert moments[page.step()[0] - 1].number == rec.header["opens"] and "log" in page.text(".now")
