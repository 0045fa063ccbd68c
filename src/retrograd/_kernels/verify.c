/* What torch.compile does where Python runs: each call of a public function is compared with the next one of a recorded
   list, and is given a promise, a tensor without an array, instead of being computed.  `_compile/verified.py` makes the
   lists, and keeps the promises.

   Track(calls, slots): calls of (func, impl, arguments, names, result, state).  An argument is a tuple:
     (0, i)             the tensor of slot i
     (1, i, facts)      a tensor that was not met before, for which `facts` holds: it gets slot i
     (2, x)             x, or a number or text equal to it
     (3, type, (...))   a tuple or list of arguments
     (4, argument, n, m)    a tensor of int64 whose numbers are m, or from 0 on and below n
   result: (0, i) a promise in slot i, (1, x) x, (2, i) what is in slot i, (3,) the call is made, (4,) `done` gives it,
   (5, (i, ...)) a tuple of promises, None for -1.  Arguments None: whatever they are, the call is made.

   NOTE [Promises]
   Whoever reads a field of a promise, or the array of any tensor while there are promises, calls `settle` first: Field. */

#include "kernel.h"
#include "kernels.h"
#include <structmember.h>

enum { SLOT, MEET, CONST, MANY, BELOW };
enum { MOODS = 5 };                             /* bytes of a thread's State that are compared */
enum { PROMISE, KNOWN, SAME, REAL, DONE, SEVERAL };

typedef struct Arg {
    int kind;
    npy_intp slot, count, limit, other;
    PyObject *x;                                /* borrowed from the track's calls */
    struct Arg *parts;
} Arg;

typedef struct {
    PyObject *func, *impl, *names, *x, *state;
    Arg args;
    int result, any;                            /* any: whatever its arguments are */
    npy_intp slot, *many, many_count;           /* many: slots of a tuple */
} Call;

typedef struct {
    PyObject_HEAD
    PyObject *given;
    Call *calls;
    npy_intp count, slots;
    PyObject **seen, **fields;                  /* the tensor of a slot when it was last looked at, and its bytes */
} Track;

typedef struct {
    PyObject_HEAD
    PyObject *missed, *done, *meets, *create, *cls, *it, *places, *once, *aside, *track;
    PyObject **slots;
    npy_intp room, at, size, array, sink;       /* of fields in a tensor; where its array and its sink are among them */
    int on;
} Matcher;

static int promised;                            /* matchers with promises */
static PyObject *settle;                        /* settle(tensor or None) */
static PyObject *name_after, *name_hooks, *name_frozen;

/* -- making a track */

static int wrong(const char *what) {
    PyErr_Format(PyExc_ValueError, "Track: %s", what);
    return 0;
}

static void arg_free(Arg *a) {
    for (npy_intp i = 0; a->parts != NULL && i < a->count; i++) arg_free(&a->parts[i]);
    PyMem_Free(a->parts);
    a->parts = NULL;
}

static int parts_read(Arg *a, PyObject *x, npy_intp slots);

static int arg_read(Arg *a, PyObject *x, npy_intp slots) {
    npy_intp kind;
    if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) < 2 || !whole(PyTuple_GET_ITEM(x, 0), &kind) || kind < SLOT || kind > BELOW)
        return wrong("an unknown argument");
    a->kind = (int)kind;
    if (kind == SLOT || kind == MEET) {
        if (!whole(PyTuple_GET_ITEM(x, 1), &a->slot) || a->slot < 0 || a->slot >= slots) return wrong("no such slot");
        if (kind == MEET && PyTuple_GET_SIZE(x) != 3) return wrong("a tensor without facts");
        a->x = kind == MEET ? PyTuple_GET_ITEM(x, 2) : NULL;
        return 1;
    }
    if (kind == BELOW) {
        if (PyTuple_GET_SIZE(x) != 4 || !whole(PyTuple_GET_ITEM(x, 2), &a->limit) || !whole(PyTuple_GET_ITEM(x, 3), &a->other))
            return wrong("no limit");
        PyObject *one = PyTuple_Pack(1, PyTuple_GET_ITEM(x, 1));
        const int fine = one != NULL && parts_read(a, one, slots);
        Py_XDECREF(one);
        return fine && (a->parts[0].kind == SLOT || a->parts[0].kind == MEET ? 1 : wrong("a limit of no tensor"));
    }
    a->x = PyTuple_GET_ITEM(x, 1);
    if (kind == CONST) return 1;
    return PyTuple_GET_SIZE(x) == 3 && PyType_Check(a->x) ? parts_read(a, PyTuple_GET_ITEM(x, 2), slots) : wrong("no container");
}

