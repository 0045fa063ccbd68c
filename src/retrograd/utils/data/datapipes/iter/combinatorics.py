"""torch.utils.data.datapipes.iter.combinatorics: names alone."""
from __future__ import annotations

from ....._missing.lacks import LACKS
from ....._missing.unshared import unshared

unshared(__name__, "SamplerIterDataPipe ShufflerIterDataPipe", "", why=LACKS["datapipes"][0])
