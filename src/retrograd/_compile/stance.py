"""What all compiled functions do at present, whatever they could do: torch.compiler.set_stance."""
from __future__ import annotations

from typing import Any

KNOWN = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile", "aot_eager_then_compile")


class Stance:
    """The stance of the process."""

    def __init__(self) -> None:
        self.name = "default"
        self.on = False                         # something else than the default

    def set(self, name: str) -> None:
        self.name, self.on = name, name != "default"

    def eager(self) -> bool:
        """Does a call run eagerly?"""
        if self.name not in KNOWN:
            raise RuntimeError(f"invalid torch.compile stance {self.name!r}")
        return self.name == "force_eager"

    def records(self, f: Any) -> bool:
        """May a call that no plan fits be recorded?"""
        if self.name == "fail_on_recompile":
            code = getattr(f, "__code__", None)
            where = "" if code is None else f" filename: '{code.co_filename}', line number: {code.co_firstlineno}"
            name = getattr(f, "__name__", type(f).__name__)
            raise RuntimeError(
                f"Detected recompile when torch.compile stance is 'fail_on_recompile'. function name: '{name}',{where}")
        return self.name != "eager_on_recompile"


stance = Stance()
