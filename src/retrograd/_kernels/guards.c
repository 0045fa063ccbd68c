/* Whether what a compiled function reaches is what it was: the guards of `_compile/guards.py`, by identity.

   Guards(of, tensors, missing, size): `of` is a sequence of (kind, holder, key, what it was), `tensors` a tuple of (tensor, sink or
   None, .grad or not); the first `size` bytes of a tensor are to stay.  first(i) -> the number of the first guard from i on that
   does not hold by identity, or None: Python looks closer there.  tensors() -> do all of them hold?  What Guards.apart and others
   do: below.

   NOTE [Fields of a tensor]
   mypyc lays out a Tensor's fields behind its header; all are references or numbers.  Same bytes are the same fields, as long
   as what they refer to lives: Python keeps it.  What the bytes mean does not matter here. */

#include "kernel.h"
#include "kernels.h"

enum { IN_DICT, IN_CELL, EMPTY, ITEMS, TYPE, FUNCTION, IN_CLASS, ATTRIBUTE, TABLE, IN_DICTS, SLOW };
static const char *const KINDS[] = {"dict", "cell", "empty", "items", "type", "function", "attrs", "attr", "table", "dicts"};
static PyObject *names[SLOW];                   /* the same, as Python has them */

typedef struct {
    int kind;
    PyObject *holder, *key, *was;               /* was NULL: nothing.  TABLE, IN_DICTS, IN_CLASS: tuples of them */
    npy_intp table;                             /* -1: none */
} Guard;

/* The guards of one dict, or of one class's: while the dict's version is the same, they hold. */
typedef struct {
    PyObject *dict;
    uint64_t version, now;                      /* 0: none seen */
} Table;

typedef struct {
    PyObject *tensor, *sink;
    char *fields;
    int graded;
} Fact;

typedef struct {
    PyObject_HEAD
    PyObject *given, *facts_given, *missing;
    Guard *guards;
    npy_intp count;
    Table *tables;
    npy_intp table_count;
    Fact *facts;
    npy_intp fact_count, width;                 /* width: bytes of the fields */
    char *fields;
} Guards;

static PyObject *name_grad, *name_after, *name_hooks;

#if PY_VERSION_HEX < 0x030D0000 && !defined(Py_LIMITED_API)
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
static uint64_t version_of(PyObject *dict) { return ((PyDictObject *)dict)->ma_version_tag; }
#else
static uint64_t version_of(PyObject *dict) {
    (void)dict;
    return 0;
}
#endif

/* The dict that a guard is about, or NULL. */
static PyObject *table_of(const Guard *g) {
    switch (g->kind) {
    case IN_DICT: case TABLE: case IN_DICTS: return g->holder;
    case IN_CLASS: return ((PyTypeObject *)g->holder)->tp_dict;
    default: return NULL;
    }
}

static int wrong(const char *what) {
    PyErr_Format(PyExc_ValueError, "Guards: %s", what);
    return 0;
}

/* Has it as many keys as values? */
static int pairs(const Guard *g) {
    return PyTuple_CheckExact(g->key) && g->was != NULL && PyTuple_CheckExact(g->was) && PyTuple_GET_SIZE(g->key) == PyTuple_GET_SIZE(g->was);
}

static int all_dicts(PyObject *x) {
    if (!PyTuple_CheckExact(x)) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(x); i++) if (!PyDict_Check(PyTuple_GET_ITEM(x, i))) return 0;
    return 1;
}

static int read_guard(Guards *self, Guard *g, PyObject *x) {
    int kind = 0, plain = 0;
    if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 4 || !PyUnicode_CheckExact(PyTuple_GET_ITEM(x, 0)))
        return wrong("an unknown guard");
    while (kind < SLOW && PyTuple_GET_ITEM(x, 0) != names[kind]) kind++;
    while (kind == SLOW && plain < SLOW && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(x, 0), KINDS[plain]) != 0) plain++;
    if (kind == SLOW) kind = plain;
    g->holder = PyTuple_GET_ITEM(x, 1), g->key = PyTuple_GET_ITEM(x, 2), g->was = PyTuple_GET_ITEM(x, 3);
    PyObject *h = g->holder;
    if ((kind == TABLE && PyODict_Check(h) && PyDict_GET_SIZE(h)) || (kind == EMPTY && !all_dicts(h)) || (kind == ITEMS && !PyList_CheckExact(h)))
        kind = SLOW;                            /* Python looks */
    g->kind = kind;
    if (g->was == self->missing) g->was = NULL;
    const int fits = kind == IN_DICT ? PyDict_Check(h) : kind == IN_CELL ? PyCell_Check(h)
        : kind == ITEMS ? g->was != NULL && PyTuple_CheckExact(g->was)
        : kind == FUNCTION ? PyFunction_Check(h) && g->was != NULL && PyTuple_CheckExact(g->was) && PyTuple_GET_SIZE(g->was) == 3
        : kind == IN_CLASS ? PyType_Check(h) && pairs(g)
        : kind == TABLE || kind == IN_DICTS ? PyDict_Check(h) && pairs(g)
        : kind == ATTRIBUTE ? PyUnicode_CheckExact(g->key) : 1;
    return fits || wrong("a guard of another object");
}

