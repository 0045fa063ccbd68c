"""What init_process_group, rendezvous and stores refuse in one process, as lines: PORT FOLDER."""

import os
import sys
from datetime import timedelta

import torch.distributed as d

port, folder = int(sys.argv[1]), sys.argv[2]
for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
    os.environ.pop(name, None)
second = timedelta(seconds=0.2)


def say(label, f, *args, **kwargs):
    try:
        text = repr(f(*args, **kwargs))
    except Exception as error:
        text = f"{type(error).__name__}: {str(error).splitlines()[0].partition(', useIpv6')[0].partition(', Address')[0]}"
    print(f"{label} -> {text}".replace(str(port), "PORT"))


def joined(*args, **kwargs):
    d.init_process_group(*args, timeout=second, **kwargs)


here = f"tcp://127.0.0.1:{port}"
for label, kwargs in {
    "rank": {"init_method": here, "world_size": 2}, "size": {"init_method": here, "rank": 0},
    "file rank": {"init_method": f"file://{folder}/f", "world_size": 2},
    "path": {"init_method": "file://", "rank": 0, "world_size": 2},
    "port": {"init_method": "tcp://127.0.0.1", "rank": 0, "world_size": 2},
    "far port": {"init_method": "tcp://127.0.0.1:99999", "rank": 0, "world_size": 2},
    "both": {"init_method": here, "store": d.HashStore()}, "url": {"init_method": 5}, "scheme": {"init_method": f"{folder}/f"},
    "twice": {"init_method": f"{here}?rank=0&world_size=2", "rank": 0}, "str": {"init_method": here, "rank": "0"},
    "store rank": {"store": d.HashStore(), "world_size": 2}, "store size": {"store": d.HashStore(), "rank": 0},
    "environment": {}, "environment rank": {"rank": 0, "world_size": 2},
}.items():
    say(label, joined, "gloo", **kwargs)
say("time", d.init_process_group, "gloo", timeout=5)
say("handler", d.register_rendezvous_handler, "tcp", print)
for name, value in (("RANK", "x"), ("RANK", "0"), ("WORLD_SIZE", "y"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "127.0.0.1"),
                    ("MASTER_PORT", ""), ("MASTER_PORT", "z"), ("MASTER_PORT", "70000")):
    os.environ[name] = value
    say(f"{name}={value}", joined, "gloo")
for name, backend in (("nccl", "nccl"), ("two", "cpu:gloo,cuda:nccl"), ("none", "foo"), ("number", 3)):
    say(name, joined, backend, store=d.HashStore(), rank=0, world_size=1)
master = d.TCPStore("127.0.0.1", port, None, True, second)
for store in (master, d.TCPStore("127.0.0.1", port, None, False, second), d.HashStore(), d.FileStore(f"{folder}/s", 1),
              d.PrefixStore("p", master)):
    print(type(store).__name__)
    for label, f in {
        "set": lambda s: s.set("a", "x"), "set 5": lambda s: s.set("b", 5), "key 5": lambda s: s.set(5, "b"),
        "get 5": lambda s: s.get(5),
        "add x": lambda s: s.add("n", "x"), "add": lambda s: s.add("n", -3), "swap": lambda s: s.compare_set("a", "x", "y"),
        "kept": lambda s: s.compare_set("a", "x", "z"), "none": lambda s: s.compare_set("c", "e", "f"),
        "check": lambda s: s.check(["a", "q"]), "check a": lambda s: s.check("a"), "wait a": lambda s: s.wait("a"),
        "wait 1": lambda s: s.wait(["q"], 1), "empty": lambda s: (s.set("e", ""), s.get("e")),
        "many": lambda s: s.multi_get(["a", "e"]),
    }.items():
        say(label, f, store)
say("again", d.TCPStore, "127.0.0.1", port, None, True, second)
say("far", d.TCPStore, "127.0.0.1", 70000, None, True, second)
say("host", d.TCPStore, 5, 0, None, True, second)
say("prefix", d.PrefixStore, "a", 5)
del master, store
say("free again", lambda: type(d.TCPStore("127.0.0.1", port, None, True, second)).__name__)
