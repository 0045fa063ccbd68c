"""Reinforcement learning on a CPU: agents of Stable-Baselines3 on PyTorch and with `retrograd run`."""
