"""Every function of the microscope, given an argument of no type that it takes: an error in its own name, before anything."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import microscope, nn
from retrograd.nn import functional as F

OURS = (TypeError, ValueError, RuntimeError)
OTHERS = {"generator", "group", "batch"}        # checked by what they are given to: the engine, the user's model


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Callable[..., Any], dict[str, Any]]]]:
    folder = tmp_path_factory.mktemp("types")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with microscope.capture(model) as cap, microscope.record(model) as rec:
        F.cross_entropy(model(x), y).backward()
    grads = cap.grads(scale="sample")
    with microscope.FactorStore(folder / "store", "w") as store:
        store.append(grads, 0)
        yield {
            "capture": (microscope.capture, {"model": model}),
            "record": (microscope.record, {}),
            "grads": (cap.grads, {}),
            "uses": (cap.uses, {}),
            "fill": (cap.fill, {"loss": lambda m, *batch: m(batch[0]).sum()}),
            "weight_grad": (grads.weight_grad, {}),
            "clip": (grads.clip, {"max_norm": 1.0}),
            "weighted": (grads.weighted, {"weights": torch.ones(6)}),
            "norms": (grads.norms, {}),
            "dots": (grads.dots, {}),
            "factors": (grads.factors, {"name": "0.weight"}),
            "kronecker": (grads.kronecker, {"sample": 0}),
            "project": (grads.project, {"dim": 4}),
            "select": (grads.select, {}),
            "segments": (grads.segments, {"cu_seqlens": [0, 6]}),
            "dot": (grads.kronecker(0)["0.weight"].dot, {"v": torch.randn(8, 4)}),
            "sampling_probabilities": (microscope.sampling_probabilities, {"norms": grads.norms()}),
            "norm_sampling": (microscope.norm_sampling, {"grads": grads, "count": 3}),
            "tracin": (microscope.tracin, {"train": grads, "test": grads}),
            "influence": (microscope.influence, {"train": grads, "test": grads, "curvature": grads.kfac()}),
            "private_gradient": (microscope.private_gradient, {"grads": grads, "max_norm": 1.0, "noise_multiplier": 1.0}),
            "dp_sgd_step": (microscope.dp_sgd_step,
                            {"grads": grads, "optimizer": optimizer, "max_norm": 1.0, "noise_multiplier": 1.0}),
            "epsilon": (microscope.epsilon, {"noise_multiplier": 1.0, "sample_rate": 0.1, "steps": 3, "delta": 1e-5}),
            "fisher_diagonal": (microscope.fisher_diagonal, {"grads": grads}),
            "noise_scale": (microscope.noise_scale, {"grads": grads}),
            "curvature": (microscope.curvature, {"model": model, "loss": F.cross_entropy, "data": [(x, y)]}),
            "FactorStore": (microscope.FactorStore, {"path": folder / "other"}),
            "append": (store.append, {"grads": grads, "step": 1}),
            "scores": (store.scores, {"query": grads}),
            "top": (store.top, {"query": grads, "k": 2}),
            "contract": (microscope.contract, {"model": model, "batch": (x, y), "loss": F.cross_entropy}),
            "memory": (microscope.memory, {"model": model}),
            "explain": (microscope.explain, {"x": model}),
            "why_none": (microscope.why_none, {"p": model[0].weight}),
            "why_not_fired": (microscope.why_not_fired, {"handle": model.register_forward_hook(lambda *_: None)}),
            "compare": (microscope.compare, {"a": rec, "b": rec}),
            "load": (microscope.load, {"path": folder / "x.trace"}),
            "to_html": (rec.to_html, {"path": folder / "x.html"}),
            "save": (rec.save, {"path": folder / "x.trace"}),
            "lint": (microscope.lint, {"model": model}),
            "lint_recording": (microscope.lint_recording, {"rec": rec}),
            "lint_source": (microscope.lint_source, {"text": ""}),
            "merge": (microscope.merge, {"recordings": [rec]}),
            "watchdog": (microscope.watchdog, {}),
            "to_pandas": (microscope.to_pandas, {"found": rec}),
            "to_arrow": (microscope.to_arrow, {"found": rec}),
            "to_parquet": (microscope.to_parquet, {"found": rec, "path": folder / "x.parquet"}),
            "watch": (microscope.watch, {"model": model}),
            "flight": (microscope.flight, {"model": model}),
            "metagradient": (microscope.metagradient, {"train": print, "evaluate": print, "wrt": {"weight": torch.ones(6)}}),
            "validate": (microscope.validate, {"scores": {"a": torch.ones(6)}, "train": print, "evaluate": print,
                                               "weight": torch.ones(6)}),
            "attributions": (microscope.attributions, {"train": print, "evaluate": print, "losses": print,
                                                       "weight": torch.ones(6)}),
        }


def test_an_argument_of_a_wrong_type_is_refused_in_the_name_of_what_was_called(calls: dict[str, Any]) -> None:
    tried = 0
    for name, (function, others) in calls.items():
        for parameter in signature(function).parameters.values():
            if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) or parameter.name in OTHERS:
                continue
            with pytest.raises(OURS) as refusal:
                found = function(**{**others, parameter.name: object()})
                pytest.fail(f"{name}({parameter.name}=object()) gave {found!r}")
            text = str(refusal.value)
            # the name of what was called, or of a class or function that it says it makes or takes
            assert text.startswith((f"{name}:", f"{name}(", "microscope:", "layers:", "KFAC:")) or parameter.name in text, (
                f"{name}({parameter.name}=object()): {text}")
            tried += 1
    assert tried > 90


def test_what_was_refused_has_done_nothing(calls: dict[str, Any], tmp_path: Path) -> None:
    save, _ = calls["save"]
    path = tmp_path / "kept.trace"
    path.write_text("before")
    with pytest.raises(TypeError, match="FactorStore: rank must be an integer or None, got str"):
        microscope.FactorStore(tmp_path / "store", "a", rank="zero")
    with pytest.raises(TypeError, match="save: path must be a path, got int"):
        save(3)
    assert path.read_text() == "before" and sorted(p.name for p in tmp_path.iterdir()) == ["kept.trace"]
