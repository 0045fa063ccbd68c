"""Where retrograd.export is written.

Written by `make generate`.
"""
from retrograd._packages.export import (
    Dim as Dim,
    ExportGraphSignature as ExportGraphSignature,
    ExportedProgram as ExportedProgram,
    FORMAT as FORMAT,
    STEPS as STEPS,
    ShapesCollection as ShapesCollection,
    _checked as _checked,
    _recorded as _recorded,
    _refuse as _refuse,
    _resized as _resized,
    default_decompositions as default_decompositions,
    dims as dims,
    export as export,
    load as load,
    save as save,
    steps as steps,
)
