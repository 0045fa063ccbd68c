import torch
from x_transformers import Decoder, TransformerWrapper

torch.manual_seed(0)
model = TransformerWrapper(num_tokens=30, max_seq_len=16, attn_layers=Decoder(dim=32, depth=2, heads=4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
ids = torch.arange(32).reshape(2, 16) % 30
for _ in range(5):
    loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
