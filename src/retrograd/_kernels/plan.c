/* What torch.compile replays: a list of steps over slots that hold arrays.

   A step is a call of a Python function with arrays, or a run: operations on elements, all of one type and count, executed
   block by block, so that what one operation gives the next is in the cache; or a list of operations on few elements each,
   of any types and counts, most of whose results lie in memory of the program's.  `_compile/code.py` makes the steps; everything
   in them is checked here when a Program is made, every array of a slot when it is used. */

#include "kernel.h"
#include "kernels.h"
#include <numpy/ufuncobject.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off") /* each operation rounds, as it does alone */
#endif

enum { BLOCK = 512 };                           /* elements: a dozen registers of float32 in the first cache */
enum { ADD, SUB, MUL, DIV, UFUNC, RELU, SIGMOID, RELU_GRAD, SIGMOID_GRAD, TANH_GRAD, FILL, MUL_ADD, ADD_MUL, COPY, SUM, PRODUCT, OPS };
enum { ARRAY_OF, ONE_OF, NUMBER, SCRATCH, OUT, KINDS };
enum { CALL, RUN, LIST, STEPS };
enum { OURS, NUMBERS, BASES };                  /* the first bases of a list: the program's memory, numbers */

typedef struct {
    int kind;
    npy_intp slot;                              /* or which scratch register */
    double number;
    float single;
    int type, ndim;                             /* of a list's */
    npy_intp size, count, *dims;
} Operand;

typedef struct {
    int op, a, b, c, y;                         /* numbers of operands; b and c -1 where there is none */
    PyUFuncGenericFunction loop;
    void *data;
    OneLoop one;
    TwoLoop two;
} Micro;

/* An operation of a list: its operands are (base, bytes behind it). */
typedef struct {
    Micro m;                                    /* a, b, c, y: numbers of bases */
    int type, one_a, one_b;
    npy_intp n, a, b, c, y;
    Small product;
} Tiny;

typedef struct {
    int kind;
    int fixed;                                  /* writes what users see */
    npy_intp *drops, drop_count;                /* slots that nobody reads after it */
    PyObject *quick, *fn;                       /* quick may give None: then fn is called */
    npy_intp *args, arg_count, *outs, out_count;
    int type, ndim, scratch;
    npy_intp n, dims[NPY_MAXDIMS];
    Operand *operands;
    npy_intp operand_count;
    Micro *ops;
    npy_intp op_count, work;                    /* work: elements that a list makes */
    Tiny *tiny;
    double *numbers;                            /* of a list: each of its type, at eight bytes */
    npy_intp number_count;
} Step;

typedef struct {
    PyObject_HEAD
    PyObject *constants;                        /* tuple: what is in the slots at the start; Py_None nothing */
    npy_intp *fill, fill_count, *results, result_count;
    Step *steps;
    npy_intp step_count, slot_count;
    npy_intp room;                              /* bytes of `ours`, aligned within `made` */
    char *ours, *made;
    PyObject *keep;                             /* the list of steps: ufuncs live as long */
    int busy, wrote;                            /* wrote: how many calls that write what users see it had come to */
} Program;

/* -- making one */

static int bad(const char *what) {
    PyErr_Format(PyExc_ValueError, "Program: %s", what);
    return 0;
}

