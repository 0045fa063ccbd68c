"""Filters, colours, geometry and augmentation of kornia, with gradients."""
import kornia
import torch

torch.manual_seed(0)
x = torch.rand(2, 3, 16, 16, requires_grad=True)
steps = {
    "blur": kornia.filters.gaussian_blur2d(x, (3, 3), (1.5, 1.5)), "sobel": kornia.filters.sobel(x),
        "median": kornia.filters.median_blur(x, (3, 3)),
    "laplacian": kornia.filters.laplacian(x, 3), "hsv": kornia.color.rgb_to_hsv(x),
        "gray": kornia.color.rgb_to_grayscale(x), "lab": kornia.color.rgb_to_lab(x),
    "rotate": kornia.geometry.transform.rotate(x, torch.tensor([10.0, 20.0])), "canny": kornia.filters.canny(x)[0],
    "dilate": kornia.morphology.dilation(x, torch.ones(3, 3)), "augment": kornia.augmentation.RandomHorizontalFlip(p=0.5)(x)}
for name, y in steps.items():
    g, = torch.autograd.grad(y.sum(), x, retain_graph=True)
    print(name, y.sum().item(), g.abs().sum().item())
