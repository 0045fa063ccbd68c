/* Memory for arrays that is used again (NEP 49): what temporaries leave goes to a list of its size, not to the system.

   glibc maps blocks over 128 KiB anew and gives them back, and every page of a new one costs a fault: an addition of two
   arrays of 4 MB spends two thirds of its time there.

   NOTE [Who may call]  Any thread, with the GIL or without: np.fromstring and np.fromfile resize what they read without it.
   So a lock guards the lists.  Nobody waits for it: whoever finds it taken goes to the system.  Only a fork waits, so that the
   child's lists are whole.  Without a GIL, where that would be most calls, there is no cache.

   A block begins with 16 bytes or more of ours, of which the last 8 say its class and how far its data lies from its
   start.  NumPy's word for the size at free is not used: for an array of shape (0, 1000) it is not what it asked for. */

#include "kernel.h"
#include "kernels.h"

#if !defined(Py_GIL_DISABLED) && !defined(_WIN32)
#define CACHE
#endif

#ifdef CACHE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define HIDE(data, n) __asan_poison_memory_region(data, n) /* from everybody who holds on to a block that is free */
#define SHOW(data, n) __asan_unpoison_memory_region(data, n)
#else
#define HIDE(data, n) ((void)0)
#define SHOW(data, n) ((void)0)
#endif

#define FINE 1024                  /* up to here a class for every 16 bytes, above four classes for every doubling */
#define SMALL_KEPT 16               /* free blocks kept of each small class */
#define LARGEST ((size_t)1 << 26)
#define CLASSES 128
#define NO_CLASS 255
#define HUGE_PAGES ((size_t)1 << 22) /* from here on, as NumPy's own allocator does */

typedef struct {
    uint32_t from_start, class;
} Mark;

typedef struct Free {
    struct Free *next;
} Free;

static Free *lists[CLASSES];
static uint32_t kept_small[FINE / 16];
static size_t limit = 0, kept = 0, most = 0;
static uint64_t reused = 0, fresh = 0;
static char busy = 0;               /* the lock of all of these */

static int lock(void) { return !__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE); }
static void unlock(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }
static void lock_by_waiting(void) {
    while (!lock()) sched_yield();
}

static Mark *mark(void *data) { return (Mark *)data - 1; }

/* The class for n bytes, and how many bytes its blocks hold. */
static uint32_t class_of(size_t n, size_t *holds) {
    if (n <= FINE) {
        size_t sixteens = n == 0 ? 1 : (n + 15) / 16;
        *holds = sixteens * 16;
        return (uint32_t)sixteens - 1;
    }
    *holds = n;
    if (n > LARGEST) return NO_CLASS;
    int e = 10;
    while ((n - 1) >> (e + 1)) e++;                     /* 2^e < n <= 2^(e+1) */
    size_t step = (size_t)1 << (e - 2), steps = (n + step - 1) / step;
    *holds = steps * step;
    return (uint32_t)(FINE / 16 + (e - 10) * 4 + steps - 5);
}

static size_t holds_of(uint32_t class) {
    if (class < FINE / 16) return (size_t)(class + 1) * 16;
    uint32_t rest = class - FINE / 16;
    return (size_t)(rest % 4 + 5) << (rest / 4 + 8);
}

/* Of a block that holds so many bytes, its user sees the first n. */
static void show(void *data, size_t n, size_t holds) {
    const size_t seen = n > sizeof(Free) ? n : sizeof(Free);
    SHOW(data, seen);
    HIDE((char *)data + seen, holds - seen);
    (void)data, (void)seen, (void)holds;
}

static void *take(uint32_t class) {
    if (class == NO_CLASS || !lock()) return NULL;
    Free *data = lists[class];
    if (data != NULL) {
        SHOW(data, sizeof(Free));
        lists[class] = data->next;
        if (class < FINE / 16) kept_small[class]--;
        else kept -= holds_of(class);
        reused++;
    }
    unlock();
    return data;
}

__attribute__((noinline)) static void *make(size_t holds, uint32_t class, int zero) { /* takers save no register for it */
    size_t room = class < FINE / 16 ? sizeof(Mark) * 2 : 64 + sizeof(Mark) * 2;
    if (holds > SIZE_MAX - room) return NULL;
    char *start = zero ? calloc(1, holds + room) : malloc(holds + room);
    if (start == NULL) return NULL;
    char *data = start + sizeof(Mark) * 2;
    if (class >= FINE / 16) data = (char *)(((uintptr_t)data + 63) & ~(uintptr_t)63);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (holds >= HUGE_PAGES) {
        uintptr_t page = ((uintptr_t)data + 4095) & ~(uintptr_t)4095;
        madvise((void *)page, holds - (page - (uintptr_t)data), MADV_HUGEPAGE);
    }
#endif
    mark(data)->from_start = (uint32_t)(data - start);
    mark(data)->class = class;
    __atomic_fetch_add(&fresh, 1, __ATOMIC_RELAXED);
    return data;
}

static void *block(size_t n, int zero) {
    size_t holds;
    uint32_t class = class_of(n, &holds);
    void *old = take(class), *data = old ? old : make(holds, class, zero);
    if (data == NULL) return NULL;
    show(data, n, holds);
    return old && zero ? memset(data, 0, n) : data;
}

