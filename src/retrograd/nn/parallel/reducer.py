"""The reducer: averages gradients over the ranks while the backward pass goes on.

A hook after each parameter's AccumulateGrad copies the gradient into its bucket; a bucket that is full is sent, and is waited
for at the end of the pass. Buckets are sent in their order, which is the same on all ranks, whatever order they get full in.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._engine.backward import queue_callback
from ..._engine.tensor import bump, sink_of, wrap
from ...distributed.process_group import ProcessGroup
from ...futures import Future
from .buckets import Bucket, GradBucket, by_size

UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your "
    "module has parameters that were not used in producing loss. You can enable unused parameter detection by passing the "
    "keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all "
    "`forward` function outputs participate in calculating loss. ")
CHANGED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that your "
    "training graph has changed in this iteration, e.g., one parameter is used in first iteration, but then got unused in the "
    "second iteration. this is not compatible with static_graph set to True.")
APPEARED = (
    "Your training graph has changed in this iteration, e.g., one parameter is unused in first iteration, but then got used in "
    "the second iteration. this is not compatible with static_graph set to True.")
TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a module "
    "parameter outside the `forward` function. Please make sure model parameters are not shared across multiple concurrent "
    "forward-backward passes. or try to use _set_static_graph() as a workaround if this module graph does not change during "
    "training loop.2) Reused parameters in multiple reentrant backward passes. For example, if you use multiple `checkpoint` "
    "functions to wrap the same part of your model, it would result in the same set of parameters been used by different "
    "reentrant backward passes multiple times, and hence marking a variable ready multiple times. DDP does not support such use "
    "cases in default. You can try to use _set_static_graph() as a workaround if your module graph does not change over "
    "iterations.")


class Ready:
    """The hook of one parameter; it does not keep the reducer alive."""

    def __init__(self, reducer: Reducer, index: int) -> None:
        self.reducer, self.index = weakref.ref(reducer), index

    def __call__(self, *_: Any) -> None:
        reducer = self.reducer()
        if reducer is not None:
            reducer.arrived(self.index)


class Reducer:
    """What is known of the parameters, in the order of the module; and of the pass that is going on.

    limits  of the sizes of buckets, in bytes
    """

    def __init__(self, names: Sequence[str], params: Sequence[Any], group: ProcessGroup, limits: list[int], find_unused: bool,
                 static: bool, as_views: bool) -> None:
        self.names, self.params, self.group, self.limits = list(names), list(params), group, limits
        self.find_unused, self.static, self.as_views = find_unused, static, as_views
        self.sinks = [sink_of(param) for param in params]
        self.divisor = group.size()
        self.hook: Callable[[Any, GradBucket], Any] | None = None
        self.state: Any = None
        self.rebuilt = False
        self.order: list[int] = []              # of arrival in the first pass
        self.expected: dict[int, int] = {}      # static: how often each parameter's hook fires in a pass
        self.fired: dict[int, int] = {}
        self.going = self.begun = self.unfinished = False
        self.unused: list[int] = []
        self.used = np.zeros(len(params), np.int32)
        self.ready: set[int] = set()
        self.next = 0
        self.where: dict[int, tuple[Bucket, int]] = {}
        whole = [sum(param.array.nbytes for param in params) + 1]
        self.divide(by_size(self.params, limits if find_unused and not static else whole)[::-1])
        self.handles = [sink.register_hook(Ready(self, i)) for i, sink in enumerate(self.sinks)]

    def divide(self, indices: list[list[int]]) -> None:
        """Make the buckets."""
        self.buckets = [Bucket(some, self.params) for some in indices]
        self.where = {i: (bucket, at) for bucket in self.buckets for at, i in enumerate(bucket.indices)}

    def rebuild(self) -> bool:
        """After the first pass: buckets in the order in which gradients came, rank 0's -> did they change?"""
        if self.rebuilt or (self.find_unused and not self.static) or len(self.order) != len(self.params):
            return False
        self.rebuilt = True
        order = np.array(self.order, np.int64)
        self.group.start("broadcast", self.group.comm.Ibcast, (order,), [], root=0).wait()
        self.divide(by_size([self.params[i] for i in order], self.limits, order.tolist()))
        return True

    def before_backward(self, outputs: Iterator[Any]) -> None:
        """A forward pass is over, whose backward pass averages.  RuntimeError if the last one has not finished."""
        if self.unfinished:
            missing = [i for i in range(len(self.params)) if i not in self.ready]
            of = f"which did not receive grad for rank {self.group.rank()}:"
            raise RuntimeError(
                f"{CHANGED if self.static else UNFINISHED}\nParameters {of} {', '.join(self.names[i] for i in missing)}\n"
                f"Parameter indices {of} {' '.join(map(str, missing))}")
        self.going, self.begun, self.next = True, True, 0
        self.ready.clear()
        self.fired.clear()
        for bucket in self.buckets:
            bucket.pending, bucket.work = len(bucket), None
        self.unused = self.not_reached(outputs) if self.find_unused and not self.static else []

    def not_reached(self, outputs: Iterator[Any]) -> list[int]:
        """Parameters that cannot be reached from the outputs."""
        todo = [fn for fn in (output.grad_fn for output in outputs) if fn is not None]
        seen = set(todo)
        while todo:
            node = todo.pop()
            for i in range(node.edge_count()):
                to = node.edge_node(i)
                if to is not None and to not in seen:
                    seen.add(to)
                    todo.append(to)
        return [i for i, sink in enumerate(self.sinks) if sink not in seen]

    def arrived(self, index: int) -> None:
        """The gradient of a parameter has been added to its .grad."""
        self.used[index] = 1                    # in no_sync(), too: the next pass that averages averages what is there
        if not self.going:
            return
        if self.static:
            self.count(index)
            return
        if self.find_unused and not self.unfinished:
            queue_callback(self.end_of_pass)
        self.unfinished = True
        unused, self.unused = self.unused, []
        for other in unused:
            self.mark(other)
        self.mark(index)

    def end_of_pass(self) -> None:
        """find_unused_parameters: what the outputs reach and the loss does not is unused, too."""
        missing = [i for i in range(len(self.params)) if i not in self.ready]
        for index in missing:
            self.mark(index, last=False)
        if missing:
            self.finish()

    def count(self, index: int) -> None:
        """static_graph: the first pass counts how often a parameter's hook fires; afterwards that often is once."""
        if not self.fired:
            self.unfinished = True
            if not self.expected:
                queue_callback(self.end_of_first)
            elif len(self.expected) < len(self.params):         # the others are in no pass
                for other in set(range(len(self.params))) - set(self.expected):
                    self.mark(other)
        if self.expected and index not in self.expected:
            raise RuntimeError(APPEARED + f"\nThe parameter is {self.names[index]}")
        self.fired[index] = self.fired.get(index, 0) + 1
        if self.expected and self.fired[index] == self.expected.get(index):
            self.mark(index)

    def end_of_first(self) -> None:
        self.expected = dict(self.fired)
        for index in [*self.fired, *(i for i in range(len(self.params)) if i not in self.fired)]:
            self.mark(index, last=False)
        self.finish()

    def mark(self, index: int, last: bool = True) -> None:
        """A gradient is final for this pass."""
        if index in self.ready:
            raise RuntimeError(
                TWICE + f"\nParameter at index {index} with name {self.names[index]} has been marked as ready twice.")
        self.ready.add(index)
        if not self.rebuilt and index not in self.order:
            self.order.append(index)
        bucket, at = self.where[index]
        self.fill(self.sinks[index], bucket.views[at])
        bucket.pending -= 1
        while self.next < len(self.buckets) and self.buckets[self.next].pending == 0:
            self.send(self.next)
            self.next += 1
        if last and self.next == len(self.buckets):
            queue_callback(self.finish)

    def fill(self, sink: Any, view: Any) -> None:
        """Copy a gradient into its bucket, divided by the number of ranks unless a hook does that."""
        grad = sink.grad
        factor = None if self.hook is not None or self.divisor == 1 else view.dtype.type(1.0 / self.divisor)
        if grad is None:
            view[...] = 0
        elif factor is None:
            if grad.array is not view:
                np.copyto(view, grad.array)
        else:
            np.multiply(grad.array, factor, out=view)
        if self.as_views and grad is not None and grad.array is not view:
            sink.grad = wrap(view)

    def send(self, number: int) -> None:
        """Start averaging a full bucket."""
        bucket = self.buckets[number]
        if self.hook is not None:
            bucket.work = future_of(self.hook(self.state, GradBucket(bucket, number, len(self.buckets))))
        elif self.group.n > 1:
            bucket.work = self.summed(bucket.flat)
        for earlier in self.buckets[max(number - 1, 0):number]:
            if self.hook is None and earlier.work is not None:
                earlier.work.is_completed()     # asking moves messages on: NOTE [Who makes progress] in distributed/work.py

    def summed(self, flat: Any) -> Any:
        """all_reduce, without a Tensor around the memory."""
        from ...distributed.collectives import all_reduce

        return all_reduce(wrap(flat), group=self.group, async_op=True)

    def finish(self) -> None:
        """The end of a pass: wait for the buckets, and write the means into .grad."""
        used = self.everywhere() if self.find_unused or self.static else None
        for bucket in self.buckets:
            if bucket.work is not None:
                bucket.work.wait()
                if self.hook is not None:
                    bucket.take(bucket.work.value())
                bucket.work = None
            for i, view in zip(bucket.indices, bucket.views, strict=True):
                if used is None or used[i]:
                    self.write(self.sinks[i], view)
        self.used[:] = 0
        self.going = self.unfinished = False

    def write(self, sink: Any, view: Any) -> None:
        grad = sink.grad
        if grad is None:
            sink.grad = wrap(view if self.as_views else view.copy())
        elif grad.array is not view:
            np.copyto(grad.array, view)
            bump(grad)

    def everywhere(self) -> Any:
        """Which parameters some rank has used since the last mean: the gradients of the others stay as they are."""
        for i, sink in enumerate(self.sinks):
            if sink.grad is None:               # cleared since
                self.used[i] = 0
        if self.group.n > 1:
            self.summed(self.used).wait()
        return self.used

    def zeros(self) -> list[GradBucket]:
        """What a rank without a batch sends, so that the others need not wait: zeros, apart from its own gradients."""
        return [GradBucket(Bucket(bucket.indices, self.params), i, len(self.buckets)) for i, bucket in enumerate(self.buckets)]

    def shadow(self) -> None:
        """Take part in a pass of the other ranks; for the order of buckets, as if each gradient had come."""
        if not self.order:
            self.order = list(range(len(self.params)))
        buckets = self.zeros()
        works = [future_of(self.hook(self.state, bucket)) if self.hook is not None else self.summed(bucket.buffer().array)
                 for bucket in buckets]
        if self.find_unused or self.static:
            self.used[:] = 0
            self.everywhere()
        for work in works:
            work.wait()


def future_of(given: Any) -> Any:
    """RuntimeError for what a communication hook must not return."""
    if not isinstance(given, Future):
        raise RuntimeError("DDP communication hook's callback must return a torch.futures.Future object, but got "
                           f"{type(given).__name__}")
    return given
