"""What the rules of each op read, in the bits of `op`.  Written by `make generate` from the rules.

A class that sets a field itself is not here: it keeps what PyTorch's node keeps, though no rule reads it.
"""
from __future__ import annotations

from typing import Any, Final

READS: Final[dict[str, dict[str, dict[str, int]]]] = {
    "retrograd._rules.activation": {
        "Gate": {"reads_a": 2},
        "ReluBackward0": {"keep": 4},
        "GeluBackward0": {"keep": 1},
        "SiluBackward0": {"keep": 1},
        "MishBackward0": {"keep": 1},
        "SoftplusBackward0": {"keep": 1},
        "LogSigmoidBackward0": {"keep": 1},
        "HardtanhBackward0": {"keep": 1},
        "HardswishBackward0": {"keep": 1},
        "HardsigmoidBackward0": {"keep": 1},
        "SoftshrinkBackward0": {"keep": 1},
        "HardshrinkBackward0": {"keep": 1},
        "Threshold": {"keep": 1},
        "GluBackward0": {"keep": 1},
        "PreluKernelBackward0": {"reads_a": 3, "reads_b": 1},
        "LeakyReluBackward0": {"keep": 1},
        "LeakyReluBackward1": {"keep": 4},
        "EluBackward0": {"keep": 1},
        "EluBackward1": {"keep": 4},
        "CeluBackward0": {"keep": 1},
        "CeluBackward1": {"keep": 4},
        "RreluWithNoiseBackward0": {"keep": 1},
        "RreluWithNoiseBackward1": {"keep": 4},
    },
    "retrograd._rules.affine": {
        "AddmmBackward0": {"reads": 6},
        "AddmvBackward0": {"reads": 6},
        "BaddbmmBackward0": {"reads": 6},
        "AddbmmBackward0": {"reads": 6},
        "AddrBackward0": {"reads": 6},
    },
    "retrograd._rules.arith": {
        "ReciprocalBackward0": {"keep": 4},
        "PowBackward0": {"keep": 1},
        "PowBackward1": {"reads_b": 7},
        "PowBackward2": {"keep": 5},
        "RemainderBackward1": {"reads_b": 3},
        "MulBackward0": {"reads_a": 2, "reads_b": 1},
        "DivBackward0": {"reads_a": 2, "reads_b": 3},
    },
    "retrograd._rules.attention": {
        "SafeSoftmaxBackward0": {"keep": 4},
        "ScaledDotProductFlashAttentionForCpuBackward0": {"reads": 1073741831},
    },
    "retrograd._rules.binary": {
        "LdexpBackward0": {"reads_a": 2, "reads_b": 4},
        "CopysignBackward1": {"keep": 5},
        "XlogyBackward1": {"keep": 1},
        "XlogyBackward2": {"keep": 1},
        "XlogyBackward0": {"reads_a": 3, "reads_b": 3},
        "Atan2Backward0": {"reads_a": 3, "reads_b": 3},
        "HypotBackward0": {"reads_a": 5, "reads_b": 6},
        "LogaddexpBackward0": {"reads_a": 3, "reads_b": 3},
        "Logaddexp2Backward0": {"reads_a": 3, "reads_b": 3},
        "CopysignBackward0": {"reads_a": 5},
        "FmodBackward1": {"reads_b": 3},
        "FmaxBackward0": {"reads_a": 3, "reads_b": 3},
        "FminBackward0": {"reads_a": 3, "reads_b": 3},
        "NextafterBackward0": {"reads_a": 3},
        "LerpBackward1": {"reads": 7},
        "AddcmulBackward0": {"reads": 6},
        "AddcdivBackward0": {"reads": 6},
    },
    "retrograd._rules.choose": {
        "MaximumBackward0": {"reads_a": 3, "reads_b": 3},
        "MinimumBackward0": {"reads_a": 3, "reads_b": 3},
        "ClampBackward1": {"keep": 1},
    },
    "retrograd._rules.complexes": {
        "PolarBackward0": {"reads_a": 4, "reads_b": 4},
    },
    "retrograd._rules.conv": {
        "ConvolutionBackward0": {"reads": 3},
        "ConvolutionY": {"reads_a": 2, "reads_b": 1},
        "ConvolutionX": {"reads_a": 2, "reads_b": 1},
        "ConvolutionW": {"reads_a": 2, "reads_b": 1},
    },
    "retrograd._rules.ctc": {
        "CtcLossBackward0": {"keep": 1},
    },
    "retrograd._rules.decomp": {
        "LinalgInvExBackward0": {"keep": 4},
        "LinalgPinvBackward0": {"keep": 5},
        "LinalgSolveExBackward0": {"reads_a": 5, "reads_b": 1},
        "LinalgSolveTriangularBackward0": {"reads_a": 5, "reads_b": 1},
        "LinalgLstsqBackward0": {"reads_a": 3, "reads_b": 1},
        "LinalgMatrixExpBackward0": {"keep": 1},
        "LinalgDetBackward0": {"keep": 5},
        "LinalgSlogdetBackward0": {"keep": 5},
        "LinalgCholeskyExBackward0": {"keep": 4},
        "CholeskyBackward0": {"keep": 4},
        "LinalgQrBackward0": {"keep": 4},
        "LinalgSvdBackward0": {"keep": 4},
        "LinalgEighBackward0": {"keep": 4},
        "LinalgEigBackward0": {"keep": 4},
    },
    "retrograd._rules.embed": {
        "EmbeddingBagBackward0": {"reads": 3},
    },
    "retrograd._rules.extremes": {
        "Extreme": {"keep": 5},
        "ExtremeOfDims": {"keep": 5},
        "AminmaxBackward0": {"keep": 5},
    },
    "retrograd._rules.fractional": {
        "FractionalMax": {"keep": 1},
    },
    "retrograd._rules.gather": {
        "GatherBackward0": {"keep": 1},
        "Reduced": {"reads_a": 7, "reads_b": 7},
        "IndexAddBackward0": {"reads_b": 2},
        "IndexCopyBackward0": {"reads_b": 2},
    },
    "retrograd._rules.linalg": {
        "MmBackward0": {"reads_a": 2, "reads_b": 1},
        "BmmBackward0": {"reads_a": 2, "reads_b": 1},
        "MvBackward0": {"reads_a": 2, "reads_b": 1},
        "DotOf": {"reads_a": 2, "reads_b": 1},
        "LinalgCrossBackward0": {"reads_a": 2, "reads_b": 1},
        "CdistBackward0": {"reads_a": 7, "reads_b": 7},
    },
    "retrograd._rules.linear_loss": {
        "ChunkedEach": {"reads": 7},
    },
    "retrograd._rules.loss": {
        "Nll": {"keep": 1},
        "SoftMarginLossBackward0": {"keep": 1},
        "MultiMarginLossBackward0": {"keep": 1},
        "MultilabelMarginLossBackward0": {"keep": 1},
        "NormBackward1": {"keep": 5},
        "MseLossBackward0": {"reads_a": 3, "reads_b": 3},
        "SmoothL1LossBackward0": {"reads_a": 3, "reads_b": 3},
        "HuberLossBackward0": {"reads_a": 3, "reads_b": 3},
        "BinaryCrossEntropyBackward0": {"reads_a": 3},
        "BinaryCrossEntropyWithLogitsBackward0": {"reads_a": 3},
    },
    "retrograd._rules.lu": {
        "LinalgLuBackward0": {"keep": 4},
        "LinalgLuFactorExBackward0": {"keep": 4},
    },
    "retrograd._rules.masks": {
        "TakeBackward0": {"keep": 1},
        "MaskedSelectBackward0": {"keep": 1},
        "PutBackward0": {"reads_b": 2},
    },
    "retrograd._rules.moment": {
        "LinalgVectorNormBackward0": {"keep": 5},
        "RenormBackward0": {"keep": 1},
        "DistBackward0": {"reads_a": 7, "reads_b": 7},
        "LogsumexpBackward0": {"keep": 5},
        "VarBackward0": {"keep": 1},
        "StdBackward0": {"keep": 5},
        "VarMeanBackward0": {"keep": 1},
        "StdMeanBackward0": {"keep": 5},
    },
    "retrograd._rules.norm": {
        "NativeBatchNormBackward0": {"reads": 3},
        "NativeGroupNormBackward0": {"reads": 3},
    },
    "retrograd._rules.pad": {
        "Mirrored": {"keep": 1},
    },
    "retrograd._rules.pathwise": {
        "StandardGammaBackward0": {"keep": 5},
    },
    "retrograd._rules.pointwise": {
        "RsqrtBackward0": {"keep": 4},
        "TanhBackwardBackward0": {"reads_a": 2, "reads_b": 3},
        "SigmoidBackward0": {"keep": 4},
        "SigmoidBackwardBackward0": {"reads_a": 2, "reads_b": 3},
        "ErfBackward0": {"keep": 1},
        "ErfcBackward0": {"keep": 1},
        "ErfinvBackward0": {"keep": 1},
        "LgammaBackward0": {"keep": 1},
        "DigammaBackward0": {"keep": 1},
        "PolygammaBackward0": {"keep": 1},
        "LogitBackward0": {"keep": 1},
        "SincBackward0": {"keep": 1},
        "ExpBackward0": {"keep": 4},
        "Exp2Backward0": {"keep": 4},
        "Expm1Backward0": {"keep": 4},
        "LogBackward0": {"keep": 1},
        "Log2Backward0": {"keep": 1},
        "Log10Backward0": {"keep": 1},
        "Log1PBackward0": {"keep": 1},
        "SqrtBackward0": {"keep": 4},
        "AbsBackward0": {"keep": 1},
        "SinBackward0": {"keep": 1},
        "CosBackward0": {"keep": 1},
        "TanBackward0": {"keep": 4},
        "AsinBackward0": {"keep": 1},
        "AcosBackward0": {"keep": 1},
        "AtanBackward0": {"keep": 1},
        "SinhBackward0": {"keep": 1},
        "CoshBackward0": {"keep": 1},
        "TanhBackward0": {"keep": 4},
        "AsinhBackward0": {"keep": 1},
        "AcoshBackward0": {"keep": 1},
        "AtanhBackward0": {"keep": 1},
    },
    "retrograd._rules.pool": {
        "MaxOver": {"keep": 1},
        "AverageOver": {"keep": 1},
        "AdaptiveAverage": {"keep": 1},
    },
    "retrograd._rules.recurrent": {
        "MkldnnRnnLayerBackward0": {"reads": 1073741855},
    },
    "retrograd._rules.reduce": {
        "NansumBackward0": {"keep": 1},
        "ProdBackward0": {"keep": 5},
        "ProdBackward1": {"keep": 5},
    },
    "retrograd._rules.reflections": {
        "LinalgHouseholderProductBackward0": {"reads": 3},
        "OrmqrBackward0": {"reads": 7},
    },
    "retrograd._rules.rounding": {
        "NanToNumBackward0": {"keep": 1},
        "ClampMinBackward0": {"keep": 1},
        "ClampMaxBackward0": {"keep": 1},
        "ClampMinBackward1": {"reads_a": 3, "reads_b": 3},
        "ClampMaxBackward1": {"reads_a": 3, "reads_b": 3},
        "ClampBackward0": {"reads": 7},
    },
    "retrograd._rules.scan": {
        "CumprodBackward0": {"keep": 5},
        "LogcumsumexpBackward0": {"keep": 5},
        "Record": {"keep": 1},
    },
    "retrograd._rules.segments": {
        "SegmentReduceBackward0": {"keep": 5},
    },
    "retrograd._rules.softmax": {
        "SoftmaxBackward0": {"keep": 4},
        "LogSoftmaxBackward0": {"keep": 4},
    },
    "retrograd._rules.special": {
        "I0Backward0": {"keep": 1},
        "SpecialI0EBackward0": {"keep": 5},
        "SpecialI1Backward0": {"keep": 5},
        "SpecialI1EBackward0": {"keep": 5},
        "SpecialEntrBackward0": {"keep": 1},
        "SpecialNdtriBackward0": {"keep": 4},
        "SpecialLogNdtrBackward0": {"keep": 1},
        "SpecialErfcxBackward0": {"keep": 5},
        "SpecialXlog1PyBackward0": {"reads_a": 3, "reads_b": 3},
        "Incomplete": {"reads_b": 3},
    },
}


INTERPRETED: Final[bool] = __file__.endswith(".py")


def derive(op: Any) -> None:
    """Set what the rules of a new class read.  In the compiled build its fields have it: tools/reads_plugin.py."""
    if not INTERPRETED:
        return
    for name, value in READS.get(op.__module__, {}).get(op.__name__, {}).items():
        setattr(op, name, value)
