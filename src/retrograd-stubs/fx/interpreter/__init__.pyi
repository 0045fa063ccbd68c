"""Where retrograd.fx.interpreter is written.

Written by `make generate`.
"""
from retrograd._packages.fx.interpreter import (
    Interpreter as Interpreter,
    Transformer as Transformer,
)
