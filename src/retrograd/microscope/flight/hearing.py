"""What a flight hears of a step, for both engines.

NOTE [Light and deep]
Python between two products finds the processor's caches full of numbers, and takes ten times as long, so hearing every op would
cost a fifth of a step.  Inside a call of the model only the norms of modules' outputs are taken.  When a pass turns out to be
bad, the weights are still those that it ran with: replay() calls the model again with the same arguments and random state, hears
every op and every node, and puts them where the call was.  Outside the model every op is heard.
"""
from __future__ import annotations

import sys
from collections import OrderedDict, deque
from time import perf_counter_ns as now
from typing import Any, Final
from weakref import ref

from ..._engine.modes import grad_on
from ..._engine.node import NONE, Node
from ..._engine.tensor import TensorBase, edits, read_grad
from .._measure import HUGE, TINY, measure
from .._own_hook import OwnHook
from ..listen.ear import sizes
from ..listen.sites import HEARING, Sites
from ..listen.sizes import quick
from ..record.lines import here
from ..record.witness import SAME
from ..rounds import Rounds
from . import clearing
from .step import Call, Step, alike, splice, tensors_of
from .usual import Judge

OUTSIDE: Final = -1            # the serial number of a tensor that nothing was noted of: a batch

QUIET: Final = {
    "backward", "grad", "register_hook", "register_post_accumulate_grad_hook", "size", "dim", "stride", "numel", "type",
    "__len__", "__repr__", "__format__", "__hash__", "element_size", "data_ptr", "storage_offset", "untyped_storage",
    "get_device", "__deepcopy__", "__reduce_ex__", "__dir__", "__iter__", "__setstate__", "item", "tolist", "numpy",
    "__array__", "__bool__", "__float__", "__int__", "__index__", "retain_grad", "zero_", "requires_grad_", "data",
    "detach", "detach_", "__contains__"}
PLAIN: Final = {int, float, bool, str, type(None)}       # no tensors
CALLS: Final = 8                      # of the model, of one pass, that can be made again
PASS: Final = "a pass"
NEW: Final[Any] = object()


