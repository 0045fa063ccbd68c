"""torch.nn: modules, parameters, functional, init, utils.

Parameters that mean the same in most modules (those of a family are in help(torch.nn.modules.conv), ...pooling, ...rnn,
...transformer, ...loss and so on):

device, dtype     of the parameters and buffers that the module makes; None: the CPU and torch.get_default_dtype()
bias              False: the module learns no bias, and its attribute `bias` is None
inplace           True: the result overwrites the input, which costs a RuntimeError in backward if another op needed it
"""
# ruff: noqa: I001  one import a line would be four hundred lines
from typing import TYPE_CHECKING, Any

from .._missing import late_names
from . import _reduction as _reduction
from . import functional as functional
from . import grad as grad
from . import init as init
from . import utils as utils
from .modules import (
    Container as Container,
    AdaptiveAvgPool1d as AdaptiveAvgPool1d, AdaptiveAvgPool2d as AdaptiveAvgPool2d,
    AdaptiveAvgPool3d as AdaptiveAvgPool3d,
    AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss, AdaptiveMaxPool1d as AdaptiveMaxPool1d,
    AdaptiveMaxPool2d as AdaptiveMaxPool2d, AdaptiveMaxPool3d as AdaptiveMaxPool3d, AlphaDropout as AlphaDropout,
    AvgPool1d as AvgPool1d, AvgPool2d as AvgPool2d, AvgPool3d as AvgPool3d, BCELoss as BCELoss, CTCLoss as CTCLoss,
    BCEWithLogitsLoss as BCEWithLogitsLoss, BatchNorm1d as BatchNorm1d, BatchNorm2d as BatchNorm2d,
    BatchNorm3d as BatchNorm3d, Bilinear as Bilinear, CELU as CELU, ChannelShuffle as ChannelShuffle,
    CircularPad1d as CircularPad1d, CircularPad2d as CircularPad2d, CircularPad3d as CircularPad3d,
    ConstantPad1d as ConstantPad1d, ConstantPad2d as ConstantPad2d, ConstantPad3d as ConstantPad3d, Conv1d as Conv1d,
    Conv2d as Conv2d, Conv3d as Conv3d, ConvTranspose1d as ConvTranspose1d, ConvTranspose2d as ConvTranspose2d,
    ConvTranspose3d as ConvTranspose3d, CosineEmbeddingLoss as CosineEmbeddingLoss,
    CosineSimilarity as CosineSimilarity, CrossEntropyLoss as CrossEntropyLoss, CrossMapLRN2d as CrossMapLRN2d,
    Dropout as Dropout, Dropout1d as Dropout1d, Dropout2d as Dropout2d, Dropout3d as Dropout3d, ELU as ELU,
    Embedding as Embedding, EmbeddingBag as EmbeddingBag, FeatureAlphaDropout as FeatureAlphaDropout,
    Flatten as Flatten, Fold as Fold, FractionalMaxPool2d as FractionalMaxPool2d,
    FractionalMaxPool3d as FractionalMaxPool3d, GELU as GELU, GLU as GLU, GRU as GRU, GRUCell as GRUCell,
    GaussianNLLLoss as GaussianNLLLoss, GroupNorm as GroupNorm, Hardshrink as Hardshrink, Hardsigmoid as Hardsigmoid,
    Hardswish as Hardswish, Hardtanh as Hardtanh, HingeEmbeddingLoss as HingeEmbeddingLoss, HuberLoss as HuberLoss,
    Identity as Identity, InstanceNorm1d as InstanceNorm1d, InstanceNorm2d as InstanceNorm2d,
    InstanceNorm3d as InstanceNorm3d, KLDivLoss as KLDivLoss, L1Loss as L1Loss, LPPool1d as LPPool1d,
    LPPool2d as LPPool2d, LPPool3d as LPPool3d, LSTM as LSTM, LSTMCell as LSTMCell, LayerNorm as LayerNorm,
    LazyBatchNorm1d as LazyBatchNorm1d, LazyBatchNorm2d as LazyBatchNorm2d, LazyBatchNorm3d as LazyBatchNorm3d,
    LazyConv1d as LazyConv1d, LazyConv2d as LazyConv2d, LazyConv3d as LazyConv3d, LazyConvTranspose1d as
    LazyConvTranspose1d, LazyConvTranspose2d as LazyConvTranspose2d, LazyConvTranspose3d as LazyConvTranspose3d,
    LazyInstanceNorm1d as LazyInstanceNorm1d, LazyInstanceNorm2d as LazyInstanceNorm2d, LazyInstanceNorm3d as
    LazyInstanceNorm3d, LazyLinear as LazyLinear,
    LeakyReLU as LeakyReLU, Linear as Linear,
    LinearCrossEntropyLoss as LinearCrossEntropyLoss, LinearCrossEntropyOptions as LinearCrossEntropyOptions,
    LocalResponseNorm as LocalResponseNorm, LogSigmoid as LogSigmoid,
    LogSoftmax as LogSoftmax, MSELoss as MSELoss, MarginRankingLoss as MarginRankingLoss, MaxPool1d as MaxPool1d,
    MaxPool2d as MaxPool2d, MaxPool3d as MaxPool3d, MaxUnpool1d as MaxUnpool1d, MaxUnpool2d as MaxUnpool2d,
    MaxUnpool3d as MaxUnpool3d, Mish as Mish, Module as Module, ModuleDict as ModuleDict, ModuleList as ModuleList,
    MultiLabelMarginLoss as MultiLabelMarginLoss, MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss,
    MultiMarginLoss as MultiMarginLoss, MultiheadAttention as MultiheadAttention, NLLLoss as NLLLoss,
    NLLLoss2d as NLLLoss2d, PReLU as PReLU, PairwiseDistance as PairwiseDistance, ParameterDict as ParameterDict,
    ParameterList as ParameterList, PixelShuffle as PixelShuffle, PixelUnshuffle as PixelUnshuffle,
    PoissonNLLLoss as PoissonNLLLoss, RMSNorm as RMSNorm, RNN as RNN, RNNBase as RNNBase, RNNCell as RNNCell,
    RNNCellBase as RNNCellBase, RReLU as RReLU, ReLU as ReLU, ReLU6 as ReLU6, ReflectionPad1d as ReflectionPad1d,
    ReflectionPad2d as ReflectionPad2d, ReflectionPad3d as ReflectionPad3d, ReplicationPad1d as ReplicationPad1d,
    ReplicationPad2d as ReplicationPad2d, ReplicationPad3d as ReplicationPad3d, SELU as SELU,
    Sequential as Sequential, SiLU as SiLU, Sigmoid as Sigmoid, SmoothL1Loss as SmoothL1Loss,
    SoftMarginLoss as SoftMarginLoss, Softmax as Softmax, Softmax2d as Softmax2d, Softmin as Softmin,
    Softplus as Softplus, Softshrink as Softshrink, Softsign as Softsign, SyncBatchNorm as SyncBatchNorm,
    Tanh as Tanh, Tanhshrink as Tanhshrink, Threshold as Threshold, Transformer as Transformer,
    TransformerDecoder as TransformerDecoder, TransformerDecoderLayer as TransformerDecoderLayer,
    TransformerEncoder as TransformerEncoder, TransformerEncoderLayer as TransformerEncoderLayer,
    TripletMarginLoss as TripletMarginLoss, TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss,
    Unflatten as Unflatten, Unfold as Unfold, Upsample as Upsample, UpsamplingBilinear2d as UpsamplingBilinear2d,
    UpsamplingNearest2d as UpsamplingNearest2d, ZeroPad1d as ZeroPad1d, ZeroPad2d as ZeroPad2d,
    ZeroPad3d as ZeroPad3d,
)
from .parallel import DataParallel as DataParallel
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

if TYPE_CHECKING:
    from . import attention as attention
    from . import common_types as common_types

late_names(__name__, lazy=("attention", "common_types"))


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """Of a module's kwargs, those that tensor factories take: device, dtype, memory_format, also from within factory_kwargs."""
    given = dict(kwargs or {})
    found = dict(given.pop("factory_kwargs", {}))
    unexpected = given.keys() - {"device", "dtype", "memory_format"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    for key, value in given.items():
        if key in found:
            raise TypeError(f"{key} specified twice, in **kwargs and in factory_kwargs")
        found[key] = value
    return found