/* The ints of a tuple, each in 0..below-1. */
static int indices(PyObject *x, npy_intp below, npy_intp **found, npy_intp *count) {
    if (!PyTuple_CheckExact(x)) return bad("expected a tuple of slots");
    const Py_ssize_t n = PyTuple_GET_SIZE(x);
    *found = PyMem_Calloc(n ? n : 1, sizeof(npy_intp));
    if (*found == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    *count = n;
    for (Py_ssize_t i = 0; i < n; i++) {
        npy_intp value;
        if (!whole(PyTuple_GET_ITEM(x, i), &value) || value < 0 || value >= below) return bad("no such slot");
        (*found)[i] = value;
    }
    return 1;
}

static int make_call(Step *s, PyObject *given, npy_intp slots) {
    if (PyTuple_GET_SIZE(given) != 6) return bad("a call has six parts");
    s->quick = PyTuple_GET_ITEM(given, 1) == Py_None ? NULL : PyTuple_GET_ITEM(given, 1);
    s->fn = PyTuple_GET_ITEM(given, 2);
    s->fixed = PyObject_IsTrue(PyTuple_GET_ITEM(given, 5));
    return indices(PyTuple_GET_ITEM(given, 3), slots, &s->args, &s->arg_count)
        && indices(PyTuple_GET_ITEM(given, 4), slots, &s->outs, &s->out_count);
}

/* The ufunc's loop from `given` arrays of the type to another one. */
static int find_loop(Micro *m, PyObject *x, int type, int given) {
    if (!PyObject_HasAttrString(x, "ntypes") || strcmp(Py_TYPE(x)->tp_name, "numpy.ufunc") != 0) return bad("expected a ufunc");
    PyUFuncObject *ufunc = (PyUFuncObject *)x;
    if (ufunc->nargs != given + 1 || ufunc->functions == NULL || ufunc->types == NULL) return bad("a ufunc without loops");
    for (int k = 0; k < ufunc->ntypes; k++) {
        int all = 1;
        for (int i = 0; i <= given; i++) all = all && ufunc->types[(given + 1) * k + i] == type;
        if (!all) continue;
        m->loop = ufunc->functions[k];
        m->data = ufunc->data ? ufunc->data[k] : NULL;
        return m->loop != NULL;
    }
    return bad("a ufunc without a loop of that type");
}

static int is_type(npy_intp type) { return type == NPY_FLOAT || type == NPY_DOUBLE; }

static int takes_two(int op) { return op <= DIV || (op >= RELU_GRAD && op <= TANH_GRAD) || op == MUL_ADD || op == ADD_MUL || op == PRODUCT; }

static int find_loops(Micro *m, PyObject *ufunc, int type) {
    if ((m->op == UFUNC || m->op == SUM) && !find_loop(m, ufunc, type, m->op == SUM ? 2 : 1)) return 0;
    if (m->op == RELU || m->op == SIGMOID) m->one = loop_one(m->op - RELU, type);
    if (m->op >= RELU_GRAD && m->op <= TANH_GRAD) m->two = loop_two(m->op - RELU_GRAD, type);
    return m->op != SIGMOID || m->one != NULL || bad("no such loop");
}

static int is_one(const Operand *x) { return x->kind == ONE_OF || x->kind == NUMBER; }

/* (1, type, shape, operands, ops, scratch): operands (kind, slot or number), ops (op, a, b, y, ufunc or number of c or None) */
static int make_run(Step *s, PyObject *given, npy_intp slots) {
    npy_intp value;
    if (PyTuple_GET_SIZE(given) != 6) return bad("a run has six parts");
    if (!whole(PyTuple_GET_ITEM(given, 1), &value) || !is_type(value)) return bad("an unknown type");
    s->type = (int)value;
    PyObject *shape = PyTuple_GET_ITEM(given, 2), *operands = PyTuple_GET_ITEM(given, 3), *ops = PyTuple_GET_ITEM(given, 4);
    if (!PyTuple_CheckExact(shape) || !PyTuple_CheckExact(operands) || !PyTuple_CheckExact(ops)
        || PyTuple_GET_SIZE(shape) > NPY_MAXDIMS) return bad("expected tuples");
    s->ndim = (int)PyTuple_GET_SIZE(shape);
    size_t n = 1;
    for (int d = 0; d < s->ndim; d++) {
        if (!whole(PyTuple_GET_ITEM(shape, d), &value) || value < 0) return bad("a negative size");
        s->dims[d] = value;
        n = times(n, (size_t)value);
    }
    if (n >= TOO_MUCH / sizeof(double)) return bad("too many elements");
    s->n = (npy_intp)n;
    if (!whole(PyTuple_GET_ITEM(given, 5), &value) || value < 0 || value > 10000) return bad("too many registers");
    s->scratch = (int)value;
    s->operand_count = PyTuple_GET_SIZE(operands), s->op_count = PyTuple_GET_SIZE(ops);
    s->operands = PyMem_Calloc(s->operand_count + 1, sizeof(Operand));
    s->ops = PyMem_Calloc(s->op_count + 1, sizeof(Micro));
    if (s->operands == NULL || s->ops == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (npy_intp i = 0; i < s->operand_count; i++) {
        PyObject *x = PyTuple_GET_ITEM(operands, i);
        Operand *o = &s->operands[i];
        if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 2 || !whole(PyTuple_GET_ITEM(x, 0), &value) || value < 0
            || value >= KINDS) return bad("an unknown operand");
        o->kind = (int)value;
        if (o->kind == NUMBER) {
            o->number = PyFloat_AsDouble(PyTuple_GET_ITEM(x, 1));
            if (o->number == -1 && PyErr_Occurred()) return 0;
            o->single = (float)o->number;
        } else if (!whole(PyTuple_GET_ITEM(x, 1), &o->slot) || o->slot < 0
                   || o->slot >= (o->kind == SCRATCH ? s->scratch : slots)) return bad("no such operand");
    }
    for (npy_intp i = 0; i < s->op_count; i++) {
        PyObject *x = PyTuple_GET_ITEM(ops, i);
        Micro *m = &s->ops[i];
        npy_intp parts[4];
        if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 5) return bad("an operation has five parts");
        for (int k = 0; k < 4; k++)
            if (!whole(PyTuple_GET_ITEM(x, k), &parts[k]) || parts[k] < (k == 2 ? -1 : 0)
                || parts[k] >= (k == 0 ? OPS : s->operand_count)) return bad("no such operation");
        m->op = (int)parts[0], m->a = (int)parts[1], m->b = (int)parts[2], m->y = (int)parts[3];
        const int two = takes_two(m->op);
        npy_intp third = -1;
        if (m->op >= COPY) return bad("an operation of lists alone");
        if (m->op >= MUL_ADD && (!whole(PyTuple_GET_ITEM(x, 4), &third) || third < 0 || third >= s->operand_count
                                 || is_one(&s->operands[third]))) return bad("an operation of three arrays");
        m->c = (int)third;
        if (two != (m->b >= 0)) return bad("an operation of other operands");
        if (s->operands[m->y].kind != SCRATCH && s->operands[m->y].kind != OUT) return bad("a result has no place");
        if (m->op > DIV && m->op != FILL && (is_one(&s->operands[m->a]) || (two && is_one(&s->operands[m->b]))))
            return bad("an operation of a number");
        if (m->op == FILL && !is_one(&s->operands[m->a])) return bad("a number was expected");
        if (!find_loops(m, PyTuple_GET_ITEM(x, 4), s->type)) return 0;
    }
    return 1;
}

