"""Graph and traversal: knows arrays and nodes, nothing of layers."""