static PyObject *guards_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *given, *facts, *missing;
    Py_ssize_t size = sizeof(PyObject);
    if (!PyArg_ParseTuple(args, "OO!O|n", &given, &PyTuple_Type, &facts, &missing, &size) || (given = PySequence_Tuple(given)) == NULL)
        return NULL;
    Guards *self = (Guards *)type->tp_alloc(type, 0);
    if (self == NULL) {
        Py_DECREF(given);
        return NULL;
    }
    self->given = given, self->facts_given = Py_NewRef(facts), self->missing = Py_NewRef(missing);
    self->count = PyTuple_GET_SIZE(given), self->fact_count = PyTuple_GET_SIZE(facts);
    self->guards = PyMem_Calloc(self->count + 1, sizeof(Guard));
    self->tables = PyMem_Calloc(self->count + 1, sizeof(Table));
    self->facts = PyMem_Calloc(self->fact_count + 1, sizeof(Fact));
    int fine = size >= (Py_ssize_t)sizeof(PyObject) || wrong("too few fields");
    self->width = fine ? size - (npy_intp)sizeof(PyObject) : 0;
    self->fields = PyMem_Malloc(plus(times(self->fact_count, self->width), 1));
    if (fine && (self->guards == NULL || self->tables == NULL || self->facts == NULL || self->fields == NULL)) fine = PyErr_NoMemory() != NULL;
    for (npy_intp i = 0; fine && i < self->count; i++) fine = read_guard(self, &self->guards[i], PyTuple_GET_ITEM(given, i));
    for (npy_intp i = 0; fine && i < self->count; i++) {
        PyObject *dict = table_of(&self->guards[i]);
        npy_intp k = self->table_count > 64 ? self->table_count - 64 : 0;       /* one that is listed twice is looked at twice */
        while (dict != NULL && k < self->table_count && self->tables[k].dict != dict) k++;
        self->guards[i].table = dict == NULL ? -1 : k;
        if (dict != NULL && k == self->table_count) self->tables[self->table_count++].dict = dict;
    }
    for (npy_intp i = 0; fine && i < self->fact_count; i++) {
        PyObject *x = PyTuple_GET_ITEM(facts, i);
        Fact *f = &self->facts[i];
        if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 3) {
            fine = wrong("an unknown fact");
            break;
        }
        f->tensor = PyTuple_GET_ITEM(x, 0);
        f->sink = PyTuple_GET_ITEM(x, 1) == Py_None ? NULL : PyTuple_GET_ITEM(x, 1);
        f->graded = PyTuple_GET_ITEM(x, 2) == Py_True;
        f->fields = self->fields + i * self->width;
        if (size > Py_TYPE(f->tensor)->tp_basicsize) fine = wrong("too many fields");
        else memcpy(f->fields, (char *)f->tensor + sizeof(PyObject), self->width);
    }
    if (fine) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

/* Has the dict these values at these keys? */
static int all_in(PyObject *dict, const Guard *g, PyObject *missing) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(g->key); i++) {
        PyObject *now = PyDict_GetItemWithError(dict, PyTuple_GET_ITEM(g->key, i));
        if (now == NULL) PyErr_Clear();
        if ((now == NULL ? missing : now) != PyTuple_GET_ITEM(g->was, i)) return 0;
    }
    return 1;
}