/* The bytes that base number `at` has. */
static npy_intp base_bytes(const Step *s, npy_intp at) {
    if (at == OURS) return (npy_intp)1 << 40;
    return at == NUMBERS ? s->number_count * (npy_intp)sizeof(double) : s->operands[at].size;
}

/* (m, p, a0, a1, b0, b1) in elements, of which a has `a`, b `b` and y n * p: their bytes, in `bytes`. */
static int read_product(Small *o, PyObject *x, npy_intp n, npy_intp size, npy_intp *bytes) {
    npy_intp parts[6];
    if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 6) return bad("a product has six parts");
    for (int k = 0; k < 6; k++)
        if (!whole(PyTuple_GET_ITEM(x, k), &parts[k]) || parts[k] < (k < 2) || parts[k] > SMALL) return bad("a product of other sizes");
    const npy_intp m = parts[0], p = parts[1];
    if (n * m * p > SMALL) return bad("a large product");
    *o = (Small){n, m, p, parts[2] * size, parts[3] * size, parts[4] * size, parts[5] * size};
    bytes[0] = (n - 1) * o->a0 + (m - 1) * o->a1 + size, bytes[1] = (m - 1) * o->b0 + (p - 1) * o->b1 + size;
    bytes[2] = p * size, bytes[3] = n * p * size;
    return 1;
}

/* (2, bases, numbers, ops): bases (kind, slot, type, shape), numbers (type, number), ops (op, type, count, which of a and b are
   single elements, base and bytes of a, b, c and y, a ufunc, what a product needs or None); b and c have base -1 where there
   is none */
static int make_list(Step *s, PyObject *given, npy_intp slots, npy_intp *room) {
    npy_intp value, type;
    if (PyTuple_GET_SIZE(given) != 4) return bad("a list has four parts");
    PyObject *bases = PyTuple_GET_ITEM(given, 1), *numbers = PyTuple_GET_ITEM(given, 2), *ops = PyTuple_GET_ITEM(given, 3);
    if (!PyTuple_CheckExact(bases) || !PyTuple_CheckExact(numbers) || !PyTuple_CheckExact(ops)) return bad("expected tuples");
    s->operand_count = BASES + PyTuple_GET_SIZE(bases), s->op_count = PyTuple_GET_SIZE(ops);
    s->number_count = PyTuple_GET_SIZE(numbers);
    s->operands = PyMem_Calloc(s->operand_count, sizeof(Operand));
    s->tiny = PyMem_Calloc(s->op_count + 1, sizeof(Tiny));
    s->numbers = PyMem_Calloc(s->number_count + 1, sizeof(double));
    if (s->operands == NULL || s->tiny == NULL || s->numbers == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (npy_intp i = 0; i < s->number_count; i++) {
        PyObject *x = PyTuple_GET_ITEM(numbers, i);
        if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 2 || !whole(PyTuple_GET_ITEM(x, 0), &type) || !is_type(type)) return bad("an unknown number");
        const double number = PyFloat_AsDouble(PyTuple_GET_ITEM(x, 1));
        if (number == -1 && PyErr_Occurred()) return 0;
        const float single = (float)number;
        memcpy(&s->numbers[i], type == NPY_FLOAT ? (const void *)&single : (const void *)&number, type == NPY_FLOAT ? sizeof single : sizeof number);
    }
    for (npy_intp i = BASES; i < s->operand_count; i++) {
        PyObject *x = PyTuple_GET_ITEM(bases, i - BASES);
        Operand *o = &s->operands[i];
        if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 4 || !whole(PyTuple_GET_ITEM(x, 0), &value) || (value != ARRAY_OF && value != OUT)
            || !whole(PyTuple_GET_ITEM(x, 1), &o->slot) || o->slot < 0 || o->slot >= slots || !whole(PyTuple_GET_ITEM(x, 2), &type)
            || !is_type(type)) return bad("an unknown base");
        o->kind = (int)value, o->type = (int)type;
        PyObject *shape = PyTuple_GET_ITEM(x, 3);
        size_t n = 1;
        if (!PyTuple_CheckExact(shape) || PyTuple_GET_SIZE(shape) > NPY_MAXDIMS) return bad("expected a shape");
        o->ndim = (int)PyTuple_GET_SIZE(shape);
        o->dims = PyMem_Calloc(o->ndim + 1, sizeof(npy_intp));
        if (o->dims == NULL) {
            PyErr_NoMemory();
            return 0;
        }
        for (int d = 0; d < o->ndim; d++) {
            if (!whole(PyTuple_GET_ITEM(shape, d), &value) || value < 0) return bad("a negative size");
            o->dims[d] = value;
            n = times(n, (size_t)value);
        }
        if (n >= TOO_MUCH / sizeof(double)) return bad("too many elements");
        o->count = (npy_intp)n;
        o->size = (npy_intp)(n * (type == NPY_FLOAT ? sizeof(float) : sizeof(double)));
    }
    for (npy_intp i = 0; i < s->op_count; i++) {
        PyObject *x = PyTuple_GET_ITEM(ops, i);
        Tiny *t = &s->tiny[i];
        npy_intp parts[12];
        if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 13) return bad("an operation has thirteen parts");
        for (int k = 0; k < 12; k++) if (!whole(PyTuple_GET_ITEM(x, k), &parts[k])) return bad("no such operation");
        const npy_intp op = parts[0], n = parts[2], ones = parts[3];
        if (op < 0 || op >= OPS || !is_type(parts[1]) || n < 1 || n > (op == SUM ? 8 * BLOCK : BLOCK) || ones < 0 || ones > 3) return bad("no such operation");
        const npy_intp size = parts[1] == NPY_FLOAT ? sizeof(float) : sizeof(double);
        t->m.op = (int)op, t->type = (int)parts[1], t->n = n, t->one_a = ones & 1, t->one_b = ones >> 1;
        if (op > DIV && ones != (op == FILL)) return bad("an operation of a number");
        npy_intp many[4] = {ones & 1 ? size : n * size, ones & 2 ? size : n * size, n * size, op == SUM ? size : n * size};
        if (op == PRODUCT && !read_product(&t->product, PyTuple_GET_ITEM(x, 12), n, size, many)) return 0;
        for (int k = 0; k < 4; k++) {
            const npy_intp at = parts[4 + 2 * k], from = parts[5 + 2 * k];
            const int wanted = k == 0 || k == 3 || (k == 1 ? takes_two((int)op) : op == MUL_ADD || op == ADD_MUL || (op == PRODUCT && at != -1));
            if (!wanted) {
                if (at != -1) return bad("an operation of other operands");
                continue;
            }
            const npy_intp bytes = many[k];
            if (at < 0 || at >= s->operand_count || from < 0 || from % size || from > ((npy_intp)1 << 39) || from + bytes > base_bytes(s, at)) return bad("no such operand");
            if (k == 3 && (at == NUMBERS || (at >= BASES && s->operands[at].kind != OUT))) return bad("a result has no place");
            if (at >= BASES && s->operands[at].type != t->type) return bad("an operand of another type");
            if (at == OURS && from + bytes > *room) *room = from + bytes;
        }
        t->m.a = (int)parts[4], t->a = parts[5], t->m.b = (int)parts[6], t->b = parts[7];
        t->m.c = (int)parts[8], t->c = parts[9], t->m.y = (int)parts[10], t->y = parts[11];
        if (t->m.b < 0) t->m.b = OURS, t->b = 0;
        if (t->m.c < 0 && op != PRODUCT) t->m.c = OURS, t->c = 0;
        if (!find_loops(&t->m, PyTuple_GET_ITEM(x, 12), t->type)) return 0;
        s->work += op == PRODUCT ? n * t->product.m * t->product.p : n;
    }
    return 1;
}

