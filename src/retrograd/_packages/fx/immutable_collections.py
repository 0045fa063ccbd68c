"""Lists and dicts as arguments of nodes: edited in place they would no longer agree with `users`, so they refuse it."""
from __future__ import annotations

from typing import Any, NoReturn, TypeVar

from retrograd.utils import _pytree as pytree

__all__ = ["immutable_dict", "immutable_list"]
T = TypeVar("T")
K = TypeVar("K")
HELP = """If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args"""


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. {HELP}")


class immutable_list(list[T]):
    """A list that cannot be changed."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return type(self), (tuple(self),)


class immutable_dict(dict[K, T]):
    """A dict that cannot be changed."""

    __delitem__ = __ior__ = __setitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return type(self), (tuple(self.items()),)


pytree.register_pytree_node(immutable_list, lambda xs: (list(xs), None), lambda xs, _: immutable_list(xs),
                              serialized_type_name="torch.fx.immutable_collections.immutable_list")
pytree.register_pytree_node(immutable_dict, lambda d: (list(d.values()), list(d)), lambda xs, keys: immutable_dict(zip(keys, xs)),
                              serialized_type_name="torch.fx.immutable_collections.immutable_dict")
