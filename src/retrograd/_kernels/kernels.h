/* Every kernel of `_nn`, by name; __init__.py says what each takes and gives. */
#define KERNELS(_)                                                                                   \
    _(adam) _(sgd) _(rmsprop) _(squares) _(scale)                                                    \
    _(relu) _(relu_grad) _(sigmoid) _(sigmoid_grad) _(tanh_grad) _(silu) _(silu_grad) _(gelu) _(gelu_grad) \
    _(softmax) _(safe_softmax) _(softmax_grad) _(log_softmax) _(log_softmax_grad) _(nll) _(nll_grad) _(mse_grad)      \
    _(layer_norm) _(layer_norm_grad) _(rms_norm)                                                      \
    _(add_bias) _(matmul) _(linear) _(linear_grad) _(multiply) _(multiply_into) _(gram) _(mirror) _(ghost) _(token_sums) _(row_norms) _(add_rows) _(lstm) _(lstm_grad) _(sum_around) _(attention) _(attention_grad) _(vectors) \
    _(convolve) _(convolve_x) _(convolve_w) _(threads) \
    _(max_pool) _(place_at) _(window_sums) _(spread_sums) \
    _(uniform) _(keep) _(integers) _(permute) _(pick) _(poisson) _(gammas) _(binomials) \
    _(normal_groups) _(normal_pairs) _(move) _(libm) _(arange) _(linspace) _(powers) \
    _(blocks_start) _(blocks_stop) _(blocks_stats) _(blocks_clear) _(stats) _(same)

/* Along dims and at indices: scans.c, moves.c. */
#define MOVES(_) \
    _(cumsum) _(cumprod) _(logcumsumexp) _(cummax) _(cummin) _(product) _(flip) _(choose) _(triangle) _(bounds) _(gather) _(scatter) \
    _(channel_stats) _(channel_affine) _(halves) _(slices) _(masked_scatter) _(prelu) _(max_pool3) \
    _(roll) _(one_hot) _(extreme) _(logsumexp) _(distances) _(inverses) _(kth) _(middle) _(first)

/* Element by element: apply.h. */
#define POINTWISE(_) \
    _(erf) _(erfc) _(erfcx) _(log_ndtr) _(erfinv) _(ndtri) _(lgamma) _(digamma) _(trigamma)   \
    _(i0) _(i0e) _(i1) _(i1e) \
    _(clamp) _(leaky) _(threshold) _(hard_shrink) _(soft_shrink) _(hard_sigmoid) _(hard_swish) _(sign) \
    _(angle) _(nan_to_num) _(lerp) _(lerp_into) _(blend) _(add_scaled) _(add_scaled_into) _(add_product) \
    _(add_quotient) _(smooth_l1) _(huber) _(elu) \
    _(softplus) _(log_sigmoid) _(rsqrt) _(mish) _(entropy) _(xlogy) _(xlog1py) _(logaddexp) _(logaddexp2) \
    _(hypot) _(frac) _(igamma) _(igammac) _(fmod) _(remainder) _(floor_divide) _(complex_times) _(complex_over) \
    _(complex_blend) _(complex_add_product) _(complex_products)

#define DECLARE(name) PyObject *kernel_##name(PyObject *module, PyObject *const *args, Py_ssize_t count);
KERNELS(DECLARE)
POINTWISE(DECLARE)
MOVES(DECLARE)
#undef DECLARE
#define KERNEL(name, wanted)                                                                   \
    PyObject *kernel_##name(PyObject *module, PyObject *const *args, Py_ssize_t count) {       \
        if (!expect(count, wanted, #name)) return NULL;                                        \
        (void)module;
#define END }

/* Loops over elements that plan.c takes from activation.c: relu sigmoid; relu_grad sigmoid_grad tanh_grad. */
typedef void (*OneLoop)(const void *, void *, npy_intp);
typedef void (*TwoLoop)(const void *, const void *, void *, npy_intp);
OneLoop loop_one(int which, int type);
TwoLoop loop_two(int which, int type);

/* Products that plan.c takes from product.c: a (n, m) b (m, p), strides in bytes, and a bias (p,) where that is not NULL. */
#define SMALL 2048 /* multiplications up to which a plain loop beats the 0.9 us of a NumPy matmul call */
typedef struct {
    npy_intp n, m, p, a0, a1, b0, b1;
} Small;
void small_product(int type, const Small *o, const char *a, const char *b, const char *bias, char *y);

PyTypeObject *program_type(void);       /* plan.c; NULL with an error set */
PyTypeObject *guards_type(void);        /* guards.c */
int verify_types(PyObject *module);        /* verify.c; -1 with an error set */
