"""What a worker process knows of itself, and how its random state is made."""
from __future__ import annotations

from ..identity import WorkerInfo as WorkerInfo
from ..identity import get_worker_info as get_worker_info
from ..worker import _generate_state as _generate_state
