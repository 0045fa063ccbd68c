"""Reinforcement learning on a CPU: agents of Stable-Baselines3 and CleanRL on PyTorch and with `retrograd run`."""
