/* The module `_nn`: kernels for layers, losses and optimisers.  kernel.h says what they have in common. */

#define RETROGRAD_MAIN
#include "kernel.h"
#include "kernels.h"

#define ENTRY(name) {#name, (PyCFunction)(void (*)(void))kernel_##name, METH_FASTCALL, NULL},
static PyMethodDef methods[] = {KERNELS(ENTRY) POINTWISE(ENTRY) MOVES(ENTRY) {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_nn", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__nn(void) {
    import_array();
    PyTypeObject *program = program_type(), *guards = guards_type();
    PyObject *made = program == NULL || guards == NULL ? NULL : PyModule_Create(&module);
    if (made != NULL && (PyModule_AddObjectRef(made, "Program", (PyObject *)program) < 0
                         || PyModule_AddObjectRef(made, "Guards", (PyObject *)guards) < 0
                         || verify_types(made) < 0)) Py_CLEAR(made);
    return made;
}
