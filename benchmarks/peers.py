"""The microscope beside libraries for the same questions, on one PyTorch model each: same model, same samples, same numbers?

    python -m benchmarks.peers [RESULT.json] [--rounds 3]       # needs what benchmarks/peers.txt lists

norms        gradient norms of 1,437 samples, an MLP of 2,410 weights on digits: Opacus, BackPACK
EK-FAC       influence of the 1,437 samples on 20 others (empirical Fisher matrix, damping 0.001): kronfluence
TracIn       dot products of the gradients of the 1,437 samples with those of the 20: Captum
dots         the same of 141 and 11 windows of a poem, in the 14 linear maps of a small Llama: bergson
outputs      every operation's output kept, in one forward pass of that Llama: TorchLens
eigenvalues, trace    five of the Hessian's, and its trace with 100 probes, as of benchmarks.curvature: PyHessian, curvlinops
Each library has a process of its own and one thread.  Seconds are the median of the rounds' processor time after one that is
not counted (in which a capture checks itself), MiB how far the most memory grew in all of them; `apart` is |theirs - ours| /
|ours|.  What a library cannot do is told by its error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from retrograd import microscope

from . import curvature
from .attribution import DATA, Digits
from .machine import machine

RESULTS = Path(__file__).resolve().parent / "results" / "peers.json"
DAMPING = 1e-3


def digits(torch: Any) -> tuple[Any, Any]:
    task = Digits(torch)
    return task, task.train(microscope.Steps(), torch.ones(task.count))


def per_sample(torch: Any, cap: Any, x: Any, y: Any) -> Any:
    with cap:
        torch.nn.functional.cross_entropy(cap.model(x), y, reduction="sum").backward()
    return cap.grads()


def our_norms(torch: Any) -> Callable[[], Any]:
    task, model = digits(torch)
    cap = microscope.capture(model)
    return lambda: per_sample(torch, cap, task.x, task.y).norms()


def opacus_norms(torch: Any) -> Callable[[], Any]:
    from opacus import GradSampleModule
    task, model = digits(torch)
    wrapped = GradSampleModule(model, loss_reduction="sum")

    def work() -> Any:
        wrapped.zero_grad()
        torch.nn.functional.cross_entropy(wrapped(task.x), task.y, reduction="sum").backward()
        return sum(p.grad_sample.flatten(1).square().sum(1) for p in wrapped.parameters()).sqrt()
    return work


def backpack_norms(torch: Any) -> Callable[[], Any]:
    from backpack import backpack, extend
    from backpack.extensions import BatchL2Grad
    task, model = digits(torch)
    model, loss = extend(model), extend(torch.nn.CrossEntropyLoss(reduction="sum"))

    def work() -> Any:
        model.zero_grad()
        with backpack(BatchL2Grad()):
            loss(model(task.x), task.y).backward()
        return sum(p.batch_l2 for p in model.parameters()).sqrt()
    return work


def our_influence(torch: Any) -> Callable[[], Any]:
    task, model = digits(torch)
    caps = microscope.capture(model), microscope.capture(model)

    def work() -> Any:
        batches = (task.x, task.y), (task.seen, task.wanted)
        train, test = (per_sample(torch, cap, *batch) for cap, batch in zip(caps, batches))
        return microscope.influence(train, test, train.kfac(damping=DAMPING).corrected(train))
    return work


def kronfluence_influence(torch: Any) -> Callable[[], Any]:
    from kronfluence.analyzer import Analyzer, prepare_model
    from kronfluence.arguments import FactorArguments, ScoreArguments
    from kronfluence.task import Task
    from torch.utils.data import TensorDataset
    task, model = digits(torch)

    class Classify(Task):  # type: ignore[misc, unused-ignore]
        def compute_train_loss(self, batch: Any, model: Any, sample: bool = False) -> Any:
            return torch.nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum")

        def compute_measurement(self, batch: Any, model: Any) -> Any:
            return self.compute_train_loss(batch, model)

    model = prepare_model(model, Classify())
    train, test = TensorDataset(task.x, task.y), TensorDataset(task.seen, task.wanted)

    def work() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            found = Analyzer("digits", model, Classify(), cpu=True, disable_tqdm=True, output_dir=folder, disable_model_save=True)
            found.fit_all_factors("factors", train, per_device_batch_size=len(train),
                                  factor_args=FactorArguments(strategy="ekfac", use_empirical_fisher=True))
            found.compute_pairwise_scores(
                "scores", "factors", test, train, per_device_query_batch_size=len(test), per_device_train_batch_size=len(train),
                score_args=ScoreArguments(damping_factor=DAMPING))
            return found.load_pairwise_scores("scores")["all_modules"].T
    return work


def our_tracin(torch: Any) -> Callable[[], Any]:
    task, model = digits(torch)
    caps = microscope.capture(model), microscope.capture(model)

    def work() -> Any:
        batches = (task.x, task.y), (task.seen, task.wanted)
        train, test = (per_sample(torch, cap, *batch) for cap, batch in zip(caps, batches))
        return train.dots(test)
    return work


def captum_tracin(torch: Any) -> Callable[[], Any]:
    from captum.influence import TracInCP
    from torch.utils.data import DataLoader, TensorDataset
    task, model = digits(torch)
    train = DataLoader(TensorDataset(task.x, task.y), batch_size=len(task.x))
    scores = TracInCP(model, train, ["one"], checkpoints_load_func=lambda model, path: 1.0, batch_size=len(task.x),
                      loss_fn=torch.nn.CrossEntropyLoss(reduction="sum"), sample_wise_grads_per_batch=True)
    return lambda: scores.influence((task.seen, task.wanted)).T


def llama(torch: Any) -> tuple[Any, list[Any], list[Any]]:
    """(a Llama of two layers after 50 steps on windows of a poem, the windows, 11 others)"""
    from transformers import LlamaConfig, LlamaForCausalLM
    poem = (DATA / "jabberwocky.txt").read_text(encoding="utf-8")
    letters = sorted(set(poem))
    codes = [letters.index(c) for c in poem]
    windows = [codes[n:n + 25] for n in range(0, len(codes) - 24, 6)]
    rows, seen = [row for n, row in enumerate(windows) if n % 15], windows[::15]
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(letters), hidden_size=24, intermediate_size=48, num_hidden_layers=2,
                                         num_attention_heads=4, attn_implementation="eager", use_cache=False))
    optimizer, x = torch.optim.AdamW(model.parameters(), lr=3e-3), torch.tensor(rows)
    for i in torch.randint(len(rows), (50, 32)):
        optimizer.zero_grad()
        losses(torch, model, x[i]).mean().backward()
        optimizer.step()
    optimizer.zero_grad()
    return model.eval(), rows, seen


def losses(torch: Any, model: Any, x: Any) -> Any:
    out = model(input_ids=x).logits[:, :-1]
    each = torch.nn.functional.cross_entropy(out.flatten(0, 1), x[:, 1:].flatten(), reduction="none")
    return each.reshape(len(x), -1).sum(1)


def our_dots(torch: Any) -> Callable[[], Any]:
    model, rows, seen = llama(torch)
    caps = [microscope.capture(model, layers="model.layers.*_proj.weight") for _ in range(2)]

    def grads(cap: Any, rows: Any) -> Any:
        with cap:
            losses(torch, model, torch.tensor(rows)).sum().backward()
        return cap.grads()
    return lambda: grads(caps[0], rows).dots(grads(caps[1], seen))


def bergson_dots(torch: Any) -> Callable[[], Any]:
    from bergson import CollectorComputer, GradientProcessor, IndexConfig, InMemoryCollector
    from datasets import Dataset
    model, rows, seen = llama(torch)

    def grads(rows: Any, folder: str) -> dict[str, Any]:
        data = Dataset.from_dict({"input_ids": rows, "length": [len(row) for row in rows]})
        os.makedirs(folder + "/index.part", exist_ok=True)
        config = IndexConfig(run_path=folder + "/index")
        found = InMemoryCollector(model=model.base_model, cfg=config, processor=GradientProcessor(), data=data)
        computer = CollectorComputer(model=model, data=data, collector=found, cfg=config, batches=[list(range(len(rows)))])
        computer.run_with_collector_hooks(desc="gradients")
        return {name: torch.as_tensor(np.array(g)).flatten(1) for name, g in found.gradients.items()}

    def work() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            train, test = grads(rows, folder), grads(seen, folder)
        return sum(train[name] @ test[name].T for name in train)
    return work


def our_outputs(torch: Any) -> Callable[[], Any]:
    model, rows, _ = llama(torch)

    def work() -> Any:
        with microscope.record(model, values="all", nodes=False) as rec:
            out = model(input_ids=torch.tensor(rows)).logits
        assert any(np.array_equal(rec.value(v).array, out.detach().numpy()) for e in rec.of("op") for v in e.values if v >= 0)
        return out
    return work


def torchlens_outputs(torch: Any) -> Callable[[], Any]:
    import torchlens
    model, rows, _ = llama(torch)

    def work() -> Any:
        found = torchlens.trace(model, input_kwargs={"input_ids": torch.tensor(rows)})
        return [layer.out for layer in found.layer_list if layer.has_saved_activation][-1]
    return work


def curved(library: str, work: str) -> Callable[[Any], Callable[[], Any]]:
    def made(torch: Any) -> Callable[[], Any]:
        return curvature.LIBRARIES[library](torch, *curvature.problem(torch))[work]
    return made


WORKS: dict[str, dict[str, Callable[[Any], Callable[[], Any]]]] = {
    "norms": {"microscope": our_norms, "Opacus": opacus_norms, "BackPACK": backpack_norms},
    "EK-FAC": {"microscope": our_influence, "kronfluence": kronfluence_influence},
    "TracIn": {"microscope": our_tracin, "Captum": captum_tracin},
    "dots": {"microscope": our_dots, "bergson": bergson_dots},
    "outputs": {"microscope": our_outputs, "TorchLens": torchlens_outputs},
    "eigenvalues": {name: curved(name, "eigenvalues") for name in curvature.LIBRARIES},
    "trace": {name: curved(name, "trace") for name in ("microscope", "PyHessian")},
}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one(work: str, library: str, path: str, rounds: int) -> None:
    """Do it in this process: its numbers go to `path`, what it took is the last line of stdout."""
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    told: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(sys.stderr):
            call = WORKS[work][library](torch)
            before, took = peak(), []
            for _ in range(rounds + 1):
                begin = time.process_time()
                found = call()
                took.append(time.process_time() - begin)
        np.save(path, np.asarray(found.detach() if hasattr(found, "detach") else found))
        told = {"seconds": round(statistics.median(took[1:]), 4), "MiB": round(peak() - before, 1)}
    except Exception as e:                      # what it cannot do is a result
        told = {"error": f"{type(e).__name__}: {e}".partition("\n")[0][:200]}
    print(json.dumps(told))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__.partition("\n")[0])
    parser.add_argument("result", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=3, metavar=("WORK", "LIBRARY", "FILE"))
    given = parser.parse_args()
    if given.one:
        one(*given.one, given.rounds)
        return 0
    rows: dict[str, Any] = {"machine": machine()}
    with tempfile.TemporaryDirectory() as folder:
        for work, libraries in WORKS.items():
            row = rows[work] = {}
            for library in libraries:
                path = f"{folder}/{library}.npy"
                run = subprocess.run([sys.executable, "-m", "benchmarks.peers", "--rounds", str(given.rounds), "--one", work,
                                      library, path], capture_output=True, text=True)
                row[library] = json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else {
                    "error": run.stderr.strip().splitlines()[-1][:200]}
                if library != "microscope" and "seconds" in row[library]:
                    ours, theirs = np.load(f"{folder}/microscope.npy"), np.load(path)
                    row[library]["apart"] = float(f"{np.linalg.norm(theirs - ours) / np.linalg.norm(ours):.2g}")
                print(work, library, row[library], flush=True)
    given.result.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
