"""torch.utils._pytree: what is a leaf, how trees are taken apart and put together, and what is said when they differ."""

import dataclasses
import enum
from collections import OrderedDict, defaultdict, deque, namedtuple

import torch
import torch.utils._pytree as pytree

from _log import P, T, case

Point = namedtuple("Point", "x y")


def tree():
    return {"b": [1, (2, None)], "a": Point(3, 4), "c": deque([5], maxlen=3), "d": OrderedDict(q=6),
            "e": defaultdict(list, {1: 7}), "f": torch.max(torch.ones(2, 2), 0), "g": torch.Size([8, 9])}


@case
def taken_apart_and_put_together():
    leaves, spec = pytree.tree_flatten(tree())
    P(leaves, spec, spec.num_leaves, spec.num_nodes, spec.num_children, spec.type, spec.context, spec.is_leaf())
    P(pytree.tree_unflatten(leaves, spec), spec.child(0), spec.children()[1], pytree.tree_structure(tree()) == spec)
    P(hash(pytree.tree_structure(tree())) == hash(spec), spec == pytree.tree_structure([1]))


@case
def what_is_a_leaf():
    for value in (3, None, [], (), {}, "text", torch.ones(1), {1, 2}):
        P(pytree.tree_flatten(value), pytree.tree_is_leaf(value))
    P(pytree.tree_flatten([1, [2, 3]], is_leaf=lambda x: x == [2, 3]), pytree.treespec_leaf())
    P(pytree.treespec_tuple([pytree.treespec_leaf()]), pytree.treespec_dict(a=pytree.treespec_leaf()))


@case
def paths_to_leaves():
    for path, leaf in pytree.tree_leaves_with_path(tree()):
        P(pytree.keystr(path), path, leaf)
        assert pytree.key_get(tree(), path) is leaf or torch.is_tensor(leaf)
    return pytree.tree_map_with_path(lambda path, x, y: (pytree.keystr(path), x + y), {"k": [1, 2]}, {"k": [3, 4]})


@case
def maps():
    x = [torch.ones(2), {"k": torch.zeros(1)}]
    P(pytree.tree_map_(lambda t: t.add_(1), x) is x, x)
    P(pytree.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, {"b": [3], "a": 4}), pytree.tree_map(len, []))
    P(pytree.tree_map_only(int, lambda x: -x, [1, "a", 2.0, True]), pytree.tree_map_only((int, str), lambda x: x * 2, [1, "a"]))
    P(pytree.tree_map_only(lambda x: x == 1, lambda x: 9, [1, 2]), pytree.tree_all(lambda x: x > 0, [1, 2]))
    P(pytree.tree_any_only(int, lambda x: x > 1, [1, "s"]), pytree.tree_all_only(int, lambda x: x > 0, [1, "s"]))
    P(pytree.tree_any(lambda x: x > 1, [1]), pytree.tree_leaves([None, 1]), list(pytree.tree_iter({"a": [1]})))
    P(pytree.arg_tree_leaves([1], k=(2, 3)), pytree.is_namedtuple(Point), pytree.is_namedtuple(Point(1, 2)))


for label, call in {
    "too few leaves": lambda: pytree.tree_unflatten([1], pytree.tree_structure([1, 2])),
    "no spec": lambda: pytree.tree_unflatten([1], 3),
    "other length": lambda: pytree.tree_map(lambda a, b: 0, [1, 2], [1]),
    "other type": lambda: pytree.tree_map(lambda a, b: 0, [1, 2], (1, 2)),
    "a leaf there": lambda: pytree.tree_map(lambda a, b: 0, [1], 3),
    "other keys": lambda: pytree.tree_map(lambda a, b: 0, {"a": 1}, {"b": 1}),
    "fewer keys": lambda: pytree.tree_map(lambda a, b: 0, {"a": 1}, {}),
    "registered": lambda: pytree.register_pytree_node(list, None, None),
    "nothing to choose by": lambda: pytree.tree_map_only(3, len, [1]),
}.items():
    T(label, call)


