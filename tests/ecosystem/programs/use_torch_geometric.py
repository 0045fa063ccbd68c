"""GCN, GAT and GraphSAGE on a random graph."""
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, global_mean_pool

torch.manual_seed(0)
data = Data(x=torch.randn(20, 6), edge_index=torch.randint(0, 20, (2, 60)), y=torch.randint(0, 3, (20,)))
for conv in (GCNConv, GATConv, SAGEConv):
    a, b = conv(6, 16), conv(16, 3)
    optimizer = torch.optim.Adam([*a.parameters(), *b.parameters()], 1e-2)
    for _ in range(10):
        out = b(a(data.x, data.edge_index).relu(), data.edge_index)
        loss = torch.nn.functional.cross_entropy(out, data.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(conv.__name__, loss.item())
print("pool", *global_mean_pool(out, torch.arange(20) // 10).flatten().tolist())