static int parts_read(Arg *a, PyObject *x, npy_intp slots) {
    if (!PyTuple_CheckExact(x)) return wrong("expected a tuple of arguments");
    a->parts = PyMem_Calloc(PyTuple_GET_SIZE(x) + 1, sizeof(Arg));
    if (a->parts == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    a->count = PyTuple_GET_SIZE(x);
    for (npy_intp i = 0; i < a->count; i++) if (!arg_read(&a->parts[i], PyTuple_GET_ITEM(x, i), slots)) return 0;
    return 1;
}

static int call_read(Call *c, PyObject *x, npy_intp slots) {
    npy_intp kind;
    if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) != 6) return wrong("a call has six parts");
    c->func = PyTuple_GET_ITEM(x, 0), c->impl = PyTuple_GET_ITEM(x, 1), c->names = PyTuple_GET_ITEM(x, 3);
    PyObject *result = PyTuple_GET_ITEM(x, 4);
    c->state = PyTuple_GET_ITEM(x, 5);
    if (c->names != Py_None && !PyTuple_CheckExact(c->names)) return wrong("expected names");
    if (!PyBytes_CheckExact(c->state) || PyBytes_GET_SIZE(c->state) != MOODS) return wrong("expected bytes");
    c->any = PyTuple_GET_ITEM(x, 2) == Py_None;
    if (!c->any && !parts_read(&c->args, PyTuple_GET_ITEM(x, 2), slots)) return 0;
    if (c->names != Py_None && PyTuple_GET_SIZE(c->names) > c->args.count) return wrong("more names than arguments");
    if (!PyTuple_CheckExact(result) || PyTuple_GET_SIZE(result) < 1 || !whole(PyTuple_GET_ITEM(result, 0), &kind) || kind < PROMISE
        || kind > SEVERAL || ((kind < REAL || kind == SEVERAL) && PyTuple_GET_SIZE(result) != 2)) return wrong("an unknown result");
    c->result = (int)kind;
    if (c->any && kind != REAL) return wrong("a call of any arguments is made");
    if (kind == KNOWN) c->x = PyTuple_GET_ITEM(result, 1);
    else if (kind == SEVERAL) {
        PyObject *many = PyTuple_GET_ITEM(result, 1);
        if (!PyTuple_CheckExact(many)) return wrong("expected a tuple of slots");
        c->many = PyMem_Calloc(PyTuple_GET_SIZE(many) + 1, sizeof(npy_intp));
        if (c->many == NULL) {
            PyErr_NoMemory();
            return 0;
        }
        c->many_count = PyTuple_GET_SIZE(many);
        for (npy_intp i = 0; i < c->many_count; i++)
            if (!whole(PyTuple_GET_ITEM(many, i), &c->many[i]) || c->many[i] < -1 || c->many[i] >= slots) return wrong("no such slot");
    }
    else if (kind < REAL && (!whole(PyTuple_GET_ITEM(result, 1), &c->slot) || c->slot < 0 || c->slot >= slots)) return wrong("no such slot");
    return 1;
}

