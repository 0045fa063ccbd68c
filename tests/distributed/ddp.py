"""Trains small models by DistributedDataParallel in several ways, and writes what each rank saw: FOLDER/rank."""

import copy
import os
import pickle
import sys
import warnings
from pathlib import Path

import torch
import torch.distributed as d
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

warnings.simplefilter("ignore")
LINES = []


def rounded(x):
    return [[round(v, 4) + 0.0 for v in p.flatten().tolist()] for p in x if p is not None]


def say(label, f, *args, **kwargs):
    try:
        text = f"{f(*args, **kwargs)}"
    except Exception as error:
        text = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0].partition('. ')[0]}"
    LINES.append(f"{label} -> {text}")


class Two(nn.Module):
    """Two branches, of which a pass may take one, and a layer that nobody uses."""

    def __init__(self, idle=False):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        if idle:
            self.idle = nn.Linear(4, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x, which="ab"):
        y = sum(getattr(self, name)(self.norm(x)) for name in which)
        return {"y": self.out(y.tanh()), "kept": [x]}


def made(idle=False):
    torch.manual_seed(7)
    with torch.no_grad():
        model = Two(idle)
        for i, p in enumerate(model.parameters()):
            p.copy_((torch.arange(p.numel()).reshape(p.shape) * (0.37 + i) + d.get_rank()).sin() * 0.5)
    return model


def batch(step, r, n=6):
    return (torch.arange(n * 4.0).reshape(n, 4) * (0.1 + step) + r).cos()


def train(label, model, ways=("ab",) * 3, **options):
    """Three steps: losses, gradients, parameters, and the order in which hooks fire."""
    r, fired = d.get_rank(), []
    ddp = DDP(model, **options)
    hook = options.pop("hook", None)
    for name, p in model.named_parameters():
        p.register_hook(lambda g, name=name: fired.append(f"tensor {name}"))
        p.register_post_accumulate_grad_hook(lambda p, name=name: fired.append(f"after {name} {p.grad.sum():.3f}"))
    model.a.register_forward_hook(lambda *_: fired.append("forward a"))
    assert hook is None
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1, momentum=0.9)
    for step, way in enumerate(ways):
        optimizer.zero_grad()
        loss = ddp(batch(step, r), way)["y"].pow(2).mean()
        loss.backward()
        LINES.append(f"{label} {step}: {loss.item():.4f} {rounded(p.grad for p in model.parameters())}")
        LINES.append(f"{label} {step}: None {[name for name, p in model.named_parameters() if p.grad is None]}")
        optimizer.step()
    LINES.append(f"{label}: {rounded(model.parameters())} {rounded(model.buffers())}")
    LINES.append(f"{label}: {fired}")
    return ddp


def main(folder):
    say("before", DDP, nn.Linear(1, 1))
    d.init_process_group("gloo")
    r = d.get_rank()
    ddp = train("plain", made())
    LINES.append(f"{sorted(ddp.state_dict())} {type(ddp).__name__} {ddp.module is not None}")
    train("views", made(), gradient_as_bucket_view=True)
    train("static", made(True), static_graph=True)
    train("unused", made(True), ("a", "b", "ab") if r else ("a", "ab", "b"), find_unused_parameters=True)
    train("small buckets", made(), bucket_cap_mb=0.0001)
    train("no buffers", made(), broadcast_buffers=False)
    parts(r)
    refusals(r)
    copied(r)
    own_buffers(r)
    no_sync(r)
    used_before(r)
    between(r)
    hooks(r)
    uneven(r)
    joined(r)
    buffers(r)
    static(r)
    profiled(r)
    Path(folder, str(r)).write_text("\n".join(LINES))
    if hasattr(d, "ProcessGroupGloo"):
        os._exit(0)                             # PyTorch waits for ever here, after models whose last pass was not complete
    d.barrier()
    d.destroy_process_group()


