"""LoRA of peft on a small GPT-2: only its matrices learn; merged, it gives the same."""
import warnings

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

warnings.simplefilter("ignore")
torch.manual_seed(0)
base = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=1, n_head=2))
model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], lora_dropout=0.0, fan_in_fan_out=True))
model.print_trainable_parameters()
ids = torch.arange(24).reshape(2, 12) % 40
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
model.eval()
for _ in range(5):
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
logits = model(input_ids=ids).logits
print("merged", (model.merge_and_unload()(input_ids=ids).logits - logits).abs().max().item() < 1e-4)
