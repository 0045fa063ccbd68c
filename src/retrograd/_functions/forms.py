"""Signatures of PyTorch's functions and methods that are written in C, for the checks of `parsing`.

Written by `make generate` from PyTorch 2.13.0.  Overloads are separated by " | ", in PyTorch's order; T?
may be None; int[2] is a list of ints or one int; METHODS holds what does not follow from FUNCTIONS.
"""

# those of torch.nn.functional
FUNCTIONAL = {
    "adaptive_avg_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle", "conv1d",
    "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity",
    "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear", "native_channel_shuffle", "one_hot",
    "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "rrelu_",
    "scaled_dot_product_attention", "selu_", "softplus", "softshrink", "threshold_",
}
FUNCTIONS = {
    "_dirichlet_grad": "Tensor x, Tensor alpha, Tensor total",
    "_foreach_abs": "Tensor[] self",
    "_foreach_abs_": "Tensor[] self",
    "_foreach_acos": "Tensor[] self",
    "_foreach_acos_": "Tensor[] self",
    "_foreach_add": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor other, "
        "*, Scalar alpha=1 | Tensor[] self, Tensor[] other, *, Scalar alpha=1",
    "_foreach_add_": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor other, "
        "*, Scalar alpha=1 | Tensor[] self, Tensor[] other, *, Scalar alpha=1",
    "_foreach_addcdiv": "Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars | Tensor[] self, "
        "Tensor[] tensor1, Tensor[] tensor2, Tensor scalars | Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, "
        "Scalar value=1",
    "_foreach_addcdiv_": "Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars | Tensor[] self, "
        "Tensor[] tensor1, Tensor[] tensor2, Tensor scalars | Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, "
        "Scalar value=1",
    "_foreach_addcmul": "Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars | Tensor[] self, "
        "Tensor[] tensor1, Tensor[] tensor2, Tensor scalars | Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, "
        "Scalar value=1",
    "_foreach_addcmul_": "Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars | Tensor[] self, "
        "Tensor[] tensor1, Tensor[] tensor2, Tensor scalars | Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, "
        "Scalar value=1",
    "_foreach_asin": "Tensor[] self",
    "_foreach_asin_": "Tensor[] self",
    "_foreach_atan": "Tensor[] self",
    "_foreach_atan_": "Tensor[] self",
    "_foreach_ceil": "Tensor[] self",
    "_foreach_ceil_": "Tensor[] self",
    "_foreach_clamp_max": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_clamp_max_": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_clamp_min": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_clamp_min_": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_clone": "Tensor[] self, *, memory_format? memory_format=None",
    "_foreach_copy_": "Tensor[] self, Tensor[] src, bool non_blocking=False",
    "_foreach_cos": "Tensor[] self",
    "_foreach_cos_": "Tensor[] self",
    "_foreach_cosh": "Tensor[] self",
    "_foreach_cosh_": "Tensor[] self",
    "_foreach_div": "Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor other | Tensor[] self, Tensor[] other | "
        "Tensor[] self, Scalar scalar",
    "_foreach_div_": "Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor other | Tensor[] self, Tensor[] other "
        "| Tensor[] self, Scalar scalar",
    "_foreach_erf": "Tensor[] self",
    "_foreach_erf_": "Tensor[] self",
    "_foreach_erfc": "Tensor[] self",
    "_foreach_erfc_": "Tensor[] self",
    "_foreach_exp": "Tensor[] self",
    "_foreach_exp_": "Tensor[] self",
    "_foreach_expm1": "Tensor[] self",
    "_foreach_expm1_": "Tensor[] self",
    "_foreach_floor": "Tensor[] self",
    "_foreach_floor_": "Tensor[] self",
    "_foreach_frac": "Tensor[] self",
    "_foreach_frac_": "Tensor[] self",
    "_foreach_lerp": "Tensor[] self, Tensor[] tensors1, Scalar weight | Tensor[] self, Tensor[] tensors1, Scalar[] "
        "weight | Tensor[] self, Tensor[] tensors1, Tensor[] weights",
    "_foreach_lerp_": "Tensor[] self, Tensor[] tensors1, Scalar weight | Tensor[] self, Tensor[] tensors1, Scalar[] "
        "weight | Tensor[] self, Tensor[] tensors1, Tensor[] weights",
    "_foreach_lgamma": "Tensor[] self",
    "_foreach_lgamma_": "Tensor[] self",
    "_foreach_log": "Tensor[] self",
    "_foreach_log10": "Tensor[] self",
    "_foreach_log10_": "Tensor[] self",
    "_foreach_log1p": "Tensor[] self",
    "_foreach_log1p_": "Tensor[] self",
    "_foreach_log2": "Tensor[] self",
    "_foreach_log2_": "Tensor[] self",
    "_foreach_log_": "Tensor[] self",
    "_foreach_max": "Tensor[] self",
    "_foreach_maximum": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_maximum_": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_minimum": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_minimum_": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other",
    "_foreach_mm": "Tensor[] self, Tensor[] mat2",
    "_foreach_mul": "Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor other | Tensor[] self, Tensor[] other | "
        "Tensor[] self, Scalar scalar",
    "_foreach_mul_": "Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor other | Tensor[] self, Tensor[] other "
        "| Tensor[] self, Scalar scalar",
    "_foreach_neg": "Tensor[] self",
    "_foreach_neg_": "Tensor[] self",
    "_foreach_norm": "Tensor[] self, Scalar ord=2, dtype? dtype=None",
    "_foreach_pow": "Scalar self, Tensor[] exponent | Tensor[] self, Scalar exponent | Tensor[] self, Scalar[] "
        "exponent | Tensor[] self, Tensor[] exponent",
    "_foreach_pow_": "Tensor[] self, Scalar exponent | Tensor[] self, Scalar[] exponent | Tensor[] self, Tensor[] "
        "exponent",
    "_foreach_powsum": "Tensor[] self, Scalar ord=2, dtype? dtype=None",
    "_foreach_reciprocal": "Tensor[] self",
    "_foreach_reciprocal_": "Tensor[] self",
    "_foreach_round": "Tensor[] self",
    "_foreach_round_": "Tensor[] self",
    "_foreach_rsqrt": "Tensor[] self",
    "_foreach_rsqrt_": "Tensor[] self",
    "_foreach_sigmoid": "Tensor[] self",
    "_foreach_sigmoid_": "Tensor[] self",
    "_foreach_sign": "Tensor[] self",
    "_foreach_sign_": "Tensor[] self",
    "_foreach_sin": "Tensor[] self",
    "_foreach_sin_": "Tensor[] self",
    "_foreach_sinh": "Tensor[] self",
    "_foreach_sinh_": "Tensor[] self",
    "_foreach_sqrt": "Tensor[] self",
    "_foreach_sqrt_": "Tensor[] self",
    "_foreach_sub": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] other, "
        "*, Scalar alpha=1",
    "_foreach_sub_": "Tensor[] self, Scalar scalar | Tensor[] self, Scalar[] scalars | Tensor[] self, Tensor[] "
        "other, *, Scalar alpha=1",
    "_foreach_tan": "Tensor[] self",
    "_foreach_tan_": "Tensor[] self",
    "_foreach_tanh": "Tensor[] self",
    "_foreach_tanh_": "Tensor[] self",
    "_foreach_trunc": "Tensor[] self",
    "_foreach_trunc_": "Tensor[] self",
    "_foreach_zero_": "Tensor[] self",
    "_sample_dirichlet": "Tensor input, Generator? generator=None",
    "_standard_gamma": "Tensor input, Generator? generator=None",
    "_standard_gamma_grad": "Tensor input, Tensor output",
    "abs": "Tensor input, *, Tensor? out=None",
    "abs_": "Tensor input",
    "absolute": "Tensor input, *, Tensor? out=None",
    "acos": "Tensor input, *, Tensor? out=None",
    "acos_": "Tensor input",
    "acosh": "Tensor input, *, Tensor? out=None",
    "acosh_": "Tensor input",
    "adaptive_avg_pool1d": "Tensor input, int[1] output_size",
    "adaptive_avg_pool2d": "Tensor input, int[2] output_size",
    "adaptive_avg_pool3d": "Tensor input, int[3] output_size",
    "adaptive_max_pool1d": "Tensor input, int[1] output_size",
    "adaptive_max_pool2d": "Tensor input, int[2] output_size",
    "adaptive_max_pool3d": "Tensor input, int[3] output_size",
    "add": "Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None",
    "addbmm": "Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None",
    "addcdiv": "Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None",
    "addcmul": "Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None",
    "addmm": "Tensor input, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None | Tensor "
        "input, Tensor mat1, Tensor mat2, dtype out_dtype, *, Scalar beta=1, Scalar alpha=1, Tensor out=None",
    "addmv": "Tensor input, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor out=None",
    "addmv_": "Tensor input, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1",
    "addr": "Tensor input, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None",
    "adjoint": "Tensor input",
    "affine_grid_generator": "Tensor theta, int[] size, bool align_corners",
    "alias_copy": "Tensor input, *, Tensor? out=None",
    "all": "Tensor input, *, Tensor out=None | Tensor input, int[]? dim=None, bool keepdim=False, *, Tensor out=None "
        "| Tensor input, int dim, bool keepdim=False, *, Tensor out=None",
    "allclose": "Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False",
    "alpha_dropout": "Tensor input, float p, bool train",
    "alpha_dropout_": "Tensor input, float p, bool train",
    "amax": "Tensor input, int[1] dim=None, bool keepdim=False, *, Tensor? out=None",
    "amin": "Tensor input, int[1] dim=None, bool keepdim=False, *, Tensor? out=None",
    "aminmax": "Tensor input, *, int? dim=None, bool keepdim=False, Tensor[2]? out=None",
    "angle": "Tensor input, *, Tensor? out=None",
    "any": "Tensor input, *, Tensor out=None | Tensor input, int[]? dim=None, bool keepdim=False, *, Tensor out=None "
        "| Tensor input, int dim, bool keepdim=False, *, Tensor out=None",
    "arange": "Scalar end, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | Scalar start, Scalar end, *, dtype? dtype=None, layout? "
        "layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | Scalar start, Scalar "
        "end, Scalar step=1, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False",
    "arccos": "Tensor input, *, Tensor? out=None",
    "arccos_": "Tensor input",
    "arccosh": "Tensor input, *, Tensor? out=None",
    "arccosh_": "Tensor input",
    "arcsin": "Tensor input, *, Tensor? out=None",
    "arcsin_": "Tensor input",
    "arcsinh": "Tensor input, *, Tensor? out=None",
    "arcsinh_": "Tensor input",
    "arctan": "Tensor input, *, Tensor? out=None",
    "arctan2": "Tensor input, Tensor other, *, Tensor? out=None",
    "arctan_": "Tensor input",
    "arctanh": "Tensor input, *, Tensor? out=None",
    "arctanh_": "Tensor input",
    "argmax": "Tensor input, int? dim=None, bool keepdim=False, *, Tensor? out=None",
    "argmin": "Tensor input, int? dim=None, bool keepdim=False, *, Tensor? out=None",
    "argsort": "Tensor input, *, bool stable, int dim=-1, bool descending=False, Tensor out=None | Tensor input, int "
        "dim=-1, bool descending=False",
    "argwhere": "Tensor input",
    "as_strided": "Tensor input, int[] size, int[] stride, SymInt? storage_offset=None",
    "as_strided_": "Tensor input, int[] size, int[] stride, SymInt? storage_offset=None",
    "as_strided_copy": "Tensor input, int[] size, int[] stride, SymInt? storage_offset=None, *, Tensor? out=None",
    "as_strided_scatter": "Tensor input, Tensor src, int[] size, int[] stride, SymInt? storage_offset=None",
    "as_tensor": "Tensor data, *, dtype? dtype=None, device? device=None",
    "asin": "Tensor input, *, Tensor? out=None",
    "asin_": "Tensor input",
    "asinh": "Tensor input, *, Tensor? out=None",
    "asinh_": "Tensor input",
    "atan": "Tensor input, *, Tensor? out=None",
    "atan2": "Tensor input, Tensor other, *, Tensor? out=None",
    "atan_": "Tensor input",
    "atanh": "Tensor input, *, Tensor? out=None",
    "atanh_": "Tensor input",
    "avg_pool1d": "Tensor input, int[1] kernel_size, int[1] stride=None, int[1] padding=(0), bool ceil_mode=False, "
        "bool count_include_pad=True",
    "avg_pool2d": "Tensor input, int[2] kernel_size, int[2] stride=None, int[2] padding=(0,0), bool ceil_mode=False, "
        "bool count_include_pad=True, int? divisor_override=None, *, Tensor? out=None",
    "avg_pool3d": "Tensor input, int[3] kernel_size, int[3] stride=None, int[3] padding=(0,0,0), bool "
        "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None, *, Tensor? out=None",
    "baddbmm": "Tensor input, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None | "
        "Tensor input, Tensor batch1, Tensor batch2, dtype out_dtype, *, Scalar beta=1, Scalar alpha=1, Tensor "
        "out=None",
    "bartlett_window": "int window_length, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | int window_length, bool periodic, *, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "batch_norm": "Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
        "training, float momentum, float eps, bool cudnn_enabled",
    "bernoulli": "Tensor input, *, Generator? generator=None, Tensor out=None | Tensor input, float p, *, Generator? "
        "generator=None",
    "bilinear": "Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None",
    "binary_cross_entropy": "Tensor input, Tensor target, Tensor? weight=None, int reduction=1",
    "binary_cross_entropy_with_logits": "Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, "
        "int reduction=1",
    "bincount": "Tensor input, Tensor? weights=None, SymInt minlength=0",
    "binomial": "Tensor count, Tensor prob, Generator? generator=None",
    "bitwise_and": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other | Tensor input, "
        "Scalar other, *, Tensor out=None",
    "bitwise_left_shift": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other | Tensor "
        "input, Scalar other, *, Tensor out=None",
    "bitwise_not": "Tensor input, *, Tensor? out=None",
    "bitwise_or": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other | Tensor input, Scalar "
        "other, *, Tensor out=None",
    "bitwise_right_shift": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other | Tensor "
        "input, Scalar other, *, Tensor out=None",
    "bitwise_xor": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other | Tensor input, "
        "Scalar other, *, Tensor out=None",
    "blackman_window": "int window_length, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | int window_length, bool periodic, *, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "bmm": "Tensor input, Tensor mat2, *, Tensor out=None | Tensor input, Tensor mat2, dtype out_dtype, *, Tensor "
        "out=None",
    "broadcast_to": "Tensor input, int[] size",
    "bucketize": "Tensor input, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor out=None | "
        "Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False",
    "cat": "Tensor[] tensors, int dim=0, *, Tensor? out=None",
    "ceil": "Tensor input, *, Tensor? out=None",
    "ceil_": "Tensor input",
    "celu": "Tensor input, Scalar alpha=1.0",
    "celu_": "Tensor input, Scalar alpha=1.0",
    "channel_shuffle": "Tensor input, SymInt groups",
    "cholesky": "Tensor input, bool upper=False, *, Tensor? out=None",
    "cholesky_inverse": "Tensor input, bool upper=False, *, Tensor? out=None",
    "cholesky_solve": "Tensor input, Tensor input2, bool upper=False, *, Tensor? out=None",
    "chunk": "Tensor input, int chunks, int dim=0",
    "clamp": "Tensor input, Tensor? min=None, Tensor? max=None, *, Tensor out=None | Tensor input, Scalar? min=None, "
        "Scalar? max=None, *, Tensor out=None",
    "clamp_": "Tensor input, Tensor? min=None, Tensor? max=None | Tensor input, Scalar? min=None, Scalar? max=None",
    "clamp_max": "Tensor input, Tensor max, *, Tensor out=None | Tensor input, Scalar max, *, Tensor out=None",
    "clamp_max_": "Tensor input, Tensor max | Tensor input, Scalar max",
    "clamp_min": "Tensor input, Tensor min, *, Tensor out=None | Tensor input, Scalar min, *, Tensor out=None",
    "clamp_min_": "Tensor input, Tensor min | Tensor input, Scalar min",
    "clip": "Tensor input, Tensor? min=None, Tensor? max=None, *, Tensor out=None | Tensor input, Scalar? min=None, "
        "Scalar? max=None, *, Tensor out=None",
    "clip_": "Tensor input, Tensor? min=None, Tensor? max=None | Tensor input, Scalar? min=None, Scalar? max=None",
    "clone": "Tensor input, *, memory_format? memory_format=None",
    "col2im": "Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride",
    "column_stack": "Tensor[] tensors, *, Tensor? out=None",
    "combinations": "Tensor input, int r=2, bool with_replacement=False",
    "complex": "Tensor real, Tensor imag, *, Tensor? out=None",
    "concat": "Tensor[] tensors, int dim=0, *, Tensor? out=None",
    "concatenate": "Tensor[] tensors, int dim=0, *, Tensor? out=None",
    "conj": "Tensor input",
    "conj_physical": "Tensor input, *, Tensor? out=None",
    "conj_physical_": "Tensor input",
    "constant_pad_nd": "Tensor input, int[] pad, Scalar value=0",
    "conv1d": "Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, "
        "SymInt groups=1 | Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding='valid', "
        "int[1] dilation=1, SymInt groups=1",
    "conv2d": "Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, "
        "SymInt groups=1 | Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding='valid', "
        "int[2] dilation=1, SymInt groups=1",
    "conv3d": "Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, "
        "SymInt groups=1 | Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding='valid', "
        "int[3] dilation=1, SymInt groups=1",
    "conv_tbc": "Tensor input, Tensor weight, Tensor bias, int pad=0",
    "conv_transpose1d": "Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=(1), int[1] padding=(0), "
        "int[1] output_padding=(0), SymInt groups=1, int[1] dilation=(1)",
    "conv_transpose2d": "Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=(1,1), int[2] padding=(0,0), "
        "int[2] output_padding=(0,0), SymInt groups=1, int[2] dilation=(1,1)",
    "conv_transpose3d": "Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=(1,1,1), int[3] "
        "padding=(0,0,0), int[3] output_padding=(0,0,0), SymInt groups=1, int[3] dilation=(1,1,1)",
    "convolution": "Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool "
        "transposed, int[] output_padding, SymInt groups",
    "copysign": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "corrcoef": "Tensor input",
    "cos": "Tensor input, *, Tensor? out=None",
    "cos_": "Tensor input",
    "cosh": "Tensor input, *, Tensor? out=None",
    "cosh_": "Tensor input",
    "cosine_embedding_loss": "Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1",
    "cosine_similarity": "Tensor x1, Tensor x2, int dim=1, float eps=1e-08",
    "count_nonzero": "Tensor input, int? dim=None | Tensor input, int[] dim",
    "cov": "Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None",
    "cross": "Tensor input, Tensor other, int? dim=None, *, Tensor? out=None",
    "cross_entropy_loss": "Tensor input, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
        "ignore_index=-100, float label_smoothing=0.0",
    "ctc_loss": "Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int "
        "reduction=at::Reduction::Mean, bool zero_infinity=False | Tensor log_probs, Tensor targets, Tensor "
        "input_lengths, Tensor target_lengths, int blank=0, int reduction=at::Reduction::Mean, bool "
        "zero_infinity=False",
    "cummax": "Tensor input, int dim, *, Tensor[2]? out=None",
    "cummin": "Tensor input, int dim, *, Tensor[2]? out=None",
    "cumprod": "Tensor input, int dim, *, dtype? dtype=None, Tensor? out=None",
    "cumsum": "Tensor input, int dim, *, dtype? dtype=None, Tensor? out=None",
    "cumulative_trapezoid": "Tensor y, Tensor x, *, int dim=-1 | Tensor y, *, Scalar dx=1, int dim=-1",
    "deg2rad": "Tensor input, *, Tensor? out=None",
    "deg2rad_": "Tensor input",
    "det": "Tensor input",
    "detach": "Tensor input",
    "detach_": "Tensor input",
    "detach_copy": "Tensor input, *, Tensor? out=None",
    "diag": "Tensor input, int diagonal=0, *, Tensor? out=None",
    "diag_embed": "Tensor input, int offset=0, int dim1=-2, int dim2=-1",
    "diagflat": "Tensor input, int offset=0",
    "diagonal": "Tensor input, int offset=0, int dim1=0, int dim2=1",
    "diagonal_copy": "Tensor input, int offset=0, int dim1=0, int dim2=1, *, Tensor? out=None",
    "diagonal_scatter": "Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1",
    "diff": "Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor? out=None",
    "digamma": "Tensor input, *, Tensor? out=None",
    "dist": "Tensor input, Tensor other, Scalar p=2",
    "div": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Tensor other, *, str? rounding_mode, "
        "Tensor out=None | Tensor input, Scalar other, *, str? rounding_mode",
    "divide": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Tensor other, *, str? rounding_mode, "
        "Tensor out=None | Tensor input, Scalar other | Tensor input, Scalar other, *, str? rounding_mode",
    "dot": "Tensor input, Tensor tensor, *, Tensor? out=None",
    "dropout": "Tensor input, float p, bool train",
    "dropout_": "Tensor input, float p, bool train",
    "dsplit": "Tensor input, int sections | Tensor input, int[] indices",
    "dstack": "Tensor[] tensors, *, Tensor? out=None",
    "elu": "Tensor input, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1",
    "elu_": "Tensor input, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1",
    "embedding": "Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
        "sparse=False",
    "embedding_bag": "Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, "
        "Tensor? per_sample_weights, bool include_last_offset, int? padding_idx | Tensor weight, Tensor indices, "
        "Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "
        "per_sample_weights=None, bool include_last_offset=False",
    "embedding_renorm_": "Tensor input, Tensor indices, float max_norm, float norm_type",
    "empty": "int[] size, *, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False, Tensor? out=None",
    "empty_like": "Tensor input, *, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, "
        "device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "empty_permuted": "int[] size, int[] physical_layout, *, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False",
    "empty_strided": "int[] size, int[] stride, *, dtype? dtype=None, layout? layout=None, device? device=None, "
        "bool? pin_memory=False, bool requires_grad=False",
    "eq": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "equal": "Tensor input, Tensor other",
    "erf": "Tensor input, *, Tensor? out=None",
    "erf_": "Tensor input",
    "erfc": "Tensor input, *, Tensor? out=None",
    "erfc_": "Tensor input",
    "erfinv": "Tensor input, *, Tensor? out=None",
    "exp": "Tensor input, *, Tensor? out=None",
    "exp2": "Tensor input, *, Tensor? out=None",
    "exp2_": "Tensor input",
    "exp_": "Tensor input",
    "expand_copy": "Tensor input, int[] size, *, bool implicit=False, Tensor? out=None",
    "expm1": "Tensor input, *, Tensor? out=None",
    "expm1_": "Tensor input",
    "eye": "SymInt n, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | SymInt n, SymInt m, *, Tensor out=None, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "fake_quantize_per_channel_affine": "Tensor input, Tensor scale, Tensor zero_point, int axis, int quant_min, int "
        "quant_max",
    "fake_quantize_per_tensor_affine": "Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max "
        "| Tensor input, float scale, int zero_point, int quant_min, int quant_max",
    "feature_alpha_dropout": "Tensor input, float p, bool train",
    "feature_alpha_dropout_": "Tensor input, float p, bool train",
    "feature_dropout": "Tensor input, float p, bool train",
    "feature_dropout_": "Tensor input, float p, bool train",
    "fft_fft": "Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None",
    "fft_fft2": "Tensor input, int[1]? s=None, int[1] dim=(-2,-1), str? norm=None, *, Tensor? out=None",
    "fft_fftfreq": "int n, float d=1.0, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False, Tensor? out=None",
    "fft_fftn": "Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None",
    "fft_fftshift": "Tensor input, int[1]? dim=None",
    "fft_hfft": "Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None",
    "fft_hfft2": "Tensor input, int[1]? s=None, int[1] dim=(-2,-1), str? norm=None, *, Tensor? out=None",
    "fft_hfftn": "Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None",
    "fft_ifft": "Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None",
    "fft_ifft2": "Tensor input, int[1]? s=None, int[1] dim=(-2,-1), str? norm=None, *, Tensor? out=None",
    "fft_ifftn": "Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None",
    "fft_ifftshift": "Tensor input, int[1]? dim=None",
    "fft_ihfft": "Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None",
    "fft_ihfft2": "Tensor input, int[1]? s=None, int[1] dim=(-2,-1), str? norm=None, *, Tensor? out=None",
    "fft_ihfftn": "Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None",
    "fft_irfft": "Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None",
    "fft_irfft2": "Tensor input, int[1]? s=None, int[1] dim=(-2,-1), str? norm=None, *, Tensor? out=None",
    "fft_irfftn": "Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None",
    "fft_rfft": "Tensor input, SymInt? n=None, int dim=-1, str? norm=None, *, Tensor? out=None",
    "fft_rfft2": "Tensor input, int[1]? s=None, int[1] dim=(-2,-1), str? norm=None, *, Tensor? out=None",
    "fft_rfftfreq": "int n, float d=1.0, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False, Tensor? out=None",
    "fft_rfftn": "Tensor input, int[1]? s=None, int[1]? dim=None, str? norm=None, *, Tensor? out=None",
    "fill": "Tensor input, Tensor value | Tensor input, Scalar value",
    "fill_": "Tensor input, Tensor value | Tensor input, Scalar value",
    "fix": "Tensor input, *, Tensor? out=None",
    "fix_": "Tensor input",
    "flatten": "Tensor input, int start_dim=0, int end_dim=-1",
    "flip": "Tensor input, int[] dims",
    "fliplr": "Tensor input",
    "flipud": "Tensor input",
    "float_power": "Tensor input, Tensor exponent, *, Tensor out=None | Scalar self, Tensor exponent, *, Tensor "
        "out=None | Tensor input, Scalar exponent, *, Tensor out=None",
    "floor": "Tensor input, *, Tensor? out=None",
    "floor_": "Tensor input",
    "floor_divide": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other",
    "fmax": "Tensor input, Tensor other, *, Tensor? out=None",
    "fmin": "Tensor input, Tensor other, *, Tensor? out=None",
    "fmod": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "frac": "Tensor input, *, Tensor? out=None",
    "frac_": "Tensor input",
    "fractional_max_pool2d": "Tensor input, int[2] kernel_size, int[2] output_size, Tensor random_samples",
    "fractional_max_pool3d": "Tensor input, int[3] kernel_size, int[3] output_size, Tensor random_samples",
    "frexp": "Tensor input, *, Tensor[2]? out=None",
    "frobenius_norm": "Tensor input, int[1] dim, bool keepdim=False, *, Tensor? out=None",
    "from_file": "str filename, bool? shared=None, int? size=0, *, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False",
    "full": "int[] size, Scalar fill_value, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False, Tensor? out=None",
    "full_like": "Tensor input, Scalar fill_value, *, memory_format? memory_format=None, dtype? dtype=None, layout? "
        "layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "gather": "Tensor input, int dim, Tensor index, *, bool sparse_grad=False, Tensor? out=None",
    "gcd": "Tensor input, Tensor other, *, Tensor? out=None",
    "gcd_": "Tensor input, Tensor other",
    "ge": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "gelu": "Tensor input, *, str approximate='none', Tensor? out=None",
    "geqrf": "Tensor input, *, Tensor[2]? out=None",
    "ger": "Tensor input, Tensor vec2, *, Tensor? out=None",
    "get_device": "Tensor input",
    "glu": "Tensor input, int dim=-1",
    "gradient": "Tensor input, *, int[] dim, int edge_order=1 | Tensor input, *, Scalar spacing, int[] dim, int "
        "edge_order=1 | Tensor input, *, Scalar? spacing=None, int? dim=None, int edge_order=1 | Tensor input, *, "
        "Scalar[] spacing, int dim=None, int edge_order=1 | Tensor input, *, Scalar[] spacing, int[] dim, int "
        "edge_order=1 | Tensor input, *, Tensor[] spacing, int? dim=None, int edge_order=1 | Tensor input, *, "
        "Tensor[] spacing, int[] dim, int edge_order=1",
    "greater": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "greater_equal": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "grid_sampler": "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners",
    "grid_sampler_2d": "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners",
    "grid_sampler_3d": "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners",
    "group_norm": "Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
        "cudnn_enabled=True",
    "gru": "Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
        "dropout, bool train, bool bidirectional | Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
        "num_layers, float dropout, bool train, bool bidirectional, bool batch_first",
    "gru_cell": "Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None",
    "gt": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "hamming_window": "int window_length, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | int window_length, bool periodic, *, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | int "
        "window_length, bool periodic, float alpha, *, dtype? dtype=None, layout? layout=None, device? device=None, "
        "bool? pin_memory=False, bool requires_grad=False | int window_length, bool periodic, float alpha, float "
        "beta, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool "
        "requires_grad=False",
    "hann_window": "int window_length, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | int window_length, bool periodic, *, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "hardshrink": "Tensor input, Scalar lambd=0.5, *, Tensor? out=None",
    "hardsigmoid": "Tensor input, *, Tensor? out=None",
    "hardsigmoid_": "Tensor input",
    "hardswish": "Tensor input",
    "hardswish_": "Tensor input",
    "hardtanh": "Tensor input, Scalar min_val=-1, Scalar max_val=1, *, Tensor? out=None",
    "hardtanh_": "Tensor input, Scalar min_val=-1, Scalar max_val=1",
    "heaviside": "Tensor input, Tensor values, *, Tensor? out=None",
    "hinge_embedding_loss": "Tensor input, Tensor target, float margin=1.0, int reduction=1",
    "histc": "Tensor input, int bins=100, Scalar min=0, Scalar max=0, *, Tensor? out=None",
    "histogram": "Tensor input, Tensor bins, *, Tensor? weight=None, bool density=False, Tensor[] out=None | Tensor "
        "input, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False, Tensor[] out=None",
    "histogramdd": "Tensor input, int bins, float[]? range=None, Tensor? weight=None, bool density=False | Tensor "
        "input, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False | Tensor input, Tensor[] "
        "bins, float[]? range=None, Tensor? weight=None, bool density=False",
    "hsplit": "Tensor input, int sections | Tensor input, int[] indices",
    "hstack": "Tensor[] tensors, *, Tensor? out=None",
    "huber_loss": "Tensor input, Tensor target, int reduction=1, float delta=1.0",
    "hypot": "Tensor input, Tensor other, *, Tensor? out=None",
    "i0": "Tensor input, *, Tensor? out=None",
    "i0_": "Tensor input",
    "igamma": "Tensor input, Tensor other, *, Tensor? out=None",
    "igammac": "Tensor input, Tensor other, *, Tensor? out=None",
    "im2col": "Tensor input, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride",
    "imag": "Tensor input",
    "index_add": "Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor? out=None",
    "index_copy": "Tensor input, int dim, Tensor index, Tensor source, *, Tensor? out=None",
    "index_fill": "Tensor input, int dim, Tensor index, Tensor value | Tensor input, int dim, Tensor index, Scalar "
        "value",
    "index_reduce": "Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, "
        "Tensor? out=None",
    "index_select": "Tensor input, int dim, Tensor index, *, Tensor? out=None",
    "inner": "Tensor input, Tensor other, *, Tensor? out=None",
    "instance_norm": "Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
        "use_input_stats, float momentum, float eps, bool cudnn_enabled",
    "inverse": "Tensor input, *, Tensor? out=None",
    "is_complex": "Tensor input",
    "is_conj": "Tensor input",
    "is_floating_point": "Tensor input",
    "is_neg": "Tensor input",
    "is_nonzero": "Tensor input",
    "is_same_size": "Tensor input, Tensor other",
    "is_signed": "Tensor input",
    "isclose": "Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False",
    "isfinite": "Tensor input",
    "isin": "Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None "
        "| Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None | "
        "Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False, Tensor out=None",
    "isinf": "Tensor input",
    "isnan": "Tensor input",
    "isneginf": "Tensor input, *, Tensor? out=None",
    "isposinf": "Tensor input, *, Tensor? out=None",
    "isreal": "Tensor input",
    "istft": "Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
        "center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False",
    "kaiser_window": "int window_length, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | int window_length, bool periodic, *, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | int "
        "window_length, bool periodic, float beta, *, dtype? dtype=None, layout? layout=None, device? device=None, "
        "bool? pin_memory=False, bool requires_grad=False",
    "kl_div": "Tensor input, Tensor target, int reduction=1, *, bool log_target=False",
    "kron": "Tensor input, Tensor other, *, Tensor? out=None",
    "kthvalue": "Tensor input, SymInt k, int dim=-1, bool keepdim=False, *, Tensor[2]? out=None",
    "l1_loss": "Tensor input, Tensor target, int reduction=1",
    "layer_norm": "Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
        "bool cudnn_enable=True",
    "lcm": "Tensor input, Tensor other, *, Tensor? out=None",
    "lcm_": "Tensor input, Tensor other",
    "ldexp": "Tensor input, Tensor other, *, Tensor? out=None",
    "ldexp_": "Tensor input, Tensor other",
    "le": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "leaky_relu": "Tensor input, Scalar negative_slope=0.01, *, Tensor? out=None",
    "leaky_relu_": "Tensor input, Scalar negative_slope=0.01",
    "lerp": "Tensor input, Tensor end, Tensor weight, *, Tensor out=None | Tensor input, Tensor end, Scalar weight, "
        "*, Tensor out=None",
    "less": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "less_equal": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "lgamma": "Tensor input, *, Tensor? out=None",
    "linalg_cholesky": "Tensor input, *, bool upper=False, Tensor? out=None",
    "linalg_cholesky_ex": "Tensor input, *, bool upper=False, bool check_errors=False, Tensor[2]? out=None",
    "linalg_cond": "Tensor input, Scalar? p=None, *, Tensor out=None | Tensor input, str p, *, Tensor out=None",
    "linalg_cross": "Tensor input, Tensor other, *, int dim=-1, Tensor? out=None",
    "linalg_det": "Tensor A, *, Tensor? out=None",
    "linalg_diagonal": "Tensor A, *, int offset=0, int dim1=-2, int dim2=-1",
    "linalg_eig": "Tensor input, *, Tensor[2]? out=None",
    "linalg_eigh": "Tensor input, str UPLO='L', *, Tensor[2]? out=None",
    "linalg_eigvals": "Tensor input, *, Tensor? out=None",
    "linalg_eigvalsh": "Tensor input, str UPLO='L', *, Tensor? out=None",
    "linalg_householder_product": "Tensor input, Tensor tau, *, Tensor? out=None",
    "linalg_inv": "Tensor A, *, Tensor? out=None",
    "linalg_inv_ex": "Tensor A, *, bool check_errors=False, Tensor[2]? out=None",
    "linalg_ldl_factor": "Tensor input, *, bool hermitian=False, Tensor[2]? out=None",
    "linalg_ldl_factor_ex": "Tensor input, *, bool hermitian=False, bool check_errors=False, Tensor[3]? out=None",
    "linalg_ldl_solve": "Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False, Tensor? out=None",
    "linalg_lstsq": "Tensor input, Tensor b, float? rcond=None, *, str? driver=None, Tensor[4]? out=None",
    "linalg_lu": "Tensor A, *, bool pivot=True, Tensor[3]? out=None",
    "linalg_lu_factor": "Tensor A, *, bool pivot=True, Tensor[2]? out=None",
    "linalg_lu_factor_ex": "Tensor A, *, bool pivot=True, bool check_errors=False, Tensor[3]? out=None",
    "linalg_lu_solve": "Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor? out=None",
    "linalg_matmul": "Tensor input, Tensor other, *, Tensor? out=None",
    "linalg_matrix_exp": "Tensor input, *, Tensor? out=None",
    "linalg_matrix_norm": "Tensor input, Scalar ord, int[] dim={-2,-1}, bool keepdim=False, *, dtype? dtype=None, "
        "Tensor out=None | Tensor input, str ord='fro', int[] dim={-2,-1}, bool keepdim=False, *, dtype? dtype=None, "
        "Tensor out=None",
    "linalg_matrix_power": "Tensor input, int n, *, Tensor? out=None",
    "linalg_matrix_rank": "Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor "
        "out=None | Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor out=None | "
        "Tensor input, Tensor tol, bool hermitian=False, *, Tensor out=None | Tensor input, float tol, bool "
        "hermitian=False, *, Tensor out=None",
    "linalg_multi_dot": "Tensor[] tensors, *, Tensor? out=None",
    "linalg_norm": "Tensor input, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, "
        "Tensor out=None | Tensor input, str ord, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor "
        "out=None",
    "linalg_pinv": "Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor out=None | "
        "Tensor input, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor out=None | Tensor input, "
        "Tensor rcond, bool hermitian=False, *, Tensor out=None | Tensor input, float rcond, bool hermitian=False, "
        "*, Tensor out=None",
    "linalg_qr": "Tensor A, str mode='reduced', *, Tensor[2]? out=None",
    "linalg_slogdet": "Tensor A, *, Tensor[2]? out=None",
    "linalg_solve": "Tensor A, Tensor B, *, bool left=True, Tensor? out=None",
    "linalg_solve_ex": "Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor[2]? out=None",
    "linalg_solve_triangular": "Tensor input, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, "
        "Tensor? out=None",
    "linalg_svd": "Tensor A, bool full_matrices=True, *, str? driver=None, Tensor[3]? out=None",
    "linalg_svdvals": "Tensor A, *, str? driver=None, Tensor? out=None",
    "linalg_tensorinv": "Tensor input, int ind=2, *, Tensor? out=None",
    "linalg_tensorsolve": "Tensor input, Tensor other, int[]? dims=None, *, Tensor? out=None",
    "linalg_vander": "Tensor x, *, SymInt? N=None",
    "linalg_vecdot": "Tensor x, Tensor y, *, int dim=-1, Tensor? out=None",
    "linalg_vector_norm": "Tensor input, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, "
        "Tensor? out=None",
    "linear": "Tensor input, Tensor weight, Tensor? bias=None, *, Tensor? out=None",
    "linspace": "Tensor start, Tensor end, int steps, *, Tensor out=None, dtype? dtype=None, layout? layout=None, "
        "device? device=None, bool? pin_memory=False, bool requires_grad=False | Scalar start, Tensor end, int "
        "steps, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | Tensor start, Scalar end, int steps, *, Tensor out=None, "
        "dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool "
        "requires_grad=False | Scalar start, Scalar end, int steps, *, Tensor out=None, dtype? dtype=None, layout? "
        "layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "log": "Tensor input, *, Tensor? out=None",
    "log10": "Tensor input, *, Tensor? out=None",
    "log10_": "Tensor input",
    "log1p": "Tensor input, *, Tensor? out=None",
    "log1p_": "Tensor input",
    "log2": "Tensor input, *, Tensor? out=None",
    "log2_": "Tensor input",
    "log_": "Tensor input",
    "log_sigmoid": "Tensor input",
    "log_softmax": "Tensor input, int dim, dtype? dtype=None, *, Tensor? out=None",
    "logaddexp": "Tensor input, Tensor other, *, Tensor? out=None",
    "logaddexp2": "Tensor input, Tensor other, *, Tensor? out=None",
    "logcumsumexp": "Tensor input, int dim, *, Tensor? out=None",
    "logdet": "Tensor input",
    "logical_and": "Tensor input, Tensor other, *, Tensor? out=None",
    "logical_not": "Tensor input, *, Tensor? out=None",
    "logical_or": "Tensor input, Tensor other, *, Tensor? out=None",
    "logical_xor": "Tensor input, Tensor other, *, Tensor? out=None",
    "logit": "Tensor input, float? eps=None, *, Tensor? out=None",
    "logit_": "Tensor input, float? eps=None",
    "logspace": "Tensor start, Tensor end, int steps, float base=10.0, *, Tensor out=None, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | Scalar start, "
        "Tensor end, int steps, float base=10.0, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False | Tensor start, Scalar end, int steps, float "
        "base=10.0, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | Scalar start, Scalar end, int steps, float base=10.0, *, "
        "Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool "
        "requires_grad=False",
    "logsumexp": "Tensor input, int[1] dim, bool keepdim=False, *, Tensor? out=None",
    "lstm": "Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
        "dropout, bool train, bool bidirectional | Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int "
        "num_layers, float dropout, bool train, bool bidirectional, bool batch_first",
    "lstm_cell": "Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None",
    "lt": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "lu_solve": "Tensor input, Tensor LU_data, Tensor LU_pivots, *, Tensor? out=None",
    "lu_unpack": "Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, Tensor[3]? "
        "out=None",
    "margin_ranking_loss": "Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1",
    "masked_fill": "Tensor input, Tensor mask, Tensor value | Tensor input, Tensor mask, Scalar value",
    "masked_scatter": "Tensor input, Tensor mask, Tensor source",
    "masked_select": "Tensor input, Tensor mask, *, Tensor? out=None",
    "matmul": "Tensor input, Tensor other, *, Tensor? out=None",
    "matrix_exp": "Tensor input",
    "matrix_power": "Tensor input, int n, *, Tensor? out=None",
    "max": "Tensor input, *, Tensor out=None | Tensor input, Tensor other, *, Tensor out=None | Tensor input, int "
        "dim, bool keepdim=False, *, Tensor[] out=None",
    "max_pool1d": "Tensor input, int[1] kernel_size, int[1] stride=None, int[1] padding=(0), int[1] dilation=(1), "
        "bool ceil_mode=False",
    "max_pool1d_with_indices": "Tensor input, int[1] kernel_size, int[1] stride=None, int[1] padding=(0), int[1] "
        "dilation=(1), bool ceil_mode=False",
    "max_pool2d": "Tensor input, int[2] kernel_size, int[2] stride=None, int[2] padding=(0,0), int[2] "
        "dilation=(1,1), bool ceil_mode=False",
    "max_pool2d_with_indices": "Tensor input, int[2] kernel_size, int[2] stride=None, int[2] padding=(0,0), int[2] "
        "dilation=(1,1), bool ceil_mode=False",
    "max_pool3d": "Tensor input, int[3] kernel_size, int[3] stride=None, int[3] padding=(0,0,0), int[3] "
        "dilation=(1,1,1), bool ceil_mode=False",
    "max_pool3d_with_indices": "Tensor input, int[3] kernel_size, int[3] stride=None, int[3] padding=(0,0,0), int[3] "
        "dilation=(1,1,1), bool ceil_mode=False",
    "maximum": "Tensor input, Tensor other, *, Tensor? out=None",
    "mean": "Tensor input, *, dtype? dtype=None, Tensor out=None | Tensor input, int[1]? dim, bool keepdim=False, *, "
        "dtype? dtype=None, Tensor out=None",
    "median": "Tensor input | Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None",
    "min": "Tensor input, *, Tensor out=None | Tensor input, Tensor other, *, Tensor out=None | Tensor input, int "
        "dim, bool keepdim=False, *, Tensor[] out=None",
    "minimum": "Tensor input, Tensor other, *, Tensor? out=None",
    "mish": "Tensor input",
    "mish_": "Tensor input",
    "mm": "Tensor input, Tensor mat2, *, Tensor out=None | Tensor input, Tensor mat2, dtype out_dtype, *, Tensor "
        "out=None",
    "mode": "Tensor input, int dim=-1, bool keepdim=False, *, Tensor[2]? out=None",
    "moveaxis": "Tensor input, int source, int destination | Tensor input, int[] source, int[] destination",
    "movedim": "Tensor input, int source, int destination | Tensor input, int[] source, int[] destination",
    "mse_loss": "Tensor input, Tensor target, int reduction=1",
    "msort": "Tensor input, *, Tensor? out=None",
    "mul": "Tensor input, Tensor other, *, Tensor? out=None",
    "multi_margin_loss": "Tensor input, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
        "reduction=1",
    "multilabel_margin_loss": "Tensor input, Tensor target, int reduction=1",
    "multinomial": "Tensor input, SymInt num_samples, bool replacement=False, *, Generator? generator=None, Tensor? "
        "out=None",
    "multiply": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other",
    "mv": "Tensor input, Tensor vec, *, Tensor? out=None",
    "mvlgamma": "Tensor input, int p, *, Tensor? out=None",
    "nan_to_num": "Tensor input, float? nan=None, float? posinf=None, float? neginf=None, *, Tensor? out=None",
    "nan_to_num_": "Tensor input, float? nan=None, float? posinf=None, float? neginf=None",
    "nanmean": "Tensor input, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor? out=None",
    "nanmedian": "Tensor input | Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None",
    "nanquantile": "Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor "
        "out=None | Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor "
        "out=None",
    "nansum": "Tensor input, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor? out=None",
    "narrow": "Tensor input, int dim, Tensor start, SymInt length | Tensor input, int dim, SymInt start, SymInt "
        "length",
    "narrow_copy": "Tensor input, int dim, SymInt start, SymInt length, *, Tensor? out=None",
    "native_batch_norm": "Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
        "bool training, float momentum, float eps, *, Tensor[3]? out=None",
    "native_channel_shuffle": "Tensor input, SymInt groups",
    "native_group_norm": "Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, "
        "float eps",
    "native_layer_norm": "Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps",
    "ne": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "neg": "Tensor input, *, Tensor? out=None",
    "neg_": "Tensor input",
    "negative": "Tensor input, *, Tensor? out=None",
    "negative_": "Tensor input",
    "nextafter": "Tensor input, Tensor other, *, Tensor? out=None",
    "nll_loss_nd": "Tensor input, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100",
    "nonzero": "Tensor input, *, Tensor? out=None | Tensor input, *, bool as_tuple",
    "nonzero_static": "Tensor input, *, SymInt size, int fill_value=-1, Tensor? out=None",
    "norm_except_dim": "Tensor v, int pow=2, int dim=0",
    "normal": "Tensor mean, Tensor std, *, Generator? generator=None, Tensor out=None | Tensor mean, float std=1, *, "
        "Generator? generator=None, Tensor out=None | float mean, Tensor std, *, Generator? generator=None, Tensor "
        "out=None | float mean, float std, int[] size, *, Generator? generator=None, Tensor out=None, dtype? "
        "dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "not_equal": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other, *, Tensor out=None",
    "nuclear_norm": "Tensor input, int[2] dim, bool keepdim=False, *, Tensor out=None | Tensor input, bool "
        "keepdim=False, *, Tensor out=None",
    "numel": "Tensor input",
    "one_hot": "Tensor input, int num_classes=-1",
    "ones": "int[] size, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, "
        "bool requires_grad=False, Tensor? out=None",
    "ones_like": "Tensor input, *, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, "
        "device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "orgqr": "Tensor input, Tensor input2, *, Tensor? out=None",
    "ormqr": "Tensor input, Tensor input2, Tensor input3, bool left=True, bool transpose=False, *, Tensor? out=None",
    "outer": "Tensor input, Tensor vec2, *, Tensor? out=None",
    "pad": "Tensor input, int[] pad, str mode='constant', float? value=None",
    "pairwise_distance": "Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False",
    "pdist": "Tensor input, float p=2.0",
    "permute": "Tensor input, int[] dims",
    "permute_copy": "Tensor input, int[] dims, *, Tensor? out=None",
    "pinverse": "Tensor input, float rcond=1e-15",
    "pixel_shuffle": "Tensor input, int upscale_factor",
    "pixel_unshuffle": "Tensor input, int downscale_factor",
    "poisson": "Tensor input, Generator? generator=None",
    "poisson_nll_loss": "Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction",
    "polar": "Tensor abs, Tensor angle, *, Tensor? out=None",
    "polygamma": "int n, Tensor input, *, Tensor? out=None",
    "positive": "Tensor input",
    "pow": "Tensor input, Tensor exponent, *, Tensor out=None | Scalar self, Tensor exponent, *, Tensor out=None | "
        "Tensor input, Scalar exponent, *, Tensor out=None",
    "prelu": "Tensor input, Tensor weight",
    "prod": "Tensor input, *, dtype? dtype=None | Tensor input, int dim, bool keepdim=False, *, dtype? dtype=None, "
        "Tensor out=None",
    "put": "Tensor input, Tensor index, Tensor source, bool accumulate=False",
    "qr": "Tensor input, bool some=True, *, Tensor[2]? out=None",
    "quantile": "Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor "
        "out=None | Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor "
        "out=None",
    "rad2deg": "Tensor input, *, Tensor? out=None",
    "rad2deg_": "Tensor input",
    "rand": "int[] size, *, Generator? generator, Tensor out=None, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False | int[] size, *, Tensor out=None, dtype? "
        "dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "rand_like": "Tensor input, *, Generator? generator, memory_format? memory_format=None, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | Tensor input, "
        "*, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False",
    "randint": "SymInt high, int[] size, *, Generator? generator, Tensor out=None, dtype? dtype=None, layout? "
        "layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | SymInt high, int[] "
        "size, *, Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False | SymInt low, SymInt high, int[] size, *, Generator? generator, "
        "Tensor out=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool "
        "requires_grad=False | SymInt low, SymInt high, int[] size, *, Tensor out=None, dtype? dtype=None, layout? "
        "layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "randint_like": "Tensor input, SymInt low, SymInt high, *, Generator? generator, memory_format? "
        "memory_format=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, "
        "bool requires_grad=False | Tensor input, SymInt low, SymInt high, *, memory_format? memory_format=None, "
        "dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool "
        "requires_grad=False | Tensor input, Tensor high, *, Generator? generator, memory_format? "
        "memory_format=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, "
        "bool requires_grad=False | Tensor input, Tensor high, *, memory_format? memory_format=None, dtype? "
        "dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | "
        "Tensor input, SymInt high, *, Generator? generator, memory_format? memory_format=None, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | Tensor input, "
        "SymInt high, *, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False",
    "randn": "int[] size, *, Generator? generator, Tensor out=None, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False | int[] size, *, Tensor out=None, dtype? "
        "dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "randn_like": "Tensor input, *, Generator? generator, memory_format? memory_format=None, dtype? dtype=None, "
        "layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False | Tensor input, "
        "*, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False",
    "randperm": "SymInt n, *, Generator? generator, Tensor out=None, dtype? dtype=None, layout? layout=None, device? "
        "device=None, bool? pin_memory=False, bool requires_grad=False | SymInt n, *, Tensor out=None, dtype? "
        "dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool requires_grad=False",
    "ravel": "Tensor input",
    "real": "Tensor input",
    "reciprocal": "Tensor input, *, Tensor? out=None",
    "reciprocal_": "Tensor input",
    "relu": "Tensor input",
    "relu6": "Tensor input",
    "relu6_": "Tensor input",
    "relu_": "Tensor input",
    "remainder": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other | Tensor input, Scalar "
        "other, *, Tensor out=None",
    "renorm": "Tensor input, Scalar p, int dim, Scalar maxnorm, *, Tensor? out=None",
    "repeat_interleave": "Tensor input, Tensor repeats, int? dim=None, *, SymInt? output_size=None | Tensor repeats, "
        "*, SymInt? output_size=None | Tensor input, SymInt repeats, int? dim=None, *, SymInt? output_size=None",
    "reshape": "Tensor input, int[] shape",
    "resize_as_": "Tensor input, Tensor the_template, *, memory_format? memory_format=None",
    "resolve_conj": "Tensor input",
    "resolve_neg": "Tensor input",
    "rms_norm": "Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None",
    "rnn_relu": "Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
        "dropout, bool train, bool bidirectional | Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
        "num_layers, float dropout, bool train, bool bidirectional, bool batch_first",
    "rnn_relu_cell": "Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None",
    "rnn_tanh": "Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
        "dropout, bool train, bool bidirectional | Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
        "num_layers, float dropout, bool train, bool bidirectional, bool batch_first",
    "rnn_tanh_cell": "Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None",
    "roll": "Tensor input, int[1] shifts, int[1] dims=None",
    "rot90": "Tensor input, int k=1, int[] dims=(0,1)",
    "round": "Tensor input, *, Tensor out=None | Tensor input, *, int decimals, Tensor out=None",
    "round_": "Tensor input | Tensor input, *, int decimals",
    "row_stack": "Tensor[] tensors, *, Tensor? out=None",
    "rrelu": "Tensor input, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? "
        "generator=None",
    "rrelu_": "Tensor input, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? "
        "generator=None",
    "rsqrt": "Tensor input, *, Tensor? out=None",
    "rsqrt_": "Tensor input",
    "rsub": "Tensor input, Tensor other, *, Scalar alpha=1 | Tensor input, Scalar other, Scalar alpha=1",
    "scalar_tensor": "Scalar s, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False",
    "scaled_dot_product_attention": "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
        "dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False",
    "scatter": "Tensor input, int dim, Tensor index, Tensor src, *, Tensor out=None | Tensor input, int dim, Tensor "
        "index, Tensor src, *, str reduce, Tensor out=None | Tensor input, int dim, Tensor index, Scalar value, *, "
        "Tensor out=None | Tensor input, int dim, Tensor index, Scalar value, *, str reduce, Tensor out=None",
    "scatter_add": "Tensor input, int dim, Tensor index, Tensor src, *, Tensor? out=None",
    "scatter_reduce": "Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, "
        "Tensor? out=None",
    "searchsorted": "Tensor sorted_sequence, Tensor input, *, bool out_int32=False, bool right=False, str? "
        "side=None, Tensor? sorter=None, Tensor out=None | Tensor sorted_sequence, Scalar self, *, bool "
        "out_int32=False, bool right=False, str? side=None, Tensor? sorter=None, Tensor out=None",
    "segment_reduce": "Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, "
        "int axis=0, bool unsafe=False, Scalar? initial=None",
    "select": "Tensor input, int dim, SymInt index",
    "select_copy": "Tensor input, int dim, SymInt index, *, Tensor? out=None",
    "select_scatter": "Tensor input, Tensor src, int dim, SymInt index",
    "selu": "Tensor input",
    "selu_": "Tensor input",
    "sgn": "Tensor input, *, Tensor? out=None",
    "sigmoid": "Tensor input, *, Tensor? out=None",
    "sigmoid_": "Tensor input",
    "sign": "Tensor input, *, Tensor? out=None",
    "signbit": "Tensor input, *, Tensor? out=None",
    "silu": "Tensor input",
    "silu_": "Tensor input",
    "sin": "Tensor input, *, Tensor? out=None",
    "sin_": "Tensor input",
    "sinc": "Tensor input, *, Tensor? out=None",
    "sinc_": "Tensor input",
    "sinh": "Tensor input, *, Tensor? out=None",
    "sinh_": "Tensor input",
    "slice_copy": "Tensor input, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor? out=None",
    "slice_scatter": "Tensor input, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, "
        "Tensor? out=None",
    "slogdet": "Tensor input, *, Tensor[2]? out=None",
    "smooth_l1_loss": "Tensor input, Tensor target, int reduction=1, float beta=1.0",
    "soft_margin_loss": "Tensor input, Tensor target, int reduction=1",
    "softmax": "Tensor input, int dim, dtype? dtype=None, *, Tensor? out=None",
    "softplus": "Tensor input, Scalar beta=1, Scalar threshold=20, *, Tensor? out=None",
    "softshrink": "Tensor input, Scalar lambd=0.5, *, Tensor? out=None",
    "sort": "Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensor[] out=None | Tensor input, int "
        "dim=-1, bool descending=False, *, Tensor[] out=None",
    "special_airy_ai": "Tensor x, *, Tensor? out=None",
    "special_bessel_j0": "Tensor input, *, Tensor? out=None",
    "special_bessel_j1": "Tensor input, *, Tensor? out=None",
    "special_bessel_y0": "Tensor input, *, Tensor? out=None",
    "special_bessel_y1": "Tensor input, *, Tensor? out=None",
    "special_chebyshev_polynomial_t": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor "
        "out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_chebyshev_polynomial_u": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor "
        "out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_chebyshev_polynomial_v": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor "
        "out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_chebyshev_polynomial_w": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor "
        "out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_digamma": "Tensor input, *, Tensor? out=None",
    "special_entr": "Tensor input, *, Tensor? out=None",
    "special_erf": "Tensor input, *, Tensor? out=None",
    "special_erfc": "Tensor input, *, Tensor? out=None",
    "special_erfcx": "Tensor input, *, Tensor? out=None",
    "special_erfinv": "Tensor input, *, Tensor? out=None",
    "special_exp2": "Tensor input, *, Tensor? out=None",
    "special_expit": "Tensor input, *, Tensor? out=None",
    "special_expm1": "Tensor input, *, Tensor? out=None",
    "special_gammainc": "Tensor input, Tensor other, *, Tensor? out=None",
    "special_gammaincc": "Tensor input, Tensor other, *, Tensor? out=None",
    "special_gammaln": "Tensor input, *, Tensor? out=None",
    "special_hermite_polynomial_h": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor out=None "
        "| Tensor x, Scalar n, *, Tensor out=None",
    "special_hermite_polynomial_he": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor "
        "out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_i0": "Tensor input, *, Tensor? out=None",
    "special_i0e": "Tensor input, *, Tensor? out=None",
    "special_i1": "Tensor input, *, Tensor? out=None",
    "special_i1e": "Tensor input, *, Tensor? out=None",
    "special_laguerre_polynomial_l": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor "
        "out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_legendre_polynomial_p": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, Tensor "
        "out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_log1p": "Tensor input, *, Tensor? out=None",
    "special_log_ndtr": "Tensor input, *, Tensor? out=None",
    "special_log_softmax": "Tensor input, int dim, *, dtype? dtype=None",
    "special_logit": "Tensor input, float? eps=None, *, Tensor? out=None",
    "special_logsumexp": "Tensor input, int[1] dim, bool keepdim=False, *, Tensor? out=None",
    "special_modified_bessel_i0": "Tensor input, *, Tensor? out=None",
    "special_modified_bessel_i1": "Tensor input, *, Tensor? out=None",
    "special_modified_bessel_k0": "Tensor input, *, Tensor? out=None",
    "special_modified_bessel_k1": "Tensor input, *, Tensor? out=None",
    "special_multigammaln": "Tensor input, int p, *, Tensor? out=None",
    "special_ndtr": "Tensor input, *, Tensor? out=None",
    "special_ndtri": "Tensor input, *, Tensor? out=None",
    "special_polygamma": "int n, Tensor input, *, Tensor? out=None",
    "special_psi": "Tensor input, *, Tensor? out=None",
    "special_round": "Tensor input, *, int decimals=0, Tensor? out=None",
    "special_scaled_modified_bessel_k0": "Tensor x, *, Tensor? out=None",
    "special_scaled_modified_bessel_k1": "Tensor x, *, Tensor? out=None",
    "special_shifted_chebyshev_polynomial_t": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, "
        "Tensor out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_shifted_chebyshev_polynomial_u": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, "
        "Tensor out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_shifted_chebyshev_polynomial_v": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, "
        "Tensor out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_shifted_chebyshev_polynomial_w": "Tensor x, Tensor n, *, Tensor out=None | Scalar x, Tensor n, *, "
        "Tensor out=None | Tensor x, Scalar n, *, Tensor out=None",
    "special_sinc": "Tensor input, *, Tensor? out=None",
    "special_softmax": "Tensor input, int dim, dtype? dtype=None",
    "special_spherical_bessel_j0": "Tensor x, *, Tensor? out=None",
    "special_xlog1py": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other, *, Tensor "
        "out=None | Tensor input, Scalar other, *, Tensor out=None",
    "special_xlogy": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other, *, Tensor out=None "
        "| Tensor input, Scalar other, *, Tensor out=None",
    "special_zeta": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other, *, Tensor out=None "
        "| Tensor input, Scalar other, *, Tensor out=None",
    "split_copy": "Tensor input, SymInt split_size, int dim=0, *, Tensor[]? out=None",
    "split_with_sizes": "Tensor input, int[] split_sizes, int dim=0",
    "split_with_sizes_copy": "Tensor input, int[] split_sizes, int dim=0, *, Tensor[]? out=None",
    "sqrt": "Tensor input, *, Tensor? out=None",
    "sqrt_": "Tensor input",
    "square": "Tensor input, *, Tensor? out=None",
    "square_": "Tensor input",
    "squeeze": "Tensor input | Tensor input, int dim | Tensor input, int[] dim",
    "squeeze_copy": "Tensor input, *, Tensor out=None | Tensor input, int dim, *, Tensor out=None | Tensor input, "
        "int[] dim, *, Tensor out=None",
    "stack": "Tensor[] tensors, int dim=0, *, Tensor? out=None",
    "std": "Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor out=None | Tensor input, "
        "int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor out=None | Tensor input, bool "
        "unbiased=True",
    "std_mean": "Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False | Tensor input, int[1]? dim=None, "
        "*, Scalar? correction=None, bool keepdim=False | Tensor input, bool unbiased=True",
    "sub": "Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None",
    "subtract": "Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None | Tensor input, Scalar other, Scalar "
        "alpha=1",
    "sum": "Tensor input, *, dtype? dtype=None | Tensor input, int[1]? dim, bool keepdim=False, *, dtype? "
        "dtype=None, Tensor out=None",
    "svd": "Tensor input, bool some=True, bool compute_uv=True, *, Tensor[3]? out=None",
    "swapaxes": "Tensor input, int axis0, int axis1",
    "swapdims": "Tensor input, int dim0, int dim1",
    "t": "Tensor input",
    "t_copy": "Tensor input, *, Tensor? out=None",
    "take": "Tensor input, Tensor index, *, Tensor? out=None",
    "take_along_dim": "Tensor input, Tensor indices, int? dim=None, *, Tensor? out=None",
    "tan": "Tensor input, *, Tensor? out=None",
    "tan_": "Tensor input",
    "tanh": "Tensor input, *, Tensor? out=None",
    "tanh_": "Tensor input",
    "tensor_split": "Tensor input, int[] indices, int dim=0 | Tensor input, Tensor tensor_indices_or_sections, int "
        "dim=0 | Tensor input, SymInt sections, int dim=0",
    "threshold": "Tensor input, Scalar threshold, Scalar value, *, Tensor? out=None",
    "threshold_": "Tensor input, Scalar threshold, Scalar value",
    "tile": "Tensor input, int[] dims",
    "topk": "Tensor input, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor[2]? out=None",
    "trace": "Tensor input",
    "transpose": "Tensor input, int dim0, int dim1",
    "transpose_copy": "Tensor input, int dim0, int dim1, *, Tensor? out=None",
    "trapezoid": "Tensor y, Tensor x, *, int dim=-1 | Tensor y, *, Scalar dx=1, int dim=-1",
    "trapz": "Tensor y, *, float dx=1, int dim=-1 | Tensor y, Tensor x, *, int dim=-1",
    "triangular_solve": "Tensor input, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False, *, "
        "Tensor[2]? out=None",
    "tril": "Tensor input, SymInt diagonal=0, *, Tensor? out=None",
    "tril_indices": "int row, int col, int offset=0, *, dtype? dtype=None, layout? layout=None, device? device=None, "
        "bool? pin_memory=False, bool requires_grad=False",
    "triplet_margin_loss": "Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float "
        "eps=1e-06, bool swap=False, int reduction=1",
    "triu": "Tensor input, SymInt diagonal=0, *, Tensor? out=None",
    "triu_indices": "int row, int col, int offset=0, *, dtype? dtype=None, layout? layout=None, device? device=None, "
        "bool? pin_memory=False, bool requires_grad=False",
    "true_divide": "Tensor input, Tensor other, *, Tensor out=None | Tensor input, Scalar other",
    "trunc": "Tensor input, *, Tensor? out=None",
    "trunc_": "Tensor input",
    "unbind": "Tensor input, int dim=0",
    "unbind_copy": "Tensor input, int dim=0, *, Tensor[]? out=None",
    "unflatten": "Tensor input, int dim, int[] sizes",
    "unfold_copy": "Tensor input, int dimension, int size, int step, *, Tensor? out=None",
    "unsafe_chunk": "Tensor input, int chunks, int dim=0",
    "unsafe_split": "Tensor input, SymInt split_size, int dim=0",
    "unsafe_split_with_sizes": "Tensor input, int[] split_sizes, int dim=0",
    "unsqueeze": "Tensor input, int dim",
    "unsqueeze_copy": "Tensor input, int dim, *, Tensor? out=None",
    "vander": "Tensor x, int? N=None, bool increasing=False",
    "var": "Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor out=None | Tensor input, "
        "int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor out=None | Tensor input, bool "
        "unbiased=True",
    "var_mean": "Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False | Tensor input, int[1]? dim=None, "
        "*, Scalar? correction=None, bool keepdim=False | Tensor input, bool unbiased=True",
    "vdot": "Tensor input, Tensor other, *, Tensor? out=None",
    "view_as_complex": "Tensor input",
    "view_as_complex_copy": "Tensor input, *, Tensor? out=None",
    "view_as_real": "Tensor input",
    "view_as_real_copy": "Tensor input, *, Tensor? out=None",
    "view_copy": "Tensor input, dtype dtype, *, Tensor out=None | Tensor input, int[] size, *, Tensor out=None",
    "vsplit": "Tensor input, int sections | Tensor input, int[] indices",
    "vstack": "Tensor[] tensors, *, Tensor? out=None",
    "where": "Tensor condition | Tensor condition, Tensor input, Tensor other, *, Tensor out=None | Tensor "
        "condition, Scalar self, Tensor other | Tensor condition, Tensor input, Scalar other | Tensor condition, "
        "Scalar self, Scalar other",
    "xlogy": "Tensor input, Tensor other, *, Tensor out=None | Scalar self, Tensor other, *, Tensor out=None | "
        "Tensor input, Scalar other, *, Tensor out=None",
    "xlogy_": "Tensor input, Tensor other | Tensor input, Scalar other",
    "zero_": "Tensor input",
    "zeros": "int[] size, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, "
        "bool requires_grad=False, Tensor? out=None",
    "zeros_like": "Tensor input, *, memory_format? memory_format=None, dtype? dtype=None, layout? layout=None, "
        "device? device=None, bool? pin_memory=False, bool requires_grad=False",
}
METHODS = {
    "_is_zerotensor": "",
    "_neg_view": "",
    "absolute_": "",
    "add_": "Tensor other, *, Scalar alpha=1",
    "addbmm_": "Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1",
    "addcdiv_": "Tensor tensor1, Tensor tensor2, *, Scalar value=1",
    "addcmul_": "Tensor tensor1, Tensor tensor2, *, Scalar value=1",
    "addmm": "Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1",
    "addmm_": "Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1",
    "addr_": "Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1",
    "arctan2_": "Tensor other",
    "atan2_": "Tensor other",
    "baddbmm": "Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1",
    "baddbmm_": "Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1",
    "bernoulli_": "Tensor p, *, Generator? generator=None | float p=0.5, *, Generator? generator=None",
    "bfloat16": "*, memory_format? memory_format=None",
    "bitwise_and_": "Tensor other | Scalar other",
    "bitwise_left_shift_": "Tensor other | Scalar other",
    "bitwise_not_": "",
    "bitwise_or_": "Tensor other | Scalar other",
    "bitwise_right_shift_": "Tensor other | Scalar other",
    "bitwise_xor_": "Tensor other | Scalar other",
    "bmm": "Tensor mat2",
    "bool": "*, memory_format? memory_format=None",
    "byte": "*, memory_format? memory_format=None",
    "cauchy_": "float median=0.0, float sigma=1.0, *, Generator? generator=None",
    "char": "*, memory_format? memory_format=None",
    "contiguous": "*, memory_format memory_format=0",
    "copy_": "Tensor other, bool non_blocking=False",
    "copysign_": "Tensor other | Scalar other",
    "cpu": "",
    "cuda": "device device=None, bool non_blocking=False, *, memory_format memory_format=None",
    "cumprod_": "int dim, *, dtype? dtype=None",
    "cumsum_": "int dim, *, dtype? dtype=None",
    "digamma_": "",
    "div_": "Tensor other | Tensor other, *, str? rounding_mode | Scalar other, *, str? rounding_mode",
    "divide_": "Tensor other | Tensor other, *, str? rounding_mode | Scalar other | Scalar other, *, str? "
        "rounding_mode",
    "double": "*, memory_format? memory_format=None",
    "eq_": "Tensor other | Scalar other",
    "erfinv_": "",
    "expand": "int[] size, *, bool implicit=False",
    "expand_as": "Tensor other",
    "exponential_": "float lambd=1.0, *, Generator? generator=None",
    "fill_diagonal_": "Scalar fill_value, bool wrap=False",
    "float": "*, memory_format? memory_format=None",
    "float_power_": "Tensor exponent | Scalar exponent",
    "floor_divide_": "Tensor other | Scalar other",
    "fmod_": "Tensor other | Scalar other",
    "ge_": "Tensor other | Scalar other",
    "geometric_": "float p, *, Generator? generator=None",
    "greater_": "Tensor other | Scalar other",
    "greater_equal_": "Tensor other | Scalar other",
    "gt_": "Tensor other | Scalar other",
    "half": "*, memory_format? memory_format=None",
    "heaviside_": "Tensor values",
    "hypot_": "Tensor other",
    "igamma_": "Tensor other",
    "igammac_": "Tensor other",
    "index_add_": "int dim, Tensor index, Tensor source, *, Scalar alpha=1",
    "index_copy_": "int dim, Tensor index, Tensor source",
    "index_fill_": "int dim, Tensor index, Tensor value | int dim, Tensor index, Scalar value",
    "index_reduce_": "int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True",
    "int": "*, memory_format? memory_format=None",
    "is_distributed": "",
    "is_set_to": "Tensor tensor",
    "le_": "Tensor other | Scalar other",
    "lerp_": "Tensor end, Tensor weight | Tensor end, Scalar weight",
    "less_": "Tensor other | Scalar other",
    "less_equal_": "Tensor other | Scalar other",
    "lgamma_": "",
    "log_normal_": "float mean=1.0, float std=2.0, *, Generator? generator=None",
    "logical_and_": "Tensor other",
    "logical_not_": "",
    "logical_or_": "Tensor other",
    "logical_xor_": "Tensor other",
    "long": "*, memory_format? memory_format=None",
    "lt_": "Tensor other | Scalar other",
    "masked_fill_": "Tensor mask, Tensor value | Tensor mask, Scalar value",
    "masked_scatter_": "Tensor mask, Tensor source",
    "mm": "Tensor mat2",
    "multiply_": "Tensor other | Scalar other",
    "mvlgamma_": "int p",
    "ne_": "Tensor other | Scalar other",
    "new": "*, device device=None | torch.Storage storage | Tensor other | int[] size, *, device device=None | "
        "object data, *, device device=None",
    "new_empty": "int[] size, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False",
    "new_empty_strided": "int[] size, int[] stride, *, dtype? dtype=None, layout? layout=None, device? device=None, "
        "bool? pin_memory=False, bool requires_grad=False",
    "new_full": "int[] size, Scalar fill_value, *, dtype? dtype=None, layout? layout=None, device? device=None, "
        "bool? pin_memory=False, bool requires_grad=False",
    "new_ones": "int[] size, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, "
        "bool requires_grad=False",
    "new_zeros": "int[] size, *, dtype? dtype=None, layout? layout=None, device? device=None, bool? "
        "pin_memory=False, bool requires_grad=False",
    "nextafter_": "Tensor other",
    "normal_": "float mean=0.0, float std=1.0, *, Generator? generator=None",
    "not_equal_": "Tensor other | Scalar other",
    "pin_memory": "device? device=None",
    "polygamma": "int n",
    "polygamma_": "int n",
    "pow_": "Tensor exponent | Scalar exponent",
    "put_": "Tensor index, Tensor source, bool accumulate=False",
    "random_": "*, Generator? generator=None | int from, int? to, *, Generator? generator=None | int to, *, "
        "Generator? generator=None",
    "remainder_": "Tensor other | Scalar other",
    "renorm_": "Scalar p, int dim, Scalar maxnorm",
    "repeat": "int[] repeats",
    "reshape_as": "Tensor other",
    "resize_": "int[] size, *, memory_format? memory_format=None",
    "scatter_": "int dim, Tensor index, Tensor src | int dim, Tensor index, Tensor src, *, str reduce | int dim, "
        "Tensor index, Scalar value | int dim, Tensor index, Scalar value, *, str reduce",
    "scatter_add_": "int dim, Tensor index, Tensor src",
    "scatter_reduce_": "int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True",
    "set_": " | torch.Storage source | torch.Storage source, int storage_offset, int[] size, int[] stride=None | "
        "Tensor source | Tensor source, SymInt storage_offset, int[] size, int[] stride=None",
    "sgn_": "",
    "short": "*, memory_format? memory_format=None",
    "sign_": "",
    "squeeze_": " | int dim | int[] dim",
    "storage_offset": "",
    "stride": "",
    "sub_": "Tensor other, *, Scalar alpha=1",
    "subtract_": "Tensor other, *, Scalar alpha=1 | Scalar other, Scalar alpha=1",
    "sum_to_size": "int[] size",
    "swapaxes_": "int axis0, int axis1",
    "swapdims_": "int dim0, int dim1",
    "t_": "",
    "to": "device device=None, dtype dtype=None, bool non_blocking=False, bool copy=False, *, memory_format? "
        "memory_format=None | dtype dtype, bool non_blocking=False, bool copy=False, *, memory_format? "
        "memory_format=None | Tensor tensor, bool non_blocking=False, bool copy=False, *, memory_format "
        "memory_format=None",
    "to_dense": "dtype? dtype=None, *, bool? masked_grad=None",
    "transpose_": "int dim0, int dim1",
    "tril_": "SymInt diagonal=0",
    "triu_": "SymInt diagonal=0",
    "true_divide_": "Tensor other | Scalar other",
    "type": "object dtype=None, bool non_blocking=False, *, memory_format memory_format=None",
    "type_as": "Tensor other",
    "unfold": "int dimension, int size, int step",
    "uniform_": "float from=0.0, float to=1.0, *, Generator? generator=None",
    "unsqueeze_": "int dim",
    "view": "dtype dtype | int[] size",
    "view_as": "Tensor other",
    "where": "Tensor condition, Tensor other | Tensor condition, Scalar other",
}
