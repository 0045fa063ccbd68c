"""`import torch` in a Python that a program started: retrograd in the environment of the run, in another one what is there."""
from __future__ import annotations

import os
import sys
from importlib import import_module

del sys.modules[__name__]
if os.environ.get("RETROGRAD_RUN") == sys.prefix:
    from retrograd.cli.run import alias_torch, inherit

    inherit()
    alias_torch()
else:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
import_module(__name__)