static int holds(const Guard *g, PyObject *missing) {
    PyObject *h = g->holder;
    switch (g->kind) {
    case IN_DICT: {
        PyObject *now = PyDict_GetItemWithError(h, g->key);
        if (now == NULL) PyErr_Clear();
        return now == g->was;
    }
    case IN_CELL: return PyCell_GET(h) == g->was;
    case EMPTY:
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(h); i++) if (PyDict_GET_SIZE(PyTuple_GET_ITEM(h, i))) return 0;
        return 1;
    case TABLE: {                               /* in their order */
        PyObject *key, *value;
        Py_ssize_t at = 0, i = 0;
        if (PyDict_GET_SIZE(h) != PyTuple_GET_SIZE(g->was)) return 0;
        for (; PyDict_Next(h, &at, &key, &value); i++)
            if (i >= PyTuple_GET_SIZE(g->was) || key != PyTuple_GET_ITEM(g->key, i) || value != PyTuple_GET_ITEM(g->was, i)) return 0;
        return 1;
    }
    case IN_DICTS: return all_in(h, g, missing);
    case ITEMS: {
        const Py_ssize_t n = PyList_GET_SIZE(h);
        if (n != PyTuple_GET_SIZE(g->was)) return 0;
        for (Py_ssize_t i = 0; i < n; i++) if (PyList_GET_ITEM(h, i) != PyTuple_GET_ITEM(g->was, i)) return 0;
        return 1;
    }
    case TYPE: return (PyObject *)Py_TYPE(h) == g->was;
    case FUNCTION: {
        PyFunctionObject *f = (PyFunctionObject *)h;
        PyObject *had[3] = {PyTuple_GET_ITEM(g->was, 0), PyTuple_GET_ITEM(g->was, 1), PyTuple_GET_ITEM(g->was, 2)};
        return f->func_code == had[0] && (f->func_defaults ? f->func_defaults : Py_None) == had[1]
            && (f->func_kwdefaults ? f->func_kwdefaults : Py_None) == had[2];
    }
    case IN_CLASS: return ((PyTypeObject *)h)->tp_dict != NULL && all_in(((PyTypeObject *)h)->tp_dict, g, missing);
    case ATTRIBUTE: {
        PyObject *now = PyObject_GetAttr(h, g->key);
        if (now == NULL) PyErr_Clear();
        else Py_DECREF(now);                    /* an attribute that is made at each look is no identity: Python looks closer */
        return now == g->was;
    }
    default: return 0;
    }
}

static PyObject *guards_first(PyObject *o, PyObject *from) {
    Guards *self = (Guards *)o;
    npy_intp i;
    if (!whole(from, &i) || i < 0) {
        wrong("expected a number");
        return NULL;
    }
    if (i == 0) for (npy_intp k = 0; k < self->table_count; k++) self->tables[k].now = version_of(self->tables[k].dict);
    for (; i < self->count; i++) {
        const Guard *g = &self->guards[i];
        Table *t = g->table < 0 ? NULL : &self->tables[g->table];
        if (t != NULL && t->now != 0 && t->now == t->version) continue;
        if (!holds(g, self->missing)) {
            if (t != NULL) t->now = 0;          /* Python looks at it each time */
            return PyLong_FromSsize_t(i);
        }
    }
    for (npy_intp k = 0; k < self->table_count; k++) self->tables[k].version = self->tables[k].now;
    Py_RETURN_NONE;
}

/* Is the attribute what `wanted` says: 0 anything that is false, 1 None, 2 not None? */
static int attribute(PyObject *x, PyObject *name, int wanted) {
    PyObject *now = PyObject_GetAttr(x, name);
    if (now == NULL) {
        PyErr_Clear();
        return 0;
    }
    const int fits = wanted == 0 ? now == Py_None || now == Py_False || PyObject_Not(now) == 1 : (now == Py_None) == (wanted == 1);
    Py_DECREF(now);
    return fits;
}

