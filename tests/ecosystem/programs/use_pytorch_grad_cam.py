"""Heat maps of pytorch-grad-cam."""
import numpy as np
import torch
from pytorch_grad_cam import EigenCAM, GradCAM, GradCAMPlusPlus, HiResCAM, LayerCAM
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                    nn.Linear(8, 4)).eval()
x = torch.rand(1, 3, 16, 16)
for make in (GradCAM, GradCAMPlusPlus, HiResCAM, LayerCAM, EigenCAM):
    with make(model=net, target_layers=[net[2]]) as cam:
        found = cam(input_tensor=x, targets=[ClassifierOutputTarget(1)])
    print(make.__name__, found.shape, float(np.abs(found).sum()))
