import tempfile

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
)

small = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48}
ids, labels = torch.arange(24).reshape(2, 12) % 50, torch.tensor([0, 1])
for make, config, inputs in (
        (GPT2LMHeadModel, GPT2Config(vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4), {"labels": ids}),
        (LlamaForCausalLM, LlamaConfig(vocab_size=50, num_key_value_heads=2, **small), {"labels": ids}),
        (T5ForConditionalGeneration, T5Config(vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                                              decoder_start_token_id=0), {"labels": ids}),
        (BertForSequenceClassification, BertConfig(vocab_size=50, **small), {"labels": labels}),
        (ViTForImageClassification, ViTConfig(image_size=16, patch_size=8, **small), {"labels": labels})):
    torch.manual_seed(0)
    model = make(config)
    if make is ViTForImageClassification:
        inputs = {**inputs, "pixel_values": torch.randn(2, 3, 16, 16)}
    else:
        inputs = {**inputs, "input_ids": ids}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(8):
        loss = model(**inputs).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = make.from_pretrained(folder).eval()
    with torch.no_grad():
        print(make.__name__, [round(x, 4) for x in losses], torch.equal(model(**inputs).logits, again(**inputs).logits))
    if make in (GPT2LMHeadModel, LlamaForCausalLM):
        print(model.generate(ids[:1, :4], max_new_tokens=8, do_sample=False, pad_token_id=0).tolist())
