# ruff: noqa: E501
"""Calls at the edges of the functions' domains give and raise what PyTorch gives and raises."""

from __future__ import annotations

from typing import Any

import pytest
from both_engines import both
from random_programs.program import difference

import retrograd
from retrograd._engine import node

COMPILED = not str(node.__file__).endswith(".py")
REFLECTED = ("add", "mul", "and", "or", "xor", "sub", "mod", "pow")
BYTES = "torch.tensor([1, 0], dtype=torch.uint8)"
NONE = "torch.tensor([], dtype=torch.int64)"
CASES: dict[str, list[str]] = {
    "a tensor of bytes is a mask for index_put, too": [
        f"torch.zeros(2, 2).index_put_(({BYTES},), torch.tensor(9.))",
        f"torch.zeros(2, 2).index_put_(({BYTES}, torch.tensor([1])), torch.tensor([9.]))",
        f"torch.zeros(2, 2).index_put(({BYTES},), torch.tensor([9.]), accumulate=True)",
        f"torch.zeros(2, 2)[None, {BYTES}].fill_(1)",
        "torch.zeros(2, 2).index_put((torch.tensor([1.]),), torch.tensor(9.))",
        "torch.zeros(2, 2).index_put((torch.tensor(1, dtype=torch.int16),), torch.tensor(9.))",
    ],
    "strides of what is expanded": [
        *(f"torch.zeros({shape}).expand({to}).stride()" for shape, to in (
            ("3, 1", "3, 1"), ("3, 1", "3, 4"), ("3, 1", "1, 3, 4"), ("3, 1", "5, 3, 1"), ("1, 1", "1, 1, 1"), ("2, 3", "1, 1, 2, 3"),
            ("()", "1, 1"), ("()", "2, 1"), ("3, 0", "1, 3, 0"))),
        "torch.zeros(2, 3).t().expand(1, 3, 2).stride()", "torch.zeros(4, 6)[::2, ::3].expand(1, 2, 2).stride()",
        "torch.zeros(3)[None].expand(2, 3).is_contiguous()", "torch.zeros(3).expand(3).add_(1)", "torch.zeros(2, 1).expand(2, 3)[0, 1:].fill_(1)",
    ],
    "numbers out of range are no error where nothing is picked": [
        *(f"torch.ones(2, 2, requires_grad=True).gather({dim}, torch.empty({shape}, dtype=torch.int64)).sum().backward()"
          for dim in (0, 1) for shape in ("(0, 4)", "(4, 0)", "0", "(9, 0)")),
        "torch.ones(3, 2)[torch.tensor([0, 9]), :0]", "torch.ones(2, 0)[torch.tensor([7])]",
        f"torch.ones(0, 2)[{NONE}, torch.tensor([7])]", "torch.ones(0, 2)[torch.tensor([7])]",
        "torch.ones(3, 0).index_fill(0, torch.tensor([7]), 1)",
        "torch.ones(3, 0).index_copy(0, torch.tensor([5]), torch.ones(1, 0))",
        "torch.ones(0, 2).index_add(0, torch.tensor([0]), torch.ones(1, 2))", "torch.ones(0).take(torch.tensor([0]))",
        "torch.ones(0).put(torch.tensor([0]), torch.ones(1))", "torch.ones(0, 3).index_select(0, torch.tensor([0]))",
    ],
    "what picks nothing is of the index's shape, whatever the shape": [
        *(f"nodes(torch.ones({shape}, requires_grad=True).gather({dim}, {NONE}.reshape({index})))"
          for shape, dim, index in (("3, 4", 1, "2, 0, 2"), ("2, 0, 4", 1, "1, 0, 5"), ("()", 0, "0, 3"), ("2, 2", 0, "0, 0"))),
        f"torch.zeros(4, 0, requires_grad=True).scatter_add(0, {NONE}.reshape(2, 0), torch.ones(1, 1)).sum().backward()",
        f"torch.zeros(4, 0).scatter_add(0, {NONE}.reshape(2, 0), torch.ones(1, 1, requires_grad=True)).sum().backward()",
        *(f"torch.zeros(0, 0).index_copy({dim}, torch.tensor([0, 0, 0]), torch.ones({shape}))"
          for dim, shape in ((0, "3, 0"), (1, "0, 3"))),
        "torch.zeros(2, 0).index_add(1, torch.tensor([0]), torch.ones(2, 1, requires_grad=True)).sum().backward()",
    ],
    "a number and a row of one stand for each other in gather and scatter": [
        *(f"torch.tensor(2.).{call}" for call in (
            "gather(0, torch.tensor([0, 0]))", "scatter(0, torch.tensor([0, 0]), torch.tensor([1., 2., 3.]))",
            "scatter(0, torch.tensor([0, 0]), 5.)", "scatter_add(0, torch.tensor([0, 0]), torch.tensor([1., 2.]))",
            "scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([1., 5.]), 'amax')",
            "scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([3., 5.]), 'mean', include_self=False)",
            "scatter(0, torch.tensor([0, 0]), torch.tensor([3., 5.]), reduce='add')")),
        "torch.ones(1).gather(0, torch.tensor(0))", "torch.ones(3).scatter_add(0, torch.tensor(1), torch.tensor(2.))",
        "torch.zeros(4, dtype=torch.bool).index_put((torch.tensor(2),), torch.tensor([True]))",
    ],
    "index_reduce fills first what it leaves out": [
        *(f"torch.zeros({shape}, dtype=torch.{dtype}).index_reduce(0, torch.tensor({at}), torch.ones({source}, dtype=torch.{dtype}), "
          f"'{how}', include_self={self})"
          for dtype in ("bool", "int64") for how in ("mean", "amax") for self in (True, False)
          for shape, source in (("3", "2"), ("3, 2", "2, 2")) for at in ([0, 1], [0, 7], [0, -1], [-9, 0])),
    ],
    "a number that does not fit is reported before an index out of range": [
        "torch.zeros(3, dtype=torch.int64).scatter(0, torch.tensor([1, -3]), float('nan'))",
    ],
    "methods called on the class take a tensor first": [
        f"torch.Tensor.__r{name}__(torch.tensor([1, 2]), 3)" for name in REFLECTED],
    **({} if COMPILED else {"methods called on the class refuse a number, or take it as PyTorch does": [
        f"torch.Tensor.__r{name}__(3, {b})" for name in REFLECTED for b in ("torch.tensor([1, 2])", 4)]}),
    "all and any write into bytes and bools": [
        f"torch.{name}(torch.tensor([[2, 0], [3, 255]], dtype=torch.{x}){dim}, out=torch.empty(0, dtype=torch.{out}))"
        for name in ("all", "any") for x in ("bool", "uint8", "float32") for out in ("bool", "uint8", "int64")
        for dim in ("", ", 0")],
    "products in half precision are rounded after each factor": [
        f"torch.{name}((torch.arange({n}.) / 7 + 0.4).to(torch.{dtype}).reshape({shape}){dim})" for dtype in ("float16", "bfloat16")
        for name, n, shape, dim in (("prod", 7, "7", ""), ("prod", 21, "3, 7", ", 1"), ("prod", 21, "3, 7", ", 0, True"),
                                    ("prod", 12, "3, 4", ""), ("prod", 0, "0, 3", ", 0"))],
    "gradients in half precision are rounded in the dtype of the result": [
        f"x = torch.tensor([[-1., -6., -0.5, 1., -2.75]], dtype=torch.{dtype}).abs().requires_grad_(); {call}.square().sum().backward()"
        for dtype in ("float32", "bfloat16")
        for call in ("x.mean(dtype=torch.bfloat16)", "x.mean(1, dtype=torch.bfloat16)", "x.rsqrt()")],
    "what is infinite has no gradient of zero in nan_to_num": [
        "x = torch.tensor([-math.inf, 0.5, math.nan], requires_grad=True); y = torch.nan_to_num(x); (y * y).sum().backward()"],
    "the dtype in which two tensors meet is refused by | and <<": [
        f"torch.ones(2, dtype=torch.{a}) {op} torch.ones(2, dtype=torch.{b})" for op in ("|", "<<", "&") for a, b in (
            ("float16", "float64"), ("float32", "int64"), ("int64", "bfloat16"), ("float16", "bfloat16"))],
    "inference mode: parts are views, detach_ does nothing, a subclass is of inference, too": [
        "x = torch.ones(4, 2, requires_grad=True)\nwith torch.inference_mode(): y = x.unsafe_chunk(2)[0]; z = x.unsafe_split(2)",
        "x = torch.ones(4, requires_grad=True)\nwith torch.inference_mode(): x.detach_(); x.view(-1).detach_()\n(x * x).sum().backward()",
        "with torch.inference_mode(): x = torch.ones(2)\ny = x.as_subclass(torch.Tensor)\ny.is_inference()",
    ],
    "numbers of no spread are the mean": ["1 / torch.ones(9).normal_(0, 0)", "1 / torch.ones(40).normal_(0, 0)"],
    "bools are not clamped between bools": [
        *(f"torch.tensor([True, False]).{call}" for call in (
            "clamp(True)", "clamp(max=True)", "clamp(False, True)", "clamp_(True, True)", "clamp_min(True)", "clamp_max_(False)",
            "clamp(0, True)", "clamp_min(torch.tensor(True))"))],
    "a weight of other dims is found after strides and paddings": [
        f"F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 3){more})" for more in (
            "", ", stride=0", ", padding=-1", ", stride=(1, 1, 1)", ", stride=(1,)", ", groups=0", ", stride=(1,), dilation=(1, 1, 1)")],
    "arguments as NumPy calls them, and formats": [
        "torch.ones(2, 3).size(axis=1)", "torch.ones(2, 3).stride(axis=0)", "torch.ones(2, 3).size(axis=-1)",
        "torch.ones(2).cpu(memory_format=torch.preserve_format)", "torch.ones(2).cpu(memory_format=torch.channels_last)",
        "torch.tensor([2]) ** 2**63", "torch.tensor([2]) ** 2**65", "torch._C._functions.UndefinedGrad(1)"],
    "nuclear norms are of matrices": [
        *(f"torch.norm(torch.ones({shape}), 'nuc'{dim})" for shape in ("2, 2", "2", "2, 2, 2") for dim in ("", ", 0", ", (0, 1)", ", (0,)"))],
    "scatter looks at reduce= before the index": ["torch.ones(3).scatter(0, torch.tensor([-4]), 7, reduce='sum')"],
    "sums at indices are rounded once or each time, as in PyTorch": [
        *(f"i = torch.arange(40) ** 2 % 5; v = (torch.arange({n}.) / 7 - 3).to(torch.{dtype}).reshape({size}).requires_grad_(); "
          f"x = (torch.arange({m}.) / 3).to(torch.{dtype}).reshape({shape}).requires_grad_(); y = {call}; "
          "(y * y).sum().backward()"
          for dtype in ("float16", "bfloat16") for n, size, m, shape, calls in (
              (40, "40", 5, "5", ("x.scatter_add(0, i, v)", "x.index_add(0, i, v)", "x.gather(0, i)", "x.index_select(0, i)", "x[i]",
                                  "x.scatter_reduce(0, i, v, 'sum')")),
              (80, "40, 2", 10, "5, 2", ("x.index_add(0, i, v)", "x.index_add(0, i, v, alpha=2)", "x.index_select(0, i)",
                                         "F.embedding(i, x)", "F.embedding_bag(i, x, torch.tensor([0, 9]), mode='sum')")),
              (160, "2, 40, 2", 20, "2, 5, 2", ("x.index_add(1, i, v)", "x.index_select(1, i)")))
          for call in calls),
    ],
    "layer norm in half precision is differentiated by rounded statistics": [
        f"x = (torch.arange({n}.) ** 2 % 17 / 7).to(torch.{dtype}).reshape({shape}).requires_grad_(); "
        f"w, b = [(torch.arange(12.).reshape({over}) / k).to(torch.{dtype}).requires_grad_() for k in (5, 7)]; "
        f"y = F.layer_norm(x, ({over},), {parameters}); (y * y).sum().backward()"
        for dtype in ("float16", "bfloat16") for n, shape, over in ((60, "5, 12", "12"), (240, "2, 10, 3, 4", "3, 4"))
        for parameters in ("w, b", "w", "None, b", "None")],
    "the first number out of range is named, and what is wrong before it": [
        "torch.ones(3, 2)[torch.tensor([0, 9]), torch.tensor([7, 0])]", "torch.ones(3, 2).take(torch.tensor([7, -9]))",
        "torch.ones(3, 2).gather(0, torch.tensor([[0, 7], [-3, 0]]))",
        "torch.ones(3, 2).scatter(0, torch.tensor([[0, 7], [-3, 0]]), 1.)",
        "torch.ones(2, 2).index_put((torch.tensor([7]),), torch.ones(3, dtype=torch.int64))",
        "torch.ones(2, 2).index_put((torch.tensor([7]),), torch.ones(2, dtype=torch.int64))",
        "torch.ones(3, 2).index_add(1, torch.tensor([0]), torch.ones(1))",
        "torch.tensor(1.).index_add(0, torch.tensor([0, 0]), torch.tensor(1.))",
        "torch.ones(3, 2).index_fill(7, torch.tensor([0.]), 1)",
        "torch.ones(3, 2).index_copy(0, torch.tensor([0]), torch.tensor(1.))",
        "torch.take_along_dim(torch.tensor(1.), torch.tensor(0), 0)",
        "torch.slice_scatter(torch.tensor(1.), torch.tensor(1.), 0)",
        "torch.ones(3, dtype=torch.uint8).index_add(0, torch.tensor([0]), torch.ones(1, dtype=torch.uint8), alpha=-1.7)",
        "torch.ones(3, dtype=torch.bool).index_reduce(0, torch.tensor([0]), torch.ones(1, dtype=torch.bool), 'mean')",
        "torch.ones(3).scatter_reduce(0, torch.tensor([0]), torch.ones(3) * 5, 'max')",
    ],
    "a float among the numbers of a factory makes floats, a dtype must hold them": [
        "torch.arange(0., 4)", "torch.arange(0, 4, 1.)", "torch.arange(torch.tensor(0.), 4)", "torch.arange(-0., 3)",
        "torch.arange(torch.tensor(0), torch.tensor(4))", "torch.arange(0, 3, math.nan)", "torch.range(0, 3, 0)", "torch.range(3, 0)",
        "torch.range(torch.tensor(1), 3)", "torch.range(0, math.inf)", "torch.linspace(0, 300, 3, dtype=torch.uint8)",
        "torch.linspace(3, -2, 5, dtype=torch.uint8)", "torch.linspace(0, 3, 4, dtype=torch.bool)", "torch.arange(3, dtype=torch.bool)",
        "torch.full((2,), 1e39)", "torch.full((2,), 1e5, dtype=torch.float16)", "torch.ones(2).fill_(1e39)",
        "torch.full_like(torch.ones(2, dtype=torch.float16), 1e5)", "torch.ones(2, dtype=torch.float16).clamp(max=1e5)",
        "torch.scalar_tensor(1e39)", "torch.ones(2, dtype=torch.float16).pow(1e5)", "torch.ones(2, dtype=torch.int32).pow(2**40)",
        "torch.vander(torch.tensor([1, 2], dtype=torch.uint8))", "torch.block_diag()",
    ],
    "dtype= may not contradict out=": [
        f"torch.{call}, dtype=torch.int64)" for call in (
            "zeros(2, out=torch.empty(2)", "ones(2, out=torch.empty(2)", "empty(2, out=torch.empty(2)", "rand(2, out=torch.empty(2)",
            "full((2,), 3, out=torch.empty(2)", "eye(2, out=torch.empty(2)", "linspace(0, 1, 2, out=torch.empty(2)",
            "randperm(3, out=torch.empty(2)", "randint(3, (2,), out=torch.empty(2)", "sum(torch.ones(2), 0, out=torch.empty(())",
            "mean(torch.ones(2), 0, out=torch.empty(())", "prod(torch.ones(2), 0, out=torch.empty(())",
            "nansum(torch.ones(2), 0, out=torch.empty(())", "cumsum(torch.ones(2), 0, out=torch.empty(2)")],
    "floats that integers do not hold become their least number, by way of int32": [
        f"torch.tensor([1e30, -1e30, math.nan, math.inf, 3e9 + 1, -3e9, 1e12 + 5, 300., -1.], dtype=torch.{a}).to(torch.{b})"
        for a in ("float64", "float32") for b in ("int64", "int32", "int16", "int8", "uint8")],
    "asarray shares what it can, and reads a buffer as bytes": [
        "b = bytearray(range(8)); t = torch.asarray(b, dtype=torch.int32); t[0] = 9; list(b)", "torch.asarray(bytearray(range(4)))",
        "torch.asarray(bytearray(range(3)), dtype=torch.int32)", "torch.asarray([1, 2], copy=False)",
        "torch.asarray(torch.ones(2), copy=False, dtype=torch.int64)", "torch.asarray(torch.ones(2).__dlpack__())",
        "import numpy; a = numpy.ones(3, 'f'); t = torch.asarray(a, dtype=torch.float32); t[0] = 9; a.tolist()",
        "import numpy; torch.tensor(numpy.arange(4)[::-1])", "torch.asarray(torch.ones(2, requires_grad=True), requires_grad=False)",
        "torch.frombuffer(bytearray(range(8)), dtype=torch.int32, offset=9)", "torch.frombuffer([1], dtype=torch.int32)",
    ],
    "numbers of more than 64 bits overflow": [
        "torch.roll(torch.ones(3), 2**65)", "torch.roll(torch.ones(3), 1); torch.roll(torch.ones(3), 2**65)", "torch.ones(3)[2**65]",
        "torch.ones(3).split(2**65)", "torch.ones(3).chunk(2**65)", "torch.ones(3).topk(2**65)", "torch.ones(3).select(0, 2**65)",
        "torch.ones(3).narrow(0, 2**65, 1)", "torch.ones(3).unfold(0, 1, 2**65)", "torch.ones(3, 3).tril(2**65)", "torch.ones(3)[[2**65]]",
    ],
    "what no memory holds is a RuntimeError": [
        "torch.ones(2).resize_(2**62)", "torch.ones(2).resize_(-1)", "torch.empty_strided((2**62,), (1,))",
        "torch.empty_strided((2,), (-1,))", "torch.empty_strided((2,), (1, 1))", "torch.repeat_interleave(torch.ones(2), 2**62)",
        "torch.repeat_interleave(torch.ones(2), 2, output_size=5)", "torch.ones(3).expand(2**62, 3)", "torch.ones(0).reshape(2**62, 4, 0)",
        "torch.nn.functional.pad(torch.ones(3), (2**62, 0))", "torch.tensor_split(torch.ones(4), torch.tensor([[1]]))",
    ],
    "a diagonal far outside is empty": [
        f"torch.ones(2, 3).{name}({k})" for name in ("diagonal", "tril", "triu") for k in (2**62, -2**31, -2**62, 3, -2)],
    "matrices alone have an adjoint": ["torch.ones(3).adjoint()", "torch.tensor(1.).adjoint()", "torch.ones(3, 2, 2).H", "torch.ones(3).H"],
    "of equal elements kthvalue names the one that a quickselect finds": [
        f"torch.kthvalue(torch.tensor({row}), {k})" for row in ([1] * 5, [2, 1, 2, 1, 1, 2], [3, 3, 1, 2, 2, 2, 1, 3, 1]) for k in (1, 2, 4)],
    "legal forms are taken": [
        "torch.swapaxes(torch.ones(2, 3), axis0=0, axis1=1)", "torch.ones(2, 3).swapaxes_(axis0=0, axis1=1)",
        "torch.as_strided(torch.ones(0), (0,), (1,), 5)", "torch.as_strided(torch.ones(3), (0, 3), (100, 1), 50)",
        "torch.as_strided(torch.ones(3), (2,), (1,), -1)", "torch.Size([1]) + 2",
        *(f"F.{name}(torch.ones(2), out=torch.empty(2))" for name in ("logsigmoid", "softplus", "softshrink")),
    ],
    "searchsorted looks at its sorter, and takes no bools": [
        *(f"torch.searchsorted(torch.tensor([3., 1., 2.]), torch.tensor([1.5]), sorter=torch.tensor({sorter}))" for sorter in (
            "[0, 1]", "[[1, 2, 0]]", "[1, 2, 0], dtype=torch.int32", "[1., 2., 0.]", "[1, 2, 7]", "[1, 2, -1]", "[1, 2, 0]")),
        "torch.searchsorted(torch.ones(1, 3), torch.tensor([1.5]), sorter=torch.tensor([1, 2]))",
        "torch.searchsorted(torch.tensor([False, True]), torch.tensor([True]))", "torch.bucketize(True, torch.tensor([False, True]))",
        "torch.searchsorted(torch.tensor(1.), torch.tensor([1.]))",
    ],
    "an edit at indices refuses memory that it shows twice, reads or is pointed at by": [
        f"x = {x}; i = torch.tensor([0, 1, {last}]); x.{call}"
        for call in ("index_add_(0, i, Y)", "index_copy_(0, i, Y)", "put_(i, Y)", "scatter_(0, i, Y)", "scatter_(0, i, 1)",
                     "scatter_add_(0, i, Y)", "scatter_reduce_(0, i, Y, 'sum')", "index_reduce_(0, i, Y, 'prod')")
        for call in (call.replace("Y", "torch.ones(3)"), call.replace("Y", "x"))
        for x, last in (("torch.zeros(1).expand(3)", 2), ("torch.zeros(1).expand(3)", 9), ("torch.zeros(3)", 2))
    ] + [f"i = torch.arange(3); i.{call}" for call in (
        "put_(i, torch.ones(3, dtype=torch.int64))", "scatter_(0, i, 1)", "index_fill_(0, i, 1)",
        "scatter_reduce_(0, i, torch.ones(3, dtype=torch.int64), 'sum')")],
    "an empty dim is named as PyTorch names it": [
        *(f"torch.{name}(torch.ones({shape}), {'1, ' if name == 'kthvalue' else ''}dim={dim})"
          for name in ("max", "min", "amax", "amin", "argmax", "argmin", "aminmax", "median", "nanmedian", "mode", "kthvalue",
                       "cummax", "cummin", "logsumexp", "std", "prod")
          for shape, dim in (("0", -1), ("2, 0", -1), ("0, 2", -2), ("0, 2", 7))),
        *(f"torch.{name}(torch.ones(0, 2), {dim})" for name in ("amax", "amin") for dim in ("(0, 0)", "[0, 5]", "(5, 0)", "(-2, 0)", "(1, 1)")),
        *(f"torch.linalg.vector_norm(torch.ones(0, 2), {p}, {dim})" for p in (-1.5, "math.inf")
          for dim in (-2, "()", None, "(1, -2)", "(0, 5)", "(0, -2)", "(5, 0)", 1)),
        "torch.ones(2).renorm(0, 7, 1)", "torch.ones(2).renorm(1, 7, -1)", "torch.ones(2).renorm(1, 7, 1)", "torch.ones(2, 2).renorm(1, 7, 1)",
    ],
    "numbers of more than 64 bits are no operands": [
        f"x = {x}; {call.replace('B', number)}" for x in ("torch.ones(2)", "torch.ones(2, dtype=torch.int64)")
        for number in ("2**65", "(-2**63 - 1)", "2**63")
        for call in ("x + B", "B - x", "x * B", "x / B", "B / x", "x // B", "x % B", "x == B", "x < B",
                     "x.add_(B)", "torch.eq(x, B)")
    ] + [f"torch.tensor({data}, dtype={dtype})" for data in ("[2**65]", "[2**65, 1.5]", "2**65", "[-2**63 - 1]")
         for dtype in (None, "torch.float32", "torch.int64")] + ["torch.ones(2) ** 2**65", "torch.ones(2).resize_(2**40, 2**40)", "torch.ones(2).resize_(2**62, 2)", "torch.ones(2).resize_(0, 2**40, 2**40)"],
    "functions of nn.functional that are builtins take out=": [
        f"F.{call}, out=torch.empty(0{dtype}))" for dtype in ("", ", dtype=torch.float64") for call in (
            "gelu(torch.ones(2)", "gelu(torch.ones(2, requires_grad=True)", "linear(torch.ones(2), torch.ones(3, 2)",
            "linear(torch.ones(2), torch.ones(3, 2), torch.ones(3)", "avg_pool2d(torch.ones(1, 4, 4), 2", "avg_pool3d(torch.ones(1, 2, 4, 4), 2")],
    "a single number for a mask of bytes is refused without a warning": [
        f"with warnings.catch_warnings(): warnings.simplefilter('error'); torch.zeros(2, 3)[{where}] = {value}"
        for where in ("torch.tensor([1, 0, 1], dtype=torch.uint8)", BYTES, f"0, {BYTES}", f":, {BYTES}") for value in (1, "torch.ones(1)")
    ] + [f"torch.zeros(2, 3).index_put_(({BYTES},), torch.tensor(1.))"],
    "no kernel looks at what is empty or a number": [
        *(f"torch.{name}(torch.ones({shape}, dtype=torch.{dtype}), 0)" for name in ("softmax", "log_softmax", "cumsum", "cumprod")
          for shape in ("0", "0, 2", "()", "2") for dtype in ("int64", "bool")),
        *(f"torch.ones({shape}, dtype=torch.bool).{name}_(0)" for name in ("cumsum", "cumprod") for shape in ("0", "()", "2")),
        *(f"torch.{name}(torch.ones({shape}, requires_grad={grad}), 0, dtype=torch.bool)" for name in ("cumsum", "cumprod")
          for shape in ("0", "()", "2") for grad in (True, False)),
        "torch.ones(0, dtype=torch.bool).median()", "torch.ones(0, 2, dtype=torch.bool).nanmedian()",
        "torch.ones(0, 5, dtype=torch.bool).amax([])", "torch.ones(3, dtype=torch.bool).trace()",
        *(f"torch.trapezoid(torch.ones({shape}, dtype=torch.{dtype})).tolist()" for shape in ("0", "2, 0", "0, 2", "()")
          for dtype in ("bool", "int32", "float16")),
    ],
    "bools have no quotients but true ones, and are in no set": [
        f"b = torch.tensor([True, False]); {call}" for call in (
            "b // b", "b // True", "True // b", "b // 2", "b % b", "b % True", "True % b", "b % 2", "torch.fmod(b, b)", "torch.fmod(b, True)",
            "torch.div(b, b, rounding_mode='floor')", "torch.div(b, b, rounding_mode='trunc')", "b / b", "b[:0] // b[:0]",
            "torch.isin(b, b)", "torch.isin(torch.tensor([1]), b)", "torch.isin(1, b)", "torch.isin(torch.tensor([1]), True)")],
    "mean computes in the dtype of out=": [
        f"torch.mean(torch.tensor([[1., 2., 4.]] * 3, dtype=torch.{x}){dim}, out=torch.empty(0, dtype=torch.{out}))"
        for x in ("float32", "float16") for dim in ("", ", 0", ", (0, 1)") for out in ("float64", "float32", "float16", "int64", "bool")],
    "floats below 0 fit in no uint8, norms of matrices take two dims": [
        *(f"torch.tensor([{number}], dtype=torch.uint8)" for number in (-1.0, -0.5, -0.0, 255.5, 256.0, -1, -255, -256)),
        *(f"torch.ones(2, 2, 2).norm('fro', {dim})" for dim in ("[0, 2, 1]", "[0, 0, 1]", "[0, 5, 1]", "(0, 1)", "[0]")),
    ],
    "softmax in half precision is differentiated in float32": [
        f"x = torch.tensor([[6., 2.75, 1.5], [-3., 0., 0.5]], dtype=torch.{dtype}, requires_grad=True); "
        f"(torch.softmax(x, {dim}) * torch.arange(6, dtype=torch.{dtype}).view(2, 3)).sum().backward()"
        for dtype in ("float16", "bfloat16") for dim in (0, 1)],
    "a range of integers counts in integers, differences of order 0 ask for no dim": [
        *(f"torch.range({start}, {end}, {step}, dtype=torch.{dtype})" for start in (2.5, -2.5, 0) for end in (3, 3.7, -4.5)
          for step in (1, 1.5, -1.7) for dtype in ("int64", "uint8", "float32")),
        *(f"torch.diff(torch.ones(2, 3){dim})" for dim in (", 0, 3", ", 0, -9, prepend=torch.ones(2, 3)", ", -1, 9", ", 1, 9")),
    ],
    "a weight of other dims than its convolution": [
        f"F.conv{dims}d(torch.ones({(1,) * (dims + 2)}), torch.ones({(1,) * n}), padding={padding})"
        for dims, n in ((2, 3), (3, 4), (1, 4)) for padding in ("'same'",)],
    "reductions into integers are not differentiable, norms do not narrow": [
        *(f"torch.{name}(torch.ones(2, requires_grad=True), 0, dtype=torch.int64)" for name in ("sum", "prod", "cumsum", "nansum")),
        "torch.nanmean(torch.ones(2), dtype=torch.int64)", "torch.linalg.vector_norm(torch.ones(2), dtype=torch.float16)",
        "torch.linalg.matrix_norm(torch.ones(2, 2), dtype=torch.float16)", "torch.cumprod(torch.ones(2), 0, dtype=torch.bool)",
        "torch.dist(torch.tensor([True]), torch.tensor([False]))", "torch.dist(torch.ones(0), torch.ones(0), math.inf)",
        "torch.unique(torch.tensor(1.), dim=0)", "torch.cummax(torch.tensor(1.), 1)",
    ],
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", CASES)
def test_calls_agree(name: str) -> None:
    import torch

    found = [difference(call.split("\n") if "\n" in call else call.split("; "), retrograd, torch) for call in CASES[name]]
    assert [str(f) for f in found if f] == []


@pytest.mark.oracle
def test_gradients_of_reductions_into_a_transposed_tensor_count_who_shares_an_extreme() -> None:
    import torch

    def run(lib: Any) -> Any:
        x = lib.tensor([[1.0, 5.0], [2.0, 0.0], [3.0, 4.0]], requires_grad=True)
        y = lib.tensor([[9.0, 2.0, 1.0]], requires_grad=True)
        x.t().index_reduce(0, lib.tensor([0]), y, "amax").sum().backward()
        return x.grad.tolist(), y.grad.tolist()

    assert run(retrograd) == run(torch)


NUMBERS = (
    "x.gather(0, i)", "x.scatter(0, i, v)", "x.scatter_add(0, i, v)", "x.scatter_reduce(0, i, v, 'prod')",
    "x.scatter_reduce(0, i, v, 'amax')", "x.scatter_reduce(0, i, v, 'mean', include_self=False)", "x.scatter(0, i, 3.)",
)


@pytest.mark.oracle
@pytest.mark.parametrize("call", NUMBERS)
def test_gradients_of_gather_and_scatter_where_one_is_a_number(call: str) -> None:
    torch = pytest.importorskip("torch")
    for x, i, v in (("2.", "[0, 0]", "[3., 5.]"), ("[2.]", "0", "3."), ("2.", "0", "3.")):
        program = [f"x = torch.tensor({x}, requires_grad=True)", f"v = torch.tensor({v}, requires_grad=True)",
                   f"i = torch.tensor({i})", f"y = {call}", "(y * y).sum().backward()"]
        assert difference(program, retrograd, torch) is None


CHUNKS = """
x, w = torch.arange(12.).reshape(4, 3).requires_grad_(), (torch.arange(15.).reshape(5, 3) / 9).requires_grad_()
b = torch.arange(5.).requires_grad_()
y = F.linear_cross_entropy({x}, w, torch.tensor({t}), linear_bias=b, reduction='{how}', options={options}, weight={weight}, ignore_index=1)
y.grad_fn.name()
g = torch.autograd.grad(y.sum(), [x, w, b], create_graph=True)
torch.autograd.grad(y.sum(), [x, w])
"""


@pytest.mark.oracle
@pytest.mark.parametrize("how", ["mean", "sum", "none"])
def test_linear_cross_entropy_in_chunks_is_one_node_that_is_differentiated_once(how: str) -> None:
    torch = pytest.importorskip("torch")
    for options in ("nn.LinearCrossEntropyOptions()", "nn.LinearCrossEntropyOptions(allow_retain_graph=True)"):
        for x, t in (("x", [0, 1, 2, 4]), ("x[0]", 4), ("x", [1, 1, 1, 1])):
            for weight in ("None", "torch.arange(1., 6.)"):
                text = CHUNKS.format(x=x, t=t, how=how, options=options, weight=weight)
                assert difference(text.strip().split("\n"), retrograd, torch, versions=False) is None


@pytest.mark.oracle
@pytest.mark.parametrize("name, count, dims", [("mm", 2, 2), ("bmm", 2, 3), ("addmm", 3, 2), ("baddbmm", 3, 3)])
def test_products_of_another_dtype_have_no_kernel(name: str, count: int, dims: int) -> None:
    import torch

    for lib in (torch, retrograd):
        with pytest.raises(NotImplementedError, match=rf"^Could not run 'aten::{name}\.dtype' with arguments from the 'CPU' backend\."):
            getattr(lib, name)(*[lib.ones((2,) * dims)] * count, out_dtype=lib.float32)


@pytest.mark.oracle
def test_register_hooks_takes_two_hooks() -> None:
    import torch

    def told(lib: Any, *hooks: Any) -> list[str]:
        saved = lib.ones(2, requires_grad=True).exp().grad_fn._raw_saved_result
        with pytest.raises(TypeError) as caught:
            saved.register_hooks(*hooks)
        return str(caught.value).split("\n")[:2]

    for hooks in ((), (len,), (len, len, len), (3, len)):
        assert told(retrograd, *hooks) == told(torch, *hooks)


@pytest.mark.skipif(not COMPILED, reason="of compiled operators")
@pytest.mark.parametrize("name", REFLECTED)
def test_a_compiled_operator_called_on_the_class_refuses_a_number_in_pythons_words(name: str) -> None:
    with pytest.raises(TypeError, match=f"descriptor '__r{name}__' requires a 'TensorBase' object but received a 'int'"):
        getattr(retrograd.Tensor, f"__r{name}__")(3, retrograd.tensor([1, 2]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_histc_counts_numbers_as_far_apart_as_the_dtype_has_them(dtype: str) -> None:
    most = retrograd.finfo(getattr(retrograd, dtype)).max
    x = retrograd.tensor([most, -most, 0.0, most / 2], dtype=getattr(retrograd, dtype))
    assert retrograd.histc(x, 4).tolist() == [1.0, 0.0, 1.0, 2.0]
    assert retrograd.histc(x, 2, 0, most).tolist() == [1.0, 2.0]


@both
@pytest.mark.parametrize("view", [
    "zeros(4).unfold(0, 2, 1)", "zeros(2, 2).unfold(1, 2, 1)", "zeros(2, 2).expand(2, 2, 2)", "zeros(1, 4).T.expand(4, 3)",
    "zeros(4)[::2].unfold(0, 2, 1).expand(2, 1, 2)", "zeros(2, 2).T.as_strided((2, 2, 2), (1, 1, 1))"])
def test_a_view_knows_where_its_memory_ends(torch: Any, view: str) -> None:
    x = eval(f"torch.{view}", {"torch": torch})
    assert x.untyped_storage().nbytes() == 16
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 16"):
        x.as_strided((5,), (1,), 0)


@both
def test_a_norm_has_no_slope_at_zero(torch: Any) -> None:
    x = torch.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    (g,) = torch.autograd.grad(x.norm(dim=1).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert torch.allclose(g, torch.tensor([[0.0, 0.0], [0.6, 0.8]]))
    at_zero = float("nan") if torch.__name__ == "torch" else 0.0
    assert torch.allclose(second, torch.tensor([[at_zero, at_zero], [0.032, -0.024]]), equal_nan=True)
    assert torch.func.hessian(lambda v: v.norm())(torch.zeros(2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@both
def test_numbers_that_are_not_zero_are_counted_over_dims(torch: Any) -> None:
    x = torch.ones(4, 5)
    assert x.count_nonzero(0, 1).item() == torch.count_nonzero(x, dim=(0, 1)).item() == x.count_nonzero().item() == 20
    assert x.count_nonzero(-1).tolist() == x.count_nonzero((1,)).tolist() == [5.0] * 4


def test_what_was_in_memory_is_cast_without_a_warning() -> None:
    for _ in range(3):
        full = retrograd.full((6,), float("nan"))
        del full
        assert retrograd.LongTensor(2, 3).shape == (2, 3)


@pytest.mark.oracle
@pytest.mark.parametrize("call", [
    "Tensor('a')", "Tensor({})", "Tensor(None)", "Tensor(2, 'a')", "Tensor([[1, 2], [3]])", "Tensor(['a'])", "Tensor(-1)",
    "Tensor(2, -1)", "Tensor(True)", "Tensor(1, 2.5)", "Tensor(2.5)", "Tensor({1})", "Tensor(data=[1])", "Tensor(range(3))",
    "Tensor([[]])", "Tensor([torch.ones(1), 2])", "LongTensor(None)", "LongTensor({})", "LongTensor('a')", "LongTensor(-1)",
    "LongTensor([1.5])", "LongTensor(range(3))"])
def test_constructors_of_old_take_and_refuse_what_pytorchs_do(call: str) -> None:
    import torch as theirs

    def said(torch: Any) -> str:
        try:
            return str(eval(f"torch.{call}", {"torch": torch}).tolist())
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    assert said(retrograd) == said(theirs)