static void program_free(Program *p) {
    for (npy_intp i = 0; p->steps != NULL && i < p->step_count; i++) {
        Step *s = &p->steps[i];
        for (npy_intp k = 0; s->operands != NULL && k < s->operand_count; k++) PyMem_Free(s->operands[k].dims);
        PyMem_Free(s->drops), PyMem_Free(s->args), PyMem_Free(s->outs), PyMem_Free(s->operands), PyMem_Free(s->ops);
        PyMem_Free(s->tiny), PyMem_Free(s->numbers);
    }
    PyMem_Free(p->made);
    PyMem_Free(p->steps), PyMem_Free(p->fill), PyMem_Free(p->results);
    p->steps = NULL, p->fill = p->results = NULL;
}

static char *aligned(char *x) { return x + (64 - (uintptr_t)x % 64) % 64; }

/* Program(constants, fill, steps, drops, results) */
static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *constants, *fill, *steps, *drops, *results;
    if (!PyArg_ParseTuple(args, "O!OO!O!O", &PyTuple_Type, &constants, &fill, &PyTuple_Type, &steps, &PyTuple_Type, &drops, &results))
        return NULL;
    Program *p = (Program *)type->tp_alloc(type, 0);
    if (p == NULL) return NULL;
    p->constants = Py_NewRef(constants);
    p->keep = Py_NewRef(steps);
    p->slot_count = PyTuple_GET_SIZE(constants);
    p->step_count = PyTuple_GET_SIZE(steps);
    p->steps = PyMem_Calloc(p->step_count + 1, sizeof(Step));
    if (p->steps == NULL) PyErr_NoMemory();
    int fine = p->steps != NULL && indices(fill, p->slot_count, &p->fill, &p->fill_count)
        && indices(results, p->slot_count, &p->results, &p->result_count);
    if (fine && PyTuple_GET_SIZE(drops) != p->step_count) fine = bad("drops for each step");
    for (npy_intp i = 0; fine && i < p->step_count; i++) {
        PyObject *given = PyTuple_GET_ITEM(steps, i);
        Step *s = &p->steps[i];
        if (!PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) < 1) fine = bad("a step is a tuple");
        else {
            npy_intp kind;
            fine = (whole(PyTuple_GET_ITEM(given, 0), &kind) && kind >= 0 && kind < STEPS) || bad("an unknown step");
            s->kind = fine ? (int)kind : CALL;
            fine = fine && (kind == RUN ? make_run(s, given, p->slot_count) : kind == LIST ? make_list(s, given, p->slot_count, &p->room)
                            : make_call(s, given, p->slot_count))
                && indices(PyTuple_GET_ITEM(drops, i), p->slot_count, &s->drops, &s->drop_count);
        }
    }
    if (fine && p->room) {
        p->made = PyMem_Malloc(plus(p->room, 64));
        if (p->made == NULL) fine = PyErr_NoMemory() != NULL;
        else p->ours = aligned(p->made);
    }
    if (fine) return (PyObject *)p;
    Py_DECREF(p);
    return NULL;
}

