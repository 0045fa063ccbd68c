from stable_baselines3 import A2C, DQN, PPO, SAC, TD3

for kind, env, more in ((PPO, "CartPole-v1", {"n_steps": 64, "batch_size": 32}), (A2C, "CartPole-v1", {}),
                        (DQN, "CartPole-v1", {"learning_starts": 50}), (SAC, "Pendulum-v1", {"learning_starts": 50}),
                        (TD3, "Pendulum-v1", {"learning_starts": 50})):
    model = kind("MlpPolicy", env, seed=0, device="cpu", **more)
    model.learn(128)
    print(kind.__name__, sum(float(p.detach().abs().sum()) for p in model.policy.parameters()))
