"""A batch and a network of tianshou."""
import numpy as np
import torch
from tianshou.data import Batch, ReplayBuffer
from tianshou.utils.net.common import MLP

torch.manual_seed(0)
net = MLP(input_dim=4, output_dim=2, hidden_sizes=[16, 16])
buffer = ReplayBuffer(size=20)
rng = np.random.default_rng(0)
for i in range(20):
    buffer.add(Batch(obs=rng.normal(size=4), act=i % 2, rew=1.0, terminated=False, truncated=False,
        obs_next=rng.normal(size=4), info={}))
print("out", *net(torch.as_tensor(buffer[:4].obs, dtype=torch.float32)).flatten().tolist())
