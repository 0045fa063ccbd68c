"""Record a training step of digits.py and write it as a page: the graph, every hook, every gradient as it arrives.

    python examples/trace_digits.py [PAGE]

PAGE defaults to digits.html, a single file that opens in a browser without a server. One more hook than in
digits.py clips a gradient.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from digits import BATCH, Run, digits

import retrograd as torch
from retrograd import microscope


def clip(g: Any) -> Any:
    return g.clamp(-0.05, 0.05)


def main(argv: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    page = Path(*arguments or ["digits.html"])
    run = Run(seed=0)
    x, y, _, _ = digits()
    run.model[2].weight.register_hook(clip)
    batch, target = torch.tensor(x[:BATCH], requires_grad=True), torch.tensor(y[:BATCH])
    with microscope.record(run.model, values="parameters") as rec:
        torch.nn.functional.cross_entropy(run.model(batch), target).backward()
        run.optimizer.step()
    rec.to_html(page, title="One training step of examples/digits.py")
    count = Counter(event.kind for event in rec.events)
    print(f"recorded a training step: {count['op']} operations, {count['node']} backward nodes, {count['hook']} firings "
          f"of {len(rec.hooks)} hooks, {count['accumulate']} gradients that arrived")
    print(f"to see it, open {page.resolve()} in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
