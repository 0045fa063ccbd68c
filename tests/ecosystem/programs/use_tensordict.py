"""Dictionaries of tensors."""
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule

torch.manual_seed(0)
data = TensorDict({"x": torch.randn(4, 3), "deep": {"y": torch.ones(4, 2)}}, batch_size=[4])
out = TensorDictModule(torch.nn.Linear(3, 2), in_keys=["x"], out_keys=["z"])(data)
print("z", *out["z"].flatten().tolist())
print("stack", *torch.stack([data, data]).batch_size, *data[1:3]["deep", "y"].shape,
    data.apply(lambda t: t * 2)["x"].sum().item())