static void *cache_malloc(void *ctx, size_t n) {
    (void)ctx;
    return block(n, 0);
}

static void *cache_calloc(void *ctx, size_t count, size_t each) {
    (void)ctx;
    const size_t n = times(count, each);
    return n == TOO_MUCH ? NULL : block(n, 1);
}

/* Called with the lock held, and leaves it. */
static inline void keep(void *data, uint32_t class) {
    ((Free *)data)->next = lists[class];
    lists[class] = data;
    HIDE(data, holds_of(class));
    unlock();
}

static void cache_free(void *ctx, void *data, size_t n) {
    (void)ctx, (void)n;
    if (data == NULL) return;
    const uint32_t class = mark(data)->class;
    if (class != NO_CLASS && lock()) {
        if (class < FINE / 16 && kept_small[class] < SMALL_KEPT) {
            kept_small[class]++;
            keep(data, class);
            return;
        }
        if (class >= FINE / 16 && kept + holds_of(class) <= limit) {
            kept += holds_of(class);
            if (kept > most) most = kept;
            keep(data, class);
            return;
        }
        unlock();
    }
    free((char *)data - mark(data)->from_start);
}

/* The old block of no class holds an unknown number of bytes, so it is realloc's; its data may need to be moved. */
static void *cache_realloc(void *ctx, void *data, size_t n) {
    if (data == NULL) return cache_malloc(ctx, n);
    uint32_t class = mark(data)->class, from_start = mark(data)->from_start;
    if (class == NO_CLASS) {
        if (n > SIZE_MAX - 96) return NULL;
        char *start = realloc((char *)data - from_start, n + 96);
        if (start == NULL) return NULL;
        char *now = (char *)(((uintptr_t)start + sizeof(Mark) * 2 + 63) & ~(uintptr_t)63);
        memmove(now, start + from_start, n);
        mark(now)->from_start = (uint32_t)(now - start);
        mark(now)->class = NO_CLASS;
        return now;
    }
    size_t held = holds_of(class), holds;
    if (class_of(n, &holds) == class) {
        show(data, n, held);
        return data;
    }
    void *now = cache_malloc(ctx, n);
    if (now == NULL) return NULL;
    SHOW(data, held);
    memcpy(now, data, n < held ? n : held);
    cache_free(ctx, data, held);
    return now;
}

static PyDataMem_Handler handler = {
    "retrograd_blocks", 1, {NULL, cache_malloc, cache_calloc, cache_realloc, cache_free}};

static void clear(void) {
    lock_by_waiting();
    for (int class = 0; class < CLASSES; class++) {
        Free *data = lists[class];
        lists[class] = NULL;
        while (data != NULL) {
            SHOW(data, sizeof(Free));
            Free *next = data->next;
            free((char *)data - mark(data)->from_start);
            data = next;
        }
    }
    memset(kept_small, 0, sizeof kept_small);
    kept = 0;
    unlock();
}
#endif

/* blocks_start(bytes to keep at most) -> arrays made in this thread's context use the cache; False where there is none */
KERNEL(blocks_start, 1)
#ifdef CACHE
    static PyObject *capsule = NULL;
    const size_t most_kept = PyLong_AsSize_t(args[0]);
    if (PyErr_Occurred()) return NULL;
    lock_by_waiting();
    limit = most_kept;
    unlock();
    if (capsule == NULL && pthread_atfork(lock_by_waiting, unlock, unlock) == 0)
        capsule = PyCapsule_New(&handler, "mem_handler", NULL);
    if (capsule == NULL) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    PyObject *old = PyDataMem_SetHandler(capsule);
    if (old == NULL) return NULL;
    Py_DECREF(old);
    Py_RETURN_TRUE;
#else
    Py_RETURN_FALSE;
#endif
END

/* blocks_stop() -> arrays made in this thread's context use NumPy's own allocator */
KERNEL(blocks_stop, 0)
    PyObject *old = PyDataMem_SetHandler(PyDataMem_DefaultHandler);
    if (old == NULL) return NULL;
    Py_DECREF(old);
    Py_RETURN_NONE;
END

/* blocks_stats() -> (bytes kept now, the most so far, bytes that may be kept, blocks reused, blocks made) */
KERNEL(blocks_stats, 0)
#ifdef CACHE
    lock_by_waiting();
    const Py_ssize_t sizes[3] = {(Py_ssize_t)kept, (Py_ssize_t)most, (Py_ssize_t)limit};
    const unsigned long long counts[2] = {reused, __atomic_load_n(&fresh, __ATOMIC_RELAXED)};
    unlock();
    return Py_BuildValue("nnnKK", sizes[0], sizes[1], sizes[2], counts[0], counts[1]);
#else
    return Py_BuildValue("nnnii", (Py_ssize_t)0, (Py_ssize_t)0, (Py_ssize_t)0, 0, 0);
#endif
END

/* blocks_clear() -> what is kept goes back to the system */
KERNEL(blocks_clear, 0)
#ifdef CACHE
    clear();
#endif
    Py_RETURN_NONE;
END