static PyObject *track_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *calls;
    Py_ssize_t slots;
    if (!PyArg_ParseTuple(args, "O!n", &PyTuple_Type, &calls, &slots)) return NULL;
    if (slots < 0 || slots > 1 << 24) {
        wrong("too many slots");
        return NULL;
    }
    Track *self = (Track *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->given = Py_NewRef(calls);
    self->slots = slots;
    self->calls = PyMem_Calloc(PyTuple_GET_SIZE(calls) + 1, sizeof(Call));
    self->seen = PyMem_Calloc(slots + 1, sizeof(PyObject *));
    self->fields = PyMem_Calloc(slots + 1, sizeof(PyObject *));
    int fine = self->calls != NULL && self->seen != NULL && self->fields != NULL;
    if (!fine) PyErr_NoMemory();
    else self->count = PyTuple_GET_SIZE(calls);
    for (npy_intp i = 0; fine && i < self->count; i++) fine = call_read(&self->calls[i], PyTuple_GET_ITEM(calls, i), slots);
    if (fine) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static int track_traverse(PyObject *o, visitproc visit, void *arg) {
    Track *self = (Track *)o;
    Py_VISIT(self->given);
    for (npy_intp i = 0; self->seen != NULL && i < self->slots; i++) Py_VISIT(self->seen[i]);
    return 0;
}

static void track_dealloc(PyObject *o) {
    Track *self = (Track *)o;
    PyObject_GC_UnTrack(o);
    for (npy_intp i = 0; self->calls != NULL && i < self->count; i++) {
        arg_free(&self->calls[i].args);
        PyMem_Free(self->calls[i].many);
    }
    for (npy_intp i = 0; i < self->slots; i++) {
        if (self->seen != NULL) Py_CLEAR(self->seen[i]);
        if (self->fields != NULL) Py_CLEAR(self->fields[i]);
    }
    PyMem_Free(self->calls);
    PyMem_Free(self->seen);
    PyMem_Free(self->fields);
    Py_CLEAR(self->given);
    Py_TYPE(o)->tp_free(o);
}

static PyTypeObject Track_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "retrograd._kernels._nn.Track",
    .tp_basicsize = sizeof(Track),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = track_new,
    .tp_dealloc = track_dealloc,
    .tp_traverse = track_traverse,
};

/* -- comparing */

/* Matcher(missed, done, meets, create, cls, it, places, once, size, array, sink): once is a set of functions that may be called at once */
static PyObject *matcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *missed, *done, *meets, *create, *cls, *it, *places, *once;
    Py_ssize_t size, array, sink;
    if (!PyArg_ParseTuple(args, "OOOOOOSO!nnn", &missed, &done, &meets, &create, &cls, &it, &places, &PySet_Type, &once, &size, &array, &sink)) return NULL;
    const Py_ssize_t last = size - (Py_ssize_t)sizeof(PyObject *);
    if (!PyType_Check(cls) || array < 0 || sink < 0 || array > last || sink > last) {
        wrong("no such field");
        return NULL;
    }
    const Py_ssize_t most = Py_TYPE(it)->tp_basicsize - (Py_ssize_t)sizeof(PyObject);
    int fine = PyBytes_GET_SIZE(places) == MOODS;
    for (Py_ssize_t i = 0; fine && i < MOODS; i++) fine = (unsigned char)PyBytes_AS_STRING(places)[i] < most;
    if (!fine) {
        wrong("no such mood");
        return NULL;
    }
    Matcher *self = (Matcher *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->missed = Py_NewRef(missed), self->done = Py_NewRef(done), self->meets = Py_NewRef(meets);
    self->create = Py_NewRef(create), self->cls = Py_NewRef(cls), self->it = Py_NewRef(it), self->places = Py_NewRef(places), self->once = Py_NewRef(once);
    self->size = size, self->array = array, self->sink = sink;
    return (PyObject *)self;
}

static void waiting(Matcher *self, int on) {
    if (self->on != on) promised += on ? 1 : -1;
    self->on = on;
}

static void forget(Matcher *self) {
    waiting(self, 0);
    for (npy_intp i = 0; i < self->room; i++) Py_CLEAR(self->slots[i]);
    self->at = 0;
}

