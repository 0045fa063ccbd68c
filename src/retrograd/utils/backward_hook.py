"""BackwardHook: the identity nodes around a module, for programs that set them up themselves."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rules.identity import Boundary


class BackwardHook:
    """Full backward hooks for one call of `module` (torch.utils.hooks.BackwardHook).

    args = bw.setup_input_hook(args); out = module.forward(*args); out = bw.setup_output_hook(out)
    """

    __module__ = "retrograd.utils.hooks"

    def __init__(self, module: Any, user_hooks: Iterable[Any], user_pre_hooks: Iterable[Any]) -> None:
        self._call = Boundary(module, list(user_hooks), list(user_pre_hooks))

    def setup_input_hook(self, args: tuple[Any, ...]) -> Any:
        """The arguments to call forward with."""
        return self._call.enter(args)

    def setup_output_hook(self, args: Any) -> Any:
        """forward's result, to return."""
        return self._call.leave(args)
