"""pytorch-forecasting: a TemporalFusionTransformer, N-BEATS and DeepAR fitted by Lightning on made-up series."""
import logging
import warnings

import lightning.pytorch as pl
import numpy as np
import pandas as pd
from pytorch_forecasting import DeepAR, NBeats, TemporalFusionTransformer, TimeSeriesDataSet
from pytorch_forecasting.metrics import QuantileLoss

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
pl.seed_everything(0, verbose=False)
rng = np.random.default_rng(0)
data = pd.DataFrame([{"series": str(s), "time": t, "value": float(np.sin(t / 3 + s) + 0.1 * rng.standard_normal()) + 2}
                     for s in range(4) for t in range(60)])
kinds = {"tft": ({"time_varying_known_reals": ["time"], "static_categoricals": ["series"]},
                 lambda d: TemporalFusionTransformer.from_dataset(
                     d, hidden_size=8, attention_head_size=2, dropout=0.0, hidden_continuous_size=4, loss=QuantileLoss(),
                     learning_rate=0.01)),
         "nbeats": ({}, lambda d: NBeats.from_dataset(
             d, widths=[16, 32], num_blocks=[1, 1], num_block_layers=[2, 2], learning_rate=0.01)),
         "deepar": ({}, lambda d: DeepAR.from_dataset(d, hidden_size=8, rnn_layers=1, learning_rate=0.01))}
for name, (more, make) in kinds.items():
    pl.seed_everything(0, verbose=False)
    dataset = TimeSeriesDataSet(data, time_idx="time", target="value", group_ids=["series"], max_encoder_length=12,
                                max_prediction_length=4, time_varying_unknown_reals=["value"], **more)
    loader = dataset.to_dataloader(train=True, batch_size=16, num_workers=0)
    model = make(dataset)
    trainer = pl.Trainer(max_epochs=1, limit_train_batches=6, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                         enable_model_summary=False, accelerator="cpu", gradient_clip_val=0.1)
    trainer.fit(model, loader)
    print(name, f"{trainer.callback_metrics['train_loss_epoch'].item():.3f}",
          f"{sum(p.abs().sum() for p in model.parameters()).item():.2f}")