static PyObject *guards_tensors(PyObject *o, PyObject *unused) {
    Guards *self = (Guards *)o;
    (void)unused;
    for (npy_intp i = 0; i < self->fact_count; i++) {
        const Fact *f = &self->facts[i];
        if (memcmp((char *)f->tensor + sizeof(PyObject), f->fields, self->width) != 0) Py_RETURN_FALSE;
        if (f->sink != NULL && !(attribute(f->sink, name_grad, f->graded ? 2 : 1) && attribute(f->sink, name_after, 0)
                                 && attribute(f->sink, name_hooks, 1))) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

/* fields(tensor, size) -> the bytes of its first fields */
static PyObject *guards_fields(PyObject *type, PyObject *args) {
    PyObject *x;
    Py_ssize_t size;
    (void)type;
    if (!PyArg_ParseTuple(args, "On", &x, &size)) return NULL;
    if (size < (Py_ssize_t)sizeof(PyObject) || size > Py_TYPE(x)->tp_basicsize) {
        wrong("too many fields");
        return NULL;
    }
    return PyBytes_FromStringAndSize((char *)x + sizeof(PyObject), size - (Py_ssize_t)sizeof(PyObject));
}

/* contents(dict, passed, skipped) -> its keys, its values, [key, value, ...] of those whose type is not in `passed`, nor the
   key in `skipped`, the keys of empty dicts among them, which are not in that list, and whether all keys are text.  `passed` and
   `skipped` are sets. */
static PyObject *guards_contents(PyObject *type, PyObject *args) {
    PyObject *dict, *passed, *skipped, *key, *value, *keys, *values, *rest, *empty;
    Py_ssize_t at = 0, i = 0;
    PyTypeObject *last = NULL;
    int text = 1, fine, known = 0;
    (void)type;
    if (!PyArg_ParseTuple(args, "O!OO", &PyDict_Type, &dict, &passed, &skipped)) return NULL;
    if (!PyAnySet_Check(passed) || !PyAnySet_Check(skipped)) {
        wrong("expected sets");
        return NULL;
    }
    const Py_ssize_t n = PyDict_GET_SIZE(dict);
    keys = PyTuple_New(n), values = PyTuple_New(n), rest = PyList_New(0), empty = PyList_New(0);
    fine = keys != NULL && values != NULL && rest != NULL && empty != NULL;
    for (; fine && i < n && PyDict_Next(dict, &at, &key, &value); i++) {
        PyTuple_SET_ITEM(keys, i, Py_NewRef(key));
        PyTuple_SET_ITEM(values, i, Py_NewRef(value));
        const int plain = PyUnicode_CheckExact(key);    /* looking for it calls nobody */
        text = text && plain;
        if (Py_TYPE(value) != last) known = PySet_Contains(passed, (PyObject *)(last = Py_TYPE(value)));
        const int skips = known == 0 && plain ? PySet_Contains(skipped, key) : 0;
        const int bare = plain && PyDict_CheckExact(value) && PyDict_GET_SIZE(value) == 0;
        fine = known >= 0 && skips >= 0 && (known || skips || (bare ? PyList_Append(empty, key) == 0
            : PyList_Append(rest, key) == 0 && PyList_Append(rest, value) == 0));
    }
    fine = fine && (i == n || wrong("a dict that changes"));
    PyObject *bares = fine ? PyList_AsTuple(empty) : NULL;
    PyObject *found = bares != NULL ? PyTuple_Pack(5, keys, values, rest, bares, text ? Py_True : Py_False) : NULL;
    Py_XDECREF(bares);
    Py_XDECREF(empty);
    Py_XDECREF(keys);
    Py_XDECREF(values);
    Py_XDECREF(rest);
    return found;
}

/* values(dict or class, keys, missing) -> what it has at the keys of a tuple. */
static PyObject *guards_values(PyObject *type, PyObject *args) {
    PyObject *holder, *keys, *missing;
    (void)type;
    if (!PyArg_ParseTuple(args, "OO!O", &holder, &PyTuple_Type, &keys, &missing)) return NULL;
    PyObject *dict = PyType_Check(holder) ? ((PyTypeObject *)holder)->tp_dict : holder;
    if (dict == NULL || !PyDict_Check(dict)) {
        wrong("expected a dict or a class");
        return NULL;
    }
    PyObject *found = PyTuple_New(PyTuple_GET_SIZE(keys));
    for (Py_ssize_t i = 0; found != NULL && i < PyTuple_GET_SIZE(keys); i++) {
        PyObject *now = PyDict_GetItemWithError(dict, PyTuple_GET_ITEM(keys, i));
        if (now == NULL && PyErr_Occurred()) Py_CLEAR(found);
        else PyTuple_SET_ITEM(found, i, Py_NewRef(now == NULL ? missing : now));
    }
    return found;
}

/* lies(array) -> dtype, shape, strides, and whether it is aligned and may be written */
static PyObject *guards_lies(PyObject *type, PyObject *x) {
    (void)type;
    if (!PyArray_Check(x)) {
        wrong("expected an array");
        return NULL;
    }
    const int n = PyArray_NDIM(ARRAY(x));
    PyObject *shape = PyArray_IntTupleFromIntp(n, PyArray_DIMS(ARRAY(x))), *strides = PyArray_IntTupleFromIntp(n, PyArray_STRIDES(ARRAY(x)));
    PyObject *found = shape == NULL || strides == NULL ? NULL
        : PyTuple_Pack(4, (PyObject *)PyArray_DESCR(ARRAY(x)), shape, strides, PyArray_ISBEHAVED(ARRAY(x)) ? Py_True : Py_False);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return found;
}

/* Are these the numbers of the tuple? */
static int numbers(PyObject *x, int n, const npy_intp *wanted) {
    if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != n) return 0;
    for (int i = 0; i < n; i++) {
        npy_intp value;
        if (!whole(PyTuple_GET_ITEM(x, i), &value) || value != wanted[i]) return 0;
    }
    return 1;
}

/* lies_so(array, was) -> is lies(array) still that? */
static PyObject *guards_lies_so(PyObject *type, PyObject *const *args, Py_ssize_t count) {
    (void)type;
    if (count != 2 || !PyArray_Check(args[0]) || !PyTuple_CheckExact(args[1]) || PyTuple_GET_SIZE(args[1]) != 4) {
        wrong("expected an array and how it lay");
        return NULL;
    }
    PyArrayObject *x = ARRAY(args[0]);
    PyObject *was = args[1], *dtype = (PyObject *)PyArray_DESCR(x);
    const int fits = numbers(PyTuple_GET_ITEM(was, 1), PyArray_NDIM(x), PyArray_DIMS(x))
        && numbers(PyTuple_GET_ITEM(was, 2), PyArray_NDIM(x), PyArray_STRIDES(x))
        && PyTuple_GET_ITEM(was, 3) == (PyArray_ISBEHAVED(x) ? Py_True : Py_False);
    const int same = fits ? PyObject_RichCompareBool(dtype, PyTuple_GET_ITEM(was, 0), Py_EQ) : 0;
    return same < 0 ? NULL : PyBool_FromLong(same);
}

/* looks(array) -> shape, dtype, and whether it lies in C order and aligned */
static PyObject *guards_looks(PyObject *type, PyObject *x) {
    (void)type;
    if (!PyArray_Check(x)) {
        wrong("expected an array");
        return NULL;
    }
    PyObject *shape = PyArray_IntTupleFromIntp(PyArray_NDIM(ARRAY(x)), PyArray_DIMS(ARRAY(x)));
    const int straight = PyArray_CHKFLAGS(ARRAY(x), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED);
    PyObject *found = shape == NULL ? NULL : PyTuple_Pack(3, shape, (PyObject *)PyArray_DESCR(ARRAY(x)), straight ? Py_True : Py_False);
    Py_XDECREF(shape);
    return found;
}

/* root(array) -> the array whose memory it is.  What NumPy's as_strided makes has an object in between that is no array. */
static PyObject *guards_root(PyObject *type, PyObject *x) {
    (void)type;
    if (!PyArray_Check(x)) {
        wrong("expected an array");
        return NULL;
    }
    Py_INCREF(x);
    for (PyObject *base; (base = PyArray_BASE(ARRAY(x))) != NULL;) {
        if (PyArray_Check(base)) Py_INCREF(base);
        else if ((base = PyObject_GetAttrString(base, "base")) == NULL) PyErr_Clear();
        if (base == NULL || !PyArray_Check(base)) {
            Py_XDECREF(base);
            break;
        }
        Py_SETREF(x, base);
    }
    return x;
}

/* line(home) -> "file.py:12" of the innermost code whose file is not below that folder; "" where there is none. */
static PyObject *guards_line(PyObject *type, PyObject *home) {
    static struct {PyCodeObject *code; PyObject *line; int at;} met[16];       /* a step calls from the same few lines */
    PyObject *found = NULL;
    (void)type;
    if (!PyUnicode_Check(home)) {
        wrong("expected text");
        return NULL;
    }
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyObject *name = code->co_filename;
        const Py_ssize_t ours = PyUnicode_Tailmatch(name, home, 0, PY_SSIZE_T_MAX, -1);
        const int at = PyFrame_GetLasti(frame), slot = (int)(((uintptr_t)code >> 6) + (uintptr_t)(at >> 1)) & 15;
        if (ours == 0 && code == met[slot].code && at == met[slot].at) found = Py_NewRef(met[slot].line);
        else if (ours == 0) {
            const Py_ssize_t n = PyUnicode_GET_LENGTH(name), slash = PyUnicode_FindChar(name, '/', 0, n, -1);
            PyObject *file = PyUnicode_Substring(name, slash + 1, n);
            if (file != NULL) found = PyUnicode_FromFormat("%U:%d", file, PyFrame_GetLineNumber(frame));
            Py_XDECREF(file);
            if (found != NULL) {
                Py_XSETREF(met[slot].code, (PyCodeObject *)Py_NewRef((PyObject *)code));
                Py_XSETREF(met[slot].line, Py_NewRef(found));
                met[slot].at = at;
            }
        }
        Py_DECREF(code);
        if (ours != 0) {
            PyFrameObject *outer = ours < 0 ? NULL : PyFrame_GetBack(frame);
            Py_SETREF(frame, outer);
        } else Py_CLEAR(frame);
    }
    return found != NULL || PyErr_Occurred() ? found : PyUnicode_FromString("");
}

