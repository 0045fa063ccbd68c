"""Files: PyTorch's own format (`pth`) and safetensors (`safetensors`), neither of which runs code on loading."""
