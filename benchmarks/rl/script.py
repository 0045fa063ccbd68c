"""One run of a single-file agent of CleanRL: python script.py FILE ENVIRONMENT UPDATES THREADS SEED ARGUMENTS...

UPDATES   steps of optimizers after which parameters are compared
Prints a line of JSON.
The program names PyTorch only; `retrograd run script.py ...` runs the same file on retrograd.
"""
import contextlib
import io
import json
import os
import re
import runpy
import sys
import tempfile
import time

import gymnasium
import numpy as np
import torch
import torch.utils.tensorboard  # noqa: F401  imports are not timed
from torch.optim.optimizer import register_optimizer_step_post_hook


def main():
    file, environment, updates, threads, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    torch.set_num_threads(threads)
    steps = re.search(r"--total-timesteps[ =](\d+)", " ".join(sys.argv[6:])).group(1)
    seen, count, early = {}, 0, None

    def note(optimizer, args, kwargs):
        nonlocal count, early
        count += 1
        seen[id(optimizer)] = optimizer
        if count == updates:
            early = sum(float(p.detach().abs().sum()) for o in seen.values() for g in o.param_groups for p in g["params"])

    register_optimizer_step_post_hook(note)
    sys.argv = [file, "--no-cuda", "--seed", str(seed), "--env-id", environment, *sys.argv[6:]]
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(file))))     # cleanrl_utils
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
        os.chdir(folder)
        begin, spent = time.perf_counter(), time.process_time()
        runpy.run_path(file, run_name="__main__")
        wall, cpu = time.perf_counter() - begin, time.process_time() - spent
        os.chdir("/")
    returns = [float(r) for r in re.findall(r"episodic_return=\[?([-.\de]+)", said.getvalue())]
    print(json.dumps({
        "engine": torch.__file__.split("/")[-2], "environment": environment, "steps": int(steps), "threads": threads,
        "seed": seed, "seconds": wall, "processor": cpu, "early": early, "return": float(np.mean(returns[-10:])),
        "library": f"CleanRL, gymnasium {gymnasium.__version__}"}))


main()
