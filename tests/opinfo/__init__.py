"""PyTorch's own samples of its operations (OpInfo, in the torch package), run on PyTorch and on us.

    python -m tests.opinfo               every sample of every operation; writes docs/opinfo.md
    python -m tests.opinfo add linalg    those whose names hold one of the words; writes nothing
"""
