"""The microscope on models of strangers: does every number equal that of a loop over single samples?

    python -m benchmarks.zoo [RESULT.json] [--only gpt2,vit]

Small models of transformers, timm and torchvision (installed by who wants to run this), with weights as their libraries
initialise them, three samples each, on PyTorch.  Per model: how many of its parameters are covered per sample, the largest
relative error of a per-sample gradient and of a norm against the loop, how far the ledgers of a recorded step are from
.grad, and what `trouble()` says.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

V, T, B = 50, 10, 3                             # letters, tokens, samples
WIDE = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
TEXT = {**WIDE, "vocab_size": V, "max_position_embeddings": 40, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GROUPED = {**TEXT, "num_key_value_heads": 2}
IMAGE = {**WIDE, "image_size": 32, "patch_size": 8}

# kind, what of transformers, its configuration
TRANSFORMERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("causal", "GPT2LMHeadModel", {"vocab_size": V, "n_positions": 40, "n_embd": 64, "n_layer": 2, "n_head": 4,
                                           "bos_token_id": 1, "eos_token_id": 2}),
    "llama": ("causal", "LlamaForCausalLM", GROUPED), "mistral": ("causal", "MistralForCausalLM", GROUPED),
    "qwen2": ("causal", "Qwen2ForCausalLM", GROUPED), "qwen3": ("causal", "Qwen3ForCausalLM", {**GROUPED, "head_dim": 16}),
    "gemma": ("causal", "GemmaForCausalLM", {**GROUPED, "head_dim": 16}),
    "gemma2": ("causal", "Gemma2ForCausalLM", {**GROUPED, "head_dim": 16}),
    "phi": ("causal", "PhiForCausalLM", TEXT), "gpt_neox": ("causal", "GPTNeoXForCausalLM", TEXT),
    "opt": ("causal", "OPTForCausalLM", {**TEXT, "ffn_dim": 128, "word_embed_proj_dim": 64}),
    "bloom": ("causal", "BloomForCausalLM", {"vocab_size": V, "hidden_size": 64, "n_layer": 2, "n_head": 4}),
    "mamba": ("causal", "MambaForCausalLM", {"vocab_size": V, "hidden_size": 64, "state_size": 4, "num_hidden_layers": 2}),
    "mixtral": ("causal", "MixtralForCausalLM", {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "bert": ("causal", "BertForMaskedLM", TEXT), "roberta": ("class", "RobertaForSequenceClassification", TEXT),
    "distilbert": ("class", "DistilBertForSequenceClassification",
                   {"vocab_size": V, "max_position_embeddings": 40, "n_layers": 2, "n_heads": 4, "dim": 64, "hidden_dim": 128}),
    "electra": ("class", "ElectraForSequenceClassification", {**TEXT, "embedding_size": 16}),
    "albert": ("class", "AlbertForSequenceClassification", {**TEXT, "embedding_size": 16}),
    "deberta": ("class", "DebertaV2ForSequenceClassification",
                {**TEXT, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "t5": ("pairs", "T5ForConditionalGeneration", {"vocab_size": V, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
                                                   "num_heads": 4, "decoder_start_token_id": 0}),
    "bart": ("pairs", "BartForConditionalGeneration", {
        "vocab_size": V, "max_position_embeddings": 40, "d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}),
    "vit": ("image", "ViTForImageClassification", IMAGE),
    "swin": ("image", "SwinForImageClassification", {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [1, 1],
                                                     "num_heads": [2, 2], "window_size": 4}),
    "convnext": ("image", "ConvNextForImageClassification", {"hidden_sizes": [16, 16, 32, 32], "depths": [1, 1, 1, 1]}),
}
# In evaluation mode: batch norms of a training step mix samples, which have no gradients of their own then
VISION: dict[str, tuple[str, str, dict[str, Any]]] = {
    "resnet18": ("torchvision.models", "resnet18", {}), "squeezenet": ("torchvision.models", "squeezenet1_1", {}),
    "mobilenet_v3": ("torchvision.models", "mobilenet_v3_small", {}),
    "densenet": ("torchvision.models", "DenseNet", {"growth_rate": 8, "block_config": (2, 2), "num_init_features": 16}),
    "shufflenet": ("torchvision.models", "shufflenet_v2_x0_5", {}), "efficientnet": ("torchvision.models", "efficientnet_b0", {}),
    "swin (torchvision)": ("torchvision.models", "SwinTransformer", {
        "patch_size": [4, 4], "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": [4, 4]}),
    "mixer": ("timm", "mixer_s16_224", {"img_size": 64}), "deit": ("timm", "deit_tiny_patch16_224", {"img_size": 64}),
    "cait": ("timm", "cait_xxs24_224", {"img_size": 64, "depth": 2}),
    "beit": ("timm", "beit_base_patch16_224", {"img_size": 64, "depth": 2, "embed_dim": 48, "num_heads": 4}),
    "regnet": ("timm", "regnetx_002", {}), "ghostnet": ("timm", "ghostnet_100", {}),
}

Case = tuple[Any, dict[str, Any], Callable[[Any, dict[str, Any]], Any]]     # model, batch, loss of both


def language(torch: Any, name: str) -> Case:
    """A model of transformers, whose outputs have their loss."""
    kind, what, options = TRANSFORMERS[name]
    library = importlib.import_module("transformers")
    cls = getattr(library, what)
    config = cls.config_class(**options)
    for key in vars(config):
        if ("dropout" in key or key.endswith(("_pdrop", "drop_path_rate"))) and isinstance(getattr(config, key), float):
            setattr(config, key, 0.0)
    model = cls(config).train()
    ids = torch.randint(3, V, (B, T))
    labels = torch.randint(0, 2, (B,))
    batch = {"causal": {"input_ids": ids, "labels": partly_ignored(ids)}, "class": {"input_ids": ids, "labels": labels},
             "pairs": {"input_ids": ids, "labels": partly_ignored(torch.randint(3, V, (B, 7)))},
             "image": {"pixel_values": torch.randn(B, 3, 32, 32), "labels": labels}}[kind]
    return model, batch, lambda model, batch: model(**batch).loss


def partly_ignored(ids: Any) -> Any:
    """Labels of which sample n ignores n at its end."""
    labels = ids.clone()
    for n in range(1, B):
        labels[n, -n:] = -100
    return labels


def vision(torch: Any, name: str) -> Case:
    """A model of torchvision or timm, from images to 5 classes."""
    module, what, options = VISION[name]
    library = importlib.import_module(module)
    make = library.create_model if module == "timm" else getattr(library, what)
    model = make(*([what] if module == "timm" else []), num_classes=5, **options).eval()
    batch = {"x": torch.randn(B, 3, 64, 64), "y": torch.randint(0, 5, (B,))}
    return model, batch, lambda model, batch: torch.nn.functional.cross_entropy(model(batch["x"]), batch["y"])


def single(batch: dict[str, Any], n: int) -> dict[str, Any]:
    """Sample n alone."""
    return {key: value[n:n + 1] for key, value in batch.items()}


def look(torch: Any, name: str) -> dict[str, Any]:
    """One row of the table."""
    from retrograd import microscope
    torch.manual_seed(0)
    model, batch, loss = (language if name in TRANSFORMERS else vision)(torch, name)
    with microscope.record(model, values="parameters") as rec:
        loss(model, batch).backward()
    ledger = max(rec.ledger(p).check() for p, w in model.named_parameters() if w.grad is not None)
    model.zero_grad()
    with microscope.capture(model) as cap:
        loss(model, batch).backward()
    grads = cap.grads(scale="sample", partial=True)
    each, norms = grads.per_sample(), grads.norms()
    wrong = wrong_norm = 0.0
    for n in range(B):
        model.zero_grad()
        loss(model, single(batch, n)).backward()
        truth = {p: w.grad for p, w in model.named_parameters() if p in each}
        scale = max(float(g.norm()) for g in truth.values())
        wrong = max(wrong, *(float((each[p][n] - g).norm()) / max(float(g.norm()), 1e-6 * scale) for p, g in truth.items()))
        whole = float(torch.cat([g.double().flatten() for g in truth.values()]).norm())
        wrong_norm = max(wrong_norm, abs(float(norms[n]) - whole) / whole)
    rows = [row for row in cap.coverage() if row.status not in ("frozen", "no gradient", "left out")]
    return {"model": name, "parameters": len(rows), "covered": len(each), "error": wrong, "norm_error": wrong_norm,
            "ledger_error": ledger, "events": len(rec), "trouble": [f"{f.direction}: {f.text}" for f in rec.trouble()],
            "not_covered": sorted({row.how for row in rows if row.name not in each})}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", nargs="?", help="file for the figures, as JSON")
    parser.add_argument("--only", default=",".join([*TRANSFORMERS, *VISION]), help="models, with commas between")
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    import torch
    torch.set_num_threads(1)
    rows = []
    for name in options.only.split(","):
        row = look(torch, name)
        rows.append(row)
        print(f"{name:20}{row['covered']:5} of {row['parameters']:<5} gradients {row['error']:.0e}  "
              f"norms {row['norm_error']:.0e}  ledgers {row['ledger_error']:.0e}  events {row['events']}",
              *row["trouble"], sep="\n" + " " * 22, flush=True)
    if options.result:
        versions = {m: importlib.import_module(m).__version__ for m in ("torch", "transformers", "timm", "torchvision")
                    if importlib.util.find_spec(m)}         # --only may want some of them
        with open(options.result, "w", encoding="utf-8") as file:
            json.dump({"versions": versions, "rows": rows}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
