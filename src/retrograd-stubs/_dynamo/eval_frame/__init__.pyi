"""Where retrograd._dynamo.eval_frame is written.

Written by `make generate`.
"""
from retrograd._packages._dynamo.eval_frame import (
    OWN as OWN,
    OptimizedModule as OptimizedModule,
)
