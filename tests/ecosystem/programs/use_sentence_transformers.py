"""sentence-transformers: modules over a small BERT, losses, training steps, encode, similarity, save and load."""
import tempfile
import warnings

import torch
from sentence_transformers import SentenceTransformer, losses, util
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

warnings.simplefilter("ignore")
torch.manual_seed(0)
words = "[PAD] [UNK] [CLS] [SEP] [MASK] a cat dog sits on the mat runs in park bird sings".split()
tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
fast = PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
    model_max_length=16)
with tempfile.TemporaryDirectory() as folder:
    BertModel(BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                         max_position_embeddings=32)).save_pretrained(folder)
    fast.save_pretrained(folder)
    bert = Transformer(folder, max_seq_length=16)
model = SentenceTransformer(modules=[bert, Pooling(16, pooling_mode="mean"), Dense(16, 8), Normalize()], device="cpu")
pairs = [("a cat sits on the mat", "the cat sits"), ("a dog runs in the park", "the dog runs"),
         ("a bird sings", "the bird sings in the park")]
for loss in (losses.MultipleNegativesRankingLoss(model), losses.CosineSimilarityLoss(model)):
    optimizer = torch.optim.AdamW(loss.parameters(), lr=1e-3)
    for step in range(5):
        model.train()
        features = [model.tokenize([p[i] for p in pairs]) for i in (0, 1)]
        value = loss(features, torch.tensor([1.0, 0.5, 0.2]))
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step in (0, 4):
            print(type(loss).__name__, step, f"{value.item():.5f}")
model.eval()
found = model.encode([p[0] for p in pairs], convert_to_tensor=True)
print(found.shape, f"{found.abs().sum().item():.4f}")
print([[round(v, 3) for v in row] for row in model.similarity(found, found).tolist()])
print([[(h["corpus_id"], round(h["score"], 3)) for h in hits] for hits in util.semantic_search(found, found, top_k=2)])
with tempfile.TemporaryDirectory() as folder:
    model.save(folder)
    again = SentenceTransformer(folder, device="cpu")
a, b = (m.encode(["the cat runs"], convert_to_tensor=True) for m in (again, model))
print(float((a - b).abs().max()) < 1e-6)
