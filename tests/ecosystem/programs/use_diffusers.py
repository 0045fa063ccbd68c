import torch
from diffusers import DDPMScheduler, UNet2DModel

torch.manual_seed(0)
net = UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 8), norm_num_groups=4,
                  down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                  up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=4)
scheduler, optimizer = DDPMScheduler(num_train_timesteps=50), torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(4):
    x, noise, t = torch.rand(2, 1, 8, 8), torch.randn(2, 1, 8, 8), torch.randint(0, 50, (2,))
    loss = (net(scheduler.add_noise(x, noise, t), t).sample - noise).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 4))