static int grown(Matcher *self, npy_intp wanted) {
    if (wanted <= self->room) return 1;
    PyObject **slots = PyMem_Realloc(self->slots, wanted * sizeof(PyObject *));
    if (slots == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    memset(slots + self->room, 0, (wanted - self->room) * sizeof(PyObject *));
    self->slots = slots, self->room = wanted;
    return 1;
}

/* begin(track or None): compare with it from here on, from its first call */
static PyObject *matcher_begin(PyObject *o, PyObject *track) {
    Matcher *self = (Matcher *)o;
    forget(self);
    if (track != Py_None && !PyObject_TypeCheck(track, &Track_Type)) {
        wrong("expected a track");
        return NULL;
    }
    if (track != Py_None && !grown(self, ((Track *)track)->slots)) return NULL;
    Py_XSETREF(self->track, track == Py_None ? NULL : Py_NewRef(track));
    Py_RETURN_NONE;
}

/* become(track): it begins with the calls that matched so far */
static PyObject *matcher_become(PyObject *o, PyObject *track) {
    Matcher *self = (Matcher *)o;
    if (!PyObject_TypeCheck(track, &Track_Type)) {
        wrong("expected a track");
        return NULL;
    }
    if (!grown(self, ((Track *)track)->slots)) return NULL;
    Py_XSETREF(self->track, Py_NewRef(track));
    Py_RETURN_NONE;
}

static int is_false(PyObject *x, PyObject *name) {
    PyObject *now = PyObject_GetAttr(x, name);
    if (now == NULL) {
        PyErr_Clear();
        return 0;
    }
    const int fits = now == Py_None || now == Py_False || PyObject_Not(now) == 1;
    Py_DECREF(now);
    return fits;
}

static PyObject *field(PyObject *t, npy_intp at) {
    PyObject *x;
    memcpy(&x, (char *)t + sizeof(PyObject) + at, sizeof x);
    return x;
}

/* meets(t, facts) says whether they hold: True, None to be asked again next time, or False. */
/* Is t a tensor for which the facts hold, and nobody but it and its graph has its memory?  -1 for an error */
static int met(Matcher *self, const Arg *a, PyObject *t) {
    Track *track = (Track *)self->track;
    if (Py_TYPE(t)->tp_basicsize < (Py_ssize_t)sizeof(PyObject) + self->size) return 0;
    for (npy_intp i = 0; i < track->slots; i++) if (self->slots[i] == t) return 0;
    char *fields = (char *)t + sizeof(PyObject);
    if (track->seen[a->slot] == t && memcmp(fields, PyBytes_AS_STRING(track->fields[a->slot]), self->size) == 0) {
        PyObject *sink = field(t, self->sink), *array = field(t, self->array);
        const int own = sink != Py_None;
        int fits = Py_REFCNT(array) <= 1 + own;
        if (own) fits = fits && is_false(sink, name_after) && is_false(sink, name_hooks) && is_false(sink, name_frozen);
        if (fits) return 1;
    }
    PyObject *given[2] = {t, a->x}, *answer = PyObject_Vectorcall(self->meets, given, 2, NULL);
    if (answer == NULL) return -1;
    const int fits = answer != Py_False, keep = answer == Py_True;
    Py_DECREF(answer);
    if (keep) {
        PyObject *bytes = PyBytes_FromStringAndSize(fields, self->size);
        if (bytes == NULL) return -1;
        Py_XSETREF(track->fields[a->slot], bytes);
        Py_XSETREF(track->seen[a->slot], Py_NewRef(t));
    }
    return fits;
}

static int equal(PyObject *x, PyObject *was) {
    if (x == was) return 1;
    PyTypeObject *type = Py_TYPE(was);
    if (Py_TYPE(x) != type) return 0;
    if (type == &PyFloat_Type) {
        const double a = PyFloat_AS_DOUBLE(x), b = PyFloat_AS_DOUBLE(was);
        return memcmp(&a, &b, sizeof a) == 0;
    }
    if (type == &PyLong_Type || type == &PyUnicode_Type || type == &PySlice_Type) return PyObject_RichCompareBool(x, was, Py_EQ);
    return 0;
}

static int below(const Matcher *self, const Arg *a, PyObject *t) {
    PyObject *array = field(t, self->array);    /* t is of a slot: a tensor, or a promise without one */
    if (array == NULL || !PyArray_CheckExact(array) || PyArray_TYPE(ARRAY(array)) != NPY_INT64 || !PyArray_ISCARRAY_RO(ARRAY(array))) return 0;
    const npy_int64 *x = DATA(array);
    const npy_intp n = PyArray_SIZE(ARRAY(array));
    for (npy_intp i = 0; i < n; i++) if ((x[i] < 0 || x[i] >= a->limit) && x[i] != a->other) return 0;
    return 1;
}

static int matches(Matcher *self, const Arg *a, PyObject *x) {
    switch (a->kind) {
    case SLOT: return self->slots[a->slot] == x;
    case MEET: {
        const int fits = met(self, a, x);
        if (fits == 1) Py_XSETREF(self->slots[a->slot], Py_NewRef(x));
        return fits;
    }
    case CONST: return equal(x, a->x);
    case BELOW: {
        const int fits = matches(self, &a->parts[0], x);
        return fits == 1 ? below(self, a, x) : fits;
    }
    default: {
        if ((PyObject *)Py_TYPE(x) != a->x) return 0;
        const int list = PyList_CheckExact(x);
        if (!list && !PyTuple_Check(x)) return 0;
        if ((list ? PyList_GET_SIZE(x) : PyTuple_GET_SIZE(x)) != a->count) return 0;
        for (npy_intp i = 0; i < a->count; i++) {
            if (list && PyList_GET_SIZE(x) != a->count) return 0;
            PyObject *part = Py_NewRef(list ? PyList_GET_ITEM(x, i) : PyTuple_GET_ITEM(x, i));
            const int fits = matches(self, &a->parts[i], part);
            Py_DECREF(part);
            if (fits != 1) return fits;
        }
        return 1;
    }
    }
}

static int in_mood(const Matcher *self, const Call *c) {
    for (Py_ssize_t i = 0; i < MOODS; i++)
        if (((char *)self->it)[sizeof(PyObject) + (unsigned char)PyBytes_AS_STRING(self->places)[i]] != PyBytes_AS_STRING(c->state)[i]) return 0;
    return 1;
}

static int fits_call(Matcher *self, const Call *c, PyObject *const *given) {
    PyObject *args = given[2], *kwargs = given[3];
    if (c->any) return given[0] == c->func;
    if (given[0] != c->func || given[1] != c->impl || !PyTuple_Check(args) || !in_mood(self, c)) return 0;
    const npy_intp named = c->names == Py_None ? 0 : PyTuple_GET_SIZE(c->names), plain = c->args.count - named;
    if (PyTuple_GET_SIZE(args) != plain) return 0;
    if ((kwargs == Py_None ? 0 : PyDict_GET_SIZE(kwargs)) != named) return 0;
    for (npy_intp i = 0; i < plain; i++) {
        const int fits = matches(self, &c->args.parts[i], PyTuple_GET_ITEM(args, i));
        if (fits != 1) return fits;
    }
    for (npy_intp i = 0; i < named; i++) {
        PyObject *x = PyDict_GetItemWithError(kwargs, PyTuple_GET_ITEM(c->names, i));
        if (x == NULL) return PyErr_Occurred() ? -1 : 0;
        const int fits = matches(self, &c->args.parts[plain + i], x);
        if (fits != 1) return fits;
    }
    return 1;
}

static PyObject *promise(Matcher *self, npy_intp slot) {
    PyObject *made = PyObject_CallOneArg(self->create, self->cls);
    if (made == NULL) return NULL;
    waiting(self, 1);
    Py_XSETREF(self->slots[slot], Py_NewRef(made));
    return made;
}

/* What the recorded call gives; NULL without an error where this is another one. */
static PyObject *given(Matcher *self, PyObject *const *args) {
    Track *track = (Track *)self->track;
    const npy_intp at = self->at;
    if (track == NULL || at >= track->count) return NULL;
    const Call *c = &track->calls[at];
    Py_INCREF(track);                           /* the collector may run anything */
    const int fits = fits_call(self, c, args) == 1 && self->track == (PyObject *)track && self->at == at;
    PyObject *made = NULL;
    if (fits) {
        self->at++;
        switch (c->result) {
        case PROMISE: made = promise(self, c->slot); break;
        case SEVERAL:
            made = PyTuple_New(c->many_count);
            for (npy_intp i = 0; made != NULL && i < c->many_count; i++) {
                PyObject *one = c->many[i] < 0 ? Py_NewRef(Py_None) : promise(self, c->many[i]);
                if (one == NULL) Py_CLEAR(made);
                else PyTuple_SET_ITEM(made, i, one);
            }
            break;
        case KNOWN: made = Py_NewRef(c->x); break;
        case SAME: made = Py_NewRef(self->slots[c->slot] ? self->slots[c->slot] : Py_None); break;
        case REAL: made = PyObject_Call(args[1], args[2], args[3] == Py_None ? NULL : args[3]); break;
        default: made = PyObject_CallNoArgs(self->done);
        }
    }
    Py_DECREF(track);
    return made;
}

/* Is it a function that needs no values, of no promise, and is nothing being recorded? */
static int at_once(const Matcher *self, PyObject *const *given) {
    if (self->track == NULL && self->on) return 0;
    const int known = PySet_Contains(self->once, given[0]);
    if (known < 0) PyErr_Clear();
    if (known <= 0 || given[3] != Py_None || !PyTuple_Check(given[2])) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given[2]); i++) {
        PyObject *x = PyTuple_GET_ITEM(given[2], i);
        if (PyLong_CheckExact(x) || x == Py_None) continue;
        if (!PyType_IsSubtype(Py_TYPE(x), (PyTypeObject *)self->cls)) return 0;
        PyObject *array = field(x, self->array);
        if (array == NULL || array == Py_None) return 0;
    }
    return 1;
}