@case
def containers_of_ones_own():
    class Box:
        def __init__(self, inside):
            self.inside = inside

    pytree.register_pytree_node(Box, lambda box: ([box.inside], None), lambda children, context: Box(*children))
    P(pytree.tree_leaves(Box([1, 2])), pytree.tree_map(lambda x: x + 1, Box(3)).inside, pytree.tree_structure(Box(1)))
    return pytree.tree_leaves_with_path(Box(1))


@case
def dataclasses_as_containers():
    @dataclasses.dataclass
    class Pair:
        a: object
        b: object

    pytree.register_dataclass(Pair)
    P(pytree.tree_map(lambda x: x + 1, Pair(1, [2, 3])), pytree.tree_leaves_with_path(Pair(1, (2,))))


class Hue(enum.Enum):
    RED = 1


class Crate:
    def __init__(self, inside):
        self.inside = inside


class Keyed(Crate):
    pass


class Nameless(Crate):
    pass


@case
def specs_as_text():
    pytree.register_pytree_node(
        Crate, lambda c: ([c.inside], None), lambda xs, _: Crate(*xs), serialized_type_name="tests.Crate")
    pytree.register_pytree_node(
        Keyed, lambda c: ([c.inside], ["k", 1]), lambda xs, _: Keyed(*xs), serialized_type_name="tests.Keyed",
        to_dumpable_context=lambda c: {"c": c}, from_dumpable_context=lambda d: d["c"])
    pytree.register_pytree_node(Nameless, lambda c: ([c.inside], None), lambda xs, _: Nameless(*xs))

    def there_and_back(tree):
        spec = pytree.tree_structure(tree)
        text = pytree.treespec_dumps(spec)
        return text, pytree.treespec_loads(text) == spec, pytree.treespec_pprint(spec)

    for tree in (1, [], (1, [2]), {"a": 1, "b": (2, 3)}, OrderedDict(a=1), deque([1], maxlen=3), defaultdict(int, a=1),
                 torch.Size([1, 2]), {1: 2, (1, 2): 3}, {Hue.RED: 1}, {"e": None}):
        P(there_and_back(tree))
    for label, tree in {"a named tuple": Point(1, 2), "no name": Nameless(1), "a dtype as key": {torch.float32: 1},
                        "values and indices": torch.max(torch.ones(1, 2), 1)}.items():
        T(label, lambda tree=tree: pytree.treespec_dumps(pytree.tree_structure(tree)))
    P([pytree.treespec_dumps(pytree.tree_structure(c(1))) for c in (Crate, Keyed)])
    P([pytree.treespec_loads(pytree.treespec_dumps(pytree.tree_structure(c(1)))) for c in (Crate, Keyed)])
    pytree._register_namedtuple(Point, serialized_type_name="tests.Point")
    P(there_and_back(Point(1, [2])))
    leaf = '{"type": null, "context": null, "children_spec": []}'
    for label, call in {
        "no spec": lambda: pytree.treespec_dumps(3),
        "protocol": lambda: pytree.treespec_dumps(pytree.tree_structure(1), 7),
        "protocol there": lambda: pytree.treespec_loads(f"[7, {leaf}]"),
        "no JSON": lambda: pytree.treespec_loads("zz"),
        "unknown": lambda: pytree.treespec_loads(f'[1, {leaf.replace("null", chr(34) + "x" + chr(34), 1)}]'),
        "no text": lambda: pytree.treespec_loads('[1, {"type": "builtins.list", "context": null, "children_spec": []}]'),
        "one way": lambda: pytree.register_pytree_node(Hue, None, None, to_dumpable_context=len),
        "unknown tuple": lambda: pytree.treespec_loads(
            '[1, {"type": "collections.namedtuple", "context": "x", "children_spec": []}]'),
    }.items():
        T(label, call)
