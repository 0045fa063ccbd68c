"""Attributions of captum: gradients, DeepLift, GradCAM, occlusion, relevance."""
import torch
from captum.attr import (
    LRP,
    DeepLift,
    GuidedBackprop,
    InputXGradient,
    IntegratedGradients,
    LayerGradCam,
    LayerIntegratedGradients,
    NeuronConductance,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
)
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 8), nn.ReLU(),
                    nn.Linear(8, 3)).eval()
x = torch.rand(2, 1, 8, 8, requires_grad=True)
for method in (IntegratedGradients(net), DeepLift(net), Saliency(net), InputXGradient(net), GuidedBackprop(net)):
    found = method.attribute(x, target=1)
    print(type(method).__name__, found.sum().item(), found.abs().max().item())
print("occlusion", Occlusion(net).attribute(x, (1, 3, 3), strides=(1, 2, 2), target=0).sum().item())
print("gradcam", LayerGradCam(net, net[0]).attribute(x, target=2).flatten()[:4].tolist())
print("layer", LayerIntegratedGradients(net, net[4]).attribute(x, target=2, n_steps=10).sum().item())
print("neuron", NeuronConductance(net, net[4]).attribute(x, neuron_selector=1, target=2, n_steps=10).sum().item())
found, delta = IntegratedGradients(net).attribute(x, torch.zeros_like(x), target=0, return_convergence_delta=True)
print("delta", *(round(d, 3) for d in delta.tolist()))
small = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
mlp = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
print("relevance", LRP(mlp).attribute(torch.ones(1, 4), target=0).tolist())
print("shapley", ShapleyValueSampling(small).attribute(torch.ones(1, 4), target=0, n_samples=200).sum().item())