static int program_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((Program *)self)->constants);
    Py_VISIT(((Program *)self)->keep);
    return 0;
}

static void program_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    Program *p = (Program *)self;
    program_free(p);
    Py_CLEAR(p->constants);
    Py_CLEAR(p->keep);
    Py_TYPE(self)->tp_free(self);
}

/* -- running it */

#define LOOPS(T, NAME)                                                                                                \
    CLONES static void NAME##_both(int op, const T *a, const T *b, T *y, npy_intp n) {                                \
        switch (op) {                                                                                                 \
        case ADD: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] + b[i]; break;                                    \
        case SUB: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] - b[i]; break;                                    \
        case MUL: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] * b[i]; break;                                    \
        default: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] / b[i]; break;                                     \
        }                                                                                                             \
    }                                                                                                                 \
    CLONES static void NAME##_three(int op, const T *a, const T *b, const T *c, T *y, npy_intp n) {                   \
        if (op == MUL_ADD) SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] * b[i] + c[i];                           \
        else SIMD for (npy_intp i = 0; i < n; i++) y[i] = c[i] + a[i] * b[i];                                         \
    }                                                                                                                 \
    CLONES static void NAME##_first(int op, const T *a, T b, T *y, npy_intp n) {                                      \
        switch (op) {                                                                                                 \
        case ADD: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] + b; break;                                       \
        case SUB: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] - b; break;                                       \
        case MUL: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] * b; break;                                       \
        default: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a[i] / b; break;                                        \
        }                                                                                                             \
    }                                                                                                                 \
    CLONES static void NAME##_second(int op, T a, const T *b, T *y, npy_intp n) {                                     \
        switch (op) {                                                                                                 \
        case ADD: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a + b[i]; break;                                       \
        case SUB: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a - b[i]; break;                                       \
        case MUL: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a * b[i]; break;                                       \
        default: SIMD for (npy_intp i = 0; i < n; i++) y[i] = a / b[i]; break;                                        \
        }                                                                                                             \
    }                                                                                                                 \
    static T NAME##_of(int op, T a, T b) { return op == ADD ? a + b : op == SUB ? a - b : op == MUL ? a * b : a / b; }  \
    static void NAME##_arithmetic(int op, const T *a, int one_a, const T *b, int one_b, T *y, npy_intp n) {           \
        if (one_a && one_b) {                                                                                         \
            const T value = NAME##_of(op, *a, *b);                                                                    \
            for (npy_intp i = 0; i < n; i++) y[i] = value;                                                            \
        } else if (one_b) NAME##_first(op, a, *b, y, n);                                                              \
        else if (one_a) NAME##_second(op, *a, b, y, n);                                                               \
        else if (n >= 8) NAME##_both(op, a, b, y, n);                                                                 \
        else for (npy_intp i = 0; i < n; i++) y[i] = NAME##_of(op, a[i], b[i]);                                       \
    }                                                                                                                 \
    static void NAME##_fill(const T *a, T *y, npy_intp n) {                                                           \
        for (npy_intp i = 0; i < n; i++) y[i] = *a;                                                                   \
    }

LOOPS(float, floats)
LOOPS(double, doubles)

/* An operation of a run: where its operands are, and how far they move from block to block. */
typedef struct {
    const Micro *m;
    int one_a, one_b;
    char *a, *b, *c, *y;
    npy_intp da, db, dc, dy;
} Ready;

static char *ready(const Step *s, int operand, char **base, npy_intp bytes, npy_intp *moves) {
    if (operand < 0) return NULL;
    const int kind = s->operands[operand].kind;
    *moves = kind == ARRAY_OF || kind == OUT ? bytes : 0;
    return base[operand];
}

static void blocks(const Step *s, char **base, npy_intp size, Ready *ops) {
    const npy_intp bytes = BLOCK * size, count = s->op_count;
    const int single = s->type == NPY_FLOAT;
    for (npy_intp i = 0; i < count; i++) {
        Ready *r = &ops[i];
        const Micro *m = &s->ops[i];
        *r = (Ready){.m = m, .one_a = is_one(&s->operands[m->a]), .one_b = m->b >= 0 && is_one(&s->operands[m->b])};
        r->a = ready(s, m->a, base, bytes, &r->da), r->b = ready(s, m->b, base, bytes, &r->db);
        r->c = ready(s, m->c, base, bytes, &r->dc), r->y = ready(s, m->y, base, bytes, &r->dy);
    }
    for (npy_intp from = 0; from < s->n; from += BLOCK) {
        const npy_intp n = s->n - from < BLOCK ? s->n - from : BLOCK;
        for (npy_intp i = 0; i < count; i++) {
            Ready *r = &ops[i];
            char *a = r->a, *b = r->b, *y = r->y;
            switch (r->m->op) {
            case ADD: case SUB: case MUL: case DIV:
                if (single) floats_arithmetic(r->m->op, (float *)a, r->one_a, (float *)b, r->one_b, (float *)y, n);
                else doubles_arithmetic(r->m->op, (double *)a, r->one_a, (double *)b, r->one_b, (double *)y, n);
                break;
            case UFUNC: {
                char *data[2] = {a, y};
                npy_intp steps[2] = {size, size}, many = n;
                r->m->loop(data, &many, steps, r->m->data);
                break;
            }
            case MUL_ADD: case ADD_MUL:
                if (single) floats_three(r->m->op, (float *)a, (float *)b, (float *)r->c, (float *)y, n);
                else doubles_three(r->m->op, (double *)a, (double *)b, (double *)r->c, (double *)y, n);
                break;
            case RELU: case SIGMOID: r->m->one(a, y, n); break;
            case FILL:
                if (single) floats_fill((float *)a, (float *)y, n);
                else doubles_fill((double *)a, (double *)y, n);
                break;
            default: r->m->two(a, b, y, n);
            }
            r->a += r->da, r->b += r->db, r->c += r->dc, r->y += r->dy;
        }
    }
}

