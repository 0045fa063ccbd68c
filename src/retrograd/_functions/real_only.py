"""What PyTorch says of functions that take no complex numbers; {} is the dtype.

Written by `make generate` from PyTorch 2.13.0.
"""
from __future__ import annotations

from typing import Final

# (class, text): names of functions
REFUSED: Final = {
    ('NotImplementedError',
     '"max_values_cpu" not implemented for \'{}\''
     ): (
        'amax'
    ),
    ('NotImplementedError',
     '"min_values_cpu" not implemented for \'{}\''
     ): (
        'amin'
    ),
    ('NotImplementedError',
     '"aminmax_cpu" not implemented for \'{}\''
     ): (
        'aminmax'
    ),
    ('NotImplementedError',
     '"atan2_cpu" not implemented for \'{}\''
     ): (
        'arctan2 atan2'
    ),
    ('RuntimeError',
     'argmax(): does not support complex input'
     ): (
        'argmax'
    ),
    ('RuntimeError',
     'argmin(): does not support complex input'
     ): (
        'argmin'
    ),
    ('RuntimeError',
     ' Sort does not support complex dtypes on CPU'
     ): (
        'argsort msort sort'
    ),
    ('NotImplementedError',
     '"avg_pool2d" not implemented for \'{}\''
     ): (
        'avg_pool1d avg_pool2d local_response_norm'
    ),
    ('NotImplementedError',
     '"avg_pool3d_out_frame" not implemented for \'{}\''
     ): (
        'avg_pool3d'
    ),
    ('NotImplementedError',
     '"batch_norm" not implemented for \'{}\''
     ): (
        'batch_norm instance_norm native_batch_norm'
    ),
    ('NotImplementedError',
     '"binary_cross_entropy" not implemented for \'{}\''
     ): (
        'binary_cross_entropy'
    ),
    ('RuntimeError',
     'cdist only supports floating-point dtypes, X1 got: {}'
     ): (
        'cdist'
    ),
    ('NotImplementedError',
     'ceil is not supported for complex inputs'
     ): (
        'ceil'
    ),
    ('NotImplementedError',
     '"elu_cpu" not implemented for \'{}\''
     ): (
        'celu elu selu'
    ),
    ('NotImplementedError',
     'clamp is not supported for complex types'
     ): (
        'clamp clip cosine_embedding_loss hardtanh margin_ranking_loss relu relu6'
    ),
    ('NotImplementedError',
     '"minimum_cpu" not implemented for \'{}\''
     ): (
        'clamp_max'
    ),
    ('NotImplementedError',
     '"maximum_cpu" not implemented for \'{}\''
     ): (
        'clamp_min'
    ),
    ('NotImplementedError',
     '"copysign_cpu" not implemented for \'{}\''
     ): (
        'copysign'
    ),
    ('RuntimeError',
     'expected common dtype to be floating point, yet common dtype is {}'
     ): (
        'cosine_similarity'
    ),
    ('NotImplementedError',
     '"log_softmax_lastdim_kernel_impl" not implemented for \'{}\''
     ): (
        'cross_entropy linear_cross_entropy'
    ),
    ('NotImplementedError',
     '"ctc_loss_cpu" not implemented for \'{}\''
     ): (
        'ctc_loss'
    ),
    ('NotImplementedError',
     '"cummax_cpu" not implemented for \'{}\''
     ): (
        'cummax'
    ),
    ('NotImplementedError',
     '"cummin_cpu" not implemented for \'{}\''
     ): (
        'cummin'
    ),
    ('RuntimeError',
     'deg2rad is not supported for complex tensors.'
     ): (
        'deg2rad'
    ),
    ('NotImplementedError',
     '"digamma" not implemented for \'{}\''
     ): (
        'digamma special_digamma special_psi'
    ),
    ('RuntimeError',
     "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
     'Float, Double; but got CPU{}Type instead (while checking arguments for embedding_bag)'
     ): (
        'embedding_bag'
    ),
    ('NotImplementedError',
     '"erf_vml_cpu" not implemented for \'{}\''
     ): (
        'erf special_erf special_ndtr'
    ),
    ('NotImplementedError',
     '"erfc_vml_cpu" not implemented for \'{}\''
     ): (
        'erfc special_erfc'
    ),
    ('NotImplementedError',
     '"erfinv_vml_cpu" not implemented for \'{}\''
     ): (
        'erfinv special_erfinv'
    ),
    ('NotImplementedError',
     'trunc is not supported for complex inputs'
     ): (
        'fix trunc'
    ),
    ('NotImplementedError',
     'floor is not supported for complex inputs'
     ): (
        'floor'
    ),
    ('NotImplementedError',
     '"div_floor_cpu" not implemented for \'{}\''
     ): (
        'floor_divide'
    ),
    ('RuntimeError',
     'fmax not implemented for complex tensors.'
     ): (
        'fmax'
    ),
    ('RuntimeError',
     'fmin not implemented for complex tensors.'
     ): (
        'fmin'
    ),
    ('NotImplementedError',
     '"fmod_cpu" not implemented for \'{}\''
     ): (
        'fmod'
    ),
    ('NotImplementedError',
     '"frac_cpu" not implemented for \'{}\''
     ): (
        'frac'
    ),
    ('RuntimeError',
     'torch.frexp() only supports floating-point dtypes'
     ): (
        'frexp'
    ),
    ('NotImplementedError',
     '"ge_cpu" not implemented for \'{}\''
     ): (
        'ge greater_equal'
    ),
    ('NotImplementedError',
     '"GeluKernelImpl" not implemented for \'{}\''
     ): (
        'gelu'
    ),
    ('NotImplementedError',
     '"glu_cpu" not implemented for \'{}\''
     ): (
        'glu'
    ),
    ('NotImplementedError',
     '"gt_cpu" not implemented for \'{}\''
     ): (
        'greater gt'
    ),
    ('NotImplementedError',
     '"grid_sampler_2d_cpu_kernel_impl" not implemented for \'{}\''
     ): (
        'grid_sample grid_sampler_2d'
    ),
    ('NotImplementedError',
     '"grid_sampler3d_cpu" not implemented for \'{}\''
     ): (
        'grid_sampler_3d'
    ),
    ('NotImplementedError',
     '"GroupNormKernelImpl" not implemented for \'{}\''
     ): (
        'group_norm native_group_norm'
    ),
    ('NotImplementedError',
     '"hardshrink_cpu" not implemented for \'{}\''
     ): (
        'hardshrink'
    ),
    ('NotImplementedError',
     '"hardsigmoid_cpu" not implemented for \'{}\''
     ): (
        'hardsigmoid'
    ),
    ('NotImplementedError',
     '"hardswish_cpu" not implemented for \'{}\''
     ): (
        'hardswish'
    ),
    ('NotImplementedError',
     '"xor_sum_cpu" not implemented for \'{}\''
     ): (
        'hash_tensor'
    ),
    ('RuntimeError',
     'heaviside is not yet implemented for complex tensors.'
     ): (
        'heaviside'
    ),
    ('NotImplementedError',
     '"histogramdd" not implemented for \'{}\''
     ): (
        'histogram histogramdd'
    ),
    ('NotImplementedError',
     '"huber_cpu" not implemented for \'{}\''
     ): (
        'huber_loss'
    ),
    ('NotImplementedError',
     '"hypot_cpu" not implemented for \'{}\''
     ): (
        'hypot'
    ),
    ('NotImplementedError',
     '"i0_vml_cpu" not implemented for \'{}\''
     ): (
        'i0 special_i0'
    ),
    ('NotImplementedError',
     '"igamma_cpu" not implemented for \'{}\''
     ): (
        'igamma special_gammainc'
    ),
    ('NotImplementedError',
     '"igammac_cpu" not implemented for \'{}\''
     ): (
        'igammac special_gammaincc'
    ),
    ('NotImplementedError',
     '"index_func_" not implemented for \'{}\''
     ): (
        'index_reduce'
    ),
    ('RuntimeError',
     'isneginf does not support complex inputs.'
     ): (
        'isneginf'
    ),
    ('RuntimeError',
     'isposinf does not support complex inputs.'
     ): (
        'isposinf'
    ),
    ('NotImplementedError',
     '"kthvalue_cpu" not implemented for \'{}\''
     ): (
        'kthvalue'
    ),
    ('NotImplementedError',
     '"LayerNormKernelImpl" not implemented for \'{}\''
     ): (
        'layer_norm native_layer_norm'
    ),
    ('NotImplementedError',
     '"le_cpu" not implemented for \'{}\''
     ): (
        'le less_equal'
    ),
    ('NotImplementedError',
     '"leaky_relu_cpu" not implemented for \'{}\''
     ): (
        'leaky_relu rrelu'
    ),
    ('NotImplementedError',
     '"lt_cpu" not implemented for \'{}\''
     ): (
        'less lt'
    ),
    ('NotImplementedError',
     '"lgamma_vml_cpu" not implemented for \'{}\''
     ): (
        'lgamma special_gammaln'
    ),
    ('NotImplementedError',
     '"logaddexp2_cpu" not implemented for \'{}\''
     ): (
        'logaddexp2'
    ),
    ('NotImplementedError',
     '"logit_cpu" not implemented for \'{}\''
     ): (
        'logit special_logit'
    ),
    ('NotImplementedError',
     '"log_sigmoid_cpu" not implemented for \'{}\''
     ): (
        'logsigmoid'
    ),
    ('NotImplementedError',
     '"max_pool2d" not implemented for \'{}\''
     ): (
        'max_pool2d_with_indices_backward'
    ),
    ('RuntimeError',
     'maximum not implemented for complex tensors.'
     ): (
        'maximum'
    ),
    ('NotImplementedError',
     '"median_cpu" not implemented for \'{}\''
     ): (
        'median nanmedian'
    ),
    ('RuntimeError',
     'minimum not implemented for complex tensors.'
     ): (
        'minimum'
    ),
    ('NotImplementedError',
     '"mish_cpu" not implemented for \'{}\''
     ): (
        'mish'
    ),
    ('NotImplementedError',
     '"mode_cpu" not implemented for \'{}\''
     ): (
        'mode'
    ),
    ('NotImplementedError',
     '"softmax_lastdim_kernel_impl" not implemented for \'{}\''
     ): (
        'multi_head_attention_forward scaled_dot_product_attention'
    ),
    ('NotImplementedError',
     '"multi_margin_loss_cpu_kernel" not implemented for \'{}\''
     ): (
        'multi_margin_loss'
    ),
    ('NotImplementedError',
     '"multilabel_margin_loss_forward_out_frame" not implemented for \'{}\''
     ): (
        'multilabel_margin_loss'
    ),
    ('RuntimeError',
     'multinomial only supports floating-point dtypes for input, got: {}'
     ): (
        'multinomial'
    ),
    ('NotImplementedError',
     '"arange_cpu" not implemented for \'{}\''
     ): (
        'mvlgamma special_multigammaln'
    ),
    ('RuntimeError',
     'nansum on CPU does not support complex inputs'
     ): (
        'nanmean nansum'
    ),
    ('RuntimeError',
     'quantile() input tensor must be either float or double dtype'
     ): (
        'nanquantile quantile'
    ),
    ('NotImplementedError',
     '"nextafter_cpu" not implemented for \'{}\''
     ): (
        'nextafter'
    ),
    ('NotImplementedError',
     '"nll_loss_out_frame" not implemented for \'{}\''
     ): (
        'nll_loss'
    ),
    ('RuntimeError',
     'pdist only supports floating-point dtypes'
     ): (
        'pdist'
    ),
    ('NotImplementedError',
     '"trigamma" not implemented for \'{}\''
     ): (
        'polygamma special_polygamma'
    ),
    ('NotImplementedError',
     '"prelu_cpu" not implemented for \'{}\''
     ): (
        'prelu'
    ),
    ('RuntimeError',
     'rad2deg is not supported for complex tensors.'
     ): (
        'rad2deg'
    ),
    ('RuntimeError',
     'check_random_bounds handles only integral, floating-point and boolean types'
     ): (
        'randint_like'
    ),
    ('NotImplementedError',
     '"remainder_cpu" not implemented for \'{}\''
     ): (
        'remainder'
    ),
    ('NotImplementedError',
     '"round_vml_cpu" not implemented for \'{}\''
     ): (
        'round special_round'
    ),
    ('NotImplementedError',
     'Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.'
     ): (
        'sign'
    ),
    ('NotImplementedError',
     'signbit is not implemented for complex tensors.'
     ): (
        'signbit'
    ),
    ('NotImplementedError',
     '"smooth_l1_cpu" not implemented for \'{}\''
     ): (
        'smooth_l1_loss'
    ),
    ('NotImplementedError',
     '"softplus_cpu" not implemented for \'{}\''
     ): (
        'softplus'
    ),
    ('NotImplementedError',
     '"softshrink_check" not implemented for \'{}\''
     ): (
        'softshrink'
    ),
    ('NotImplementedError',
     '"spmm_reduce_kernel" not implemented for \'{}\''
     ): (
        'sparse_mm'
    ),
    ('NotImplementedError',
     '"airy_ai_cpu" not implemented for \'{}\''
     ): (
        'special_airy_ai'
    ),
    ('NotImplementedError',
     '"bessel_j0_cpu" not implemented for \'{}\''
     ): (
        'special_bessel_j0'
    ),
    ('NotImplementedError',
     '"bessel_j1_cpu" not implemented for \'{}\''
     ): (
        'special_bessel_j1'
    ),
    ('NotImplementedError',
     '"bessel_y0_cpu" not implemented for \'{}\''
     ): (
        'special_bessel_y0'
    ),
    ('NotImplementedError',
     '"bessel_y1_cpu" not implemented for \'{}\''
     ): (
        'special_bessel_y1'
    ),
    ('NotImplementedError',
     '"chebyshev_polynomial_t_cpu" not implemented for \'{}\''
     ): (
        'special_chebyshev_polynomial_t'
    ),
    ('NotImplementedError',
     '"chebyshev_polynomial_u_cpu" not implemented for \'{}\''
     ): (
        'special_chebyshev_polynomial_u'
    ),
    ('NotImplementedError',
     '"chebyshev_polynomial_v_cpu" not implemented for \'{}\''
     ): (
        'special_chebyshev_polynomial_v'
    ),
    ('NotImplementedError',
     '"chebyshev_polynomial_w_cpu" not implemented for \'{}\''
     ): (
        'special_chebyshev_polynomial_w'
    ),
    ('NotImplementedError',
     '"entr_cpu" not implemented for \'{}\''
     ): (
        'special_entr'
    ),
    ('NotImplementedError',
     '"erfcx_cpu" not implemented for \'{}\''
     ): (
        'special_erfcx'
    ),
    ('NotImplementedError',
     '"hermite_polynomial_h_cpu" not implemented for \'{}\''
     ): (
        'special_hermite_polynomial_h'
    ),
    ('NotImplementedError',
     '"hermite_polynomial_he_cpu" not implemented for \'{}\''
     ): (
        'special_hermite_polynomial_he'
    ),
    ('NotImplementedError',
     '"i0e_cpu" not implemented for \'{}\''
     ): (
        'special_i0e'
    ),
    ('NotImplementedError',
     '"i1_cpu" not implemented for \'{}\''
     ): (
        'special_i1'
    ),
    ('NotImplementedError',
     '"i1e_cpu" not implemented for \'{}\''
     ): (
        'special_i1e'
    ),
    ('NotImplementedError',
     '"laguerre_polynomial_l_cpu" not implemented for \'{}\''
     ): (
        'special_laguerre_polynomial_l'
    ),
    ('NotImplementedError',
     '"legendre_polynomial_p_cpu" not implemented for \'{}\''
     ): (
        'special_legendre_polynomial_p'
    ),
    ('NotImplementedError',
     '"log_ndtr_cpu" not implemented for \'{}\''
     ): (
        'special_log_ndtr'
    ),
    ('NotImplementedError',
     '"modified_bessel_i0_cpu" not implemented for \'{}\''
     ): (
        'special_modified_bessel_i0'
    ),
    ('NotImplementedError',
     '"modified_bessel_i1_cpu" not implemented for \'{}\''
     ): (
        'special_modified_bessel_i1'
    ),
    ('NotImplementedError',
     '"modified_bessel_k0_cpu" not implemented for \'{}\''
     ): (
        'special_modified_bessel_k0'
    ),
    ('NotImplementedError',
     '"modified_bessel_k1_cpu" not implemented for \'{}\''
     ): (
        'special_modified_bessel_k1'
    ),
    ('NotImplementedError',
     '"ndtri_cpu" not implemented for \'{}\''
     ): (
        'special_ndtri'
    ),
    ('NotImplementedError',
     '"scaled_modified_bessel_k0_cpu" not implemented for \'{}\''
     ): (
        'special_scaled_modified_bessel_k0'
    ),
    ('NotImplementedError',
     '"scaled_modified_bessel_k1_cpu" not implemented for \'{}\''
     ): (
        'special_scaled_modified_bessel_k1'
    ),
    ('NotImplementedError',
     '"shifted_chebyshev_polynomial_t_cpu" not implemented for \'{}\''
     ): (
        'special_shifted_chebyshev_polynomial_t'
    ),
    ('NotImplementedError',
     '"shifted_chebyshev_polynomial_u_cpu" not implemented for \'{}\''
     ): (
        'special_shifted_chebyshev_polynomial_u'
    ),
    ('NotImplementedError',
     '"shifted_chebyshev_polynomial_v_cpu" not implemented for \'{}\''
     ): (
        'special_shifted_chebyshev_polynomial_v'
    ),
    ('NotImplementedError',
     '"shifted_chebyshev_polynomial_w_cpu" not implemented for \'{}\''
     ): (
        'special_shifted_chebyshev_polynomial_w'
    ),
    ('NotImplementedError',
     '"spherical_bessel_j0_cpu" not implemented for \'{}\''
     ): (
        'special_spherical_bessel_j0'
    ),
    ('NotImplementedError',
     '"xlog1py_cpu" not implemented for \'{}\''
     ): (
        'special_xlog1py'
    ),
    ('NotImplementedError',
     '"xlogy_cpu" not implemented for \'{}\''
     ): (
        'special_xlogy xlogy'
    ),
    ('NotImplementedError',
     '"zeta_cpu" not implemented for \'{}\''
     ): (
        'special_zeta'
    ),
    ('NotImplementedError',
     '"threshold_cpu" not implemented for \'{}\''
     ): (
        'threshold'
    ),
    ('RuntimeError',
     ' topk does not support complex dtypes on CPU'
     ): (
        'topk'
    ),
    ('RuntimeError',
     'view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar '
     'type: {}'
     ): (
        'view_as_complex'
    ),
}

# functions that are not differentiated for complex numbers: what PyTorch calls them
UNDIFFERENTIATED: Final = {
    'bilinear': '_trilinear',
    'embedding': 'embedding',
    'geqrf': 'geqrf',
    'nan_to_num': 'nan_to_num',
    'native_dropout_backward': 'native_dropout_backward',
    'normal': 'normal',
    'scatter_reduce': 'scatter_reduce',
    'select_scatter': 'select_scatter',
    'silu': 'silu',
    'slice_copy': 'slice_copy',
    'slice_scatter': 'slice_scatter',
    'soft_margin_loss': 'soft_margin_loss',
    'to_sparse': '_to_sparse',
}
