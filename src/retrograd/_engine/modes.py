"""What each thread is doing: grad mode, inference mode, saved-tensor hooks; and silence for NumPy's float warnings."""
from __future__ import annotations

import contextvars
import os
import threading
from typing import Any, Final, Optional

import numpy
from mypy_extensions import i64
from numpy._core import umath

from .. import _kernels
from .._kernels import blocks

mine: Final[Any] = _kernels.mine


class State:
    """Modes of one thread."""

    def __init__(self) -> None:
        self.grad: bool = True
        self.inference: bool = False
        self.lenient: bool = False                      # torch.func differentiates: nodes may keep tensors of inference mode
        self.pack_hooks: list[tuple[Any, Any]] = []     # (pack, unpack), innermost last
        self.pack_disabled: Optional[str] = None        # the message of disable_saved_tensors_hooks
        self.counted: bool = False
        self.transform: i64 = 0                         # the use of torch.func whose function runs, innermost: its number
        self.marks: bool = False                        # counted in modes.marking
        self.task: Any = None                           # the backward pass going on, innermost
        self.depth: i64 = 0                             # passes inside passes on the running thread
        self.threads: list[int] = []                    # threads that wait for nothing but the next: see deep.py
        self.mutation: Any = None                       # allow_mutation_on_saved_tensors: called before an edit
        self.functions: list[Any] = []                  # modes with __torch_function__, innermost last: dispatch.py
        self.closed: i64 = 0                            # 1: __torch_function__ of types is not asked, 2: that of modes neither
        self.busy: bool = False                         # inside an implementation: nobody is asked
        self.skip: bool = False                         # the next call goes to its implementation
        self.listener: Any = None                       # NOTE [Listener] in dispatch.py
        self.engaged: bool = False                      # counted in modes.engaged
        self.keeper: Any = None                         # NOTE [Keeper]
        self.tangent: Any = None                        # NOTE [Forks] in op.py: has a tensor a tangent?  None: none has
        self.pushing: bool = False                      # the pass going on computes tangents


class Modes:
    """Process-wide facts that an op reads as struct fields.

    `dispatching`: some thread has a function mode or a listener, or some type takes part in __torch_function__ (dispatch.py).
    `usual` is True while every thread is in its initial state; then no op asks which thread it is on.  `marking` counts
    the threads that mark tensors they make: those in inference mode or in a function that torch.func transforms.
    """

    def __init__(self) -> None:
        self.usual: bool = True
        self.unusual: i64 = 0
        self.marking: i64 = 0
        self.seq: i64 = 0
        self.passes: i64 = 0                            # backward passes so far
        self.light: bool = _kernels.untrack is not None     # NOTE [Nodes and the cyclic garbage collector]
        self.anomaly: bool = False
        self.check_nan: bool = True
        self.dispatching: bool = False
        self.engaged: i64 = 0                           # threads with function modes or a listener
        self.kinds: i64 = 0                             # subclasses of Tensor that take part
        self.observer: Any = None                       # NOTE [Observer]
        self.clerk: Any = None                          # NOTE [Clerk]
        self.recorder: Any = None                       # NOTE [Recorder]
        self.outs: Any = None                           # NOTE [Call-outs]
        self.journal: Optional[list[Any]] = None        # NOTE [Call-outs]
        self.registered: i64 = 0                        # hooks that were registered or removed so far
        self.imaginary: bool = False                    # NOTE [Complex numbers] in op.py
        self.coarse: bool = False                       # bfloat16 was met: rules with constants of float32 give float32
        self.at_first_complex: list[Any] = []           # called when the first complex number is met
        self.state: Any = threading.local()


# NOTE [Observer]
# A recorder of the microscope sets `modes.observer`; None costs one comparison an op and one a node.  It is told
#   op(node, inputs, output)        after each op that has a derivative, recorded in a graph or not
#   begin(task, node, g, more)      before a node runs, with the gradients of its outputs
#   edge(task, to, nr, g)           for each gradient the node hands on
#   end(task, node)                 after it ran
# It keeps no reference to what it is shown: owning a gradient decides whether it is copied (NOTE [Who owns .grad]).

# NOTE [Keeper]
# Selective checkpointing sets `state().keeper` where it also sets hooks on saved tensors, so that only ops that find
# `modes.usual` False ask for it.  keeper.run(node, inputs) is called in place of the node's run(), which it calls itself, or not:
# then it makes what that would have made.

# NOTE [Clerk]
# A recorder sets `modes.clerk`, too, which is told what happens seldom, on any thread:
#   registered(handle, table, hook, kind, owner)    a hook of a tensor, node, module or optimizer; owner None: of all of them
#   removed(handle)
#   passes(run, roots, wanted, arguments)           in place of run(*arguments), run_backward's: tensors, and those of inputs=
#   refused(how, roots, wanted, retain, create, ran, error)     backward() or grad() raised, grad() perhaps after the pass
#   returned(gradients)                             what grad() found
#   applies(cls, run, args, kwargs)                 in place of run(cls, args, kwargs): Function.apply
#   zeroes(owner, set_to_none)                      zero_grad() of a module or an optimizer begins
#   saves(owner)   loads(owner, assign)   loaded(owner, what loads() gave)      state dicts
#   scales(scaler, what)                            "scaled" or "unscaled"
#   restored(module)                                copied or unpickled
#   parts(class's name, data, out)                  Parameter(data) or Buffer(data) of what requires grad

