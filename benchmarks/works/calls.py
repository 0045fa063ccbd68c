"""What it costs to call a module: a Sequential of modules whose forward returns its argument."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from benchmarks.works.base import Engine, Missing, Task, Work


class Calls(Work):
    group: ClassVar[str] = "modules"

    def __init__(self, count: int = 100) -> None:
        self.count = self.per = count
        self.unit = "us/call"
        self.name = "module-call"

    def tiny(self) -> Self:
        return type(self)(5)

    def torch(self, torch: Engine) -> Task:
        nn: Any = getattr(torch, "nn", None)
        if not hasattr(nn, "Sequential"):
            raise Missing("no nn.Sequential")

        class Same(nn.Module):  # type: ignore[misc]
            def forward(self, x: Any) -> Any:
                return x

        model = nn.Sequential(*(Same() for _ in range(self.count)))
        x = torch.tensor(2.0)
        return Task(lambda: model(x), lambda: [float(model(x)), float(self.count)])


def works() -> list[Work]:
    return [Calls()]