/* The bytes that an array may touch: from *low on, below *high. */
static int reach(PyObject *x, const char **low, const char **high) {
    if (!PyArray_Check(x)) return wrong("expected arrays");
    PyArrayObject *a = (PyArrayObject *)x;
    *low = *high = PyArray_BYTES(a);
    if (PyArray_SIZE(a) == 0) return 1;
    *high += PyArray_ITEMSIZE(a);
    for (int i = 0; i < PyArray_NDIM(a); i++) {
        const npy_intp far = (PyArray_DIM(a, i) - 1) * PyArray_STRIDE(a, i);
        *(far < 0 ? low : high) += far;
    }
    return 1;
}

/* apart(many, own) -> is no byte of an array in `many` within what another of them, or one in `own`, may touch? */
static PyObject *guards_apart(PyObject *type, PyObject *args) {
    PyObject *many, *own;
    const char *low, *high, *from, *to;
    (void)type;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &many, &PyList_Type, &own)) return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(many); i++) {
        if (!reach(PyList_GET_ITEM(many, i), &low, &high)) return NULL;
        for (Py_ssize_t k = 0; k < i + PyList_GET_SIZE(own); k++) {
            if (!reach(k < i ? PyList_GET_ITEM(many, k) : PyList_GET_ITEM(own, k - i), &from, &to)) return NULL;
            if (low < to && from < high) Py_RETURN_FALSE;
        }
    }
    Py_RETURN_TRUE;
}

