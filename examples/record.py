"""Record one training step of a small network, and write the recording to a file.

    python examples/record.py [run.trace]
"""
import sys
from typing import Any

import retrograd as torch
from retrograd import nn
from retrograd.microscope import record


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(12, 8)
        self.block = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
        self.head = nn.Linear(8, 12, bias=False)
        self.head.weight = self.embed.weight                    # tied

    def forward(self, tokens: torch.Tensor) -> Any:
        h = self.embed(tokens)
        h = h + self.block(h)
        return self.head(h)


def main(path: str | None) -> None:
    torch.manual_seed(0)
    net = Net()
    net.block[0].weight.register_hook(lambda g: g.clamp(-0.01, 0.01))
    net.block.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    tokens = torch.randint(0, 12, (4, 6))
    with record(net, values="parameters") as rec:
        loss = nn.functional.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
    print(rec)
    for event in rec.of("hook"):
        print(event.label)
    if path:
        rec.save(path)
        print(f"written to {path}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
