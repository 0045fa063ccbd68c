"""python -m random_programs KIND [--minutes 30] [--seed 0] [--show 20]: differences from PyTorch, made small, and their rate."""

from __future__ import annotations

import argparse
import importlib
import random
import time

import torch

import retrograd
from random_programs.program import difference, smaller, unknown


def main() -> None:
    parser = argparse.ArgumentParser(prog="random_programs", description=__doc__)
    parser.add_argument("kind", help="a module of this folder: views, complex, indexing, reductions, modules, optimizers")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next have the next numbers")
    parser.add_argument("--show", type=int, default=20, help="how many differences are printed")
    args = parser.parse_args()
    module = importlib.import_module(f"random_programs.{args.kind}")
    end = time.monotonic() + 60 * args.minutes
    seed, differing, wanted = args.seed, 0, 0
    shown: set[str] = set()
    while time.monotonic() < end:
        found = difference(module.program(random.Random(seed)), retrograd, torch, getattr(module, "VERSIONS", True))
        if found and unknown(found, module):
            found = smaller(found, retrograd, torch)
        if found and not unknown(found, module):
            wanted += 1
        elif found:
            differing += 1
            label = f"{found.ours} {found.theirs}"
            if len(shown) < args.show and label not in shown:
                shown.add(label)
                print(f"seed {seed}\n{found}\n", flush=True)
        seed += 1
    count = seed - args.seed
    print(f"{count} programs: {differing} differ ({100 * differing / count:.2f} %), {wanted} as wanted")


if __name__ == "__main__":
    main()