def between(r):
    """Other forward passes between a forward pass and its backward pass, which averages all the same."""
    def validated(ddp, y):
        with torch.no_grad():
            ddp(batch(5, r))
        y.sum().backward()

    def kept(ddp, y):
        with ddp.no_sync():
            other = ddp(batch(5, r))
        other.sum().backward()
        y.sum().backward()

    def together(ddp, y):
        with ddp.no_sync():
            other = ddp(batch(5, r))
        (y.sum() + other.sum()).backward()

    def late(ddp, y):
        y.sum().backward()
        ddp(batch(5, r))
        with ddp.no_sync():
            ddp(batch(6, r)).sum().backward()

    for options in ({}, {"find_unused_parameters": True}, {"static_graph": True}):
        for way in (validated, kept, together, late):
            model = nn.Linear(4, 1)
            nn.init.constant_(model.weight, 0.3)
            nn.init.constant_(model.bias, 0.1)
            ddp = DDP(model, **options)
            for step in range(2):
                ddp.zero_grad()
                way(ddp, ddp(batch(step, r)))
                LINES.append(f"between {way.__name__} {options} {step}: {rounded(p.grad for p in model.parameters())}")


def parts(r):
    """Outputs that the loss does not use, with find_unused_parameters; and parameters that are to be left alone."""
    model = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(0.3)
    model.forward = lambda x: [layer(x) for layer in model]
    ddp = DDP(model, find_unused_parameters=True)
    for step in range(4):
        outputs = ddp(batch(step, r))
        (outputs[0].sum() if step < 2 + r else outputs[0].sum() + outputs[1].pow(2).sum()).backward()
        LINES.append(f"part of the outputs {step}: {[p.grad is None for p in model.parameters()]} "
                     f"{rounded(p.grad for p in model.parameters())}")
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(0.3 + r)
    DDP._set_params_and_buffers_to_ignore_for_model(model, ["1.bias"])
    ddp = DDP(model)
    ddp(batch(0, r)).pow(2).sum().backward()
    LINES.append(f"ignored: {rounded(model.parameters())} {rounded(p.grad for p in model.parameters())}")


def refused(model):
    """The error, with the set in it in order."""
    try:
        DDP(model)
    except ValueError as error:
        return str(error).replace("{'meta', 'cpu'}", "{'cpu', 'meta'}")


def refusals(r):
    say("nothing to train", DDP, nn.ReLU())
    say("devices", DDP, nn.Linear(1, 1), device_ids=[0])
    say("device", DDP, nn.Linear(1, 1), output_device="cpu")
    say("no module", DDP, torch.ones(2))
    lazy, meta = nn.LazyLinear(2), nn.Linear(2, 2, device="meta")
    for model in (lazy, meta, nn.Sequential(nn.Linear(2, 2), lazy), nn.Sequential(nn.Linear(2, 2), nn.LazyBatchNorm1d())):
        say("no data", DDP, model)
    say("some data", lambda: refused(nn.Sequential(nn.Linear(2, 2), meta)))
    for dtypes in ([torch.float32, torch.float64], [torch.float32, torch.float32]):
        tensors = [nn.Parameter(torch.ones(2, dtype=dtype)) for dtype in dtypes]
        say("dtypes", lambda tensors=tensors: type(ZeroRedundancyOptimizer(tensors, torch.optim.SGD, lr=0.1)).__name__)
        groups = [{"params": [p]} for p in tensors]
        say("dtypes", lambda groups=groups: type(ZeroRedundancyOptimizer(groups, torch.optim.SGD, lr=0.1)).__name__)
    say("no params", ZeroRedundancyOptimizer, [{"lr": 0.1}], torch.optim.SGD, lr=0.1)
    ddp = DDP(made(True))
    ddp(batch(0, r))["y"].sum().backward()
    say("unused", ddp, batch(1, r))
    ddp = DDP(nn.Linear(4, 1))
    (ddp(batch(0, r)).sum() + ddp(batch(1, r)).sum()).backward()
    LINES.append(f"two calls: {rounded(p.grad for p in ddp.parameters())}")
    say("hook", ddp.register_comm_hook, None, 3)
    for hook in (lambda state, b: None, lambda *given: None, lambda: None, annotated(int, None), annotated(d.GradBucket, int),
                 annotated(d.GradBucket, torch.futures.Future), print):
        say("hook", ddp.register_comm_hook, None, hook)
    DDP(nn.Linear(4, 1)).register_comm_hook(None, annotated(d.GradBucket, torch.futures.Future[torch.Tensor]))
    ddp.register_comm_hook(None, lambda state, bucket: None)
    say("second hook", ddp.register_comm_hook, None, lambda state, bucket: None)


