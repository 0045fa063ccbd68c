"""One file per kind of work. `WORKS` lists them all in the order of the table."""

from benchmarks.works import chain, double, hooks, mlp, transformer
from benchmarks.works.base import Missing, Task, Work

WORKS: list[Work] = [*chain.works(), *mlp.works(), *transformer.works(), *hooks.works(), *double.works()]

__all__ = ["WORKS", "Missing", "Task", "Work"]


def select(only: list[str]) -> list[Work]:
    """Works of these groups or names, all when `only` is empty. ValueError for a name that is neither."""
    for word in only:
        if not any(word in (work.group, work.name) for work in WORKS):
            groups = ", ".join(dict.fromkeys(work.group for work in WORKS))
            raise ValueError(f"--only {word}: no such group or work; groups: {groups}")
    return [work for work in WORKS if not only or work.group in only or work.name in only]
