"""Lightning: fit with a callback, a checkpoint, a test."""
import logging
import tempfile
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Net(L.LightningModule):
    def __init__(self, width=16):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))

    def step(self, batch, name):
        x, y = batch
        loss = (self.net(x) - y).square().mean()
        self.log(name, loss)
        if name == "train":
            print("loss", loss.item())
        return loss

    def training_step(self, batch, index):
        return self.step(batch, "train")

    def validation_step(self, batch, index):
        return self.step(batch, "valid")

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), 1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)]


L.seed_everything(0, verbose=False)
x = torch.randn(64, 4)
data = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
with tempfile.TemporaryDirectory() as folder:
    keep = ModelCheckpoint(folder, monitor="valid")
    trainer = L.Trainer(max_epochs=5, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        num_sanity_val_steps=0, gradient_clip_val=1.0, callbacks=[keep, EarlyStopping("valid")])
    net = Net()
    trainer.fit(net, data, data)
    again = Net.load_from_checkpoint(keep.best_model_path, weights_only=False)
print("best", keep.best_model_score.item(), again.net(x).sum().item())