/* Is x an array of that type, in C order, of n elements? */
static int holds(const Operand *o, PyObject *x, int type, npy_intp n) {
    if (x != NULL && kind_of(x) == type && PyArray_SIZE(ARRAY(x)) == n) return 1;
    PyErr_Format(PyExc_ValueError, "Program: slot %zd holds %R, a run of %zd elements takes another kind of array",
                 (Py_ssize_t)o->slot, x == NULL ? Py_None : x, (Py_ssize_t)n);
    return 0;
}

#define SMALL_OP(T, NAME)                                                                                             \
    case ADD: case SUB: case MUL: case DIV:                                                                           \
        if (n == 1) *(T *)y = NAME##_of(t->m.op, *(T *)a, *(T *)b);                                                   \
        else NAME##_arithmetic(t->m.op, (T *)a, t->one_a, (T *)b, t->one_b, (T *)y, n);                               \
        break;                                                                                                        \
    case MUL_ADD: case ADD_MUL:                                                                                       \
        if (n < 8) {                                                                                                  \
            const T *p = (T *)a, *q = (T *)b, *r = (T *)(base[t->m.c] + t->c);                                        \
            for (npy_intp k = 0; k < n; k++) ((T *)y)[k] = t->m.op == MUL_ADD ? p[k] * q[k] + r[k] : r[k] + p[k] * q[k]; \
        } else NAME##_three(t->m.op, (T *)a, (T *)b, (T *)(base[t->m.c] + t->c), (T *)y, n);                          \
        break;                                                                                                        \
    case FILL: NAME##_fill((T *)a, (T *)y, n); break;                                                                 \
    case COPY: memcpy(y, a, n * sizeof(T)); break;

static void each(const Step *s, char **base) {
    for (npy_intp i = 0; i < s->op_count; i++) {
        const Tiny *t = &s->tiny[i];
        const npy_intp n = t->n;
        char *a = base[t->m.a] + t->a, *b = base[t->m.b] + t->b, *y = base[t->m.y] + t->y;
        if (t->m.op == UFUNC) {
            const npy_intp size = t->type == NPY_FLOAT ? sizeof(float) : sizeof(double);
            char *data[2] = {a, y};
            npy_intp count = n, steps[2] = {size, size};
            t->m.loop(data, &count, steps, t->m.data);
        } else if (t->m.op == SUM) {
            npy_intp count = n, steps[3] = {0, t->type == NPY_FLOAT ? sizeof(float) : sizeof(double), 0};
            char *data[3] = {y, a, y};
            memset(y, 0, (size_t)steps[1]);
            t->m.loop(data, &count, steps, t->m.data);
        } else if (t->m.op == PRODUCT) small_product(t->type, &t->product, a, b, t->m.c < 0 ? NULL : base[t->m.c] + t->c, y);
        else if (t->m.op == RELU || t->m.op == SIGMOID) t->m.one(a, y, n);
        else if (t->m.op >= RELU_GRAD && t->m.op <= TANH_GRAD) t->m.two(a, b, y, n);
        else if (t->type == NPY_FLOAT) switch (t->m.op) { SMALL_OP(float, floats) }
        else switch (t->m.op) { SMALL_OP(double, doubles) }
    }
}

static int run_list(const Step *s, PyObject **slots, char *ours) {
    char *few[64], **base = few;
    int fine = 1;
    if (s->operand_count > 64 && (base = PyMem_Malloc(times(s->operand_count, sizeof(char *)))) == NULL) return PyErr_NoMemory() != NULL;
    base[OURS] = ours, base[NUMBERS] = (char *)s->numbers;
    for (npy_intp i = BASES; fine && i < s->operand_count; i++) {
        const Operand *o = &s->operands[i];
        if (o->kind == OUT) {
            PyObject *y = PyArray_SimpleNew(o->ndim, o->dims, o->type);
            if (y == NULL) fine = 0;
            else Py_XSETREF(slots[o->slot], y);
        } else fine = holds(o, slots[o->slot], o->type, o->count);
        if (fine) base[i] = DATA(slots[o->slot]);
    }
    if (fine) WITHOUT_GIL(s->work, each(s, base));
    if (base != few) PyMem_Free(base);
    return fine;
}

