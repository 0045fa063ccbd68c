"""torch.nn.utils: gradient clipping, parameters as a vector, packed sequences, parametrizations, pruning."""
from functools import partial
from typing import TYPE_CHECKING, Any

from ..._missing import late_names
from . import parametrizations as parametrizations
from . import parametrize as parametrize
from . import rnn as rnn
from .clip_grad import clip_grad_norm as clip_grad_norm
from .clip_grad import clip_grad_norm_ as clip_grad_norm_
from .clip_grad import clip_grad_value_ as clip_grad_value_
from .clip_grad import clip_grads_with_norm_ as clip_grads_with_norm_
from .clip_grad import get_total_norm as get_total_norm
from .convert_parameters import parameters_to_vector as parameters_to_vector
from .convert_parameters import vector_to_parameters as vector_to_parameters
from .init import skip_init as skip_init
from .memory_format import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format
from .memory_format import convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format
from .spectral_norm import remove_spectral_norm as remove_spectral_norm
from .spectral_norm import spectral_norm as spectral_norm
from .weight_norm import remove_weight_norm as remove_weight_norm
from .weight_norm import weight_norm as weight_norm

FUSED = ("fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights")


def _fused(name: str) -> Any:
    from . import fusion

    return getattr(fusion, name)


if TYPE_CHECKING:
    from . import fusion as fusion
    from . import prune as prune
    from . import stateless as stateless

late_names(
    __name__, lazy=("fusion", "prune", "stateless"), also={name: partial(_fused, name) for name in FUSED})