class Hearing:
    """The ear of a flight (microscope/listen), and its hooks."""

    def __init__(self, engine: Any, model: Any, optimizers: tuple[Any, ...], keep: int, judge: Judge) -> None:
        self.engine: Any = engine
        self.ours: bool = engine.name == "retrograd"
        self.model: Any = model
        self.optimizers: list[Any] = list(optimizers)
        self.given: bool = bool(optimizers)     # else all that hold parameters of the model
        self.square: Any = engine.square
        self.sites: Any = Sites()
        if engine.name == "torch":
            self.sites.skip(str(engine.torch.__path__[0]))
        self.Tensor: Any = engine.Tensor
        self.names: dict[Any, Any] = {}         # functions heard -> how they are called in events; None: not an event
        self.rounds: Rounds = Rounds()
        self.steps: Any = deque([Step(1)], maxlen=keep + 1)     # one more, which may turn out to belong to that before
        self.keep: int = keep
        self.replaying: Step | None = None      # takes what is heard in a replay
        self.on: bool = False
        self.busy: bool = False                 # in a pass or in an optimizer's step
        self.stepping: Any = None               # the code of the frame in which a step goes on
        self.light: bool = False                # inside a call of the model
        self.closed: bool = False               # in an optimizer's step that has a closure, which clears gradients
        self.newest: Any = None                 # (the last output of a layer, its version, its number): the model's, mostly
        self.serial: int = 0                    # of tensors that ops made
        self.ids: dict[int, Any] = {}           # id of such a tensor -> (weak reference, its serial number, line, version)
        self.scaled: dict[int, float] = {}      # scaled loss -> what it was before
        self.modules: list[Any] = list(model.named_modules())
        self.module_numbers: dict[int, int] = {id(module): n for n, (_, module) in enumerate(self.modules)}
        self.counts: list[int] = [0] * len(self.modules)
        self.shapes: list[Any] = [None] * len(self.modules)     # of what they gave last
        self.within: list[tuple[int, int]] = []
        self.parameters: list[Any] = [(name, ref(p)) for name, p in model.named_parameters()]
        self.parameter_numbers: dict[int, int] = {id(p): n for n, (_, p) in enumerate(model.named_parameters())}
        self.calls: list[Call] = []             # of the pass to come
        self.context: Any = None
        self.listening: bool = False
        self.device: str = next((str(p.device.type) for p in model.parameters()), "cpu")
        self.judge: Judge = judge
        self.passed: Any = None                 # called after a pass that is to be reported, and why
        self.handles: list[Any] = []
        self.notes: set[str] = set()

    # -- switching

    def begin(self) -> None:
        model = self.model
        # Not a hook on all modules: that takes every call in the program the long way.
        eager = self.engine.eager               # a compiler would trace them
        self.handles = [*(m.register_forward_hook(OwnHook(eager(self.gave), n)) for n, (_, m) in enumerate(self.modules)
                          if n and m._parameters),
                        model.register_forward_pre_hook(OwnHook(eager(self.enter)), with_kwargs=True, prepend=True),
                        model.register_forward_hook(OwnHook(eager(self.leave)), always_call=True)]
        home = self.engine.optimizers()
        self.handles += [home.register_optimizer_step_pre_hook(OwnHook(self.step_begins)),
                         home.register_optimizer_step_post_hook(OwnHook(self.step_ends))]
        clearing.begin(self)
        self.listen()
        self.on = True

    def end(self) -> None:
        self.on = False
        self.rest()
        clearing.end(self)
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def listen(self) -> None:
        if not self.listening:
            if not self.ours or self.context is None:
                self.context = self.engine.calls(self, self.context)
            self.context.__enter__()
            self.listening = True

    def rest(self) -> bool:
        """Stop listening, unless somebody else began to after us."""
        if not self.listening or not self.ours and not self.engine.foremost(self.context):
            return False
        self.context.__exit__(None, None, None)
        self.listening = False
        return True

    # -- calls of the model

    def enter(self, model: Any, args: Any, kwargs: Any) -> None:
        if self.stepping is not None and self.failed_step():
            self.busy = self.closed = False
            self.stepping = None
        if not self.on or self.busy or self.light or model is not self.model:
            return
        if self.replaying is None:
            self.light = self.rest()            # first: what is done while it listens costs more
            self.counts[0] += 1
            call = self.counts[0]
        else:
            call = self.within[0][1]
        self.within = [(0, call)]
        self.step().put(("enter", now(), 0, call, -1, here(self.sites, sys._getframe())))
        if self.replaying is not None:
            return
        torch = self.engine.torch
        if grad_on() if self.ours else torch.is_grad_enabled():
            if len(self.calls) == CALLS:
                self.calls.pop(0)
            kind = self.device
            autocast = (kind, torch.get_autocast_dtype(kind), True) if torch.is_autocast_enabled(kind) else None
            self.calls.append(Call(call, args, kwargs, self.engine.random_state(), autocast))

    def cleared(self) -> bool:
        """Has no parameter a gradient?"""
        for _, known in self.parameters:
            if gradient_of(known()) is not None:
                return False
        return True

    def leave(self, model: Any, args: Any, out: Any) -> None:
        if not self.on or self.busy or model is not self.model or not self.within:
            return
        if self.replaying is not None:
            return                              # the call that is made again has its end
        call = self.within[0][1]
        self.within = []
        self.light = False
        self.gives(out, call)
        self.step().put(("exit", now(), 0, call))
        self.listen()                           # last: what is done while it listens is heard, and costs more

    def gives(self, out: Any, call: int) -> None:
        """What a call gave: an op to what follows."""
        outs = numbers_in(out, self.Tensor)
        known = self.ids.get(id(outs[0])) if outs else None
        if not outs or (known is not None and known[0]() is outs[0]):      # its ops were heard
            return
        made = self.made(outs, False, -1)
        node = outs[0].grad_fn
        self.step().put(("op", now(), type(self.model).__name__, -1, 0, call, [], made,
                         None if node is None else type(node).__name__))
        if self.calls and node is not None:
            it = self.calls[-1]
            it.at, it.values = made[0][0], [m[1] for m in made]
            if out is outs[0] and isinstance(node, Node) and node._came is None and out.output_nr == 0:
                node._came = it.came            # so that no code of ours runs in the pass
                return
            for k, t in enumerate(outs):
                if t.requires_grad:
                    t.register_hook(OwnHook(it.reached, k))

    def gave(self, n: int, module: Any, args: Any, out: Any) -> None:
        """The output of a layer, inside a call of the model."""
        if self.light and isinstance(out, self.Tensor):
            number = quick(out.array) if isinstance(out, TensorBase) else self.square(out)
            if number is None or not TINY < number < HUGE:
                number = self.number(out)
            shape = sizes(out)
            if self.shapes[n] == shape:
                shape = self.shapes[n]          # old steps are freed from cold memory: the fewer objects, the better
            else:
                self.shapes[n] = shape
            self.newest = ref(out), version(out), number
            self.newest_step().put(("gave", now(), n, self.within[0][1], number, shape, dtype(out)))

    def outer(self, module: Any, args: Any, out: Any) -> None:
        """A module is left inside a call that is made again."""
        n = self.module_numbers.get(id(module))
        while n and self.replaying is not None and len(self.within) > 1:
            m, call = self.within.pop()
            self.replaying.put(("exit", now(), m, call))
            if m == n:
                break

    def inner(self, module: Any, args: Any) -> None:
        """A module is called inside a call that is made again."""
        n = self.module_numbers.get(id(module))
        if n and not self.busy and self.within and self.replaying is not None:
            self.counts[n] += 1
            self.replaying.put(("enter", now(), n, self.counts[n], self.within[-1][0], -1))
            self.within.append((n, self.counts[n]))

    def replay(self, step: Step) -> None:
        """Make the calls of this pass again, deeply, and put what is heard where they were in `step`."""
        torch = self.engine.torch
        params = [p for p in self.model.parameters() if p.requires_grad]
        buffers = [(b, b.detach().clone()) for b in self.model.buffers()]
        random = torch.get_rng_state()
        home = self.engine.modules()
        hooks = home.register_module_forward_pre_hook(OwnHook(self.inner)), home.register_module_forward_hook(OwnHook(self.outer))
        self.busy = False
        try:
            for it in self.calls:
                if not it.values or not it.arrived():
                    continue
                it_heard = self.again(it, params)
                if it_heard is not None:
                    splice(step, it.at, *it_heard)
        except Exception as error:
            self.notes.add(f"the model could not be called again: {type(error).__name__}: {error}"[:300])
        finally:
            for hook in hooks:
                hook.remove()
            self.busy = True
            self.replaying = None
            self.within = []
            torch.set_rng_state(random)
            with torch.no_grad():
                for b, old in buffers:
                    b.copy_(old)

    def again(self, it: Call, params: list[Any]) -> Any:
        torch = self.engine.torch
        torch.set_rng_state(it.random)
        kind, dtype, enabled = it.autocast or (self.device, None, False)
        for t in tensors_of((it.args, it.kwargs), self.Tensor):
            value = self.number(t)
            if type(value) is tuple and (value[5] or value[6]):
                self.ids.pop(id(t), None)       # whoever made it, it may have been edited since, through NumPy
        self.replaying = first = Step(0)
        self.within = [(0, it.number)]
        with self.engine.within(self), torch.enable_grad(), torch.autocast(kind, dtype=dtype, enabled=enabled):
            out = self.model(*it.args, **it.kwargs)
        outs = numbers_in(out, self.Tensor)
        if [alike(self.number(t)) for t in outs] != [alike(v) for v in it.values]:
            self.notes.add("called again, the model gave other numbers than in the training: what is shown of its inside may "
                           "differ from what happened")
        serials = [self.ids[id(t)][1] for t in outs if id(t) in self.ids]
        for node in custom_nodes(outs):         # which are no functions that could be heard
            self.serial += 1
            site = self.sites.of_function(node._forward_cls.backward)
            first.put(("op", now(), node._forward_cls.__name__, site, 0, it.number, [],
                       [(self.serial, None, (), outs[0].dtype)], type(node).__name__))
            node.register_hook(OwnHook(self.ran_custom, self.serial))
        self.replaying = second = Step(0)
        self.busy = True
        given = it.arrived()
        found = torch.autograd.grad([outs[k] for k in given], params, list(given.values()), allow_unused=True)
        for p, g in zip(params, found):
            if g is not None:
                second.put(("leaves", now(), [self.parameter_numbers[id(p)]], [self.number(g)]))
        self.busy = False
        self.replaying = None
        return first, second, serials

    # -- ops

    def newest_step(self) -> Step:
        found: Step = self.steps[-1]
        return found

    def step(self) -> Step:
        """The step that an op belongs to."""
        if self.replaying is not None:
            return self.replaying
        step: Step = self.steps[-1]
        if step.came and not step.over and not self.closed and self.cleared():
            step.number = self.rounds.skip()    # its gradients were not used
            step.put(("zero", now()))
            step.over = True
        if step.over:
            step = Step(step.number + 1)
            self.steps.append(step)
            self.ids.clear()
            self.scaled.clear()
            self.calls.clear()
        return step

    def number_of_optimizer(self, optimizer: Any) -> int:
        """Of one that makes steps of this training; -1 of another."""
        for n, known in enumerate(self.optimizers):
            if known is optimizer:
                return n
        ours = self.parameter_numbers
        if self.given or not any(id(p) in ours for g in optimizer.param_groups for p in g["params"]):
            return -1
        self.optimizers.append(optimizer)
        return len(self.optimizers) - 1

    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.on:
            return
        frame: Any = sys._getframe()
        while frame.f_code.co_filename.startswith(HEARING):
            frame = frame.f_back
        self.stepping = frame.f_code
        if len(args) > 1 or kwargs.get("closure"):
            self.closed = True                  # its passes are heard
        else:
            self.busy = True
            self.rest()

    def step_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.busy = self.closed = False
        self.stepping = None
        if self.on:
            n = self.number_of_optimizer(optimizer)
            if n >= 0:
                self.stepped(n, here(self.sites, sys._getframe()), [float(g.get("lr", 0.0)) for g in optimizer.param_groups])
            self.listen()

    def failed_step(self) -> bool:
        """Did the step that goes on end by an exception?  No hook tells."""
        frame: Any = sys._getframe()
        while frame is not None and frame.f_code is not self.stepping:
            frame = frame.f_back
        return frame is None

    def stepped(self, optimizer: int, site: int, rates: list[float]) -> None:
        """An optimizer has stepped."""
        number = self.rounds.step(optimizer)
        step: Step = self.steps[-1]
        if len(self.steps) > 1 and not step.over and self.steps[-2].number == number:
            self.steps.pop()                    # the other optimizer's part of a step
            self.steps[-1].join(step)
            step = self.steps[-1]
        elif step.over and step.number != number:
            step = Step(number)                 # once more, without a pass in between
            self.steps.append(step)
        step.number = number
        step.put(("stepped", now(), optimizer, site, rates))
        step.over = True

    def kept(self) -> list[Step]:
        """The last steps, what is under way among them."""
        last: Step = self.steps[-1]
        if not last.over:
            last.number = self.rounds.now()
        found: list[Step] = list(self.steps)
        while len({step.number for step in found}) > self.keep:
            found.pop(0)
        return found

    def sort(self, func: Any) -> Any:
        name = self.engine.plain_name(func)
        property_of = name if type(func).__name__ in ("method-wrapper", "builtin_function_or_method") and \
            getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__") else None
        self.engine.look()
        if func in self.engine.passes or func is self.engine.torch.autograd.grad:
            found: Any = PASS
        elif property_of is not None and not self.engine.says(func):
            found = None
        else:
            found = None if name in QUIET or name.startswith(("is_", "_foreach", "set_")) else self.engine.name_of(func)
        self.names[func] = found
        return found

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        name = self.names.get(func, NEW)
        if name is NEW:
            name = self.sort(func)
        if name is None or not self.on or self.busy:
            return impl(*args) if kwargs is None else impl(*args, **kwargs)
        if name is PASS:
            return self.through(func, impl, args, kwargs or {})
        try:
            out = impl(*args) if kwargs is None else impl(*args, **kwargs)
        except BaseException as error:
            self.failed(name, error, args, kwargs)
            raise
        if isinstance(out, self.Tensor):
            self.heard(name, (out,), args, kwargs)
        elif out is None:
            if name == "setitem" and isinstance(args[0], self.Tensor):
                self.heard(name, args[:1], args, kwargs)
        elif isinstance(out, (tuple, list)):
            outs = [o for o in out if isinstance(o, self.Tensor)]
            if outs:
                self.heard(name, outs, args, kwargs)
        return out

    def inputs(self, args: Any, kwargs: Any, edited: Any = None) -> list[int]:
        """Serial numbers of what an op reads; of parameters -2 - their number, OUTSIDE of what nothing was noted of."""
        found: list[int] = []
        for x in (*args, *kwargs.values()) if kwargs else args:
            if type(x) in PLAIN:
                continue
            if isinstance(x, self.Tensor):
                found.append(self.serial_of(x, edited))
            elif isinstance(x, (tuple, list, dict)):
                found.extend([self.serial_of(t, edited) for t in tensors_of(x, self.Tensor)])
        return found

    def serial_of(self, t: Any, edited: Any) -> int:
        known = self.ids.get(id(t))
        if known is not None and known[0]() is t:
            return int(known[1]) if version(t) - known[3] in (0, int(t is edited)) else OUTSIDE     # an edit was not heard
        n = self.parameter_numbers.get(id(t), -1)
        return -2 - n if n >= 0 and self.parameters[n][1]() is t else OUTSIDE

    def heard(self, name: str, outs: Any, args: Any, kwargs: Any) -> None:
        out = outs[0]
        known = self.ids.get(id(out))
        if known is not None and known[0]() is out and known[3] == version(out):
            return                              # it gave what it got: dropout in evaluation
        step = self.step()
        read = self.inputs(args, kwargs, out)
        same = name in SAME
        site = here(self.sites, sys._getframe())
        made = self.made(outs, same, site)
        node = out.grad_fn
        if node is not None and not same:
            hook = OwnHook(self.ran, made[0][0])
            if isinstance(node, Node):
                add_hook(node, -made[0][0], hook)
            else:
                node.register_hook(hook)
        if name == "mul" and len(sizes(out)) == 0 and read and scaler_calls(sys._getframe()):
            step.scaled = True
            self.scaled[made[0][0]] = self.number_of(args[0])
        module, call = self.within[-1] if self.within else (-1, 0)
        step.put(("op", now(), name, site, module, call, read, made, None if node is None else type(node).__name__))

    def made(self, outs: Any, same: bool, site: int) -> list[Any]:
        """(serial, number, shape, dtype) of each."""
        found: list[Any] = []
        for t in outs:
            self.serial = serial = self.serial + 1
            self.ids[id(t)] = ref(t), serial, site, version(t)
            found.append((serial, None if same else self.number_once(t), sizes(t), dtype(t)))
        return found

    def failed(self, name: str, error: BaseException, args: Any, kwargs: Any) -> None:
        module, call = self.within[-1] if self.within else (-1, 0)
        self.step().put(("failed", now(), name, here(self.sites, sys._getframe()), module, call, self.inputs(args, kwargs),
                         f"{type(error).__name__}: {error}"[:400]))

    def number_once(self, t: Any) -> Any:
        """number(), of what a layer just gave without reading it again."""
        known, self.newest = self.newest, None
        return known[2] if known is not None and known[0]() is t and known[1] == version(t) else self.number(t)

    def number(self, t: Any) -> Any:
        """The sum of squares of a tensor, or all its statistics (_measure.Row); None when it has none."""
        squares = quick(t.array) if isinstance(t, TensorBase) else None
        if squares is None:
            squares = self.square(t)
        if squares is not None and TINY < squares < HUGE:
            return squares
        if not has_numbers(t):
            return None
        x = self.engine.here(t)
        if x is None:
            return self.there(t)
        return measure(x)

    def there(self, t: Any) -> Any:
        """... of a tensor on a device: one wait."""
        t = t.detach()
        squares = float(self.engine.norm(t)) ** 2
        if squares < HUGE:
            return squares
        nans, infs = int(t.isnan().sum()), int(t.isinf().sum())
        return (t.numel(), 0.0, 0.0, 0.0, 0, nans, infs) if nans or infs else squares

    def number_of(self, t: Any) -> float:
        if isinstance(t, TensorBase) and t.array.size == 1:
            return float(t.array.item())
        return float(t.item() if t.numel() == 1 else t.detach().float().mean())

    # -- passes

    def through(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """backward() or grad()."""
        step = self.step()
        roots = args[0] if args else kwargs.get("tensors", kwargs.get("outputs", ()))
        backward = func in self.engine.passes
        site = here(self.sites, sys._getframe())
        serials: list[int] = []
        for t in tensors_of(roots, self.Tensor):
            known = self.ids.get(id(t))
            if known is None or known[0]() is not t:
                known = None, OUTSIDE, -1, 0
            else:
                serials.append(known[1])
            if backward and (t.array.size == 1 and t.array.dtype.kind != "c" if isinstance(t, TensorBase) else
                             t.numel() == 1 and not t.dtype.is_complex):
                loss = self.scaled.get(known[1])
                step.losses.append((self.number_of(t) if loss is None else loss, (site, known[2])))
        step.put(("begin", now(), "backward" if backward else "grad", site, serials))
        failure = None
        self.busy = True
        try:
            return impl(*args, **kwargs)
        except BaseException as error:
            failure = f"{type(error).__name__}: {error}"[:400]
            raise
        finally:
            self.look(step)
            step.put(("end", now(), failure))
            why = self.judge.says(step) if failure is None else ""
            if why:
                self.passed(step, why)
            self.calls.clear()
            self.busy = False

    def look(self, step: Step) -> None:
        """At .grad, after a pass."""
        gradients = [gradient_of(known()) for _, known in self.parameters]
        numbers = [n for n, g in enumerate(gradients) if g is not None]
        if len(numbers) < len(gradients):
            gradients = [gradients[n] for n in numbers]
        values = squares(gradients) if self.ours else None
        if values is None:
            values = self.engine.squares(gradients)
        for k, value in enumerate(values):
            if value is None or not TINY < value < HUGE:
                value = values[k] = self.number(gradients[k])
                if type(value) is tuple and (value[5] or value[6]):
                    step.broken = True
        step.came = step.came or bool(numbers)
        step.put(("leaves", now(), numbers, values))

    def ran(self, serial: int, gi: Any, go: Any) -> None:
        """The node of an op ran: what it hands on."""
        step: Step = self.steps[-1] if self.replaying is None else self.replaying
        step.put(("node", now(), serial, self.numbers(gi), None))

    def ran_custom(self, serial: int, gi: Any, go: Any) -> None:
        """That of a custom Function ran: what it hands on, of what."""
        step: Step = self.steps[-1] if self.replaying is None else self.replaying
        step.put(("node", now(), serial, self.numbers(gi), self.numbers(go)))

    def numbers(self, gradients: Any) -> list[Any]:
        return [None if g is None else (self.number(g), sizes(g), dtype(g)) for g in gradients]


def version(t: Any) -> int:
    """t._version"""
    return edits(t) if isinstance(t, TensorBase) else t._version


def dtype(t: Any) -> Any:
    """Of its numbers, PyTorch's or NumPy's: they have the same names."""
    return t.array.dtype if isinstance(t, TensorBase) else t.dtype


def numbers_in(x: Any, kind: Any) -> list[Any]:
    """The tensors of real or complex numbers in what a model gave."""
    return [t for t in ([x] if isinstance(x, TensorBase) else tensors_of(x, kind)) if has_numbers(t)]


def has_numbers(t: Any) -> bool:
    if isinstance(t, TensorBase) and t.array.dtype.kind != "V":
        return t.array.dtype.kind in "fc"
    return t.dtype.is_floating_point or t.dtype.is_complex


def squares(gradients: list[Any]) -> Any:
    """The sums of squares of tensors of ours, by one call; None where an array has no such sum."""
    found = quick(tuple([g.array if isinstance(g, TensorBase) else None for g in gradients]))
    return None if found is None else list(found)


def gradient_of(p: Any) -> Any:
    """Its .grad, read without being heard; None of a parameter that is gone."""
    return read_grad(p) if isinstance(p, TensorBase) else None if p is None else p.grad


def add_hook(node: Node, key: int, hook: Any) -> None:
    """Its register_hook(), without a handle: they have the numbers from 0 on."""
    its = node.own_hooks()
    if its.post is NONE:
        its.post = OrderedDict()
    its.post[key] = hook


def scaler_calls(frame: Any) -> bool:
    """Is this op GradScaler.scale's?"""
    while frame is not None and (frame.f_code.co_filename.startswith(HEARING) or "_dynamo" in frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and str(frame.f_code.co_filename).endswith("grad_scaler.py")


def custom_nodes(outs: list[Any]) -> list[Any]:
    """The nodes of custom Functions that lead to these."""
    todo = [t.grad_fn for t in outs if t.grad_fn is not None]
    seen = dict.fromkeys(todo)
    while todo:
        for node, _ in todo.pop().next_functions:
            if node is not None and node not in seen:
                seen[node] = None
                todo.append(node)
    return [node for node in seen if hasattr(node, "_forward_cls")]
