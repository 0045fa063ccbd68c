"""make docs: the site has no broken link, asks the network for nothing, fits a phone, and finds words without a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)], cwd=ROOT,
        capture_output=True, encoding="utf-8", env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stdout + done.stderr          # strict: a broken link or anchor is an error
    return folder


def complaints(chromium: Any) -> list[str]:
    """Console messages, and requests for anything but files, since the last call."""
    found = [entry["message"] for entry in chromium.get_log("browser")]
    for entry in chromium.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = message["params"]["request"]["url"]
            if not address.startswith(("file:", "data:", "blob:", "about:")):
                found.append(f"asked for {address}")
    return found


def pages(site: Path) -> list[Path]:
    """Every page that somebody wrote, and one of the API; not 404.html, which only a server shows."""
    return [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"
            and ("api/retrograd" not in page.as_posix() or page.name == "retrograd.nn.functional.html")]


def test_every_page_fits_a_phone_and_asks_for_nothing(site: Path, chromium: Any) -> None:
    complaints(chromium)
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    wrong = {}
    for page in pages(site):
        for _ in range(3):                      # a page may be measured before its layout is done
            chromium.get(page.as_uri())
            wide, shown = chromium.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            pictures = chromium.execute_script(
                "return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)")
            found = (wide, shown, pictures, complaints(chromium))
            if found == (360, 360, [], []):
                break
        else:
            wrong[page.relative_to(site).as_posix()] = found
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert len(pages(site)) > 40 and wrong == {}


@pytest.mark.parametrize(("preferred", "scheme"), [("dark", "slate"), ("light", "default")])
def test_colours_follow_the_system(site: Path, chromium: Any, preferred: str, scheme: str) -> None:
    complaints(chromium)
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": preferred}]})
    chromium.get((site / "how-it-works.html").as_uri())
    chromium.execute_script("localStorage.clear()")             # what a reader chose by the button
    chromium.refresh()
    found, text, paper = chromium.execute_script("""
        const style = getComputedStyle(document.body);
        return [document.body.getAttribute('data-md-color-scheme'), style.color, style.backgroundColor]
    """)
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found == scheme and complaints(chromium) == []
    assert (bright(text) > bright(paper)) == (preferred == "dark")


def bright(colour: str) -> float:
    """The mean of the red, green and blue of "rgb(...)" or "rgba(...)"."""
    return sum(float(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3]) / 3


def test_search_works_from_files(site: Path, chromium: Any) -> None:
    chromium.get((site / "index.html").as_uri())
    chromium.execute_script("""
        document.querySelector('[data-md-toggle=search]').click();
        const field = document.querySelector('[data-md-component=search-query]');
        field.focus(); field.value = 'CopySlices';
        ['keyup', 'input'].forEach(kind => field.dispatchEvent(new Event(kind)))
    """)
    end = time.monotonic() + 60
    links: list[str] = []
    while not links and time.monotonic() < end:
        time.sleep(0.1)
        links = chromium.execute_script("return [...document.querySelectorAll('.md-search-result__link')].map(a => a.href)")
    assert any("how-it-works.html" in link for link in links)
    assert complaints(chromium) == []


def test_every_page_stands_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2].split()
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages - set(navigation) == set()


def test_every_public_name_has_an_entry() -> None:
    from tools.site import api

    pages = api()
    for section in (ROOT / "tests" / "public_names.txt").read_text("utf-8").split("\n["):
        home, _, names = section.lstrip("[").partition("]\n")
        headings = [line[3:] for line in pages[f"api/{home}.md"].splitlines() if line.startswith("## ")]
        assert headings == names.split()
