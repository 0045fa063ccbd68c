"""One training of one agent: python agent.py ALGORITHM STEPS THREADS SEED.  Prints a line of JSON.

The program names PyTorch only; `retrograd run agent.py ...` runs the same file on retrograd.
"""
import json
import sys
import time

import gymnasium
import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.callbacks import BaseCallback

ENVIRONMENTS = {"PPO": "CartPole-v1", "A2C": "CartPole-v1", "DQN": "CartPole-v1", "SAC": "Pendulum-v1", "TD3": "Pendulum-v1"}
OPTIONS = {"DQN": {"learning_starts": 1000, "learning_rate": 2.3e-3, "train_freq": 256, "gradient_steps": 128,
                   "target_update_interval": 10, "exploration_fraction": 0.16, "exploration_final_eps": 0.04,
                   "batch_size": 64, "policy_kwargs": {"net_arch": [256, 256]}},
           "SAC": {"learning_starts": 100}, "TD3": {"learning_starts": 100}}
# Environment steps after which parameters are compared: the first updates are done, and rounding has not spread yet
EARLY = {"PPO": 2049, "A2C": 100, "DQN": 1100, "SAC": 150, "TD3": 150}


class Early(BaseCallback):
    """Notes the parameters after the first updates."""

    def __init__(self, at):
        super().__init__()
        self.at, self.total = at, None

    def _on_step(self):
        if self.total is None and self.num_timesteps >= self.at:
            self.total = sum(float(p.detach().abs().sum()) for p in self.model.policy.parameters())
        return True


def main():
    name, steps, threads, seed = sys.argv[1], *map(int, sys.argv[2:5])
    torch.set_num_threads(threads)
    agent = getattr(stable_baselines3, name)("MlpPolicy", ENVIRONMENTS[name], seed=seed, device="cpu", **OPTIONS.get(name, {}))
    early = Early(EARLY[name])
    begin, spent = time.perf_counter(), time.process_time()
    agent.learn(steps, callback=early)
    wall, cpu = time.perf_counter() - begin, time.process_time() - spent
    returns = [episode["r"] for episode in agent.ep_info_buffer]
    print(json.dumps({
        "engine": torch.__file__.split("/")[-2], "algorithm": name, "environment": ENVIRONMENTS[name], "steps": steps,
        "threads": threads, "seed": seed, "seconds": wall, "processor": cpu, "early": early.total,
        "return": float(np.mean(returns[-10:])),
        "library": f"Stable-Baselines3 {stable_baselines3.__version__}, gymnasium {gymnasium.__version__}"}))


main()