# NOTE [Recorder]
# torch.compile records a call with an observer that is `modes.recorder`, too, and is told of what ops alone do not say:
#   linear(node, b, x, w, out)      F.linear, which then goes the way that it goes unobserved
#   call(func, impl, args, kwargs)  in place of what no public function does: as the listener's
#   outright(f, tensors, *rest)     in place of f, which writes the .grad of tensors
#   step(optimizer, closure)        in place of the optimizer's step; run: in place of what else runs it
#   number(x, name)                 in place of x.name, a number that may be another one at each call: a tensor of it
#   live(f, x, args, kwargs)        in place of f(x, *args, **kwargs), which changes x and what Python knows of an optimizer
# Classes whose objects it is told of say in `_asked` which other names a recorded function may ask them for, and in `_constant`
# which of their attributes stay the same.

# NOTE [Call-outs]
# Whoever sets `modes.outs` is told where hooks would be called on a thread that is `mine()`, and calls them, or knows what they
# would do:
#   leaf(sink, leaf)                            in place of fire_after
#   tensor(hooks, g, plain, graph, shared)      of fire_single        several(node, gs, graph)      of fire_tensor_hooks
#   node(table, gs, seen, graph)                of fire_node_hooks    boundary(call, enters, gs)    of a Boundary's methods
#   before(module, args, kwargs)                of before_forward
#   after(module, args, kwargs, result, called)                       of after_forward
#   before_step(optimizer, func, args, kwargs), after_step(optimizer, args, kwargs)     of optimizers
# While `modes.journal` is a list, it gets each tensor whose memory is edited in place, and each leaf's node whose .grad is
# set.

modes: Final = Modes()

# Threads may run backward at once: only one at a time may claim nodes, count modes, or add to a .grad.
claiming: Final[Any] = threading.RLock()
adding: Final[Any] = threading.RLock()


def unlock() -> None:
    """In a child of fork: nobody holds what other threads held."""
    for lock in (claiming, adding):
        if not lock._is_owned():
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=unlock)


def meet_complex() -> None:
    """Complex numbers are about from now on: NOTE [Complex numbers] in op.py."""
    if not modes.imaginary:
        modes.imaginary = True
        for call in modes.at_first_complex:
            call()


def state() -> State:
    """The calling thread's modes."""
    if mine is not None:
        quick: Any = mine()
        if isinstance(quick, State):
            return quick
    found: Any = getattr(modes.state, "it", None)
    if found is None:
        found = State()
        blocks.start()
    it: State = found
    adopt(it)
    return it


def adopt(it: State) -> None:
    """`it` is what the calling thread does."""
    modes.state.it = it
    if mine is not None:
        mine(it)                                # a quarter of the time of threading.local


def settle(it: State) -> None:
    """Call after changing `it`: keeps `modes.usual` true only while nobody needs the slow path."""
    odd = not it.grad or it.inference or it.lenient or len(it.pack_hooks) > 0 or it.pack_disabled is not None
    if odd != it.counted:
        claiming.acquire()
        try:
            it.counted = odd
            modes.unusual += 1 if odd else -1
            modes.usual = modes.unusual == 0
        finally:
            claiming.release()
    marks = it.inference or it.transform > 0
    if marks != it.marks:
        claiming.acquire()
        try:
            it.marks = marks
            modes.marking += 1 if marks else -1
        finally:
            claiming.release()


def grad_on() -> bool:
    return modes.usual or state().grad


def inference_on() -> bool:
    return modes.marking > 0 and state().inference


def set_grad(on: bool) -> None:
    it = state()
    it.grad = on
    settle(it)


def set_inference(on: bool) -> None:
    it = state()
    it.inference = on
    if on:
        it.lenient = False                              # what is made from here on may not be kept: it has no derivative
    settle(it)


def set_anomaly(on: bool, check_nan: bool) -> None:
    modes.anomaly = on
    modes.check_nan = check_nan


# NOTE [Silence]
# PyTorch computes inf and nan without a word; NumPy warns.  np.errstate costs 0.8 us, more than an op, so we set the
# context variable behind it, which is what errstate does: 0.1 us, and nobody else's np.seterr changes.
# A pass is silent from end to end.  Hooks in it run as the user of np.errstate or np.seterr said; where nobody said
# anything they are left in silence, since switching costs half of what firing a hook may.
_errors: Final[Any] = getattr(umath, "_extobj_contextvar", None)
_ignore: Final[Any] = None if _errors is None else umath._make_extobj(all="ignore")
_default: Final[Any] = None if _errors is None else contextvars.Context().run(_errors.get)
_seterr: Final[Any] = numpy.seterr


def hush() -> Any:
    """Switch floating-point warnings off; give the result to `unhush` in a finally clause."""
    if _errors is None:
        return _seterr(all="ignore")
    return _errors.set(_ignore)


def outside() -> Any:
    """The treatment of floating-point errors that the user set."""
    return None if _errors is None else _errors.get()


def loud(errors: Any) -> None:
    """Before code of the user's runs inside `hush`: treat errors as `outside()` said."""
    if modes.dispatching:
        state().busy = False
    if errors is not _default:
        _errors.set(errors)


def quiet(errors: Any) -> None:
    """After it: silence again.  What a hook gave np.seterr ends here."""
    if modes.dispatching:
        state().busy = True
    if errors is not _default or (_errors is not None and _errors.get() is not _ignore):
        _errors.set(_ignore)


def unhush(token: Any) -> None:
    if _errors is None:
        _seterr(**token)
    else:
        _errors.reset(token)


blocks.start()
