"""The network of document 002, (0.4 (0.3 x + 0.1) + 0.2)^2 in two layers, with a hook on the second."""

import torch
import torch.nn as nn


def look(layer, grad_input, grad_out):
    print("grad_input: ", grad_input)
    print("grad_output: ", grad_out)


def double(layer, grad_input, grad_out):
    look(layer, grad_input, grad_out)
    return (grad_input[0] * 2,)


class SLinear(nn.Module):
    def __init__(self):
        super(SLinear, self).__init__()
        self.f = nn.Linear(1, 1, bias=True)
        with torch.no_grad():
            self.f.weight[0, 0] = 0.4
            self.f.bias[0] = 0.2

    def forward(self, x):
        s = self.f(x)
        y = s**2
        return y


class Net(nn.Module):
    def __init__(self, register, hook):
        super(Net, self).__init__()
        self.f0 = nn.Linear(1, 1, bias=True)
        with torch.no_grad():
            self.f0.weight[0, 0] = 0.3
            self.f0.bias[0] = 0.1
        self.f1 = SLinear()
        getattr(self.f1, register)(hook)

    def forward(self, x):
        x1 = self.f0(x)
        x2 = self.f1(x1)
        return x2


def run(register, hook):
    """The driver is not in the document; made from what it prints."""
    x = torch.tensor([0.3], requires_grad=True)
    net = Net(register, hook)
    y = net(x)
    print("y: ", y)
    loss = (y - 1) ** 2
    print("loss:", loss)
    print(net.f1)
    loss.backward()
    print("x.grad: ", x.grad)
    print(
        "f1 weight: ",
        net.f1.f.weight[0].detach(),
        "bias: ",
        net.f1.f.bias[0].detach(),
        "f1 weight grad: ",
        net.f1.f.weight.grad,
        "f1 bias grad: ",
        net.f1.f.bias.grad,
    )
    print(
        "f0 weight: ",
        net.f0.weight[0].detach(),
        "bias: ",
        net.f0.bias[0].detach(),
        "f1 weight grad: ",
        net.f0.weight.grad,
        "f1 bias grad: ",
        net.f0.bias.grad,
    )
