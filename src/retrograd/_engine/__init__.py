"""Graph and traversal: knows arrays and nodes, nothing of layers."""
from . import tensor as tensor  # first: its modules import each other, and only in this order
