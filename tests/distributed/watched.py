"""One rank does something else while the others wait: FOLDER HOW; what the watchdog says is printed."""

import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as d

from retrograd import microscope

folder, how = sys.argv[1:]
d.init_process_group("gloo", timeout=timedelta(seconds=4 if how in ("branch", "left") else 60))
r = d.get_rank()
started = time.time()


def work():
    while time.time() - started < 2:
        sum(range(10_000))                                  # computes


dog = microscope.watchdog(seconds=0.8, every=0.1, folder=folder, on=lambda verdict: print(verdict, flush=True))
try:
    with dog:
        for _ in range(3):
            d.all_reduce(torch.ones(2))
        if r == 0 or how == "none":
            d.all_reduce(torch.ones(2))                     # waits
        elif how == "slow":
            work()
            d.all_reduce(torch.ones(2))
        elif how == "ddp":
            work()
        elif how == "sleep":
            time.sleep(2)                                   # stands
            d.all_reduce(torch.ones(2))
        elif how == "branch":
            d.barrier()                                     # goes astray
        elif how == "kill":
            print("gone", flush=True)
            os._exit(0)
except RuntimeError as error:
    print("error", type(error).__name__)
if how in ("branch", "left"):
    time.sleep(1)
    os._exit(0)
d.destroy_process_group()
