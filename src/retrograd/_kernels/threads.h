/* Work for several threads; see threads.c. */

#ifndef RETROGRAD_THREADS_H
#define RETROGRAD_THREADS_H
#include <stddef.h>

typedef void (*Part)(void *context, int part);

/* Into how many parts work of that many multiplications is cut: 1 where threads would only wait for each other. */
int parts_for(double multiplications, ptrdiff_t at_most);

/* The same for a caller with a number of threads of its own; 0: as above. */
int parts_among(double multiplications, ptrdiff_t at_most, ptrdiff_t threads);

/* run(context, 0) ... run(context, parts - 1), each once, side by side; returns when all are done.  Call without the GIL. */
void side_by_side(int parts, Part run, void *context);
#endif
