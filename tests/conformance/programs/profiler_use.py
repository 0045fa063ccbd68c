"""torch.profiler: blocks, steps of schedules, sums, traces. Of functions what both engines call by one name."""
import json
import os
import tempfile
import warnings

import torch
from torch.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

from _log import P, T, case

warnings.simplefilter("ignore")
seen = ("my block", "inner", "deco", "Optimizer.step#SGD.step", "aten::relu", "aten::matmul", "ReluBackward0", "MmBackward0",
        "autograd::engine::evaluate_function: ReluBackward0", "torch::autograd::AccumulateGrad")


@record_function("deco")
def decorated(x):
    return x.relu()


def program():
    x = torch.ones(4, 4, requires_grad=True)
    with record_function("my block"):
        y = (x @ x).relu()
        for _ in range(2):
            with record_function("inner"):
                decorated(y)
    y.sum().backward()
    torch.optim.SGD([x], lr=0.1).step()


with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    program()


@case
def sums_over_names():
    sums = {e.key: e for e in prof.key_averages()}
    P([(name, sums[name].count) for name in seen if name in sums and "AccumulateGrad" not in name])
    for e in sums.values():
        assert e.self_cpu_time_total <= e.cpu_time_total + 1e-6 and e.cpu_time <= e.cpu_time_total
    P([e.count for e in prof.key_averages(group_by_input_shape=True) if e.key == "aten::relu"])
    P(sums["aten::relu"].key, prof.events().total_average().key, type(prof.events()).__name__, type(sums["inner"]).__name__)
    P([e.input_shapes for e in prof.events() if e.name in ("aten::relu", "my block")])


@case
def blocks_in_blocks():
    for e in prof.events():
        if e.name in seen[:4]:
            P((e.name, e.cpu_parent and e.cpu_parent.name, [c.name for c in e.cpu_children if c.name in seen]))


@case
def tables():
    text = prof.key_averages().table(sort_by="count", row_limit=2, header="hello", top_level_events_only=True)
    lines = text.splitlines()
    P(lines[1], lines[3], lines[5].split(), len(lines), lines[-1].split(":")[0], text.endswith("\n"))
    P(len({len(line) for line in lines[4:7]}), prof.key_averages().table(max_name_column_width=20).splitlines()[1])
    T("unknown", lambda: prof.key_averages().table(sort_by="nope"))


@case
def schedules():
    s = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    P([s(i).name for i in range(12)])
    T("bad", lambda: schedule(wait=-1, warmup=0, active=0))
    found = []
    with profile(schedule=s, on_trace_ready=lambda p: found.append((p.step_num, [e.name for e in p.events() if e.name[:3] == "Pro"]))) as p:
        for _ in range(12):
            torch.ones(1) + 1
            p.step()
    P(found, p.step_num, p.current_action)
    found.clear()
    with profile(schedule=schedule(wait=0, warmup=1, active=5), on_trace_ready=lambda p: found.append(p.step_num)) as p:
        p.step()
        p.step()
    P(found, p.current_action is ProfilerAction.RECORD)


@case
def not_started():
    p = profile()
    for call in (p.key_averages, p.events, lambda: p.export_chrome_trace("x"), p.start_trace, p.stop_trace):
        T("early", call)
    T("nothing", lambda: profile(activities=[]))


@case
def traces():
    with tempfile.TemporaryDirectory() as folder:
        with profile(on_trace_ready=tensorboard_trace_handler(folder, "w")) as p:
            program()
        [name] = os.listdir(folder)
        with open(os.path.join(folder, name)) as file:
            body = json.load(file)
    P(name[:2], name[-14:], body["schemaVersion"], body["displayTimeUnit"])
    P([e["name"] for e in body["traceEvents"] if e.get("ph") == "X" and e["cat"] == "user_annotation" and e["name"] in seen])
    T("metric", lambda: p.export_stacks("x", "nope"))


@case
def older_names():
    with torch.autograd.profiler.profile() as p:
        with torch.autograd.profiler.record_function("my block"):
            torch.ones(2).relu()
    P([e.name for e in p.function_events if e.name in seen], p.self_cpu_time_total > 0)
    P(repr(torch.autograd.profiler.profile()), torch.autograd.profiler.profile(enabled=False).__enter__())
    with torch.autograd.profiler.profile() as p:
        pass
    T("again", p.__enter__)
    P(supported_activities() >= {ProfilerActivity.CPU}, ProfilerActivity.CPU, ProfilerAction.NONE)