static int run_blocks(const Step *s, PyObject **slots) {
    const npy_intp size = s->type == NPY_FLOAT ? sizeof(float) : sizeof(double);
    const npy_intp width = s->n < BLOCK ? (s->n + 15) / 16 * 16 : BLOCK;
    char *few[64], here[8192 + 64], **base = few, *room = here;
    char *made = NULL, **bases = NULL;
    Ready some[64], *ops = some;
    int fine = 1;
    if (s->operand_count > 64) {
        bases = base = PyMem_Malloc(times(s->operand_count, sizeof(char *)));
        if (base == NULL) return PyErr_NoMemory() != NULL;
    }
    if ((npy_intp)times(times(s->scratch, width), size) > 8192) {
        made = room = PyMem_Malloc(plus(times(times(s->scratch, width), size), 64));
        if (room == NULL) {
            PyMem_Free(bases);
            return PyErr_NoMemory() != NULL;
        }
    }
    room = aligned(room);
    for (npy_intp i = 0; fine && i < s->operand_count; i++) {
        const Operand *o = &s->operands[i];
        if (o->kind == SCRATCH) base[i] = room + o->slot * width * size;
        else if (o->kind == NUMBER) base[i] = s->type == NPY_FLOAT ? (char *)&o->single : (char *)&o->number;
        else if (o->kind == OUT) {
            PyObject *y = PyArray_SimpleNew(s->ndim, (npy_intp *)s->dims, s->type);
            if (y == NULL) fine = 0;
            else {
                Py_XSETREF(slots[o->slot], y);
                base[i] = DATA(y);
            }
        } else {
            PyObject *x = slots[o->slot];
            fine = holds(o, x, s->type, o->kind == ONE_OF ? 1 : s->n);
            if (fine) base[i] = DATA(x);
        }
    }
    if (fine && s->op_count > 64 && (ops = PyMem_Malloc(times(s->op_count, sizeof(Ready)))) == NULL) fine = PyErr_NoMemory() != NULL;
    if (fine) WITHOUT_GIL(s->n * s->op_count, blocks(s, base, size, ops));
    if (ops != some) PyMem_Free(ops);
    PyMem_Free(made);
    PyMem_Free(bases);
    return fine;
}