def annotated(bucket, gives):
    def hook(state, bucket):
        pass

    hook.__annotations__ = {"bucket": bucket, **({} if gives is None else {"return": gives})}
    return hook


def copied(r):
    """A copy and what was pickled average as the model itself."""
    ddp = DDP(made(), bucket_cap_mb=0.0001, gradient_as_bucket_view=True)
    for again in (copy.deepcopy(ddp), pickle.loads(pickle.dumps(ddp)), ddp):
        for step in range(2):
            again(batch(step, r))["y"].pow(2).mean().backward()
        LINES.append(f"copied: {rounded(p.grad for p in again.parameters())} {again.bucket_bytes_cap}")
    say("of a group", pickle.dumps, DDP(nn.Linear(1, 1), process_group=d.new_group()))


def own_buffers(r):
    """Buffers that differ between the ranks: who takes rank 0's, and when."""
    for options in ({}, {"broadcast_buffers": False}, {"forward_sync_buffers": False}, {"forward_sync_buffers": True},
                    {"broadcast_buffers": False, "forward_sync_buffers": True}):
        model = made()
        with torch.no_grad():
            model.norm.running_mean.add_(r)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ddp = DDP(model, **options)
        LINES.append(f"{options} {[f'{w.category.__name__} {w.message}' for w in said]} {rounded(model.buffers())}")
        ddp.eval()
        for p in model.buffers():
            p.data += r
        ddp(batch(0, r))["y"].sum().backward()
        LINES.append(f"{options} {ddp.broadcast_buffers} {ddp.forward_sync_buffers} {rounded(model.buffers())}")


def no_sync(r):
    model = made()
    ddp = DDP(model)
    with ddp.no_sync():
        ddp(batch(0, r))["y"].sum().backward()
    LINES.append(f"no_sync: {rounded(p.grad for p in model.parameters())} {ddp.require_backward_grad_sync}")
    ddp(batch(1, r))["y"].sum().backward()
    LINES.append(f"together: {rounded(p.grad for p in model.parameters())}")
    with torch.no_grad():
        ddp(batch(2, r))
    torch.nn.utils.clip_grad_norm_(ddp.parameters(), 0.1)
    LINES.append(f"clipped: {rounded(p.grad for p in model.parameters())}")


def used_before(r):
    """What no_sync() accumulated is averaged by the next pass that averages, though that pass does not use the parameter."""
    for views in (False, True):
        model = made(True)
        ddp = DDP(model, find_unused_parameters=True, gradient_as_bucket_view=views)
        with ddp.no_sync():
            ddp(batch(0, r), "ab")["y"].pow(2).mean().backward()
        for step in (1, 2):
            ddp(batch(step, r), "a")["y"].pow(2).mean().backward()
            LINES.append(f"used before {step}: {[None if p.grad is None else rounded([p.grad]) for p in model.parameters()]}")


def hooks(r):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as default
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power

    seen = []

    def mean(state, bucket):
        seen.append((bucket.index(), bucket.is_last(), bucket.buffer().numel(), [list(g.shape) for g in bucket.gradients()],
                     [list(p.shape) for p in bucket.parameters()]))
        return default.allreduce_hook(state, bucket)

    for label, state, hook in (
            ("mean", None, mean), ("fp16", None, default.fp16_compress_hook),
            ("wrapped", None, default.fp16_compress_wrapper(default.allreduce_hook)),
            ("power", power.PowerSGDState(None, 1, 2, min_compression_rate=0.1), power.powerSGD_hook)):
        model = made()
        ddp = DDP(model, bucket_cap_mb=0.0002)
        if hook is not None:
            ddp.register_comm_hook(state or d.group.WORLD, hook) if label != "power" else ddp.register_comm_hook(state, hook)
        for step in range(4):
            model.zero_grad()
            ddp(batch(step, r))["y"].pow(2).mean().backward()
            LINES.append(f"{label} {step}: {rounded(p.grad for p in model.parameters())}")
    LINES.append(f"{seen}")


