"""What device meshes are and refuse on four ranks: FOLDER/rank."""

import sys
from pathlib import Path

import torch
import torch.distributed as d
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.nn.parallel import DistributedDataParallel

LINES = []


def say(label, what, names):
    try:
        text = repr(eval(what, names))
    except Exception as error:
        text = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    LINES.append(f"{label} -> {text}")


def ddp(mesh, *group):
    """The gradient of a model of that mesh."""
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(1, 1), process_group=group[0] if group else None, device_mesh=mesh)
    model(torch.ones(1, 1) * (1 + d.get_rank())).sum().backward()
    return model.module.weight.grad.tolist()


d.init_process_group("gloo")
of = d.get_process_group_ranks
r, n = d.get_rank(), d.get_world_size()
line = init_device_mesh("cpu", (n,))
named = init_device_mesh("cpu", (n,), mesh_dim_names=("dp",))
square = init_device_mesh("cpu", (2, n // 2), mesh_dim_names=("dp", "tp"))
plain, pair = DeviceMesh("cpu", torch.arange(n).flip(0)), DeviceMesh("cpu", [0, 1])
for name, mesh in {"line": line, "named": named, "square": square, "plain": plain, "dp": square["dp"], "tp": square["tp"],
                   "both": square["dp", "tp"]}.items():
    names = globals() | {"mesh": mesh}
    for what in (
            "repr(mesh)", "mesh.ndim", "mesh.shape", "mesh.size()", "mesh.size(0)", "mesh.size(1)", "mesh.mesh.tolist()",
            "mesh.mesh.dtype", "mesh.mesh_dim_names", "mesh.device_type", "mesh.get_rank()", "mesh.get_local_rank()",
            "mesh.get_local_rank(0)", "mesh.get_local_rank('tp')", "mesh.get_local_rank(mesh_dim='dp')", "mesh.get_coordinate()",
            "of(mesh.get_group())", "of(mesh.get_group(0))", "of(mesh.get_group(1))", "of(mesh.get_group('tp'))",
            "[of(one) for one in mesh.get_all_groups()]", "mesh['dp'].size()", "mesh['pp']", "mesh['tp', 'dp']",
            "mesh['dp', 'dp']", "mesh == mesh", "mesh == line", "mesh == 3", "mesh[0]"):
        say(f"{name} {what}", what, names)
for what in (
        "init_device_mesh('cpu', (2, 4))", "init_device_mesh('cpu', (2,))", "init_device_mesh('cpu', ())",
        "init_device_mesh('cpu', (n,), mesh_dim_names=('a', 'b'))",
        "init_device_mesh('cpu', (2, 2), mesh_dim_names=('a', 'a'))",
        "init_device_mesh('cpu:0', (n,))", "init_device_mesh('cpu', n)",
        "DeviceMesh('cpu', [[0, 1], [2, 3]], mesh_dim_names='xy')",

        "pair.get_coordinate()", "r > 1 or pair.get_local_rank()", "r > 1 or of(pair.get_group())",
        "line.get_group() is d.group.WORLD",
        "hash(line) == hash(init_device_mesh('cpu', (n,)))", "init_device_mesh('cpu', (n,)) == line", "named == line",
        "ddp(square)", "ddp(line)",
        "ddp(square['dp'])", "ddp(line, d.group.WORLD)",
        "DeviceMesh.from_group(square.get_group('tp'), 'cpu')", "DeviceMesh.from_group(d.group.WORLD, 'cpu') == line",
        "DeviceMesh.from_group(d.group.WORLD, 'cpu', mesh_dim_names=('dp',))['dp'].get_local_rank()",
        "DeviceMesh.from_group(d.group.WORLD, 'cpu', [0])", "DeviceMesh.from_group([], 'cpu')",
        "DeviceMesh.from_group(square.get_all_groups(), 'cpu')",
        "DeviceMesh.from_group(square.get_all_groups(), 'cpu', square.mesh)",
        "DeviceMesh.from_group(square.get_all_groups(), 'cpu', [0], mesh_dim_names=('a', 'b'))",
        "DeviceMesh.from_group(square.get_all_groups(), 'cpu', square.mesh, mesh_dim_names=('dp', 'tp')) == square",
        "[of(one) for one in DeviceMesh.from_group(square.get_all_groups(), 'cpu', square.mesh.tolist(), "
        "mesh_dim_names=('dp', 'tp')).get_all_groups()]",
        "square.__enter__() is square, square.__exit__(None, None, None)"):
    say(what, what, globals())
x = torch.full((2,), float(r))
d.all_reduce(x, group=square.get_group("tp"))
LINES.append(str(x.tolist()))
Path(sys.argv[1], str(r)).write_text("\n".join(LINES))
d.barrier()
d.destroy_process_group()
