"""TRL: SFT and DPO of a small GPT-2, with data made here."""
import contextlib
import io
import tempfile
import warnings

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

warnings.simplefilter("ignore")
torch.manual_seed(0)
words = "[PAD] [UNK] [EOS] a cat dog sits on the mat runs in park bird sings".split()
tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", eos_token="[EOS]")


def make():
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(
        vocab_size=len(words), n_positions=32, n_embd=16, n_layer=2, n_head=2, attn_pdrop=0, embd_pdrop=0, resid_pdrop=0,
        eos_token_id=2, bos_token_id=2, pad_token_id=0))


def trained(trainer):
    with contextlib.redirect_stdout(io.StringIO()):        # times
        trainer.train()
    return [round(row["loss"], 3) for row in trainer.state.log_history if "loss" in row]


texts = {"text": ["a cat sits on the mat", "the dog runs in the park", "a bird sings"] * 4}
choices = {"prompt": ["a cat", "the dog"] * 4, "chosen": [" sits on the mat", " runs"] * 4, "rejected": [" sings", " sits"] * 4}
with tempfile.TemporaryDirectory() as folder:
    same = {"output_dir": folder, "max_steps": 5, "per_device_train_batch_size": 2, "report_to": [], "use_cpu": True,
            "logging_steps": 1, "disable_tqdm": True, "save_strategy": "no", "seed": 0, "bf16": False,
            "gradient_checkpointing": False}
    print("sft", trained(SFTTrainer(make(), SFTConfig(max_length=16, **same), train_dataset=Dataset.from_dict(texts),
                                    processing_class=fast)))
    print("dpo", trained(DPOTrainer(make(), ref_model=make(), args=DPOConfig(max_length=16, beta=0.1, **same),
                                    train_dataset=Dataset.from_dict(choices), processing_class=fast)))
