"""A listing of document 000: Load state dict hooks."""

import io

import torch

my_module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))

file = io.BytesIO()
torch.save(my_module.state_dict(), file)
file.seek(0)


def pre_hook_fn(_module, state_dict, *args):
    # hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
    # unexpected_keys, error_msgs) -> None
    print()
    print(" Inside load state dict pre-hook ".center(50, "-"))
    print(f"module: {_module.__class__.__name__}")
    print(f"state_dict keys: {list(state_dict.keys())}")
    print(f"args: {args}")
    print()


def post_hook_fn(_module, incompatible_keys):
    print()
    print(" Inside load state dict post-hook ".center(50, "-"))
    print(f"module: {_module.__class__.__name__}")
    print(f"incompatible keys: {incompatible_keys}")  # str


pre_handle = my_module.register_load_state_dict_pre_hook(pre_hook_fn)
post_handle = my_module.register_load_state_dict_post_hook(post_hook_fn)
my_module.load_state_dict(torch.load(file))

# cleanup: remove hook handles
pre_handle.remove()
post_handle.remove()
