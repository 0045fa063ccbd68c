"""torch.distributed.device_mesh: ranks arranged in rows and columns, with a group for each row of each dimension."""
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .._engine.tensor import wrap
from .._missing import late_names
from .._tensor.dtypes import check_device
from .groups import get_rank, get_world_size, init_process_group, is_initialized, new_group
from .process_group import ProcessGroup, found

late_names(__name__)
__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks arranged in an array; every rank of the world makes the mesh.

    device_type     "cpu"
    mesh            the array, of ranks of the world
    mesh_dim_names  of the dimensions, by which `mesh["dp"]` gives the part of that dimension in which this rank is
    RuntimeError for more ranks than there are, ValueError for one that is none or comes twice.
    """

    def __init__(self, device_type: str, mesh: Any, *, mesh_dim_names: Sequence[str] | None = None) -> None:
        check_device(device_type)
        ranks = np.array(getattr(mesh, "array", mesh), np.int32)
        if not is_initialized():
            init_process_group()
        if ranks.size > get_world_size():
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {get_world_size()}, but found {ranks.size} ranks!")
        if len({*ranks.flat}) < ranks.size or not all(0 <= rank < get_world_size() for rank in ranks.flat):
            raise ValueError(f"DeviceMesh: ranks from 0 to {get_world_size() - 1}, each at most once, were expected, "
                             f"got {ranks.tolist()}")
        self._set(device_type, ranks, strides_of(ranks), mesh_dim_names, [self._group(ranks, dim) for dim in range(ranks.ndim)])

    @staticmethod
    def from_group(group: Any, device_type: str, mesh: Any = None, *,
                   mesh_dim_names: Sequence[str] | None = None) -> DeviceMesh:
        """The mesh of groups that exist.

        group           one, whose ranks are the mesh, or a list of this rank's group in each dimension
        device_type     "cpu"
        mesh            the array of ranks, which a list of groups needs
        mesh_dim_names  of the dimensions, which a list of groups needs
        ValueError where these are missing or contradict the groups.
        """
        check_device(device_type)
        given = None if mesh is None else np.array(getattr(mesh, "array", mesh), np.int32)
        if isinstance(group, ProcessGroup):
            if given is not None and given.tolist() != group.ranks:
                raise ValueError(f"Invalid mesh {mesh} for ProcessGroup with ranks {group.ranks}")
            groups, given = [group], np.array(group.ranks, np.int32)
        else:
            groups = list(group)
            if not groups:
                raise ValueError("Expects at least one ProcessGroup to be passed")
            if given is None:
                raise ValueError("Must pass mesh if passing multiple ProcessGroups")
            if mesh_dim_names is None:
                raise ValueError("Must pass mesh_dim_names if passing multiple ProcessGroups")
            if given.ndim != len(groups):
                raise ValueError(f"Expects mesh with ndim equal to number of ProcessGroups but got mesh {given.tolist()} and "
                                 f"{len(groups)} ProcessGroups")
        made = DeviceMesh.__new__(DeviceMesh)
        made._set(device_type, given, strides_of(given), mesh_dim_names, groups)
        return made

    def _set(self, device_type: str, ranks: Any, strides: tuple[int, ...], names: Sequence[str] | None,
             groups: list[Any]) -> None:
        self.device_type, self._ranks, self._strides, self._groups = device_type, ranks, strides, groups
        self.mesh_dim_names = None if names is None else tuple(names)

    def _group(self, ranks: Any, dim: int) -> Any:
        """This rank's group in a dimension; all ranks make all groups of it."""
        if ranks.ndim == 1 and ranks.size == get_world_size():
            return found(None)
        made = [new_group(row.tolist()) for row in np.moveaxis(ranks, dim, -1).reshape(-1, ranks.shape[dim])]
        return next((group for group in made if not isinstance(group, int) and get_rank() in group.ranks), None)

    @property
    def mesh(self) -> Any:
        """The rank numbers, an int32 Tensor."""
        return wrap(self._ranks.copy())

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._ranks.shape)

    @property
    def ndim(self) -> int:
        return int(self._ranks.ndim)

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of ranks in the dimension mesh_dim, or in all."""
        return int(self._ranks.size) if mesh_dim is None else self.shape[mesh_dim]

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """This rank's group in dimension mesh_dim.  RuntimeError if several dimensions leave it open; IndexError, KeyError."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(*self._several(), "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                               "please use `get_all_groups()` instead.")
        return self.get_all_groups()[self._dim(mesh_dim)]

    def get_all_groups(self) -> list[Any]:
        """This rank's group in each dimension.  IndexError if the rank is not in the mesh."""
        if None in self._groups:
            raise IndexError(f"rank {get_rank()} is not in {self!r}")
        return list(self._groups)

    def get_rank(self) -> int:
        """This process's rank in the world."""
        return get_rank()

    def get_coordinate(self) -> tuple[int, ...] | None:
        """This rank's coordinates; None if it is not in the mesh."""
        place = np.argwhere(self._ranks == get_rank())
        return tuple(place[0].tolist()) if len(place) else None

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This rank's coordinate in dimension mesh_dim.  RuntimeError if several leave it open; IndexError, KeyError."""
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(*self._several())
        return int(self.get_group(self._dim(mesh_dim)).rank())

    def _several(self) -> tuple[str, str]:
        return (f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.")

    def _dim(self, mesh_dim: int | str | None) -> int:
        if not isinstance(mesh_dim, str):
            return mesh_dim or 0
        if self.mesh_dim_names is None:
            raise KeyError("No `mesh_dim_names` found.")
        if mesh_dim not in self.mesh_dim_names:
            raise KeyError(f"Mesh dimension '{mesh_dim}' does not exist.",
                           f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}")
        return self.mesh_dim_names.index(mesh_dim)

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The part of these dimensions in which this rank is.  KeyError, RuntimeError."""
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if not {*names} <= {*self.mesh_dim_names}:
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {[*self.mesh_dim_names]}.")
        if len({*names}) < len(names):
            raise RuntimeError(f"Slicing overlapping dim_names {names} is not allowed.")
        dims = [self.mesh_dim_names.index(name) for name in names]
        if dims != sorted(dims):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in ascending order.")
        here = self.get_coordinate()
        if here is None:
            raise IndexError(f"rank {get_rank()} is not in {self!r}")
        made = DeviceMesh.__new__(DeviceMesh)
        made._set(self.device_type, self._ranks[tuple(slice(None) if i in dims else at for i, at in enumerate(here))],
                  tuple(self._strides[i] for i in dims), names, [self._groups[i] for i in dims])
        return made

    def __enter__(self) -> DeviceMesh:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _key(self) -> tuple[Any, ...]:
        return self.device_type, self.shape, self._strides, tuple(self._ranks.flat), self.mesh_dim_names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        named = None if self.mesh_dim_names is None else zip(self.mesh_dim_names, self.shape, strict=True)
        shape = f"{self.shape}" if named is None else f"({', '.join(f'{name}={n}' for name, n in named)})"
        return f"DeviceMesh({shape}, '{self.device_type}', stride={self._strides})"


def strides_of(ranks: Any) -> tuple[int, ...]:
    """Those of a mesh of its own, in ranks."""
    return tuple(prod(ranks.shape[i + 1:]) for i in range(ranks.ndim))


def init_device_mesh(device_type: str, mesh_shape: Sequence[int], *, mesh_dim_names: Sequence[str] | None = None,
                     backend_override: Any = None) -> DeviceMesh:
    """A DeviceMesh of mesh_shape over the first ranks of the world.

    device_type "cpu"; mesh_dim_names: a name for each dimension.
    RuntimeError for names that are repeated or too few, and for more ranks than there are; NotImplementedError for
    backend_override, as there is one backend.
    """
    if backend_override is not None:
        raise NotImplementedError("init_device_mesh(backend_override=...): all groups exchange by MPI; leave it out")
    if mesh_dim_names is not None and len({*mesh_dim_names}) < len(mesh_dim_names):
        raise RuntimeError("Each mesh_dim_name must be unique. "
                           f"Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}")
    if mesh_dim_names is not None and len(mesh_dim_names) != len(mesh_shape):
        raise RuntimeError("mesh_shape and mesh_dim_names should have same length! "
                           f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.")
    if not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}. ",
                           "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.")
    shape = tuple(mesh_shape)
    if not all(isinstance(n, int) and n > 0 for n in shape):
        raise ValueError(f"init_device_mesh: sizes of dimensions must be positive, got {shape}")
    return DeviceMesh(device_type, np.arange(prod(shape)).reshape(shape), mesh_dim_names=mesh_dim_names)
