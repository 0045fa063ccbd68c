"""The graph of a model's calls."""
import torch
from torch import nn
from torchview import draw_graph

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
graph = draw_graph(model, input_size=(1, 3, 8, 8), device="cpu")
print("edges", len(graph.edge_list), graph.num_tensors if hasattr(graph, "num_tensors") else 0)
for a, b in graph.edge_list:
    print(a.name, b.name)