static int call(const Step *s, PyObject **slots) {
    PyObject *few[16], **args = few, *got = NULL;
    if (s->arg_count > 16 && (args = PyMem_Malloc(times(s->arg_count, sizeof(PyObject *)))) == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (npy_intp i = 0; i < s->arg_count; i++) args[i] = slots[s->args[i]] == NULL ? Py_None : slots[s->args[i]];
    if (s->quick != NULL) {
        got = PyObject_Vectorcall(s->quick, args, s->arg_count, NULL);
        if (got == Py_None) Py_CLEAR(got);
        else if (got == NULL) goto done;
    }
    if (got == NULL) got = PyObject_Vectorcall(s->fn, args, s->arg_count, NULL);
    if (got == NULL) goto done;
    if (s->out_count == 1) Py_XSETREF(slots[s->outs[0]], Py_NewRef(got));
    else if (s->out_count > 1) {
        if (!PyTuple_CheckExact(got) || PyTuple_GET_SIZE(got) != s->out_count) {
            bad("a function gave another number of results");
            Py_CLEAR(got);
            goto done;
        }
        for (npy_intp i = 0; i < s->out_count; i++) Py_XSETREF(slots[s->outs[i]], Py_NewRef(PyTuple_GET_ITEM(got, i)));
    }
done:
    if (args != few) PyMem_Free(args);
    if (got == NULL) return 0;
    Py_DECREF(got);
    return 1;
}

/* run(filled) -> the results, as a list */
static PyObject *program_run(PyObject *self, PyObject *filled) {
    Program *p = (Program *)self;
    if (!PyList_CheckExact(filled) || PyList_GET_SIZE(filled) != p->fill_count) {
        bad("expected a list with what the slots are filled with");
        return NULL;
    }
    PyObject *few[256], **slots = few;
    if (p->slot_count > 256 && (slots = PyMem_Malloc(times(p->slot_count, sizeof(PyObject *)))) == NULL) return PyErr_NoMemory();
    for (npy_intp i = 0; i < p->slot_count; i++) slots[i] = Py_NewRef(PyTuple_GET_ITEM(p->constants, i));
    for (npy_intp i = 0; i < p->fill_count; i++) Py_XSETREF(slots[p->fill[i]], Py_NewRef(PyList_GET_ITEM(filled, i)));
    if (PyList_SetSlice(filled, 0, PyList_GET_SIZE(filled), NULL) < 0) PyErr_Clear(); /* each is freed after its last use */
    PyObject *results = NULL;
    int fine = 1;
    const int nested = p->busy;                 /* or another thread's: it takes memory of its own */
    char *made = nested && p->room ? PyMem_Malloc(plus(p->room, 64)) : NULL, *ours = made == NULL ? p->ours : aligned(made);
    if (nested && p->room && made == NULL) fine = PyErr_NoMemory() != NULL;
    p->wrote = 0, p->busy = 1;
    Py_INCREF(self);
    for (npy_intp i = 0; fine && i < p->step_count; i++) {
        const Step *s = &p->steps[i];
        p->wrote += s->fixed != 0;
        fine = s->kind == RUN ? run_blocks(s, slots) : s->kind == LIST ? run_list(s, slots, ours) : call(s, slots);
        for (npy_intp k = 0; k < s->drop_count; k++) Py_CLEAR(slots[s->drops[k]]);
    }
    if (fine) results = PyList_New(p->result_count);
    for (npy_intp i = 0; results != NULL && i < p->result_count; i++) {
        PyObject *x = slots[p->results[i]];
        PyList_SET_ITEM(results, i, Py_NewRef(x == NULL ? Py_None : x));
    }
    for (npy_intp i = 0; i < p->slot_count; i++) Py_XDECREF(slots[i]);
    if (slots != few) PyMem_Free(slots);
    PyMem_Free(made);
    if (!nested) p->busy = 0;
    Py_DECREF(self);
    return results;
}

/* -- what entries with effects call: Tensors through their attributes, whatever lays them out.  None: not done, Python does it. */

static PyObject *name_array, *name_version, *name_edits, *name_sink, *name_grad;

/* Count edits of the tensor's memory; -1 with an error set. */
static int edited(PyObject *t, long count) {
    PyObject *version = PyObject_GetAttr(t, name_version), *edits = NULL;
    int done = -1;
    if (version != NULL && version != Py_None && (edits = PyObject_GetAttr(version, name_edits)) != NULL) {
        PyObject *next = PyLong_FromLong(PyLong_AsLong(edits) + count);
        if (next != NULL && !PyErr_Occurred()) done = PyObject_SetAttr(version, name_edits, next);
        Py_XDECREF(next);
    } else if (version == Py_None) PyErr_SetString(PyExc_ValueError, "Program: a tensor without a version");
    Py_XDECREF(version);
    Py_XDECREF(edits);
    return done;
}

/* overwrite(t, x, count) -> t.array[...] = x, by `count` edits */
static PyObject *program_overwrite(PyObject *type, PyObject *const *args, Py_ssize_t count) {
    (void)type;
    long times;
    if (!expect(count, 3, "overwrite") || ((times = PyLong_AsLong(args[2])) == -1 && PyErr_Occurred())) return NULL;
    PyObject *to = PyObject_GetAttr(args[0], name_array);
    if (to == NULL) return NULL;
    const int kind = kind_of(to);
    if (kind < 0 || kind_of(args[1]) != kind || !same_shape(to, args[1]) || !PyArray_ISWRITEABLE(ARRAY(to)) || !apart(to, args[1])) {
        Py_DECREF(to);
        Py_RETURN_NONE;
    }
    if (edited(args[0], times) < 0) {
        PyErr_Clear();
        Py_DECREF(to);
        Py_RETURN_NONE;
    }
    memcpy(DATA(to), DATA(args[1]), PyArray_NBYTES(ARRAY(to)));
    Py_DECREF(to);
    Py_RETURN_TRUE;
}

/* give(t, x, new, cls) -> t.sink.grad = a new tensor of x */
static PyObject *program_give(PyObject *type, PyObject *const *args, Py_ssize_t count) {
    (void)type;
    if (!expect(count, 4, "give")) return NULL;
    PyObject *sink = PyObject_GetAttr(args[0], name_sink), *made = NULL, *result = NULL;
    if (sink == NULL) return NULL;
    if (sink == Py_None || !PyArray_CheckExact(args[1])) {
        Py_DECREF(sink);
        Py_RETURN_NONE;
    }
    made = PyObject_CallOneArg(args[2], args[3]);
    if (made != NULL && PyObject_SetAttr(made, name_array, args[1]) == 0 && PyObject_SetAttr(sink, name_grad, made) == 0)
        result = Py_NewRef(Py_True);
    Py_XDECREF(made);
    Py_DECREF(sink);
    return result;
}

/* turned(g, x) -> linear_grad(g, x).T, which lies as the weight does */
static PyObject *program_turned(PyObject *type, PyObject *const *args, Py_ssize_t count) {
    (void)type;
    if (!expect(count, 2, "turned")) return NULL;
    PyObject *y = kernel_linear_grad(NULL, args, 2);
    if (y == NULL || y == Py_None) return y;
    PyObject *base = PyArray_BASE(ARRAY(y)), *found = NULL;
    if (base != NULL && PyArray_CheckExact(base) && PyArray_NDIM(ARRAY(base)) == 2 && PyArray_BASE(ARRAY(base)) == NULL
        && PyArray_ISCARRAY(ARRAY(base)) && DATA(base) == DATA(y) && PyArray_DIM(ARRAY(base), 0) == PyArray_DIM(ARRAY(y), 1)
        && PyArray_DIM(ARRAY(base), 1) == PyArray_DIM(ARRAY(y), 0)) found = Py_NewRef(base);
    Py_DECREF(y);
    if (found == NULL) Py_RETURN_NONE;
    return found;
}

static int read_names(void) {
    return (name_array = PyUnicode_InternFromString("array")) != NULL && (name_version = PyUnicode_InternFromString("version")) != NULL
        && (name_edits = PyUnicode_InternFromString("edits")) != NULL && (name_sink = PyUnicode_InternFromString("sink")) != NULL
        && (name_grad = PyUnicode_InternFromString("grad")) != NULL;
}

static PyObject *program_wrote(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((Program *)self)->wrote);
}

#define STATIC(name) {#name, (PyCFunction)(void (*)(void))program_##name, METH_FASTCALL | METH_STATIC, NULL}
static PyMethodDef methods[] = {
    {"run", program_run, METH_O, "run(filled) -> results"}, STATIC(overwrite), STATIC(give), STATIC(turned), {NULL, NULL, 0, NULL}};
static PyGetSetDef fields[] = {{"wrote", program_wrote, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyTypeObject Program_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "retrograd._kernels._nn.Program",
    .tp_basicsize = sizeof(Program),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = program_new,
    .tp_dealloc = program_dealloc,
    .tp_traverse = program_traverse,
    .tp_methods = methods,
    .tp_getset = fields,
};

PyTypeObject *program_type(void) { return !read_names() || PyType_Ready(&Program_Type) < 0 ? NULL : &Program_Type; }
