from sb3_contrib import QRDQN, TQC, TRPO

for kind, env, more in ((TRPO, "CartPole-v1", {"n_steps": 64}), (QRDQN, "CartPole-v1", {"learning_starts": 50}),
                        (TQC, "Pendulum-v1", {"learning_starts": 50})):
    model = kind("MlpPolicy", env, seed=0, device="cpu", **more)
    model.learn(128)
    print(kind.__name__, sum(float(p.detach().abs().sum()) for p in model.policy.parameters()))
