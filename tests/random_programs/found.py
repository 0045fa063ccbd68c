"""Programs that once did something else than on PyTorch, by what they are about."""

FOUND = {
    "resize_ reads the memory in order and counts as an edit": """
        a = torch.arange(6.).reshape(2, 3).t()
        a.resize_(3, 2)
        b = a * torch.ones(3, 2, requires_grad=True)
        a.resize_(6)
        a.resize_(3, 2)
        b.sum().backward()
    """,
    "resize_ of an inference tensor is allowed where its shape stays": """
        with torch.inference_mode(): a = torch.ones(3)
        a.resize_(3)
        b = torch.ones(3, requires_grad=True)
        with torch.inference_mode(): b.resize_(2)
    """,
    "set_ takes storages and strides, and cuts the graph": """
        a = torch.arange(4.)
        b = torch.zeros(2)
        b.set_(a.untyped_storage(), 1, (2,), (2,))
        c = torch.zeros(1).set_(a, 0, (2, 2), (2, 1))
        b.fill_(7)
        d = torch.zeros(3).set_(a.untyped_storage())
        e = torch.zeros(3).set_()
        e.set_(torch.ones(2, dtype=torch.float64))
        f = torch.ones(3, requires_grad=True)
        f.set_(a)
        g = f * 2
        g.set_(a)
        g.sum().backward()
    """,
    "an edit that is not allowed is reported before what is wrong with it": """
        a = torch.ones(3, requires_grad=True)
        a.copy_(torch.ones(2))
        a.swapaxes_(0, 5)
        a.index_fill_(0, torch.tensor([7]), 1.0)
        a.index_put_((torch.tensor([7]),), a)
        a.as_strided_((9,), (1,))
        a[0].squeeze_(3)
        a[7] = 1.0
    """,
    "a view of an inference tensor requires no grad": """
        with torch.inference_mode(): a = torch.ones(3, requires_grad=True)
        b = a.view(3)
        c, d, e = a.unbind()
        f = a[0]
    """,
    "backward looks at its roots before its inputs": """
        a = torch.ones(3, requires_grad=True)
        b = a * 2
        b.backward(inputs=[b])
        log.append(b.retains_grad)
        torch.ones(1).backward(inputs=[b])
        log.append(b.retains_grad)
        b.sum().backward(inputs=[torch.ones(3)])
    """,
    "hooks of a root run though it leads to none of the inputs": """
        a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        c = a.sum()
        c.register_hook(lambda g: log.append(g.item()))
        c.backward(inputs=[b])
    """,
    "ops save what they need while hooks on saved tensors are disabled": """
        a = torch.ones(3, requires_grad=True)
        with torch.autograd.graph.disable_saved_tensors_hooks("none"): (a * a).exp().sum().backward()
        with torch.autograd.graph.disable_saved_tensors_hooks("none"): torch.autograd.graph.save_on_cpu().__enter__()
    """,
    "requires_grad of a result may not be set": """
        a = torch.ones(3, requires_grad=True) * 2
        a.requires_grad = True
        a.requires_grad = False
    """,
    "_grad is grad": """
        a = torch.ones(3, requires_grad=True)
        a._grad = torch.ones(3)
        log.append(a.grad)
        a._grad = torch.ones(2)
        a._grad = None
        log.append(a.grad)
    """,
    "a number of a tensor's own memory fills it": """
        a = torch.arange(4.)
        a.fill_(a[2])
        b = torch.arange(6.).reshape(3, 2)
        b[1] = b[1][0]
        b[1:] = b[0][1]
        b[b > 1] = b[2][1]
        b.add_(b[0, 1])
        b[1:] = b[:-1]
    """,
    "edits that PyTorch allows on expanded memory": """
        a = torch.tensor([1., 2.]).expand(3, 2)
        a.masked_fill_(torch.tensor([[True, False], [False, False], [False, False]]), 5.0)
        a.index_fill_(0, torch.tensor([1]), 3.0)
        a.index_fill_(1, torch.tensor([0]), torch.tensor(4.0))
        torch.threshold_(a, 3.5, 0.0)
        a[torch.tensor([0])] = 6.0
        a.tril_()
        a.fill_(torch.tensor(1.0))
        a.add_(1)
        b = torch.ones(2, 1)
        b.expand_as(b).copy_(b)
    """,
    "parts of unsafe_split may be edited": """
        a = torch.arange(4., requires_grad=True) * 2
        b, c = a.unsafe_chunk(2)
        b.mul_(3)
        (b.sum() + c.sum()).backward()
        a.unsafe_split(3)[1].sum().backward()
    """,
    "gradients of inference mode are not edited outside it": """
        a = torch.ones(3, requires_grad=True)
        with torch.inference_mode(): a.backward(torch.ones(3), inputs=[a])
        (a * 2).sum().backward()
        a.grad = None
    """,
    "a gradient that a mean of one number made can be added to": """
        a = torch.tensor(2.0, requires_grad=True)
        a.register_hook(lambda g: g.mul_(2) and None)
        a.mean().backward()
        a.mean().backward()
    """,
    "a leaf may get data of another shape": """
        a = torch.ones(3, 2, requires_grad=True)
        b = a + 1
        a.data = torch.ones(2)
        b.sum().backward()
        c = a * 3
        d = torch.ones(1, requires_grad=True)
        e = d + torch.ones(2, 3)
        d.data = torch.ones(2, 3)
        e.sum().backward()
    """,
    "views of views made under no_grad are named by the last": """
        a = torch.ones(3, 2, requires_grad=True) * 1
        with torch.no_grad(): b = a.t()
        c, d = b.split(1)
        c.mul_(2)
    """,
    "index_add_ of its own memory": """
        a = torch.ones(3)
        a.index_add_(0, torch.tensor([0]), a[:1])
    """,
    "Module._apply counts edits in place": """
        m = nn.Linear(2, 2)
        with torch.no_grad(): m.weight.fill_(1.0); m.bias.fill_(1.0)
        x = torch.ones(1, 2, requires_grad=True)
        y = m(x)
        y.sum().backward(retain_graph=True)
        m._apply(lambda t: t.mul_(2)) and None
        y.sum().backward()
    """,
    "hooks of several tensors run where one of the inputs gets no gradient": """
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        c, d = a * 2, b * 3
        torch.autograd.graph.register_multi_grad_hook([a, b], lambda gs: log.append(copies(gs))) and None
        torch.autograd.graph.register_multi_grad_hook([c, d], lambda gs: log.append(copies(gs))) and None
        c.sum().backward(inputs=[a, b], retain_graph=True)
        c.sum().backward(inputs=[c, d], retain_graph=True)
        torch.autograd.grad(c.sum(), [c, d], allow_unused=True)
    """,
    "register_hooks of a saved tensor takes what can be called": """
        a = torch.ones(2, requires_grad=True)
        b = a.sin()
        b.grad_fn._raw_saved_self.register_hooks(3, lambda t: t)
        b.grad_fn._raw_saved_self.register_hooks(lambda t: t, None)
        b.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
        b.sum().backward()
    """,
    "a posthook of a leaf's node sees what became of the gradient that .grad took over": """
        a = torch.ones(2, requires_grad=True)
        n = torch.autograd.graph.get_gradient_edge(a).node
        n.register_hook(lambda gi, go: log.append(copies(go))) and None
        a.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(5) and None if t.grad.sum() < 0 else None) and None
        a.register_post_accumulate_grad_hook(lambda t: setattr(t, "seen", t.grad.mul_(5))) and None
        (a * 3).sum().backward()
        (a * 3).sum().backward()
    """,
    "what an unpack hook returns is what comes back, where it wants no gradient": """
        a, b = torch.ones(2, requires_grad=True), torch.ones(2)
        m = {}
        pack = lambda t: m.setdefault(len(m), t) is None or len(m) - 1
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda i: m[i]): c = a * b
        log.append(c.grad_fn._saved_other is b)
    """,
    "func.jvp of a function that edits its argument": """
        a = torch.ones(2) * 3
        b = torch.func.jvp(lambda x: x.mul_(2).sum(), (a,), (torch.ones(2),))
    """,
    "memory shown twice is refused before shapes and dtypes": """
        a = torch.ones(2, 2).expand(2, 2, 2)
        a *= torch.ones(1, 3)
        a.unsqueeze(-1).mul_(torch.ones(2, 2, 2, 2))
        torch.ones(1, dtype=torch.int64).expand(2).sin_()
        b = torch.ones((1, 3), dtype=torch.int64)
        b[-1].lerp_(b.unbind(-1)[-1].narrow(0, 0, 1), 0.5)
        b[..., 1:].lerp_(torch.ones(2, 1, 3, dtype=torch.int64), 0.5)
    """,
    "memory shared with other strides is refused, also where the dim has one element": """
        a = torch.ones(1)
        a.lerp_(a[::2], 0.5)
        b = torch.ones((2, 3, 1)).mT
        b[1] = b[1][0]
        c = torch.ones(2, 1)
        d = c.mT
        d *= c
        e = torch.ones(2, 1)
        e.data.T.addcmul_(e, e)
    """,
    "a view whose history an edit broke is reported before what is wrong with the call": """
        a = torch.ones(4, requires_grad=True)
        b = a.unbind()[0]
        with torch.no_grad(): a.mul_(2)
        b.split_with_sizes([1, 1])
        b.repeat()
        torch.ones(3)[0] = b.reshape(1)
        c = torch.ones(2, 2)
        c[0] = a.chunk(2)[0]
        d, e = (torch.ones(2, 1, requires_grad=True) * 1).unbind()
        with torch.no_grad(): e.mul_(2)
        c[0] = torch.cat([d, d, d])
        c + d.expand(3)
        b.narrow(0, 0, 7)
        b.argmax(5)
    """,
    "a saved view whose history an edit broke is reported as that": """
        a = torch.ones(3, requires_grad=True)
        b, c = a.chunk(2)
        d = b.sin()
        c.detach().fill_(1.0)
        d.sum().backward()
    """,
    "unsafe_chunk of nothing": """
        a = torch.ones(0, requires_grad=True)
        b, c = a.unsafe_chunk(2)
        d = torch.ones(1)[1:].unsafe_chunk(2)[0].add_(1)
    """,
    "a hook may edit the gradient of a mean": """
        a = torch.ones(4, 2, requires_grad=True) * 1
        a.register_hook(lambda g: (g.mul_(3), None)[1])
        a.mean().backward()
        a.mean(0).sum().backward()
        a.sum().backward()
    """,
    "a hook that answers no gradient with a number": """
        a, b = (torch.ones(2, requires_grad=True) * 1).unbind()
        b.register_hook(lambda g: 1)
        a.backward()
    """,
    "one number assigned to one": """
        a = torch.ones(1, requires_grad=True)
        b = torch.ones(1, requires_grad=True).amax(0)
        b[...] = a
        log.append(nodes(b))
    """,
    "the root of a pass of several inputs": """
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        c = a * 2
        torch.autograd.graph.register_multi_grad_hook([c, b], lambda gs: log.append(copies(gs)))
        torch.autograd.grad(b, b, torch.ones(2))
    """,
    "what is random without elements": """
        torch.ones(0, dtype=torch.int64).normal_()
        torch.ones(1, dtype=torch.int64).normal_()
    """,
    "a mask too large for masked_scatter of another dtype": """
        torch.ones(3, 2).masked_scatter(torch.ones(4, 3, dtype=torch.bool), torch.ones(2, dtype=torch.uint8))
    """,
    "logarithms of small integers have the digits of the default dtype": """
        a = torch.tensor([3.75, -2.0, -3.0], requires_grad=True)
        torch.xlogy(a, torch.tensor([3, 1, 2], dtype=torch.int8)).sum().backward()
        b = torch.tensor([3.75, -2.0, -3.0], requires_grad=True)
        torch.special.xlog1py(b, torch.tensor([3, 1, 2], dtype=torch.uint8)).sum().backward()
    """,
    "tanh of half precision near 1": """
        a = torch.tensor([2.5, -1.0], dtype=torch.float16, requires_grad=True)
        a.tanh().sum().backward()
    """,
    "cumprod in a narrower dtype differentiates in the input's": """
        a = torch.tensor([[-0.25, -3.25, 15.5], [3.0, -10.75, -14.5]], dtype=torch.float64, requires_grad=True)
        (a.cumprod(0, dtype=torch.float16) * 3).sum().backward()
        (a.cumprod(0, dtype=torch.float64) * 3).sum().backward()
    """,
    "gradients of a variance without degrees of freedom": """
        a, b = torch.tensor([-2.75, 0.75], requires_grad=True), torch.tensor([[-2.75, 0.75]], requires_grad=True)
        torch.var(a, correction=2).backward()
        torch.var_mean(b, 1, correction=3)[0].backward()
    """,
    "division of no integers by zero": """
        torch.ones(4, 0, dtype=torch.int32) // 0
        torch.ones(0, dtype=torch.int8) % torch.tensor(0, dtype=torch.int8)
        torch.ones(1, dtype=torch.int8) % torch.tensor(0, dtype=torch.int8)
    """,
    "reductions and unique of nothing": """
        torch.nansum(torch.ones(2, 0), 1, out=torch.empty(0, dtype=torch.int16))
        torch.nansum(torch.ones(2, 1), 1, out=torch.empty(0, dtype=torch.int16))
        torch.linalg.vector_norm(torch.ones(3, 0), -1, (0, 1), dtype=torch.int16)
        torch.unique(torch.ones(()), dim=1)
        torch.unique(torch.ones(0, 0, 2), dim=0)
        torch.unique(torch.ones(0, 2), dim=1)
    """,
    "layers that are wrong in two ways": """
        nn.Conv3d(4, 4, (1, 0, 9))(torch.ones(3, 4, 1, 6, 5))
        nn.Conv3d(2, 2, 2, dilation=(0, 1, 2))(torch.ones(1, 2, 5, 5, 2))
        nn.Conv2d(2, 2, 2, dilation=(0, 1))(torch.ones(1, 2, 5, 5))
        nn.AdaptiveAvgPool3d(-1)(torch.ones(1, 0, 7, 4, 2))
        F.interpolate(torch.ones(0, 0, 5, dtype=torch.int64), mode='nearest-exact', scale_factor=0.0)
        torch.cdist(torch.ones(2, 6, dtype=torch.int64), torch.ones(1, 6, 2))
        F.ctc_loss(torch.ones(0, 3, 4, 2), torch.ones(3, 2).long(), torch.zeros(3).long(), torch.ones(3).long())
        F.max_unpool3d(torch.ones(1, 2, 2, 1).long(), torch.zeros(1, 2, 2, 1).long(), 2, 3, 1)
        F.pairwise_distance(torch.ones(1, 3, 0), torch.ones(1, 3, 0), math.inf)
    """,
    "cross entropy of no classes": """
        a = torch.ones(2, 0, 1, requires_grad=True)
        F.cross_entropy(a, torch.ones(2, 0, 1))
        F.cross_entropy(a, torch.ones(2, 0, 1), reduction='sum', label_smoothing=0.5)
        F.cross_entropy(a, torch.ones(2, 0, 1), label_smoothing=0.5, weight=torch.ones(0))
    """,
    "max_unpool of indices beyond what it makes": """
        a, i = F.max_pool3d(torch.arange(126.).reshape(2, 7, 3, 3).requires_grad_(), (1, 2, 2), return_indices=True)
        b = F.max_unpool3d(a, i, (1, 2, 2), padding=1)
        b.sum().backward()
    """,
    "norms of order inf over windows are maxima": """
        a = torch.arange(42.).reshape(2, 3, 7).sin()
        F.lp_pool1d(a, math.inf, 2)
        F.lp_pool2d(a, -math.inf, 2, ceil_mode=True)
        nn.LPPool3d(math.inf, 2, stride=1)(a[None])
    """,
    "pools that are wrong in two ways": """
        F.adaptive_avg_pool2d(torch.ones(2, 2, 1, 6).long(), 1)
        F.adaptive_avg_pool1d(torch.ones(2, 2, 6).int(), 1)
        F.adaptive_avg_pool3d(torch.ones(2, 2, 2, 2, 2).int(), 1)
        F.adaptive_avg_pool2d(torch.ones(2, 2, 1, 6).long(), 2)
        F.max_pool2d(torch.ones(2, 2, 1, 5, 2), 1, stride=0)
        F.avg_pool3d(torch.ones(2, 7, 2, 2, 2), (1, 2, 0), padding=(1, -1, 1))
        F.avg_pool2d(torch.ones(()), 2)
        F.avg_pool2d(torch.ones(0, 3, 4), 2)
        a, i = F.max_pool3d(torch.arange(54.).reshape(2, 3, 3, 3), 2, return_indices=True)
        F.max_unpool3d(a, i.int(), 2)
        F.max_unpool3d(a.long(), i * 9, 2)
        F.max_unpool3d(a[0], i[0], 2)
        F.interpolate(torch.ones(0, 0, 7, 5, 2), scale_factor=2, mode='trilinear')
        F.interpolate(torch.ones(0, 0, 7), scale_factor=2)
        F.rms_norm(torch.ones(()), [7])
        F.grid_sample(torch.ones(1, 1, 3, 6, 7), torch.ones(1, 7, 5, 2, 3).double(), 'bicubic')
    """,
    "attention of integers": """
        a, b = torch.ones(3, 1).long(), torch.ones(2, 3, 1).int()
        F.scaled_dot_product_attention(a, a, a)
        F.scaled_dot_product_attention(b, b, b, is_causal=True)
        F.scaled_dot_product_attention(b, b, b, torch.ones(3, 3).bool())
        F.scaled_dot_product_attention(b, b, b, torch.ones(3, 3), is_causal=True)
        F.rrelu(b)
        F.rrelu(b, training=True)
        F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 2).double(), 'bicubic')
    """,
    "a tensor copied into itself, though its memory is shown twice": """
        a = torch.ones(3).expand(2, 3)
        a.copy_(a)
        a.copy_(a.detach())
        a.copy_(torch.ones(3))
        a.addcmul_(torch.ones(4), torch.ones(4))
    """,
    "one number of several dims fills a mask": """
        a, b = torch.ones(3, 2), torch.tensor([[[5.0]]], requires_grad=True)
        c = a.index_put((torch.tensor([False, True, True]),), b)
        a.index_put_((torch.tensor([False, True, True]),), b.detach())
        a.index_put_((torch.tensor([1]),), b.detach())
    """,
    "states of recurrent layers and cells": """
        p = nn.utils.rnn.pack_sequence([torch.ones(3, 3), torch.ones(2, 3)])
        a = nn.LSTM(3, 4)(p, [torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)])[1]
        nn.LSTMCell(3, 4)(torch.ones(2, 3), torch.ones(2, 4))
        nn.LSTMCell(3, 4)(torch.ones(1, 2, 3), torch.ones(2, 4))
        nn.LSTMCell(3, 4)(torch.ones(2, 3), (torch.ones(2, 4),))
        nn.GRU(3, 4, dropout='a')
    """,
    "what capturable asks for": """
        a = nn.Parameter(torch.ones(2))
        a.grad = torch.ones(2)
        torch.optim.NAdam([a], capturable=True, foreach=True).step()
        torch.optim.Rprop([a], capturable=True, foreach=True).step()
        torch.optim.ASGD([a], capturable=True, foreach=True).step()
        torch.optim.Adam([a], capturable=True, foreach=True).step()
    """,
    "retain_grad inside torch.func.grad": """
        a = torch.ones(2)
        b = torch.func.grad(lambda x: (x * 2).retain_grad())(a)
    """,
    "settings too large for any memory": """
        a, i = torch.ones(1, 2, 4, 4), torch.zeros(1, 2, 4, 4, dtype=torch.int64)
        F.max_unpool2d(a, i, 2**60)
        F.max_unpool2d(a, i, 2, stride=2**60)
        F.max_pool2d(a, 2, stride=2**31)
        F.max_pool3d(a[None], 2, stride=2**60)
        F.unfold(a, 2, padding=2**60)
        F.affine_grid(torch.ones(1, 2, 3), [1, 1, 2**60, 2**60], align_corners=True)
        F.one_hot(torch.ones(2, dtype=torch.int64), 2**63 - 1)
        F.pixel_shuffle(a, 2**40)
    """,
    "adaptive means of one element take any shape": """
        F.adaptive_avg_pool2d(torch.arange(48.).reshape(1, 2, 2, 3, 2, 2), 1)
        F.adaptive_avg_pool3d(torch.ones(3), 1)
        F.adaptive_avg_pool2d(torch.ones(2, 3), -1)
        F.adaptive_avg_pool2d(torch.ones(1, 2, 2, 3, 2), (1, 1, 1))
        F.adaptive_avg_pool2d(torch.ones(2, 3, dtype=torch.int64), 1)
        F.adaptive_avg_pool2d(torch.ones(2, 0, 3, 3, dtype=torch.int64), 2)
    """,
    "convolutions wrong in two ways, and of nothing": """
        F.conv_transpose3d(torch.ones(1, 2, 4, 4, 4), torch.ones(2, 2, 2, 2))
        F.conv_transpose1d(torch.ones(4, 4, dtype=torch.int64), torch.ones(4, 2, 1), padding=2)
        F.conv3d(torch.ones(1, 4, 3, 4, 4).double(), torch.ones(4, 4, 0, 0, 0).double(), dilation=2)
        F.conv1d(torch.ones(0, 1, 4).half(), torch.ones(1, 1, 0).half())
        F.conv1d(torch.ones(1, 1, 4, dtype=torch.bool), torch.ones(1, 1, 1, dtype=torch.bool))
        F.conv_transpose3d(torch.ones(0, 1, 1, 1, 1).double(), torch.ones(1, 2, 1, 1, 2).double(), padding=(0, 0, 1))
        F.conv_transpose1d(torch.ones(3, 4, 6).double(), torch.ones(4, 0, 3).double(), groups=2)
    """,
    "padding that cuts": """
        a = torch.arange(12., requires_grad=True)
        F.pad(a.view(1, 3, 4), (-2, -2, 0, 0), mode='replicate')
        F.pad(a.view(1, 3, 4), (-2, -3, 0, 0), mode='replicate')
        F.pad(a.view(1, 3, 4), (-2, -3, -2, -2), mode='replicate')
        F.pad(a.view(1, 1, 3, 4), (-2, -3, -2, -2), mode='reflect')
        F.pad(a.view(1, 3, 2, 2), (-2, -3, -2, -2, -1, -3), mode='reflect')
        F.pad(a.view(1, 12), (-14, 1), mode='replicate')
        log.append(F.pad(a.view(3, 4), (-2, 3), mode='circular').tolist())
    """,
    "grids of one dtype, images of another": """
        F.grid_sample(torch.ones(1, 1, 2, 2, dtype=torch.int64), torch.ones(1, 2, 2, 2), align_corners=True)
        F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2, 2, dtype=torch.int64), align_corners=True)
        F.grid_sample(torch.ones(0, 1, 2, 2, dtype=torch.int64), torch.ones(0, 2, 2, 2), align_corners=True)
        F.affine_grid(torch.ones(0, 2, 3), [0, 1, 1, 1], align_corners=True)
        F.affine_grid(torch.ones(0, 2, 3), [0, 1, 1, 1], align_corners=False)
    """,
    "layers and cells that are wrong in two ways": """
        nn.LayerNorm(6)(torch.tensor(1))
        nn.LSTMCell(1, 2)(torch.ones(1, 1), (torch.ones(1, 2), torch.ones(2)))
        nn.LSTMCell(1, 2)(torch.ones(1, 1), (torch.ones(1), torch.ones(1, 2)))
        F.celu(torch.ones(2, dtype=torch.int64), 0.0)
    """,
    "losses, distances and shuffles of nothing": """
        a = torch.ones(0, 3, requires_grad=True)
        F.soft_margin_loss(a, torch.ones(0, 3)).backward()
        b = torch.arange(6.).reshape(2, 3).requires_grad_()
        F.pdist(b, p=0.0).sum().backward()
        F.max_pool1d(torch.ones(1, 1, 4), 2, padding=(1, 2))
    """,
    "statistics of instances stay as they are in evaluation": """
        m = nn.InstanceNorm2d(1, track_running_stats=True).eval()
        a = m(torch.ones(0, 1, 6, 2))
        b = m(torch.ones(2, 1, 6, 2))
        log.append(m.running_mean._version)
    """,
    "masks of attention that do not fit": """
        q, k = torch.ones(2, 1, 1, 2), torch.ones(2, 1, 3, 2)
        F.scaled_dot_product_attention(q, k, k, attn_mask=torch.ones(7, 7))
        F.scaled_dot_product_attention(q, k[:, :, :1], torch.ones(2, 1, 1, 3), attn_mask=torch.ones(2, 2, 1, 1))
        F.scaled_dot_product_attention(q, torch.ones(2, 1, 2), torch.ones(2, 1, 2, 2), attn_mask=torch.ones(1, 2))
    """,
    "a threshold of integers is an integer": """
        F.threshold(torch.arange(4), -0.5, 2.7)
        F.threshold_(torch.arange(4, dtype=torch.int8), -0.5, 1)
        F.threshold(torch.ones(2).half(), 1e30, 1.0)
        F.threshold(torch.ones(2).half(), 1.0, 1e30)
    """,
    "questions about tensors take keywords, and tensors alone": """
        a = torch.ones(2)
        a.is_same_size(other=a)
        a.is_same_size(3)
        a.is_same_size()
        torch.is_same_size(input=a, other=a)
        torch.is_inference(input=a)
        torch.is_inference(3)
        torch.is_inference()
    """,
    "images of bytes": """
        a = (torch.arange(360, dtype=torch.uint8).reshape(1, 4, 9, 10) * 37) % 251
        F.interpolate(a, (10, 12), mode='bicubic')
        F.interpolate(a, (14, 4), mode='bicubic', align_corners=True)
        F.interpolate(a, (5, 7), mode='bicubic', antialias=True)
        F.interpolate(a, (13, 21), mode='bilinear')
        F.interpolate(a, scale_factor=(0.7, 1.5), mode='bilinear', antialias=True)
    """,
    "pack hooks see what an edit reads as it was before": """
        a = torch.tensor([1.5, 2.0], requires_grad=True)
        v = a * 1
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t): v.mul_(v.detach())
        v.sum().backward()
        w = a * 1
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t): w.mul_(w)
        w.sum().backward()
    """,
    "a leaf that became a result takes no gradient": """
        a = torch.tensor([[1.5], [0.25]], requires_grad=True)
        v = a.expand_as(a)
        a.detach_()
        a.sub_(v)
        a.sum().backward()
    """,
    "numbers that do not fit are refused after masks and indices, and only where something is written": """
        x = torch.ones(3, dtype=torch.int8)
        x.masked_fill(torch.ones(4, dtype=torch.uint8), 1)
        torch.where(torch.ones(2, dtype=torch.bool), x, 300)
        x.scatter(0, torch.tensor([-1]), 300)
        x.scatter(0, torch.tensor([], dtype=torch.int64), 300)
        x.scatter_(0, torch.tensor([7]), float('nan'), reduce='add')
        x.index_fill(0, torch.tensor([8]), 300)
        (x > 0).scatter_reduce(0, torch.tensor([-2]), x > 0, 'mean')
        (x > 0).scatter_reduce(0, torch.tensor([-2]), x > 0, 'mean', include_self=False)
        x.index_add(0, torch.tensor([-1]), x[:1], alpha=1e9)
        y = torch.ones((2, 3), dtype=torch.uint8)
        y.index_add(0, torch.tensor([-1]), y[:1], alpha=-1.5)
        y.index_add(1, torch.tensor([], dtype=torch.int64), y[:, :0], alpha=-1.5)
    """,
    "scatter_reduce without an index has gradients whatever the source's dims": """
        b = torch.ones(0, 1, requires_grad=True)
        i = torch.tensor([], dtype=torch.int64).reshape(0, 1)
        b.scatter_reduce(0, i, torch.ones(2), 'amax', include_self=False).sum().backward()
        b.scatter_reduce(0, i, torch.ones(2), 'prod').sum().backward()
    """,
    "pooling looks at dims before windows, and at padding whatever the dilation": """
        F.avg_pool2d(torch.ones(2, 1), 1, padding=2)
        F.avg_pool2d(torch.ones(()), 2, 0)
        F.avg_pool3d(torch.ones(5), 2, divisor_override=0)
        F.lp_pool2d(torch.ones(5, 4), 2.0, (2, 0))
        F.max_pool2d(torch.ones(1, 5, 5), 3, padding=2, dilation=3)
        F.max_pool3d(torch.ones(2, 2, 1, 3), 4, padding=3, dilation=3)
        F.max_pool2d(torch.ones(1, 5, 5), 0, dilation=3)
        F.avg_pool1d(torch.ones(1, 5), 1, (1, 2), (1, 2))
    """,
    "isin of bfloat16 finds numbers beside NaN": """
        x = torch.tensor([-12.25, 2.5, -11.5, 15.0, 2.25, 0.5, 6.0, 8.75, math.nan, -3.75, 5.0, 3.0], dtype=torch.bfloat16)
        torch.isin(x, x)
        torch.isin(x[:5], x, invert=True)
        torch.isin(x, x[7:], assume_unique=True)
    """,
    "a view made before .data gave its base other memory shows the same places of it": """
        a = torch.tensor([[1.5, 1.0], [-1.0, 1.5]], requires_grad=True)
        v, w = a.view(-1), a[1]
        a.data = a * 1
        a.detach()[0] = 1.0
        copies(torch.autograd.grad((v * v).sum(), [a], create_graph=True))
        copies(torch.autograd.grad((w * w).sum(), [a]))
        b = torch.ones(4)
        u = b[2:]
        b.data = torch.arange(4.0)
        u.mul_(torch.full((2,), 3.0, requires_grad=True))
        b.sum().backward()
        b.grad_fn.name()
    """,
    "detach_ leaves .grad and retain_grad": """
        b = torch.ones(2, requires_grad=True)
        v = b * 2
        v.sum().backward(inputs=[v])
        v.detach_()
        v.requires_grad_()
        (v * v).sum().backward()
        w = b * 3
        w.retain_grad()
        y = w.sum()
        w.detach_()
        w.retains_grad
        y.backward()
        w.grad
        w.grad = None
        w.requires_grad_()
        w.sum().backward()
    """,
    "an edit that a node refuses to remember changes nothing": """
        b = torch.tensor([1.5, 2.5], requires_grad=True)
        v, w = b.exp(), b.exp()
        with torch.inference_mode(): i = torch.tensor([2.0, 3.0])
        v *= i
        w.div_(i)
        w.add_(i)
    """,
    "a view of a view of inference mode stays one of inference mode": """
        x = torch.ones(2, 2, requires_grad=True) * 1
        with torch.inference_mode(): v = x[:1]
        with torch.no_grad(): w = v[:]
        w.mul_(2)
        v.unbind()[0].mul_(2)
        v.split(1)[0].mul_(2)
    """,
    "an extreme of one number that is nan has a gradient of nan": """
        x = torch.tensor(math.nan, requires_grad=True)
        x.amax(0).backward()
        x.grad
        x.amin(()).backward()
    """,
    "of two errors of an edit the leaf's comes before the index's, memory shown twice before shapes": """
        a = torch.ones(3, requires_grad=True)
        a[3:][torch.tensor([0])] = 1.0
        a[torch.ones(4).bool()] = 1.0
        a[[5]] = 1.0
        e = torch.ones(3).expand(2, 3)
        e.copy_(torch.ones(4))
        torch.ones(3, dtype=torch.int64).expand(2, 3).reciprocal_()
        b = torch.ones(2, 3)
        b.index_put_((torch.tensor([0]),), b)
    """,
    "fill_diagonal_ looks at dims, then edits a view": """
        torch.ones(3, requires_grad=True).fill_diagonal_(1.0)
        torch.ones(2, 3, 2, requires_grad=True).fill_diagonal_(1.0)
        torch.ones(3, 3, requires_grad=True).fill_diagonal_(1.0)
        a = torch.arange(14.0, requires_grad=True)
        b = (a * 2).reshape(7, 2).fill_diagonal_(5, wrap=True)
        c = (a * 2).reshape(2, 7).t().fill_diagonal_(5, wrap=True)
        (b * c).sum().backward()
        torch.ones(1, 3).expand(3, 3).fill_diagonal_(4.0)
        torch.ones(3, 3, dtype=torch.float16).fill_diagonal_(1e9)
    """,
    "set_ counts in 64 bits": """
        s = torch.arange(4.0).untyped_storage()
        torch.ones(2).set_(s, 2 ** 65, (2,), (1,))
        torch.ones(2).set_(s, 0, (-1,), (1,))
        torch.ones(2).set_(s, 0, (2,), (-1,))
        torch.ones(2).set_(s, 0, (2 ** 62,), (1,))
        torch.ones(2).set_(s, 2 ** 63 - 1, (2,), (1,))
        torch.ones(2).as_strided((1,), (1,), 2 ** 62)
        torch.ones(2).set_(s, 1, (2,), (2,))
    """,
    "a type that no tensor has": """
        torch.ones(2).type(torch.cuda.FloatTensor)
        torch.ones(2).type('torch.cuda.HalfTensor')
        torch.ones(2).type(int)
        torch.ones(2).type(nn.Parameter)
        torch.ones(2).type(torch.HalfTensor)
        torch.ones(2).type('torch.DoubleTensor')
        nn.Linear(1, 1).type(torch.DoubleTensor)
        torch.set_default_tensor_type(torch.Tensor)
    """,
    "a node goes on with the shape that its output had before .data gave it another": """
        a = torch.tensor([1.5, -0.5, 2.0], requires_grad=True)
        v = a.mean()
        v.register_hook(lambda g: log.append(copies(g)))
        v.data = torch.ones(2, 3)
        (v * v).sum().backward()
        w = a * 1
        w.data = torch.ones(2, 1, 3)
        copies(torch.autograd.grad(w, w, torch.ones_like(w), retain_graph=True))
        w.sum().backward()
        u = a * 1
        u.data = torch.ones(1, 3)
        u[0, 1].backward()
    """,
    "options of optimizers that are true without being True": """
        p = nn.Parameter(torch.tensor([1.5, -2.0]))
        p.grad = torch.tensor([0.5, 1.0])
        a = torch.optim.SGD([p], lr=0.1, maximize=1)
        a.step()
        b = torch.optim.SGD([p], lr=0.1, momentum=0.5, nesterov=1)
        b.step()
        c = torch.optim.Adam([p], lr=0.1, weight_decay=0.5, decoupled_weight_decay=1, maximize=1, amsgrad=1)
        c.step()
        d = torch.optim.AdamW([p], lr=0.1, maximize='yes')
        d.step()
    """,
    "a number beside half precision keeps its digits": """
        x = torch.tensor([0.3, -2.7, 1.9, 0.001, 5.1, -0.77, 8.3, 2.2]).half().requires_grad_()
        torch.eye(2, dtype=torch.float16) * 70000
        loss = x[3] * torch.tensor(65536.0)
        y = x * 0.1 + x / 3.3 + x * torch.tensor(0.7, dtype=torch.float64)
        (y * 3.3333).sum().backward()
        b = x.detach().bfloat16()
        [b * 0.1, b / 3.3, b / 1e-6, b.clone().mul_(0.1), b.clone().div_(3.3), 3.3 / b, b ** 3, b.abs() ** -0.5, x.detach() ** 3]
        [torch.add(b, b, alpha=0.3), torch.sub(b, b, alpha=0.3), torch.rsub(b, b.abs(), alpha=0.3)]
        [torch.addcmul(b, b, b, value=0.3), torch.addcdiv(b, b, b, value=0.3)]
        [F.leaky_relu(b, 0.3), F.softshrink(b, 0.3), torch.renorm(b.view(2, 4), 2, 0, 1.0)]
        torch.renorm(torch.tensor([[6e4, 6e4]], dtype=torch.float16), 2, 0, 1.0)
        torch.isfinite(loss)
    """,
    "a product of half precision is rounded after the bias is added": """
        torch.manual_seed(3)
        a = torch.randn(8, 8).bfloat16()
        b = torch.randn(8, 8).bfloat16()
        c = torch.randn(8).bfloat16()
        [F.linear(a, b, c), torch.addmm(c, a, b), torch.addmm(a, a, b, beta=0.5), torch.addmv(c, a, c)]
        torch.baddbmm(a[None], a[None], b[None], beta=0.5, alpha=2)
        [F.conv1d(a[None], b.view(8, 8, 1), c), F.conv_transpose1d(a[None], b.view(8, 8, 1), c)]
    """,
    "cumprod's gradient behind a zero is 0": """
        x = torch.tensor([[0.0, float('inf'), 2.0, 1.0], [2.0, 0.0, 3.0, 0.0], [float('inf'), 2.0, 0.0, 4.0]], requires_grad=True)
        copies(torch.autograd.grad(x.cumprod(1), x, torch.arange(1.0, 13.0).view(3, 4)))
        copies(torch.autograd.grad(x.cumprod(0), x, torch.arange(1.0, 13.0).view(3, 4)))
        h = x.detach().half().requires_grad_()
        h.cumprod(0).sum().backward()
    """,
    "norms of what does not vary, without eps": """
        x = torch.ones(2, 2, 3)
        x[1, 1] = torch.tensor([1.0, 2.0, 4.0])
        x.requires_grad_()
        y = F.instance_norm(x, eps=0)
        y.sum().backward()
        z = nn.InstanceNorm2d(2, eps=0, affine=True)(torch.ones(1, 2, 2, 2))
    """,
    "arguments of unique, masks of bytes, ranges beyond half precision, and empty scatters": """
        x = torch.ones(3)
        torch.unique(x, 1)
        torch.unique(x, return_inverse=1)
        torch.unique_consecutive(x, return_counts=None)
        x.masked_fill_(torch.ones(5, dtype=torch.uint8), 1.0)
        x.char().scatter_(0, torch.tensor([], dtype=torch.int64), 300, reduce='add')
        torch.arange(0, 1e6, 5e5, dtype=torch.float16)
        torch.range(0, 1e6, 5e5, dtype=torch.float16)
        torch.arange(0, 1e39, 5e38, dtype=torch.bfloat16)
    """,
    "normalisation of nothing looks at no statistics": """
        x = torch.empty(0, 3)
        F.batch_norm(x, torch.zeros(2), torch.ones(2))
        F.batch_norm(x, torch.zeros(2), torch.ones(2), torch.ones(0))
        F.batch_norm(x, None, None)
        F.instance_norm(torch.empty(1, 4, 0), torch.zeros(0), torch.zeros(0), use_input_stats=False)
        F.instance_norm(torch.empty(1, 4, 0), torch.zeros(0), torch.zeros(0))
        F.instance_norm(torch.empty(2, 4, 0), torch.zeros(3), torch.zeros(2))
    """,
    "what losses look at first": """
        F.binary_cross_entropy(torch.tensor(0.5), torch.tensor(0.5), torch.ones(7))
        F.binary_cross_entropy(torch.full((2, 1), 0.5), torch.full((2, 1), 0.5), torch.ones(2, 3))
        F.binary_cross_entropy(torch.full((2,), 0.5), torch.full((2,), 0.5), torch.ones(7))
        F.cross_entropy(torch.tensor(1.0), torch.tensor(1.0), weight=torch.ones(2))
        F.nll_loss(torch.ones(6), torch.ones(6).bool())
        F.nll_loss(torch.zeros(4, 0, 6).long(), torch.zeros(4, 6).long())
        F.nll_loss(torch.zeros(4, 0, 6), torch.zeros(4, 6).long(), torch.zeros(0).double())
        F.multi_margin_loss(torch.zeros(5, 2).long(), torch.zeros(5).int())
        x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        y = F.binary_cross_entropy_with_logits(x, torch.zeros(2), pos_weight=torch.ones(2))
        y.backward()
    """,
    "distances of nothing have the first argument's dtype": """
        x, y = torch.zeros(6, 0).double().requires_grad_(), torch.zeros(4, 0).requires_grad_()
        z = torch.cdist(x, y, p=3.0)
        torch.autograd.grad(z.sum(), [x, y])
        torch.cdist(torch.zeros(0, 7).half(), torch.zeros(2, 7).double())
    """,
    "sizes before dtypes": """
        F.interpolate(torch.zeros(1, 0, 2).long(), mode='nearest', size=(3,))
        F.rrelu(torch.zeros(2).long(), 0.5, 0.2)
        F.unfold(torch.tensor(1.0, requires_grad=True), 0)
        F.unfold(torch.ones(3, requires_grad=True), 2)
        F.unfold(torch.tensor(1.0), 0)
        F.grid_sample(torch.zeros(0, 1, 3, 4).long(), torch.zeros(0, 3, 3, 2).requires_grad_())
        w = torch.ones(7).bool()
        F.embedding_bag(torch.zeros(7).long(), torch.ones(2, 2), torch.tensor([1]), mode='sum', per_sample_weights=w)
    """,
    "attention reads its masks, then turns what is batched, then looks at shapes": """
        m = nn.MultiheadAttention(4, 2, kdim=1, batch_first=True)
        m(torch.ones(2, 3, 4), torch.ones(2, 2, 1), torch.ones(()))
        a = nn.MultiheadAttention(2, 2, batch_first=True)
        x = torch.ones(2, 2).long()
        a(x, x, x, attn_mask=torch.ones(4, 2, 3).bool())
        a(x, torch.ones(2, 3, 2), x, key_padding_mask=torch.zeros(2, 3).bool())
        a(torch.ones(2, 2), torch.ones(2, 3, 2), torch.ones(2, 2), key_padding_mask=torch.zeros(2, 3).bool())
        a(torch.ones(1, 2, 2), torch.ones(1, 2, 2), torch.ones(1, 2, 2), is_causal=True)
    """,
    "factories fill what is expanded, and take numbers beyond 63 bits as numbers": """
        a = torch.zeros(1).expand(3)
        torch.ones(3, out=a)
        torch.full((3,), 2.0, out=a)
        torch.eye(3, out=torch.zeros(1, 1).expand(3, 3))
        torch.rand(3, out=a)
        torch.arange(3, out=torch.zeros(1).long().expand(3))
        torch.full((1,), 2**63)
        torch.full((1,), 2**64)
        torch.full((1,), 2**63, dtype=torch.float32)
        torch.full((1,), True)
        torch.scalar_tensor(2**63)
        torch.scalar_tensor(2**63, dtype=torch.int32)
        torch.scalar_tensor(2**63, dtype=torch.bool)
        torch.scalar_tensor(2**64)
    """,
    "memory formats are of a rank": """
        nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last_3d)
        nn.Conv3d(2, 3, 3).to(memory_format=torch.channels_last)
        m = nn.Linear(2, 3).to(memory_format=torch.channels_last)
        log.append(torch.ones(2, 3).is_contiguous(memory_format=torch.channels_last))
        log.append(torch.ones(2, 3, 4, 5).is_contiguous(memory_format=torch.channels_last_3d))
    """,
    "tangents of parts that are edited": """
        copies(torch.func.jvp(lambda x: [x[0].mul_(3.0), x][1], (torch.ones(3),), (torch.ones(3),)))
        copies(torch.func.jvp(lambda x: [x.view(-1)[1:].exp_(), x * x][1], (torch.zeros(3),), (torch.ones(3),)))
        copies(torch.func.jvp(lambda x: [x.t().mul_(2.0), x[0].fill_(1.0), x][2], (torch.ones(3, 3),), (torch.ones(3, 3),)))
        copies(torch.func.jacfwd(lambda x: [x[0].mul_(3.0), x][1])(torch.ones(3)))
    """,
    "what is written at an index may not be what it is written into": """
        x = torch.arange(6.0).view(2, 3)
        x[torch.tensor([1, 0])] = x
        x[:, [1, 0, 2]] = x
        y = x[:, :2]
        y[torch.tensor([1, 0])] = y
        y.index_put_((torch.tensor([0]),), y)
        y.index_copy_(0, torch.tensor([1, 0]), y)
        y.index_add_(0, torch.tensor([1, 0]), y)
        x[0, torch.tensor([1, 0])] = x[1, :2]
        x[x > 2] = x[0, 1]
        z = torch.arange(3.0)
        z.index_put_((z > 1,), z[0])
        z[torch.tensor(0)] = z[1]
    """,
    "a GradScaler scales before it divides, and divides what there is": """
        p = torch.ones(2, requires_grad=True)
        o = torch.optim.SGD([p], lr=1.0)
        s = torch.amp.GradScaler('cpu', init_scale=4.0, growth_interval=2)
        s.step(o)
        s.update()
        s.unscale_(o)
        log.append(s.get_scale())
        y = s.scale(p.sum())
        s.step(o)
        s.update()
        h = torch.ones(2, dtype=torch.float16, requires_grad=True)
        s.scale(h.sum()).backward()
        s.unscale_(torch.optim.SGD([h], lr=1.0))
        t = torch.amp.GradScaler('cpu', init_scale=4.0, growth_interval=1)
        t.scale(p.sum()).backward()
        t.step(o)
        t.update()
        log.append(t.get_scale())
    """,
    "masks of attention with fewer than two dims, and sequences without any": """
        q, k = torch.ones(2, 1, 3, 2), torch.ones(2, 1, 2, 2)
        F.scaled_dot_product_attention(q, k, k, attn_mask=torch.ones(2))
        F.scaled_dot_product_attention(q, k, k, attn_mask=torch.ones(()))
        F.scaled_dot_product_attention(q[:, :, :0], k, k, attn_mask=torch.ones(3))
        F.scaled_dot_product_attention(q[:, :, :0], k, k, attn_mask=torch.ones(()))
        F.scaled_dot_product_attention(k, q[:, :, :0], q[:, :, :0], attn_mask=torch.ones(1))
        F.scaled_dot_product_attention(q[:0], k[:0], k[:0], attn_mask=torch.ones(2))
        F.scaled_dot_product_attention(torch.ones(1, 2), torch.ones(2, 2), torch.ones(2, 2), attn_mask=torch.ones(2))
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1)(torch.ones(()))
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True), 1)(torch.ones(4))
    """,
    "Muon has its state before a parameter without columns ends the step": """
        p = [nn.Parameter(torch.ones(2, n)) for n in (1, 0, 2)]
        o = torch.optim.Muon(p)
        sum(q.sum() for q in p).backward()
        o.step()
        kept = o.state_dict()
    """,
    "gradients of norms below one, at zeros and of NaN": """
        x = torch.tensor([2.75, -4.25, 0.0, -3.5], requires_grad=True)
        torch.dist(x, torch.tensor([math.nan, -4.25, 4.0, -3.5]), 0.5).backward()
        y = torch.tensor([2.75, 0.0, -3.5], dtype=torch.float64, requires_grad=True)
        torch.linalg.vector_norm(y, 0.5).backward()
        z = torch.zeros(3, requires_grad=True)
        z.norm(0.5).backward()
        w = torch.tensor([[1.0, 0.0], [0.0, 0.0]], requires_grad=True)
        w.norm(0.25, 1).sum().backward()
    """,
    "numbers that overflow a dtype where it is filled": """
        h = torch.zeros(2, dtype=torch.float16)
        h.fill_(65504.0)
        h.fill_(65519.0)
        h[:1].fill_(65519.0)
        h.clamp_(max=65505)
        torch.full((2,), 65505.0, dtype=torch.float16)
        torch.full((1,), 1e6, dtype=torch.float16)
        torch.full_like(h, 1e6)
        torch.full_like(h[:1], 1e6)
        F.pad(h, (1, 1), value=65519.0)
        F.pad(h[:0], (1, 0), value=65519.0)
        f = torch.zeros(2).fill_(3.4028235e38)
        b = torch.zeros(2, dtype=torch.bfloat16).fill_(3.39e38)
        c = torch.zeros(2, dtype=torch.complex64)
        c.fill_(1e39)
        c.fill_(complex(1, -1e39))
        c.fill_(math.inf)
        c[0] = 1e39
        c.masked_fill_(c == c, 1e39j)
        c.index_fill_(0, torch.tensor([0]), 1e39)
        torch.full((1,), 1e39j)
        F.pad(c, (1, 1), value=1e39)
        torch.zeros(2, dtype=torch.complex128).fill_(1e39)
    """,
    "nan_to_num replaces no number that it put in": """
        x = torch.tensor([math.nan, math.inf, -math.inf, 1.0])
        torch.nan_to_num(x.half(), nan=1e6)
        torch.nan_to_num(x.bfloat16(), nan=math.inf, posinf=-math.inf, neginf=math.nan)
        torch.nan_to_num(x.to(torch.complex64), nan=math.inf, posinf=-math.inf, neginf=math.nan)
    """,
    "tensors of other dtypes over the same memory": """
        x = torch.arange(4.0)
        y = x.view(torch.int32)
        x[:2].add_(y[1:3])
        x[:1].add_(y[0])
        x.copy_(y[0])
        y.view(torch.uint8)[:4].copy_(x)
        x[:3].logical_or_(y[1:])
        x.copy_(y)
        x.view(torch.float16)[:4].add_(x.view(torch.float16)[2:6])
        d = torch.ones(2, dtype=torch.complex64)
        d[0].real.copy_(d[0])
        d.mul_(d.real)
    """,
    "shifts in place": """
        a = torch.tensor([1, 2, 3])
        b = a
        b <<= 2
        b >>= torch.tensor([1, 1, 2])
        b <<= "a"
        b <<= torch.ones(2, 3, dtype=torch.int64)
        c = torch.ones(3, requires_grad=True)
        c <<= 1
        torch.ones(1, dtype=torch.int64).expand(3).__irshift__(1)
    """,
    "a slice up to before the start of an empty dimension is a slice": """
        a = torch.ones(2, 0, requires_grad=True) * 1
        b = a[0, 0:-2]
        c = a[0, 0:3]
        a[:, :-1] = torch.ones(2, 0)
        nodes(a)
    """,
    "what is wrong with an index is looked for in order": """
        x = torch.ones(3, 3)
        x[4, 1.0]
        x[1.0, 4]
        x[torch.tensor([1]).short(), 9]
        x[torch.tensor([1.0]), 0:1:-1]
        x[9, "a"]
        x[[[1], [1, 2]], 0]
        x[torch.tensor([1]).short(), 9] = 1
        x[torch.tensor([5]), torch.tensor([1.0])]
    """,
    "index_fill of nothing, and index_add of an alpha that does not fit": """
        torch.zeros(0, 0).index_fill_(1, torch.tensor([5]), 1.0)
        torch.zeros(2, 0, 0).index_fill(1, torch.tensor([5]), torch.tensor(1.0))
        u = torch.zeros(2, 2, dtype=torch.uint8)
        u.index_add(0, torch.tensor([0, 9]), u, alpha=-1.5)
        u.index_add(0, torch.tensor([9, 0]), u, alpha=-1.5)
        u[0, :0].index_add(0, torch.tensor([0]), u[0, :1], alpha=-1.5)
    """,
    "set_ with arguments that do not fit": """
        a, b = torch.arange(6.0), torch.zeros(2)
        b.set_(a.untyped_storage(), 0, (2, 2), (1,))
        b.set_(a.untyped_storage(), 0, (2, 3), ())
        b.set_(a.untyped_storage(), 100, (0,), (1,))
        b.set_(3)
    """,
    "gradients beside a narrower dtype have the digits of the wider one": """
        a = torch.tensor([3.0, 5.0], dtype=torch.float64, requires_grad=True)
        b = torch.tensor([3, 7], dtype=torch.int8)
        (torch.xlogy(a, b) + torch.special.xlog1py(a, b) + b ** a).sum().backward()
        c = torch.tensor([0.5, 7.0], dtype=torch.float16, requires_grad=True)
        d = torch.tensor([1.3, 2.6], requires_grad=True)
        (torch.xlogy(d, c) + torch.special.xlog1py(d, c) + c ** d).sum().backward()
    """,
    "gradients of a norm below one in half precision": """
        x = torch.tensor([13.25, -0.75, -16.25, -15.0, 16.5, -15.25, 2.0, 7.75, -9.75]).half().requires_grad_()
        (torch.norm(x, 0.5) ** 2).backward()
        y = torch.tensor([-11.25, -13.0, 11.75], dtype=torch.float16, requires_grad=True)
        (torch.dist(y, torch.tensor([-2.75, 15.0, 11.25], dtype=torch.float16), 0.5) ** 2).backward()
    """,
    "gradients of log_softmax in half precision round once": """
        x = torch.tensor([[-math.inf, 2.25, -12.25, 11.25], [1.0, 2.0, 3.0, 20.0]]).half().requires_grad_()
        y = torch.log_softmax(x, -1)
        (y * y).sum().backward()
    """,
    "an edit that is refused for the history of what it reads writes nothing": """
        a = torch.tensor([[[-1.5], [0.5]], [[3.0], [0.5]]], requires_grad=True)
        v, w = a.unbind()
        w = w.unfold(-1, 1, 1)
        b = w * 2
        with torch.no_grad(): v.sigmoid_()
        b -= w
        b.mul_(w)
        c = torch.ones(2, 1, 1)
        c.add_(w)
    """,
    "backward where .data changed shapes": """
        c = torch.ones(3, requires_grad=True)
        c.grad = torch.ones(3)
        c.data = torch.ones(2)
        (c * 2).sum().backward()
    """,
    "a .grad that was assigned stays when an edit brings a history": """
        a, b = torch.ones(3, requires_grad=True), torch.ones(3)
        b.grad = torch.full((3,), 5.0)
        b[0] = a[0]
        b.grad
        b.sum().backward(inputs=[b])
        c = torch.ones(2, 3)
        c.grad = torch.full((2, 3), 5.0)
        c.mul_(a)
        c.retain_grad()
        c.sum().backward()
    """,
    "layers of nothing, and what is said of states and sizes that do not fit": """
        m = nn.EmbeddingBag(0, 2, mode="max")
        a = m(torch.zeros(0, dtype=torch.int64), torch.tensor([0]))
        a.sum().backward()
        F.bilinear(torch.ones(1, 4), torch.ones(2, 7).double(), torch.ones(7, 3, 7))
        F.bilinear(torch.ones(1, 3), torch.ones(1, 7), torch.ones(7, 3, 7), torch.ones(2).double())
        F.normalize(torch.ones(2, 0), p=-1.0, dim=-1)
        nn.GRUCell(3, 2)(torch.ones(3), torch.ones(2, 2))
    """,
}
