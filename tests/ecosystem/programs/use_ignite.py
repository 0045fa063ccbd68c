"""A trainer and an evaluator of ignite."""
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
data = [(torch.randn(8, 4), torch.randint(0, 2, (8,))) for _ in range(5)]
trainer = create_supervised_trainer(model, optimizer, nn.functional.cross_entropy)
evaluator = create_supervised_evaluator(model, {"accuracy": Accuracy(), "loss": Loss(nn.functional.cross_entropy)})


@trainer.on(Events.ITERATION_COMPLETED)
def show(engine):
    print("loss", engine.state.output)


@trainer.on(Events.EPOCH_COMPLETED)
def check(engine):
    evaluator.run(data)
    print("metrics", evaluator.state.metrics["accuracy"], evaluator.state.metrics["loss"])


trainer.run(data, max_epochs=4)