def uneven(r):
    for own, views in ((True, False), (False, False), (True, True), (False, True)):
        model = nn.Linear(4, 1)
        with torch.no_grad():
            for p in model.parameters():
                p.fill_(0.5)
        ddp = DDP(model, gradient_as_bucket_view=views)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with ddp.join(divide_by_initial_world_size=own):
            for step in range(2 + 2 * r):
                optimizer.zero_grad()
                ddp(batch(step, r)).pow(2).mean().backward()
                LINES.append(f"uneven {step}: {rounded(p.grad for p in model.parameters())}")
                optimizer.step()
        LINES.append(f"joined: {rounded(model.parameters())}, {rounded(p.grad for p in model.parameters())}")


def joined(r):
    """Ranks that run out of batches, one before its first: buffers, and the divisor of the next join and of passes after it."""
    for first in (0, 1):
        model = made()
        ddp = DDP(model)
        for own in (False, True):
            with ddp.join(divide_by_initial_world_size=own):
                for step in range(first + 2 * (r if own else 1 - r)):
                    ddp(batch(step, r))["y"].pow(2).mean().backward()
                    LINES.append(f"joined {own} {step}: {rounded(p.grad for p in model.parameters())}")
                    model.zero_grad()
            LINES.append(f"buffers: {rounded(model.buffers())}")
        ddp(batch(9, r))["y"].pow(2).mean().backward()
        LINES.append(f"outside: {rounded(p.grad for p in model.parameters())}")


def buffers(r):
    """They are rank 0's, those that the program has assigned since, too; and rank 1's graphs do not see them change."""
    model = nn.Linear(2, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(0.5)
    model.register_buffer("scale", torch.ones(2))
    model.forward = lambda x: ((x + model.weight) * model.scale).sum()
    ddp = DDP(model)
    for step in range(3):
        model.scale = model.scale + r + 1
        (ddp(torch.ones(2)) + ddp(torch.ones(2))).backward()
        LINES.append(f"buffers {step}: {model.scale.tolist()}, {rounded(p.grad for p in model.parameters())}")


def static(r):
    """Graphs that change although they were said not to."""
    def step(ddp, number, which):
        ddp(batch(number, r), which)["y"].pow(2).mean().backward()

    for steps in (["ab", "a"], ["ab", "a", "ab"], ["a", "ab"], ["b", "b"]):
        ddp = DDP(made(), static_graph=True)
        for number, which in enumerate(steps):
            say(f"static {steps} {number}", step, ddp, number, which)
        LINES.append(f"static: {rounded(p.grad for p in ddp.parameters())}")
    say("again", ddp._set_static_graph)
    ddp = DDP(made())
    ddp(batch(0, r))["y"].sum().backward()
    say("late", ddp._set_static_graph)


def profiled(r):
    """Collectives and messages are events of a profile."""
    ddp = DDP(made())
    with torch.profiler.profile(record_shapes=True) as prof:
        ddp(batch(0, r))["y"].pow(2).mean().backward()
        d.send(torch.ones(3), 1) if r == 0 else d.recv(torch.ones(3), 0)
        work = d.all_reduce(torch.ones(2, 3), async_op=True)
        work.wait()
    found = [e for e in prof.events() if e.name.startswith("gloo:")]
    LINES.append(f"profiled: {sorted((e.name, e.count, e.is_async, e.cpu_time_total > 0) for e in found)}")
    LINES.append(f"shapes: {[e.input_shapes for e in found if e.input_shapes in ([[3]], [[2, 3]])]}")


if __name__ == "__main__":
    main(sys.argv[1])
