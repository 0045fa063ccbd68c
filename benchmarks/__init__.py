"""The same work on retrograd, PyTorch, NumPy by hand and other engines: `python -m benchmarks`.

Speed budgets of retrograd alone: `python -m benchmarks.budgets`. How to read both: README.md.
"""
