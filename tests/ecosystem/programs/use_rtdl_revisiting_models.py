"""MLP, ResNet and FT-Transformer for tables."""
import torch
from rtdl_revisiting_models import MLP, FTTransformer, ResNet

torch.manual_seed(0)
x = torch.randn(16, 5)
ft = FTTransformer(n_cont_features=5, cat_cardinalities=[], d_out=1, n_blocks=1, d_block=16, attention_n_heads=2,
    attention_dropout=0.0,
    ffn_d_hidden_multiplier=2, ffn_dropout=0.0, residual_dropout=0.0)
for model, args in ((MLP(d_in=5, d_out=1, n_blocks=2, d_block=16, dropout=0.1), (x,)), (ft, (x, None)),
        (ResNet(d_in=5, d_out=1, n_blocks=1, d_block=16, d_hidden=None, d_hidden_multiplier=2.0, dropout1=0.1,
            dropout2=0.0), (x,))):
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for _ in range(10):
        loss = (model(*args) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(type(model).__name__, loss.item())
