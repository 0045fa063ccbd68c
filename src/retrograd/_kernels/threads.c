/* A few threads that wait asleep for the parts of a convolution or a recurrent layer.

   They never spin: pools that spin beside BLAS's, which does, slow both down tenfold.  Work is cut into as many parts as
   there may be threads, and part i is always the same rows, so that sums come out the same each time.  A second caller
   while the pool is busy does its parts itself.  A child of fork() starts with no threads and makes its own. */

#include "kernel.h"
#include "kernels.h"
#include "threads.h"
#include <stdlib.h>

#define LEAST 1.5e6 /* multiplications of a part: some 30 us, three times what waking a thread takes */
#define MOST 64

static int wanted = 0; /* 0: not yet asked for */

#if defined(__unix__) || defined(__APPLE__)
#define POOL
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static int alive = 0, busy = 0, parts = 0, next = 0, left = 0, watching = 0;
static Part job;
static void *job_context;

/* Called and left with the lock held. */
static void take_parts(void) {
    while (next < parts) {
        const int mine = next++;
        const Part run = job;
        void *context = job_context;
        pthread_mutex_unlock(&lock);
        run(context, mine);
        pthread_mutex_lock(&lock);
        if (--left == 0) pthread_cond_signal(&done);
    }
}

static void *worker(void *nothing) {
    pthread_mutex_lock(&lock);
    for (;;) {
        take_parts();
        pthread_cond_wait(&wake, &lock);
    }
    return nothing;
}

static void after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&wake, NULL);
    pthread_cond_init(&done, NULL);
    alive = busy = parts = next = left = 0;
}

/* Called with the lock held.  Fewer than asked for is no harm: the caller takes what nobody else does. */
static void start_workers(int number) {
    if (!watching) {
        pthread_atfork(NULL, NULL, after_fork);
        watching = 1;
    }
    sigset_t all, before;       /* signals are for Python's threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t quiet;
    pthread_attr_init(&quiet);
    pthread_attr_setdetachstate(&quiet, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    while (alive < number && pthread_create(&thread, &quiet, worker, NULL) == 0) alive++;
    pthread_attr_destroy(&quiet);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void side_by_side(int count, Part run, void *context) {
    if (count > 1) {
        pthread_mutex_lock(&lock);
        if (!busy) {
            busy = 1;
            start_workers(count - 1);
            job = run, job_context = context;
            next = 0, parts = left = count;
            pthread_cond_broadcast(&wake);
            take_parts();
            while (left) pthread_cond_wait(&done, &lock);
            parts = next = busy = 0;
            pthread_mutex_unlock(&lock);
            return;
        }
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < count; i++) run(context, i);
}

static int processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}
#else
void side_by_side(int count, Part run, void *context) {
    for (int i = 0; i < count; i++) run(context, i);
}
static int processors(void) { return 1; }
#endif

/* As OpenBLAS finds its own number. */
static int default_number(void) {
    const char *names[2] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"};
    for (int i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);
        const int number = text ? atoi(text) : 0;
        if (number > 0) return number;
    }
    return processors();
}

int parts_for(double multiplications, ptrdiff_t at_most) { return parts_among(multiplications, at_most, 0); }

int parts_among(double multiplications, ptrdiff_t at_most, ptrdiff_t threads) {
    if (wanted == 0) wanted = default_number();
    ptrdiff_t number = threads > 0 ? threads : wanted;
    if (number > MOST) number = MOST;
    if (number > at_most) number = at_most;
    if (multiplications < LEAST * (double)number) number = (ptrdiff_t)(multiplications / LEAST);
    return number < 1 ? 1 : (int)number;
}

/* threads(number) -> None: how many there may be from now on */
KERNEL(threads, 1)
    npy_intp number;
    if (!whole(args[0], &number)) {
        PyErr_SetString(PyExc_TypeError, "threads: expected a number");
        return NULL;
    }
    wanted = number < 1 ? 1 : number < MOST ? (int)number : MOST;
    Py_RETURN_NONE;
END
