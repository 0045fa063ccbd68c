"""A network as an estimator of scikit-learn."""
import numpy as np
import torch
from skorch import NeuralNetClassifier
from torch import nn

torch.manual_seed(0)
x = np.random.default_rng(0).normal(size=(80, 6)).astype("float32")
net = NeuralNetClassifier(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)), criterion=nn.CrossEntropyLoss,
    max_epochs=5, lr=0.1, verbose=0, train_split=None)
net.fit(x, (x[:, 0] > 0).astype("int64"))
print("loss", *net.history[:, "train_loss"])
print("probability", *net.predict_proba(x[:3]).flatten())