/* call(func, impl, args, kwargs): as a listener of the dispatch point */
static PyObject *matcher_call(PyObject *o, PyObject *const *args, Py_ssize_t count) {
    Matcher *self = (Matcher *)o;
    if (!expect(count, 4, "call")) return NULL;
    PyObject *made = given(self, args);
    if (made != NULL || PyErr_Occurred()) return made;
    if (at_once(self, args)) return PyObject_Call(args[1], args[2], NULL);
    return PyObject_Vectorcall(self->missed, args, 4, NULL);
}

/* Add the slot to the list, where somebody else holds what is in it. */
static int add_alive(Matcher *self, PyObject *found, npy_intp slot) {
    if (slot < 0 || self->slots[slot] == NULL || Py_REFCNT(self->slots[slot]) < 2) return 1;
    PyObject *n = PyLong_FromSsize_t(slot);
    const int fine = n != NULL && PyList_Append(found, n) == 0;
    Py_XDECREF(n);
    return fine;
}

/* alive() -> the slots with promises that somebody else holds, too */
static PyObject *matcher_alive(PyObject *o, PyObject *unused) {
    Matcher *self = (Matcher *)o;
    Track *track = (Track *)self->track;
    PyObject *found = PyList_New(0);
    (void)unused;
    for (npy_intp i = 0; found != NULL && track != NULL && i < self->at && i < track->count; i++) {
        const Call *c = &track->calls[i];
        int fine = c->result != PROMISE || add_alive(self, found, c->slot);
        for (npy_intp k = 0; fine && k < c->many_count; k++) fine = add_alive(self, found, c->many[k]);
        if (!fine) Py_CLEAR(found);
    }
    return found;
}

