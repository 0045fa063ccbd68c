"""What runs on both builds and what runs alone, and fixtures of several files."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest import runner

import retrograd as torch
from retrograd._engine import node

try:
    import fcntl
except ImportError:                             # Windows
    fcntl = None  # type: ignore[assignment]

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))           # tools
# `make test` runs these on the compiled build alone, as it does tests marked `once`: no code of `_engine`, `_rules` or `_kernels`
# is what they are about. A test stands here, or is marked, when it reads sources or pages, builds, runs PyTorch alone, or runs a
# room that is Python over operations which test_ops, test_opinfo and test_values compare on both builds.
ONCE = {
    "sources, pages and builds of a checkout": (
        "functions/test_signatures", "kernels/test_vectorised", "missing/test_names",
        "test_benchmarks", "test_builds", "test_docs", "test_examples", "test_generated", "test_lambda", "test_layers",
        "test_public", "test_site", "test_types"),
    "the command line": ("cli/test_cli",),
    "rooms of Python over the operations": (
        "io/test_hostile_files", "optim/test_lr_scheduler", "optim/test_optim_sources",
        "packages/distributions/test_distributions", "packages/test_hub", "packages/test_recorded",
        "utils/test_data", "utils/test_data_workers"),
    "Python over recordings and captures, which their own tests make on both builds": (
        "microscope/answers", "microscope/contracts", "microscope/lint", "microscope/page",
        "microscope/test_examples_of_the_microscope", "microscope/test_torch_only", "microscope/training"),
}
ONCE_PATHS = {HERE / name for names in ONCE.values() for name in names}         # without .py
LOCKS = contextlib.ExitStack()
# They wait for clocks or count on processors: no other test runs beside them.
ALONE = {HERE / f"{name}.py" for name in (
    "kernels/test_threads", "microscope/capture/test_distributed", "utils/test_data_workers")}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--both-builds", action="store_true", help="leave out what `make test` runs on one build alone")


def pytest_sessionstart() -> None:
    gc.disable()                                # what is made while tests are collected stays


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("--both-builds") and collection_path.with_suffix("") in ONCE_PATHS else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parent != HERE)       # the slowest are there: at the end others would wait for one
    if config.getoption("--both-builds"):
        left = [item for item in items if item.get_closest_marker("once")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("once")]


def pytest_collection_finish() -> None:
    gc.freeze()                                 # 20 000 tests: each collection would look through all of them
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker runs a test in its turn. It sends no report of a set-up or teardown that passed: messages cost more than both."""
    if not hasattr(item.config, "workerinput"):
        return None
    with turn(item.path in ALONE or item.get_closest_marker("alone") is not None):
        for report in runner.runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()                             # later collections do not look through what this file has imported


@contextlib.contextmanager
def turn(alone: bool) -> Iterator[None]:
    """Among the processes of one run: beside the others, or alone. Who waits for that keeps the gate, so nobody overtakes."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None or fcntl is None:
        yield
        return
    gate, room = (opened(f"{run}-{name}") for name in ("gate", "room"))
    fcntl.flock(gate, fcntl.LOCK_EX)
    fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    fcntl.flock(gate, fcntl.LOCK_UN)
    try:
        yield
    finally:
        fcntl.flock(room, fcntl.LOCK_UN)


@functools.cache
def opened(name: str) -> Any:
    return LOCKS.enter_context(open(Path(tempfile.gettempdir(), f"retrograd-{name}"), "w"))


def pytest_unconfigure() -> None:
    LOCKS.close()
    for name in ("gate", "room"):               # whoever still runs tests has them open
        Path(tempfile.gettempdir(), f"retrograd-{os.environ.get('PYTEST_XDIST_TESTRUNUID')}-{name}").unlink(missing_ok=True)


@pytest.fixture
def no_gc() -> Iterator[None]:
    """The collector is off, and afterwards finds nothing of ours: no tensor and no node was in a cycle."""
    gc.disable()
    gc.freeze()                                 # what earlier tests left is not looked through three times a test
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield
        gc.garbage.clear()
        gc.collect()
        ours = [type(x).__qualname__ for x in gc.garbage if is_ours(x)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.collect()
    assert ours == []


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser that pages are opened in."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        what = "Chromium and its driver are not installed (Debian: chromium, chromium-driver)"
        if os.environ.get("RETROGRAD_REQUIRE_BROWSER") == "1":
            pytest.fail(what)
        pytest.skip(what)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in ("--headless=new", "--window-size=1400,1200", "--no-first-run", "--disable-background-networking"):
        options.add_argument(argument)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")                            # Chromium's own cannot be had as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    found.set_page_load_timeout(120)
    light = [{"name": "prefers-color-scheme", "value": "light"}]
    found.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": light})
    yield found
    found.quit()


def is_ours(x: object) -> bool:
    return isinstance(x, (torch.Tensor, node.Node)) or type(x).__module__.startswith("retrograd")