static int guards_traverse(PyObject *o, visitproc visit, void *arg) {
    Guards *self = (Guards *)o;
    Py_VISIT(self->given);
    Py_VISIT(self->facts_given);
    return 0;
}

static void guards_dealloc(PyObject *o) {
    Guards *self = (Guards *)o;
    PyObject_GC_UnTrack(o);
    PyMem_Free(self->guards), PyMem_Free(self->tables), PyMem_Free(self->facts), PyMem_Free(self->fields);
    Py_CLEAR(self->given);
    Py_CLEAR(self->facts_given);
    Py_CLEAR(self->missing);
    Py_TYPE(o)->tp_free(o);
}

static PyMethodDef methods[] = {
    {"first", guards_first, METH_O, NULL}, {"tensors", guards_tensors, METH_NOARGS, NULL},
    {"fields", guards_fields, METH_VARARGS | METH_STATIC, NULL},
    {"apart", guards_apart, METH_VARARGS | METH_STATIC, NULL}, {"contents", guards_contents, METH_VARARGS | METH_STATIC, NULL},
    {"values", guards_values, METH_VARARGS | METH_STATIC, NULL}, {"root", guards_root, METH_O | METH_STATIC, NULL},
    {"lies", guards_lies, METH_O | METH_STATIC, NULL},
    {"lies_so", (PyCFunction)(void (*)(void))guards_lies_so, METH_FASTCALL | METH_STATIC, NULL}, {"looks", guards_looks, METH_O | METH_STATIC, NULL},
    {"line", guards_line, METH_O | METH_STATIC, NULL}, {NULL, NULL, 0, NULL}};
static PyTypeObject Guards_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "retrograd._kernels._nn.Guards",
    .tp_basicsize = sizeof(Guards),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = guards_new,
    .tp_dealloc = guards_dealloc,
    .tp_traverse = guards_traverse,
    .tp_methods = methods,
};

PyTypeObject *guards_type(void) {
    for (int i = 0; i < SLOW; i++) if ((names[i] = PyUnicode_InternFromString(KINDS[i])) == NULL) return NULL;
    name_grad = PyUnicode_InternFromString("grad");
    name_after = PyUnicode_InternFromString("after");
    name_hooks = PyUnicode_InternFromString("_hooks");
    if (name_grad == NULL || name_after == NULL || name_hooks == NULL) return NULL;
    return PyType_Ready(&Guards_Type) < 0 ? NULL : &Guards_Type;
}
