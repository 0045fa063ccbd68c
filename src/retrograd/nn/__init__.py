"""torch.nn: modules, parameters, functional, init, utils."""
from .._missing import module_getattr
from . import functional as functional
from . import init as init
from . import utils as utils
from .modules import (
    CELU as CELU,
)
from .modules import (
    ELU as ELU,
)
from .modules import (
    GELU as GELU,
)
from .modules import (
    GLU as GLU,
)
from .modules import (
    GRU as GRU,
)
from .modules import (
    LSTM as LSTM,
)
from .modules import (
    RNN as RNN,
)
from .modules import (
    SELU as SELU,
)
from .modules import (
    AdaptiveAvgPool1d as AdaptiveAvgPool1d,
)
from .modules import (
    AdaptiveAvgPool2d as AdaptiveAvgPool2d,
)
from .modules import (
    AdaptiveAvgPool3d as AdaptiveAvgPool3d,
)
from .modules import (
    AdaptiveMaxPool1d as AdaptiveMaxPool1d,
)
from .modules import (
    AdaptiveMaxPool2d as AdaptiveMaxPool2d,
)
from .modules import (
    AdaptiveMaxPool3d as AdaptiveMaxPool3d,
)
from .modules import (
    AlphaDropout as AlphaDropout,
)
from .modules import (
    AvgPool1d as AvgPool1d,
)
from .modules import (
    AvgPool2d as AvgPool2d,
)
from .modules import (
    AvgPool3d as AvgPool3d,
)
from .modules import (
    BatchNorm1d as BatchNorm1d,
)
from .modules import (
    BatchNorm2d as BatchNorm2d,
)
from .modules import (
    BatchNorm3d as BatchNorm3d,
)
from .modules import (
    BCELoss as BCELoss,
)
from .modules import (
    BCEWithLogitsLoss as BCEWithLogitsLoss,
)
from .modules import (
    Bilinear as Bilinear,
)
from .modules import (
    ChannelShuffle as ChannelShuffle,
)
from .modules import (
    CircularPad1d as CircularPad1d,
)
from .modules import (
    CircularPad2d as CircularPad2d,
)
from .modules import (
    CircularPad3d as CircularPad3d,
)
from .modules import (
    ConstantPad1d as ConstantPad1d,
)
from .modules import (
    ConstantPad2d as ConstantPad2d,
)
from .modules import (
    ConstantPad3d as ConstantPad3d,
)
from .modules import (
    Conv1d as Conv1d,
)
from .modules import (
    Conv2d as Conv2d,
)
from .modules import (
    Conv3d as Conv3d,
)
from .modules import (
    ConvTranspose1d as ConvTranspose1d,
)
from .modules import (
    ConvTranspose2d as ConvTranspose2d,
)
from .modules import (
    ConvTranspose3d as ConvTranspose3d,
)
from .modules import (
    CosineEmbeddingLoss as CosineEmbeddingLoss,
)
from .modules import (
    CosineSimilarity as CosineSimilarity,
)
from .modules import (
    CrossEntropyLoss as CrossEntropyLoss,
)
from .modules import (
    CrossMapLRN2d as CrossMapLRN2d,
)
from .modules import (
    Dropout as Dropout,
)
from .modules import (
    Dropout1d as Dropout1d,
)
from .modules import (
    Dropout2d as Dropout2d,
)
from .modules import (
    Dropout3d as Dropout3d,
)
from .modules import (
    Embedding as Embedding,
)
from .modules import (
    EmbeddingBag as EmbeddingBag,
)
from .modules import (
    FeatureAlphaDropout as FeatureAlphaDropout,
)
from .modules import (
    Flatten as Flatten,
)
from .modules import (
    Fold as Fold,
)
from .modules import (
    GaussianNLLLoss as GaussianNLLLoss,
)
from .modules import (
    GroupNorm as GroupNorm,
)
from .modules import (
    GRUCell as GRUCell,
)
from .modules import (
    Hardshrink as Hardshrink,
)
from .modules import (
    Hardsigmoid as Hardsigmoid,
)
from .modules import (
    Hardswish as Hardswish,
)
from .modules import (
    Hardtanh as Hardtanh,
)
from .modules import (
    HingeEmbeddingLoss as HingeEmbeddingLoss,
)
from .modules import (
    HuberLoss as HuberLoss,
)
from .modules import (
    Identity as Identity,
)
from .modules import (
    InstanceNorm1d as InstanceNorm1d,
)
from .modules import (
    InstanceNorm2d as InstanceNorm2d,
)
from .modules import (
    InstanceNorm3d as InstanceNorm3d,
)
from .modules import (
    KLDivLoss as KLDivLoss,
)
from .modules import (
    L1Loss as L1Loss,
)
from .modules import (
    LayerNorm as LayerNorm,
)
from .modules import (
    LeakyReLU as LeakyReLU,
)
from .modules import (
    Linear as Linear,
)
from .modules import (
    LocalResponseNorm as LocalResponseNorm,
)
from .modules import (
    LogSigmoid as LogSigmoid,
)
from .modules import (
    LogSoftmax as LogSoftmax,
)
from .modules import (
    LPPool1d as LPPool1d,
)
from .modules import (
    LPPool2d as LPPool2d,
)
from .modules import (
    LPPool3d as LPPool3d,
)
from .modules import (
    LSTMCell as LSTMCell,
)
from .modules import (
    MarginRankingLoss as MarginRankingLoss,
)
from .modules import (
    MaxPool1d as MaxPool1d,
)
from .modules import (
    MaxPool2d as MaxPool2d,
)
from .modules import (
    MaxPool3d as MaxPool3d,
)
from .modules import (
    MaxUnpool1d as MaxUnpool1d,
)
from .modules import (
    MaxUnpool2d as MaxUnpool2d,
)
from .modules import (
    MaxUnpool3d as MaxUnpool3d,
)
from .modules import (
    Mish as Mish,
)
from .modules import (
    Module as Module,
)
from .modules import (
    ModuleDict as ModuleDict,
)
from .modules import (
    ModuleList as ModuleList,
)
from .modules import (
    MSELoss as MSELoss,
)
from .modules import (
    MultiheadAttention as MultiheadAttention,
)
from .modules import (
    MultiLabelMarginLoss as MultiLabelMarginLoss,
)
from .modules import (
    MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss,
)
from .modules import (
    MultiMarginLoss as MultiMarginLoss,
)
from .modules import (
    NLLLoss as NLLLoss,
)
from .modules import (
    NLLLoss2d as NLLLoss2d,
)
from .modules import (
    PairwiseDistance as PairwiseDistance,
)
from .modules import (
    ParameterDict as ParameterDict,
)
from .modules import (
    ParameterList as ParameterList,
)
from .modules import (
    PixelShuffle as PixelShuffle,
)
from .modules import (
    PixelUnshuffle as PixelUnshuffle,
)
from .modules import (
    PoissonNLLLoss as PoissonNLLLoss,
)
from .modules import (
    PReLU as PReLU,
)
from .modules import (
    ReflectionPad1d as ReflectionPad1d,
)
from .modules import (
    ReflectionPad2d as ReflectionPad2d,
)
from .modules import (
    ReflectionPad3d as ReflectionPad3d,
)
from .modules import (
    ReLU as ReLU,
)
from .modules import (
    ReLU6 as ReLU6,
)
from .modules import (
    ReplicationPad1d as ReplicationPad1d,
)
from .modules import (
    ReplicationPad2d as ReplicationPad2d,
)
from .modules import (
    ReplicationPad3d as ReplicationPad3d,
)
from .modules import (
    RMSNorm as RMSNorm,
)
from .modules import (
    RNNBase as RNNBase,
)
from .modules import (
    RNNCell as RNNCell,
)
from .modules import (
    RNNCellBase as RNNCellBase,
)
from .modules import (
    RReLU as RReLU,
)
from .modules import (
    Sequential as Sequential,
)
from .modules import (
    Sigmoid as Sigmoid,
)
from .modules import (
    SiLU as SiLU,
)
from .modules import (
    SmoothL1Loss as SmoothL1Loss,
)
from .modules import (
    SoftMarginLoss as SoftMarginLoss,
)
from .modules import (
    Softmax as Softmax,
)
from .modules import (
    Softmax2d as Softmax2d,
)
from .modules import (
    Softmin as Softmin,
)
from .modules import (
    Softplus as Softplus,
)
from .modules import (
    Softshrink as Softshrink,
)
from .modules import (
    Softsign as Softsign,
)
from .modules import (
    SyncBatchNorm as SyncBatchNorm,
)
from .modules import (
    Tanh as Tanh,
)
from .modules import (
    Tanhshrink as Tanhshrink,
)
from .modules import (
    Threshold as Threshold,
)
from .modules import (
    Transformer as Transformer,
)
from .modules import (
    TransformerDecoder as TransformerDecoder,
)
from .modules import (
    TransformerDecoderLayer as TransformerDecoderLayer,
)
from .modules import (
    TransformerEncoder as TransformerEncoder,
)
from .modules import (
    TransformerEncoderLayer as TransformerEncoderLayer,
)
from .modules import (
    TripletMarginLoss as TripletMarginLoss,
)
from .modules import (
    TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss,
)
from .modules import (
    Unflatten as Unflatten,
)
from .modules import (
    Unfold as Unfold,
)
from .modules import (
    Upsample as Upsample,
)
from .modules import (
    UpsamplingBilinear2d as UpsamplingBilinear2d,
)
from .modules import (
    UpsamplingNearest2d as UpsamplingNearest2d,
)
from .modules import (
    ZeroPad1d as ZeroPad1d,
)
from .modules import (
    ZeroPad2d as ZeroPad2d,
)
from .modules import (
    ZeroPad3d as ZeroPad3d,
)
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter

__getattr__ = module_getattr(__name__)
