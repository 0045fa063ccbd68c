"""What each test of plans leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from retrograd._engine.modes import modes, state


@pytest.fixture(autouse=True)
def nobody_listens_any_more() -> Iterator[None]:
    """A call that is recorded, replayed or left puts back who is told of calls."""
    yield
    it = state()
    assert (modes.observer, modes.recorder, modes.outs, modes.journal, it.listener, it.task) == (None,) * 6
    assert not it.busy and not it.engaged
