"""Poisson's equation by a physics-informed network."""
import os

os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde
import numpy as np
import torch

dde.config.set_random_seed(0)


def pde(x, y):
    return -dde.grad.hessian(y, x) - np.pi**2 * torch.sin(np.pi * x)


geometry = dde.geometry.Interval(-1, 1)
data = dde.data.PDE(geometry, pde, dde.icbc.DirichletBC(geometry, lambda x: 0, lambda x, on: on), 16, 2, num_test=16)
model = dde.Model(data, dde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot uniform"))
model.compile("adam", lr=1e-3, verbose=0)
history, _ = model.train(iterations=100, display_every=20, verbose=0)
for losses in history.loss_train:
    print("loss", *losses)
