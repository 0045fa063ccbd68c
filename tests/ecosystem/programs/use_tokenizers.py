"""A tokenizer is trained on a text, and its numbers feed an embedding."""
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

tokenizer = Tokenizer(models.BPE(unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.train_from_iterator(["low lower lowest new newer newest wide wider widest"] * 3,
    trainers.BpeTrainer(vocab_size=40, special_tokens=["?"]))
ids = tokenizer.encode("newest and widest").ids
torch.manual_seed(0)
print("ids", *ids)
print("sum", torch.nn.Embedding(40, 8)(torch.tensor(ids)).sum().item())
