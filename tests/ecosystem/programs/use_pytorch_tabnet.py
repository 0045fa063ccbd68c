"""TabNet on a table of numbers."""
import warnings

import numpy as np
from pytorch_tabnet.tab_model import TabNetClassifier

warnings.simplefilter("ignore")
x = np.random.default_rng(0).normal(size=(128, 6)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype(int)
net = TabNetClassifier(n_d=4, n_a=4, n_steps=2, verbose=0, seed=0, device_name="cpu")
net.fit(x, y, max_epochs=4, batch_size=32, virtual_batch_size=16)
print("loss", *net.history["loss"])
print("probability", *net.predict_proba(x[:3]).flatten())