/* held() -> what is in the slots */
static PyObject *matcher_held(PyObject *o, PyObject *unused) {
    Matcher *self = (Matcher *)o;
    const npy_intp n = self->track == NULL ? 0 : ((Track *)self->track)->slots;
    PyObject *found = PyList_New(n);
    (void)unused;
    for (npy_intp i = 0; found != NULL && i < n; i++) PyList_SET_ITEM(found, i, Py_NewRef(self->slots[i] ? self->slots[i] : Py_None));
    return found;
}

static PyObject *matcher_waiting(PyObject *o, PyObject *on) {
    waiting((Matcher *)o, PyObject_IsTrue(on));
    Py_RETURN_NONE;
}

static PyObject *matcher_at(PyObject *o, void *unused) {
    (void)unused;
    return PyLong_FromSsize_t(((Matcher *)o)->at);
}

static int matcher_traverse(PyObject *o, visitproc visit, void *arg) {
    Matcher *self = (Matcher *)o;
    Py_VISIT(self->missed); Py_VISIT(self->done); Py_VISIT(self->meets); Py_VISIT(self->create); Py_VISIT(self->cls);
    Py_VISIT(self->it); Py_VISIT(self->once); Py_VISIT(self->aside); Py_VISIT(self->track);
    for (npy_intp i = 0; i < self->room; i++) Py_VISIT(self->slots[i]);
    return 0;
}

static int matcher_clear(PyObject *o) {
    Matcher *self = (Matcher *)o;
    forget(self);
    Py_CLEAR(self->missed); Py_CLEAR(self->done); Py_CLEAR(self->meets); Py_CLEAR(self->create); Py_CLEAR(self->cls);
    Py_CLEAR(self->it); Py_CLEAR(self->places); Py_CLEAR(self->once); Py_CLEAR(self->aside); Py_CLEAR(self->track);
    return 0;
}

