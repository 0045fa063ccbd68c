"""pytest's plugin of retrograd.microscope: the fixture gradient_contract, and --gradient-contracts-update."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

FOLDER = "gradient_contracts"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("retrograd").addoption(
        "--gradient-contracts-update", action="store_true",
        help="write the files of gradient_contract that are missing or that gradients no longer agree with")


@pytest.fixture
def gradient_contract(request: pytest.FixtureRequest) -> Callable[..., None]:
    """gradient_contract(model, batch, loss=None, *, name="", rtol=1e-3, ...): microscope.assert_contract with the test's file.

    That is gradient_contracts/FILE.TEST.json beside the test's file, with `name` before .json, for several in a test.
    """
    node, update = request.node, request.config.getoption("--gradient-contracts-update")
    used: set[Path] = set()

    def check(model: Any, batch: Any, loss: Any = None, *, name: str = "", rtol: float = 1e-3, seed: int = 0,
              forward: Any = None) -> None:
        __tracebackhide__ = True
        from retrograd import microscope

        test = node.nodeid.partition("::")[2].replace("::", ".")
        file = quote(".".join(filter(None, (node.path.stem, test, name))), safe="[]") + ".json"
        path = node.path.parent / FOLDER / file
        if path in used:
            raise ValueError(f"gradient_contract: a second contract in {test} needs another name=")
        used.add(path)
        now = microscope.contract(model, batch, loss, forward=forward, seed=seed)
        if update:
            try:
                kept = microscope.Contract.load(path)
            except (FileNotFoundError, microscope.ContractError):
                kept = None
            if kept is None or kept.seed != seed or kept.differences(now, rtol):
                path.parent.mkdir(exist_ok=True)
                now.save(path)
            return
        if not path.exists():
            pytest.fail(f"there is no contract {path}: pytest --gradient-contracts-update writes it", pytrace=False)
        microscope.assert_contract(path, now, rtol=rtol)

    return check
