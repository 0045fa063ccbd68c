"""One file per kind of work. `WORKS` lists them all in the order of the table."""

from benchmarks.works import calls, chain, double, hooks, mlp, nets, samples, science, steps, transformer
from benchmarks.works.base import Missing, Task, Work

FILES = (chain, mlp, nets, transformer, steps, hooks, calls, double, samples, science)
WORKS: list[Work] = [work for file in FILES for work in file.works()]

__all__ = ["WORKS", "Missing", "Task", "Work"]


def select(only: list[str]) -> list[Work]:
    """Works of these groups or names, all when `only` is empty. ValueError for a name that is neither."""
    for word in only:
        if not any(word in (work.group, work.name) for work in WORKS):
            groups = ", ".join(dict.fromkeys(work.group for work in WORKS))
            raise ValueError(f"--only {word}: no such group or work; groups: {groups}")
    return [work for work in WORKS if not only or work.group in only or work.name in only]