static void matcher_dealloc(PyObject *o) {
    PyObject_GC_UnTrack(o);
    matcher_clear(o);
    PyMem_Free(((Matcher *)o)->slots);
    Py_TYPE(o)->tp_free(o);
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))matcher_call, METH_FASTCALL, NULL}, {"begin", matcher_begin, METH_O, NULL},
    {"become", matcher_become, METH_O, NULL}, {"alive", matcher_alive, METH_NOARGS, NULL}, {"held", matcher_held, METH_NOARGS, NULL},
    {"waiting", matcher_waiting, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef getters[] = {{"at", matcher_at, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef members[] = {{"aside", T_OBJECT, offsetof(Matcher, aside), 0, NULL}, {NULL, 0, 0, 0, NULL}};
static PyTypeObject Matcher_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "retrograd._kernels._nn.Matcher",
    .tp_basicsize = sizeof(Matcher),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = matcher_new,
    .tp_dealloc = matcher_dealloc,
    .tp_traverse = matcher_traverse,
    .tp_clear = matcher_clear,
    .tp_methods = methods,
    .tp_getset = getters,
    .tp_members = members,
};

/* -- fields of tensors */

typedef struct {
    PyObject_HEAD
    PyObject *inner;                            /* the descriptor of TensorBase */
    int always;                                 /* whatever tensor is asked */
} Field;

/* Field(descriptor, always, settle) */
static PyObject *field_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *inner, *then;
    int always;
    if (!PyArg_ParseTuple(args, "OpO", &inner, &always, &then)) return NULL;
    if (Py_TYPE(inner)->tp_descr_get == NULL || Py_TYPE(inner)->tp_descr_set == NULL || !PyCallable_Check(then)) {
        PyErr_SetString(PyExc_TypeError, "expected a descriptor with __get__ and __set__, a bool and a callable");
        return NULL;
    }
    Field *self = (Field *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->inner = Py_NewRef(inner), self->always = always;
    Py_XSETREF(settle, Py_NewRef(then));
    return (PyObject *)self;
}

static int settled(Field *self, PyObject *t) {
    PyObject *given[2] = {t, self->always ? Py_True : Py_False}, *done = PyObject_Vectorcall(settle, given, 2, NULL);
    Py_XDECREF(done);
    return done != NULL;
}

static PyObject *field_get(PyObject *o, PyObject *t, PyObject *type) {
    Field *self = (Field *)o;
    if (t == NULL) return Py_NewRef(self->inner);
    if (promised && !settled(self, t)) return NULL;
    return Py_TYPE(self->inner)->tp_descr_get(self->inner, t, type);
}

static int field_set(PyObject *o, PyObject *t, PyObject *value) {
    Field *self = (Field *)o;
    if (promised && !settled(self, t)) return -1;
    return Py_TYPE(self->inner)->tp_descr_set(self->inner, t, value);
}

static void field_dealloc(PyObject *o) {
    Py_CLEAR(((Field *)o)->inner);
    Py_TYPE(o)->tp_free(o);
}

static PyTypeObject Field_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "retrograd._kernels._nn.Field",
    .tp_basicsize = sizeof(Field),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = field_new,
    .tp_dealloc = field_dealloc,
    .tp_descr_get = field_get,
    .tp_descr_set = field_set,
};

int verify_types(PyObject *module) {
    name_after = PyUnicode_InternFromString("after");
    name_hooks = PyUnicode_InternFromString("_hooks"), name_frozen = PyUnicode_InternFromString("frozen");
    return name_after == NULL || name_hooks == NULL || name_frozen == NULL || PyType_Ready(&Track_Type) < 0
        || PyType_Ready(&Matcher_Type) < 0 || PyType_Ready(&Field_Type) < 0
        || PyModule_AddObjectRef(module, "Track", (PyObject *)&Track_Type) < 0
        || PyModule_AddObjectRef(module, "Matcher", (PyObject *)&Matcher_Type) < 0
        || PyModule_AddObjectRef(module, "Field", (PyObject *)&Field_Type) < 0 ? -1 : 0;
}
