"""Where retrograd.export.graph_signature is written.

Written by `make generate`.
"""
from retrograd._packages.export.graph_signature import (
    ConstantArgument as ConstantArgument,
    ExportGraphSignature as ExportGraphSignature,
    InputKind as InputKind,
    InputSpec as InputSpec,
    OutputKind as OutputKind,
    OutputSpec as OutputSpec,
    TensorArgument as TensorArgument,
)
