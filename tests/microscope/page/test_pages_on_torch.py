"""The pages on the microscope print the same with PyTorch in place of retrograd."""
from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\n+```text\n(?P<out>.*?)^```$)?", re.S | re.M)


@pytest.mark.oracle
@pytest.mark.parametrize("page", ["microscope", "what-hooks-get-wrong"])
def test_blocks_of_a_page_run_on_pytorch(page: str, monkeypatch: Any) -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").replace("import retrograd as torch", "import torch")
    namespace: dict[str, Any] = {"__name__": page}
    for found in BLOCK.finditer(text):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            if found["code"].rstrip().endswith("# raises"):
                with pytest.raises(RuntimeError):
                    exec(found["code"], namespace)
            else:
                exec(found["code"], namespace)
        if found["out"] is not None:
            assert out.getvalue().rstrip() == found["out"].rstrip(), found["code"]
