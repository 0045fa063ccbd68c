"""torch.nn.utils."""
from . import rnn as rnn
