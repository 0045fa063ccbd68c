"""The examples of PyTorch's docstrings, run on both libraries: `python -m tests.docstrings [words]`."""
