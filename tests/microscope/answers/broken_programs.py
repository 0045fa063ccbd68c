"""Training programs with one mistake each, as people write them, and the answer that an expert gives.

@broken(code)     a cause of why_none or why_not_fired, of what the program returns
@broken("RG...")  a rule of lint_recording
@broken("nan")    a kind of trouble() and its direction: "nan forward"
The line at fault ends with `# here`; of some mistakes no line is at fault.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from retrograd.microscope import record

PROGRAMS: dict[str, tuple[str, Callable[[Any], Any]]] = {}


def broken(answer: str) -> Any:
    def keep(program: Any) -> Any:
        PROGRAMS[program.__name__] = answer, program
        return program

    return keep


def mlp(torch: Any, *sizes: int) -> Any:
    torch.manual_seed(0)
    layers: list[Any] = []
    for i, o in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(i, o), torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def batch(torch: Any, n: int = 4, i: int = 3) -> Any:
    torch.manual_seed(1)
    return torch.randn(n, i)


def sgd(torch: Any, *models: Any, lr: float = 0.1) -> Any:
    return torch.optim.SGD([p for m in models for p in m.parameters()], lr=lr)


def nothing(*args: Any) -> None:
    """A hook."""


# -- vision


@broken("detached")
def features_of_a_backbone_are_detached(torch: Any) -> Any:
    backbone, head = mlp(torch, 3, 4), mlp(torch, 4, 2)
    optimizer = sgd(torch, backbone, head)
    with record(backbone, head) as rec:
        h = backbone(batch(torch))
        loss = head(h.detach()).square().mean()  # here
        loss.backward()
        optimizer.step()
    return rec, backbone[0].weight


@broken("module_not_called")
def an_auxiliary_head_is_left_out(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head, self.aux = mlp(torch, 3, 4), mlp(torch, 4, 2), mlp(torch, 4, 2)

        def forward(self, x: Any) -> Any:
            return self.head(self.body(x))

    net = Net()
    with record(net) as rec:
        net(batch(torch)).square().mean().backward()
    return rec, net.aux[0].weight


@broken("not_in_loss")
def an_auxiliary_output_is_not_in_the_loss(torch: Any) -> Any:
    body, head, aux = mlp(torch, 3, 4), mlp(torch, 4, 2), mlp(torch, 4, 2)
    with record(body, head, aux) as rec:
        h = body(batch(torch))
        out, side = head(h), aux(h)
        assert side.shape == out.shape
        out.square().mean().backward()  # here
    return rec, aux[0].weight


@broken("RG317")
def batch_norm_of_a_frozen_backbone_trains_on(torch: Any) -> Any:
    backbone = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).requires_grad_(False)
    head = mlp(torch, 4, 2)
    optimizer = sgd(torch, head)
    with record(backbone, head) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            head(backbone(batch(torch))).square().mean().backward()  # here
            optimizer.step()
    return rec, None


@broken("frozen")
def a_backbone_is_unfrozen_after_the_forward_pass(torch: Any) -> Any:
    backbone, head = mlp(torch, 3, 4), mlp(torch, 4, 2)
    with record(backbone, head) as rec:
        backbone.requires_grad_(False)
        loss = head(backbone(batch(torch))).square().mean()
        backbone.requires_grad_(True)  # here
        loss.backward()
    return rec, backbone[0].weight


@broken("detached")
def a_perceptual_loss_of_features_that_a_hook_detached(torch: Any) -> Any:
    net, vgg = mlp(torch, 3, 3), mlp(torch, 3, 4, 4).requires_grad_(False)
    seen: list[Any] = []
    with record(net, vgg) as rec:
        vgg[0].register_forward_hook(lambda m, i, o: seen.append(o.detach()))  # here
        vgg(net(batch(torch)))
        seen[0].square().mean().requires_grad_().backward()
    return rec, net[0].weight


@broken("non_leaf")
def a_saliency_map_of_a_normalised_image(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        image = batch(torch).requires_grad_()
        image = (image - 0.5) / 0.2  # here
        net(image).max().backward()
    return rec, image


@broken("not_differentiable")
def sorted_by_score_and_scores_are_lost(torch: Any) -> Any:
    score, net = mlp(torch, 3, 1), mlp(torch, 3, 2)
    with record(score, net) as rec:
        x = batch(torch)
        order = score(x).squeeze(1).sort(descending=True)[1]  # here
        weights = torch.arange(4.0)
        (net(x)[order].sum(1) * weights).mean().backward()
    return rec, score[0].weight


@broken("not_differentiable")
def the_winner_of_a_maximum_by_its_place(torch: Any) -> Any:
    score, net = mlp(torch, 3, 3), mlp(torch, 3, 2)
    with record(score, net) as rec:
        x = batch(torch)
        _, at = score(x).max(1)  # here
        net(torch.nn.functional.one_hot(at, 3).float()).square().mean().backward()
    return rec, score[0].weight


@broken("not_differentiable")
def a_hard_mask_of_a_segmentation(torch: Any) -> Any:
    net, second = mlp(torch, 3, 2), mlp(torch, 2, 2)
    with record(net, second) as rec:
        mask = (net(batch(torch)) > 0).float()  # here
        second(mask).square().mean().backward()
    return rec, net[0].weight


@broken("not_differentiable")
def a_crop_at_the_place_of_the_maximum(torch: Any) -> Any:
    attend, head = mlp(torch, 3, 1), mlp(torch, 3, 2)
    with record(attend, head) as rec:
        x = batch(torch)
        i = int(attend(x).argmax())  # here
        head(x[i:i + 1]).square().mean().backward()
    return rec, attend[0].weight


@broken("no_grad")
def augmentation_with_a_learned_part_under_no_grad(torch: Any) -> Any:
    augment, net = mlp(torch, 3, 3), mlp(torch, 3, 2)
    with record(augment, net) as rec:
        with torch.no_grad():
            x = augment(batch(torch))  # here
        net(x).square().mean().backward()
    return rec, augment[0].weight


@broken("RG314")
def a_head_replaced_after_the_optimizer(torch: Any) -> Any:
    net = mlp(torch, 3, 4, 2)
    optimizer = sgd(torch, net)
    net[2] = torch.nn.Linear(4, 5)
    with record(net) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            net(batch(torch)).square().mean().backward()
            optimizer.step()  # here
    return rec, None


@broken("RG315")
def layers_in_a_list(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(3, 4)
            self.rest = [torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)]

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            for f in self.rest:
                x = f(x)  # here
            return x

    net = Net()
    optimizer = sgd(torch, net)
    with record(net) as rec:
        optimizer.zero_grad()
        net(batch(torch)).square().mean().backward()
        optimizer.step()
    return rec, None


# -- language


@broken("RG318")
def tying_is_broken_by_loading(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.head = torch.nn.Embedding(5, 4), torch.nn.Linear(4, 5, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, x: Any) -> Any:
            return self.head(self.embed(x))

    net = Net()
    state = {k: v.clone() for k, v in net.state_dict().items()}
    with record(net) as rec:
        net(torch.tensor([1, 2])).square().mean().backward()
        net.load_state_dict(state, assign=True)  # here
        net(torch.tensor([1, 2])).square().mean().backward()
    return rec, None


@broken("not_differentiable")
def experts_are_chosen_by_index_alone(torch: Any) -> Any:
    router, experts = mlp(torch, 3, 2), torch.nn.ModuleList([mlp(torch, 3, 2), mlp(torch, 3, 2)])
    with record(router, experts) as rec:
        x = batch(torch)
        chosen = router(x).topk(1).indices  # here
        out = torch.stack([e(x) for e in experts], 1)
        out.gather(1, chosen[:, :, None].expand(-1, -1, 2)).square().mean().backward()
    return rec, router[0].weight


@broken("RG309")
def a_cached_parametrisation_over_two_steps(torch: Any) -> Any:
    net = torch.nn.utils.parametrizations.weight_norm(mlp(torch, 3, 2)[0])
    optimizer = sgd(torch, net)
    with record(net) as rec, pytest.raises(RuntimeError, match="second time"):
        with torch.nn.utils.parametrize.cached():
            for _ in range(2):
                optimizer.zero_grad()
                net(batch(torch)).square().mean().backward()  # here
    return rec, None


@broken("not_differentiable")
def the_sampled_token_is_fed_back(torch: Any) -> Any:
    embed, head, after = torch.nn.Embedding(5, 4), torch.nn.Linear(4, 5), torch.nn.Linear(4, 5)
    with record(embed, head, after) as rec:
        token = head(embed(torch.tensor([1, 2]))).argmax(-1)  # here
        after(embed(token)).square().mean().backward()
    return rec, head.weight


@broken("RG316")
def a_hidden_state_goes_through_every_step(torch: Any) -> Any:
    cell, head = torch.nn.RNNCell(3, 4), mlp(torch, 4, 1)
    optimizer = sgd(torch, cell, head, lr=0.0001)
    with record(cell, head) as rec:
        h = torch.zeros(4, 4)
        for _ in range(3):
            h = cell(batch(torch), h)
            loss = head(h).square().mean()
            optimizer.zero_grad()
            loss.backward(retain_graph=True)  # here
    return rec, None


@broken("RG309")
def a_hidden_state_and_a_graph_that_was_freed(torch: Any) -> Any:
    cell, head = torch.nn.RNNCell(3, 4), mlp(torch, 4, 1)
    with record(cell, head) as rec, pytest.raises(RuntimeError, match="second time"):
        h = torch.zeros(4, 4)
        for _ in range(2):
            h = cell(batch(torch), h)
            head(h).square().mean().backward()  # here
    return rec, None


@broken("nan forward")
def a_row_of_a_mask_is_all_minus_infinity(torch: Any) -> Any:
    q = torch.nn.Linear(3, 3)
    with record(q) as rec:
        x = batch(torch)
        scores = q(x) @ x.t()
        mask = torch.zeros(4, 4, dtype=torch.bool)
        mask[2] = True
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)  # here
        (weights @ x).sum().backward()
    return rec, None


@broken("read_as_number")
def the_perplexity_is_the_loss(torch: Any) -> Any:
    net, scale = mlp(torch, 3, 5), torch.nn.Parameter(torch.ones(1))
    with record(net) as rec:
        nll = torch.nn.functional.cross_entropy(net(batch(torch)), torch.tensor([0, 1, 2, 3]))
        perplexity = scale * nll.item()  # here
        perplexity.sum().backward()
    return rec, net[0].weight


@broken("frozen")
def lora_freezes_what_it_adds(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        net.low = torch.nn.Parameter(torch.zeros(2, 3))
        net.requires_grad_(False)
        net[0].bias.requires_grad_(True)
        x = batch(torch)
        (net(x) + x @ net.low.t()).square().mean().backward()
    return rec, net.low


@broken("never_used")
def a_position_embedding_is_forgotten(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.position = torch.nn.Embedding(5, 4), torch.nn.Parameter(torch.zeros(2, 4))

        def forward(self, x: Any) -> Any:
            return self.embed(x)

    net = Net()
    with record(net) as rec:
        net(torch.tensor([1, 2])).square().sum().backward()
    return rec, net.position


# -- reinforcement learning


@broken("no_grad")
def an_actor_whose_actions_are_sampled_without_their_path(torch: Any) -> Any:
    actor, critic = mlp(torch, 3, 1), mlp(torch, 4, 1)
    with record(actor, critic) as rec:
        s = batch(torch)
        a = torch.distributions.Normal(actor(s), 1.0).sample()  # here
        (-critic(torch.cat([s, a], 1)).mean()).backward()
    return rec, actor[0].weight


@broken("detached")
def the_whole_temporal_difference_is_detached(torch: Any) -> Any:
    critic = mlp(torch, 3, 1)
    with record(critic) as rec, pytest.raises(RuntimeError, match="does not require grad"):
        td = (1 + 0.9 * critic(batch(torch)) - critic(batch(torch))).detach()  # here
        td.square().mean().backward()
    return rec, critic[0].weight


@broken("RG309")
def old_log_probabilities_keep_their_graph(torch: Any) -> Any:
    policy = mlp(torch, 3, 2)
    optimizer = sgd(torch, policy)
    with record(policy) as rec, pytest.raises(RuntimeError, match="second time|inplace"):
        s = batch(torch)
        old = policy(s).log_softmax(1)[:, 0]
        for _ in range(2):
            ratio = (policy(s).log_softmax(1)[:, 0] - old).exp()
            optimizer.zero_grad()
            (-ratio.mean()).backward()  # here
            optimizer.step()
    return rec, None


@broken("detached")
def a_policy_gradient_with_detached_log_probabilities(torch: Any) -> Any:
    policy, value = mlp(torch, 3, 2), mlp(torch, 3, 1)
    with record(policy, value) as rec:
        x = batch(torch)
        kept = []
        for log in policy(x).log_softmax(-1):
            kept.append(log[0].detach())  # here
        gain = value(x).squeeze(-1)
        (torch.stack(kept) * gain).mean().backward()
    return rec, policy[0].weight


@broken("no_grad")
def the_critic_is_called_under_no_grad(torch: Any) -> Any:
    actor, critic = mlp(torch, 3, 1), mlp(torch, 3, 1)
    with record(actor, critic) as rec:
        x = batch(torch)
        with torch.no_grad():
            v = critic(x)  # here
        (actor(x) - v).square().mean().backward()
    return rec, critic[0].weight


@broken("no_grad")
def a_target_network_is_asked_for_gradients(torch: Any) -> Any:
    online = mlp(torch, 3, 2)
    target = copy.deepcopy(online)
    with record(online, target) as rec:
        with torch.no_grad():
            for p, q in zip(target.parameters(), online.parameters()):
                p.mul_(0.9).add_(q, alpha=0.1)
        x = batch(torch)
        with torch.no_grad():
            goal = target(x).amax(1)  # here
        (online(x).amax(1) - goal).square().mean().backward()
    return rec, target[0].weight


@broken("read_as_number")
def returns_are_added_up_as_numbers(torch: Any) -> Any:
    reward, policy = mlp(torch, 3, 1), mlp(torch, 3, 1)
    with record(reward, policy) as rec:
        total = 0.0
        for x in batch(torch):
            total += reward(x).sum().item()  # here
        (policy(batch(torch)).mean() * total).backward()
    return rec, reward[0].weight


@broken("not_in_loss")
def returns_are_added_up_to_be_printed(torch: Any) -> Any:
    reward, policy = mlp(torch, 3, 1), mlp(torch, 3, 1)
    with record(reward, policy) as rec:
        total = 0.0
        for x in batch(torch):
            total += reward(x).sum().item()
        policy(batch(torch)).mean().backward()  # here
    str(total)
    return rec, reward[0].weight


@broken("read_as_number")
def an_advantage_through_numpy(torch: Any) -> Any:
    critic, actor = mlp(torch, 3, 1), mlp(torch, 3, 1)
    with record(critic, actor) as rec:
        x = batch(torch)
        v = critic(x).detach().numpy()  # here
        (actor(x) * torch.tensor(1 - v)).mean().backward()
    return rec, critic[0].weight


@broken("RG316")
def losses_are_summed_for_the_log(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        total = 0
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(batch(torch)).square().mean()
            loss.backward()
            optimizer.step()
            total = total + loss  # here
    return rec, None


@broken("RG316")
def a_moving_average_of_the_losses(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        average = 0.0
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(batch(torch)).square().mean()
            loss.backward()
            optimizer.step()
            average = 0.9 * average + 0.1 * loss  # here
    return rec, None


@broken("RG316")
def a_replay_buffer_keeps_graphs(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        memory = []
        for _ in range(3):
            values = net(batch(torch))  # here
            memory.append({"values": values, "rewards": values.detach()})
            optimizer.zero_grad()
            values.square().mean().backward()
            optimizer.step()
    return rec, None


@broken("not_differentiable")
def codes_of_a_book_without_a_straight_through(torch: Any) -> Any:
    encoder, decoder = torch.nn.Linear(3, 4), torch.nn.Linear(4, 3)
    book = torch.nn.Parameter(torch.ones(5, 4))
    with record(encoder, decoder) as rec:
        x = batch(torch)
        nearest = torch.cdist(encoder(x), book).argmin(1)  # here
        (decoder(book[nearest]) - x).square().mean().backward()
    return rec, encoder.weight


@broken("detached")
def the_wrong_side_of_a_contrastive_loss_is_data(torch: Any) -> Any:
    query, key = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    with record(query, key) as rec:
        x = batch(torch)
        logits = query(x) @ key(x).data.t()  # here
        torch.nn.functional.cross_entropy(logits, torch.arange(4)).backward()
    return rec, key.weight


# -- adversaries


@broken("RG314")
def the_optimizer_of_the_critic_has_the_generator(torch: Any) -> Any:
    generator, critic = mlp(torch, 3, 3), mlp(torch, 3, 1)
    of_generator, of_critic = sgd(torch, generator), sgd(torch, generator)
    with record(generator, critic) as rec:
        for _ in range(2):
            of_critic.zero_grad()
            critic(generator(batch(torch)).detach()).mean().backward()
            of_critic.step()
            of_generator.zero_grad()
            critic(generator(batch(torch))).mean().backward()
            of_generator.step()
    return rec, None


@broken("RG314")
def the_second_optimizer_never_steps(torch: Any) -> Any:
    policy, value = mlp(torch, 3, 2), mlp(torch, 3, 1)
    first, second = sgd(torch, policy), sgd(torch, value)
    with record(policy, value) as rec:
        for _ in range(2):
            first.zero_grad()
            second.zero_grad()
            (policy(batch(torch)).mean() + value(batch(torch)).mean()).backward()
            first.step()  # here
    return rec, None


@broken("detached")
def features_to_match_are_detached_on_the_fake_side(torch: Any) -> Any:
    generator, body = mlp(torch, 3, 3), torch.nn.Linear(3, 4)
    with record(generator, body) as rec:
        fake, real = body(generator(batch(torch))), body(batch(torch))
        (fake.mean(0).detach() - real.mean(0)).square().sum().backward()  # here
    return rec, generator[0].weight


@broken("detached")
def the_generator_sees_a_detached_fake(torch: Any) -> Any:
    generator, critic = mlp(torch, 3, 3), mlp(torch, 3, 1)
    with record(generator, critic) as rec:
        fake = generator(batch(torch)).detach()  # here
        (-critic(fake)).mean().backward()
    return rec, generator[0].weight


@broken("no_create_graph")
def a_gradient_penalty_without_create_graph(torch: Any) -> Any:
    critic = mlp(torch, 3, 4, 1)
    with record(critic) as rec:
        x = batch(torch).requires_grad_()
        g, = torch.autograd.grad(critic(x).sum(), x)  # here
        penalty = (g.norm(dim=1) - 1).square().mean()
    return rec, penalty


@broken("RG313")
def the_gradient_is_cleared_before_the_step(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        for _ in range(2):
            net(batch(torch)).square().mean().backward()
            optimizer.zero_grad()  # here
            optimizer.step()
    return rec, None


@broken("frozen")
def the_critic_stays_frozen(torch: Any) -> Any:
    generator, critic = mlp(torch, 3, 3), mlp(torch, 3, 1)
    with record(generator, critic) as rec:
        for p in critic.parameters():
            p.requires_grad_(False)  # here
        critic(generator(batch(torch))).mean().backward()
        critic(generator(batch(torch)).detach().requires_grad_()).mean().backward()
    return rec, critic[0].weight


@broken("inference_mode")
def samples_of_inference_mode(torch: Any) -> Any:
    generator, critic = mlp(torch, 3, 3), mlp(torch, 3, 1)
    with record(generator, critic) as rec:
        with torch.inference_mode():
            fake = generator(batch(torch))  # here
        critic(fake.clone()).mean().backward()
    return rec, generator[0].weight


# -- meta-learning


@broken("detached")
def fast_weights_from_a_state_dict(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        fast = dict(net.state_dict())  # here
        x = batch(torch).requires_grad_()
        torch.func.functional_call(net, fast, (x,)).square().mean().backward()
    return rec, net[0].weight


@broken("no_grad")
def fast_weights_are_made_under_no_grad(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        loss = net(batch(torch)).square().mean()
        grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
        with torch.no_grad():
            fast = {n: p - 0.1 * g for (n, p), g in zip(net.named_parameters(), grads)}  # here
        fast = {n: p.requires_grad_() for n, p in fast.items()}
        torch.func.functional_call(net, fast, (batch(torch),)).square().mean().backward()
    return rec, net[0].weight


@broken("read_as_number")
def a_learned_learning_rate_read_as_a_number(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    rate = torch.nn.Parameter(torch.tensor(0.1))
    with record(net) as rec:
        loss = net(batch(torch)).square().mean()
        grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
        step = float(rate)  # here
        fast = {n: p - step * g for (n, p), g in zip(net.named_parameters(), grads)}
        torch.func.functional_call(net, fast, (batch(torch),)).square().mean().backward()
    return rec, rate


@broken("autograd_grad")
def the_inner_loop_fills_no_grad(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        loss = net(batch(torch)).square().mean()
        grads = torch.autograd.grad(loss, list(net.parameters()))  # here
    assert grads
    return rec, net[0].weight


@broken("detached")
def fast_weights_are_detached(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    call = __import__(f"{torch.__name__}.func", fromlist=["functional_call"]).functional_call
    with record(net) as rec:
        fast = {name: p.detach().clone().requires_grad_() for name, p in net.named_parameters()}  # here
        call(net, fast, (batch(torch),)).square().mean().backward()
    return rec, net[0].weight


@broken("no_create_graph")
def the_outer_loss_is_of_first_order_gradients(torch: Any) -> Any:
    w = torch.nn.Parameter(torch.ones(3))
    with record(engine=torch.__name__) as rec:
        inner = (w * batch(torch)).square().sum()
        inner.backward()
        outer = w.grad.square().sum()  # here
    return rec, outer


@broken("RG309")
def a_second_pass_over_the_inner_graph(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec, pytest.raises(RuntimeError, match="second time"):
        loss = net(batch(torch)).square().mean()
        torch.autograd.grad(loss, list(net.parameters()))
        loss.backward()  # here
    return rec, None


@broken("not_in_inputs")
def backward_for_the_fast_weights_alone(torch: Any) -> Any:
    slow, fast = mlp(torch, 3, 3), mlp(torch, 3, 1)
    with record(slow, fast) as rec:
        fast(slow(batch(torch))).mean().backward(inputs=list(fast.parameters()))  # here
    return rec, slow[0].weight


# -- distillation


@broken("detached")
def the_student_is_made_a_tensor_again(torch: Any) -> Any:
    student, teacher = mlp(torch, 3, 2), mlp(torch, 3, 2)
    with record(student, teacher) as rec:
        with torch.no_grad():
            soft = teacher(batch(torch)).softmax(1)
        logits = torch.tensor(student(batch(torch)), requires_grad=True)  # here
        torch.nn.functional.kl_div(logits.log_softmax(1), soft, reduction="batchmean").backward()
    return rec, student[0].weight


@broken("no_grad")
def the_student_runs_where_the_teacher_does(torch: Any) -> Any:
    teacher, student, head = mlp(torch, 3, 2), mlp(torch, 3, 2), mlp(torch, 2, 2)
    with record(teacher, student, head) as rec:
        x = batch(torch)
        with torch.no_grad():
            goal = teacher(x)
            mine = student(x)  # here
        (head(mine) - goal).square().mean().backward()
    return rec, student[0].weight


@broken("module_not_called")
def the_teacher_is_called_twice_and_the_student_never(torch: Any) -> Any:
    teacher, student = mlp(torch, 3, 2), mlp(torch, 3, 2)
    with record(teacher, student) as rec:
        x = batch(torch)
        with torch.no_grad():
            goal = teacher(x)
        (teacher(x) - goal - 1).square().mean().backward()
    return rec, student[0].weight


@broken("read_as_number")
def a_temperature_read_as_a_number(torch: Any) -> Any:
    student, temperature = mlp(torch, 3, 2), torch.nn.Parameter(torch.ones(1))
    with record(student) as rec:
        out = student(batch(torch)) / temperature.item()  # here
        out.softmax(-1).square().mean().backward()
    return rec, temperature


@broken("not_differentiable")
def hard_labels_of_the_student(torch: Any) -> Any:
    student, head = mlp(torch, 3, 4), mlp(torch, 4, 2)
    with record(student, head) as rec:
        label = student(batch(torch)).argmax(1)  # here
        one_hot = torch.nn.functional.one_hot(label, 4).float()
        head(one_hot).square().mean().backward()
    return rec, student[0].weight


# -- accumulation and steps


@broken("RG313")
def accumulation_is_cleared_each_time(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        for i in range(4):
            optimizer.zero_grad()  # here
            net(batch(torch)).square().mean().backward()
            if i % 2:
                optimizer.step()
    return rec, None


@broken("RG312")
def the_learning_rate_is_zero(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net, lr=0.0)
    with record(net) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            net(batch(torch)).square().mean().backward()
            optimizer.step()  # here
    return rec, None


@broken("RG312")
def one_group_has_the_rate_zero(torch: Any) -> Any:
    body, head = mlp(torch, 3, 4), mlp(torch, 4, 2)
    optimizer = torch.optim.SGD([{"params": list(body.parameters()), "lr": 0.0}, {"params": list(head.parameters())}], lr=0.1)
    with record(body, head) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            head(body(batch(torch))).square().mean().backward()
            optimizer.step()  # here
    return rec, None


@broken("RG312")
def warmup_starts_and_stays_at_zero(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step // 1000)
    with record(net) as rec:
        for _ in range(3):
            optimizer.zero_grad()
            net(batch(torch)).square().mean().backward()
            optimizer.step()  # here
            scheduler.step()
    return rec, None


@broken("set_to_none")
def gradients_are_read_after_they_were_cleared(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        net(batch(torch)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()  # here
    return rec, net[0].weight


@broken("no_backward")
def steps_without_a_backward_pass(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            net(batch(torch)).square().mean()
            optimizer.step()
    return rec, net[0].weight


@broken("RG314")
def uncertainties_that_are_no_parameters(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    net.log_var = torch.zeros(2, requires_grad=True)
    optimizer = sgd(torch, net)
    with record(net) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            loss = net(batch(torch)).square().mean(0)
            (loss * (-net.log_var).exp() + net.log_var).sum().backward()
            optimizer.step()
    return rec, None


@broken("RG314")
def an_optimizer_of_half_the_model(torch: Any) -> Any:
    body, head = mlp(torch, 3, 4), mlp(torch, 4, 2)
    optimizer = sgd(torch, head)
    with record(body, head) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            head(body(batch(torch))).square().mean().backward()
            optimizer.step()  # here
    return rec, None


@broken("backward_failed")
def weights_are_clipped_before_the_backward_pass(torch: Any) -> Any:
    net = mlp(torch, 3, 4, 1)
    with record(net) as rec:
        loss = net(batch(torch)).mean()
        with torch.no_grad():
            for p in net.parameters():
                p.clamp_(-0.01, 0.01)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()  # here
    said = str(rec.why_none(net[0].weight))
    assert f" at {__file__}:" in said and "edited a tensor that the pass needs" in said
    return rec, net[0].weight


@broken("RG314")
def the_optimizer_has_the_teacher(torch: Any) -> Any:
    teacher, student = mlp(torch, 3, 2), mlp(torch, 3, 2)
    optimizer = sgd(torch, teacher)
    with record(teacher, student) as rec:
        for _ in range(2):
            x = batch(torch)
            with torch.no_grad():
                y = teacher(x)
            optimizer.zero_grad()
            (student(x) - y).square().mean().backward()
            optimizer.step()  # here
    return rec, None


# -- mixed precision


@broken("RG319")
def clipping_before_unscaling(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = sgd(torch, net)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with record(net) as rec:
        scaler.scale(net(batch(torch)).square().mean()).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # here
        scaler.step(optimizer)
        scaler.update()
    return rec, None


@broken("inf forward")
def an_exponential_overflows_in_half(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        h = net(batch(torch)).to(torch.float16)
        (h + 20).exp().float().mean().backward()  # here
    return rec, None


@broken("nan forward")
def a_standard_deviation_of_one_sample(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        y = net(batch(torch, 1))
        z = (y - y.mean(0)) / y.std(0)  # here
        z.square().mean().backward()
    return rec, None


@broken("inf backward")
def the_root_of_a_zero_distance(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        h = net(batch(torch))
        distance = (h - h).square().sum(1)
        distance.sqrt().mean().backward()  # here
    return rec, None


@broken("nan forward")
def a_logarithm_of_a_negative_number(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        h = net(batch(torch)) - 10
        h.log().mean().backward()  # here
    return rec, None


# -- checkpoints, parametrisations, averages


@broken("RG309")
def a_checkpoint_that_computes_something_else_again(torch: Any) -> Any:
    net = mlp(torch, 3, 4)
    calls: list[int] = []

    def block(x: Any) -> Any:
        calls.append(1)
        return net(x if len(calls) == 1 else x[:2])

    with record(net) as rec, pytest.raises(Exception, match="checkpoint"):
        y = torch.utils.checkpoint.checkpoint(block, batch(torch), use_reentrant=False)
        y.square().mean().backward()  # here
    return rec, None


@broken("checkpoint")
def a_reentrant_checkpoint_of_the_first_block(torch: Any) -> Any:
    checkpoint = __import__(f"{torch.__name__}.utils.checkpoint", fromlist=["checkpoint"]).checkpoint
    first, last = mlp(torch, 3, 4), mlp(torch, 4, 2)
    with record(first, last) as rec:
        h = checkpoint(first, batch(torch), use_reentrant=True)  # here
        last(h).square().mean().backward()
    return rec, first[0].weight


@broken("replaced")
def a_model_copied_after_the_optimizer(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    old = net[0].weight
    with record() as rec:
        optimizer = sgd(torch, net)
        net = copy.deepcopy(net)  # here
        net(batch(torch)).square().mean().backward()
        optimizer.step()
    return rec, old


@broken("non_leaf")
def the_weight_of_a_spectral_norm(torch: Any) -> Any:
    critic = torch.nn.utils.parametrizations.spectral_norm(mlp(torch, 3, 1)[0])
    with record(critic) as rec:
        critic(batch(torch)).mean().backward()
    return rec, critic.weight


@broken("replaced")
def the_weight_before_a_parametrisation(torch: Any) -> Any:
    net = torch.nn.Linear(3, 2)
    old = net.weight
    with record(net) as rec:
        net.weight = torch.nn.Parameter(net.weight.detach() * 0.5)  # here
        net(batch(torch)).square().mean().backward()
    return rec, old


@broken("module_not_called")
def the_average_is_not_the_model(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    average = copy.deepcopy(net)
    optimizer = sgd(torch, net)
    with record(net, average) as rec:
        for _ in range(2):
            optimizer.zero_grad()
            net(batch(torch)).square().mean().backward()
            optimizer.step()
            with torch.no_grad():
                for p, q in zip(average.parameters(), net.parameters()):
                    p.lerp_(q, 0.1)
    return rec, average[0].weight


@broken("module_not_called")
def the_norm_of_what_is_not_used_is_logged(torch: Any) -> Any:
    net, idle = mlp(torch, 3, 2), mlp(torch, 3, 2)
    with record(net, idle) as rec:
        net(batch(torch)).square().mean().backward()
        str(float(idle[0].weight.norm()))
        idle.state_dict()
    return rec, idle[0].weight


@broken("no_grad")
def a_result_of_evaluation_has_no_history(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        with torch.no_grad():
            out = net(batch(torch))  # here
        loss = (out - 1).square().mean()
    return rec, loss


@broken("detached")
def a_sum_over_the_batch_has_no_history(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        out = net(batch(torch))
        total = out.detach().sum()  # here
    return rec, total


# -- functions and hooks


@broken("cut")
def an_output_marked_as_without_derivative(torch: Any) -> Any:
    class Split(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            a, b = x * 1, x * 2
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return g

    net, head = mlp(torch, 3, 2), mlp(torch, 2, 2)
    with record(net, head) as rec:
        _, b = Split.apply(net(batch(torch)))  # here
        head(b).square().mean().backward()
    return rec, net[0].weight


@broken("cut")
def the_only_output_is_marked_as_without_derivative(torch: Any) -> Any:
    class Double(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.mark_non_differentiable(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    net = mlp(torch, 3, 2)
    with record(net) as rec:
        y = Double.apply(net(batch(torch)))  # here
        y.sum().requires_grad_().backward()
    return rec, net[0].weight


@broken("no_gradient_came")
def a_function_forgets_its_scale(torch: Any) -> Any:
    class Scale(torch.autograd.Function):  # type: ignore[misc,name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, scale: Any) -> Any:
            ctx.save_for_backward(scale)
            return x * scale

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0], None

    net, scale = mlp(torch, 3, 2), torch.nn.Parameter(torch.ones(2))
    with record(net) as rec:
        Scale.apply(net(batch(torch)), scale).sum().backward()  # here
    return rec, scale


@broken("RG320")
def a_hook_returns_a_detached_output(torch: Any) -> Any:
    net = mlp(torch, 3, 4, 2)
    net[0].register_forward_hook(lambda module, args, out: out.detach())  # here
    with record(net) as rec:
        net(batch(torch)).square().mean().backward()
    return rec, None


@broken("detached")
def what_a_hook_detached_gets_nothing(torch: Any) -> Any:
    def hook(module: Any, args: Any, out: Any) -> Any:
        return out.detach()  # here

    net = mlp(torch, 3, 4, 2)
    net[0].register_forward_hook(hook)
    with record(net) as rec:
        net(batch(torch)).square().mean().backward()
    return rec, net[0].weight


@broken("RG308")
def a_hook_divides_by_a_norm_of_zero(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    net[0].weight.register_hook(lambda g: g / g.norm())  # here
    with record(net) as rec:
        (net(batch(torch)) * 0).sum().backward()
    return rec, None


@broken("backward_failed")
def a_hook_of_a_later_layer_fails(torch: Any) -> Any:
    net = mlp(torch, 3, 4, 2)

    def hook(g: Any) -> Any:
        raise ValueError("no such key")

    with record(net) as rec, pytest.raises(ValueError, match="no such key"):
        h = net[0](batch(torch))
        h.register_hook(hook)
        net[2](net[1](h)).sum().backward()  # here
    return rec, net[0].weight


@broken("forward_called_directly")
def a_hook_waits_for_a_layer_called_by_its_forward(torch: Any) -> Any:
    class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return self.inner.forward(x)  # here

    net = Net()
    handle = net.inner.register_forward_hook(nothing)
    with record(net) as rec:
        net(batch(torch)).sum().backward()
    return rec, handle


@broken("registered_late")
def a_hook_on_a_layer_after_its_forward_pass(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec:
        out = net(batch(torch).requires_grad_())
        handle = net[0].register_full_backward_hook(nothing)  # here
        out.sum().backward()
    return rec, handle


@broken("RG304")
def inputs_by_name_under_a_backward_hook(torch: Any) -> Any:
    net = torch.nn.Linear(3, 2)
    net.register_full_backward_hook(nothing)
    with record(net) as rec:
        net(input=batch(torch).requires_grad_()).sum().backward()  # here
    return rec, None


@broken("RG309")
def an_activation_is_edited_in_place(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    with record(net) as rec, pytest.raises(RuntimeError, match="inplace operation"):
        out = net(batch(torch)).exp()
        out.add_(1)
        out.sum().backward()  # here
    return rec, None


@broken("not_differentiable")
def an_image_is_quantised_to_bytes(torch: Any) -> Any:
    decoder, critic = mlp(torch, 3, 4), mlp(torch, 4, 1)
    with record(decoder, critic) as rec:
        image = decoder(batch(torch)).sigmoid()
        shown = (image * 255).to(torch.uint8)  # here
        critic(shown.float() / 255).mean().backward()
    return rec, decoder[0].weight


@broken("not_differentiable")
def a_label_map_of_another_type(torch: Any) -> Any:
    net, classes = mlp(torch, 3, 4), torch.tensor([1])
    with record(net) as rec:
        found = net(batch(torch)).round().type_as(classes)  # here
        (found.float() * torch.ones(4, requires_grad=True)).sum().backward()
    return rec, net[0].weight


@broken("not_differentiable")
def edges_are_the_indices_of_topk(torch: Any) -> Any:
    score, conv = mlp(torch, 3, 6), mlp(torch, 3, 2)
    with record(score, conv) as rec:
        x = batch(torch, 6)
        edges = score(x).topk(2, 1).indices  # here
        conv(x[edges].mean(1)).square().mean().backward()
    return rec, score[0].weight


@broken("cut")
def a_histogram_is_matched(torch: Any) -> Any:
    net = mlp(torch, 3, 4)
    with record(net) as rec:
        counts = torch.histc(net(batch(torch)), 4)  # here
        (counts * torch.ones(4, requires_grad=True)).sum().backward()
    return rec, net[0].weight


@broken("detached")
def a_parameter_is_made_in_forward(torch: Any) -> Any:
    class Scaled(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2, 3))

        def forward(self, x: Any) -> Any:
            w = torch.nn.Parameter(self.w * 2)  # here
            return x @ w.t()

    net = Scaled()
    with record(net) as rec:
        net(batch(torch)).sum().backward()
    return rec, net.w


@broken("detached")
def a_weight_is_read_by_its_data(torch: Any) -> Any:
    net = mlp(torch, 3, 4, 2)
    with record(net) as rec:
        h = net[0](batch(torch)).tanh()
        torch.nn.functional.linear(h, net[2].weight.data, net[2].bias).square().mean().backward()  # here
    return rec, net[2].weight


@broken("detached")
def a_pre_hook_detaches_its_input(torch: Any) -> Any:
    net = mlp(torch, 3, 4, 2)

    def cut(module: Any, args: Any) -> Any:
        return (args[0].detach(),)  # here

    net[2].register_forward_pre_hook(cut)
    with record(net) as rec:
        net(batch(torch)).sum().backward()
    return rec, net[0].weight


@broken("read_as_number")
def a_sequence_goes_through_a_list(torch: Any) -> Any:
    encoder, decoder = mlp(torch, 3, 4), mlp(torch, 4, 2)
    with record(encoder, decoder) as rec:
        h = torch.tensor(encoder(batch(torch)).tolist())  # here
        decoder(h).square().mean().backward()
    return rec, encoder[0].weight


@broken("no_grad")
def grad_mode_follows_the_training_flag(torch: Any) -> Any:
    net = mlp(torch, 3, 2).eval()
    with record(net) as rec, pytest.raises(RuntimeError, match="does not require grad"):
        with torch.set_grad_enabled(net.training):
            loss = net(batch(torch)).square().mean()  # here
        loss.backward()
    return rec, net[0].weight


@broken("nan forward")
def a_mask_multiplies_minus_infinity(torch: Any) -> Any:
    net = mlp(torch, 3, 3)
    with record(net) as rec:
        mask = torch.tensor([1.0, 0.0, 1.0])
        logits = net(batch(torch)).masked_fill(mask == 0, float("-inf"))
        (logits * mask).sum().backward()  # here
    return rec, None


@broken("nan backward")
def where_hides_the_root_of_zero(torch: Any) -> Any:
    net = mlp(torch, 3, 3)
    with record(net) as rec:
        distance = net(torch.zeros(4, 3)) - net(torch.zeros(4, 3))
        near = torch.where(distance > 0, distance.sqrt(), torch.zeros(()))  # here
        near.sum().backward()
    return rec, None


@broken("zero backward")
def a_gate_is_drawn(torch: Any) -> Any:
    gate, body = mlp(torch, 3, 1), mlp(torch, 3, 2)
    with record(gate, body) as rec:
        x = batch(torch)
        on = torch.bernoulli(gate(x).sigmoid())  # here
        (on * body(x)).square().mean().backward()
    return rec, None


@broken("RG314")
def the_optimizer_has_the_state_dict(torch: Any) -> Any:
    net = mlp(torch, 3, 2)
    optimizer = torch.optim.SGD(net.state_dict().values(), lr=0.1)
    with record(net) as rec:
        for _ in range(3):
            optimizer.zero_grad()
            net(batch(torch)).square().mean().backward()
            optimizer.step()  # here
    return rec, None


@broken("RG309")
def a_queue_of_keys_keeps_its_graphs(torch: Any) -> Any:
    query, key = mlp(torch, 3, 2), mlp(torch, 3, 2)
    optimizer, queue = sgd(torch, query, key), []
    with record(query, key) as rec, pytest.raises(RuntimeError, match="second time|inplace"):
        for _ in range(2):
            x = batch(torch)
            queue.append(key(x))
            optimizer.zero_grad()
            (query(x) @ torch.cat(queue).t()).logsumexp(1).mean().backward()  # here
            optimizer.step()
    return rec, None
