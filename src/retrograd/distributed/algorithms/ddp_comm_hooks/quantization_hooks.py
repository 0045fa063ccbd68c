"""Means of gradients that travel as one byte a number: each rank sends its own, with the scale and the zero they are in."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...._engine.tensor import wrap
from ....futures import Future
from ...collectives import all_gather
from ...process_group import found

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]
Array = Any
SMALLEST = np.finfo(np.float32).eps


def quantization_pertensor_hook(process_group: Any, bucket: Any) -> Future[Any]:
    """One scale for a bucket."""
    return exchanged(process_group, bucket.buffer(), bucket.buffer().array.reshape(1, -1))


def quantization_perchannel_hook(process_group: Any, bucket: Any, bucket_size: int = 512) -> Future[Any]:
    """One scale for each bucket_size numbers."""
    whole = bucket.buffer().array
    rows = np.zeros((-(-whole.size // bucket_size), bucket_size), np.float32)
    rows.reshape(-1)[:whole.size] = whole
    return exchanged(process_group, bucket.buffer(), rows)


def exchanged(process_group: Any, buffer: Any, rows: Array) -> Future[Any]:
    """A Future of the buffer once it is the mean of the ranks' rounded rows."""
    pg = found(process_group)
    low, high = np.minimum(rows.min(1, keepdims=True), 0), np.maximum(rows.max(1, keepdims=True), 0)
    scale = np.maximum((high - low) / np.float32(255), SMALLEST)
    zero = np.clip(np.round(-low / scale), 0, 255)
    sent = wrap(np.clip(np.round(rows / scale) + zero, 0, 255).astype(np.uint8))
    how = wrap(np.stack([scale, zero]).astype(np.float32))
    all_sent, all_how = ([wrap(np.empty_like(one.array)) for _ in range(pg.n)] for one in (sent, how))
    facts = all_gather(all_how, how, process_group, True)
    work = all_gather(all_sent, sent, process_group, True)
    assert facts is not None and work is not None

    def mean(_: Any) -> Any:
        facts.wait()
        total = sum(fact.array[0] * (numbers.array.astype(np.float32) - fact.array[1])
                    for fact, numbers in zip(all_how, all_sent, strict=True))
        buffer.array[...] = (total / pg.n).reshape(-1)[:buffer.array.size]
        return buffer

    return work.get_future().then(mean)
