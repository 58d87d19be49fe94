/* wakes.c -- room for the events of kernels. */
#include "kernels/wakes.h"
#include <stdlib.h>

bool wakes_init(struct wakes *w, uint32_t n)
{
    uint32_t rows = 1;

    while (rows < n)
        rows *= 2;
    *w = (struct wakes){.next = EV_NONE, .in_line = EV_NONE, .in_set = EV_NONE, .mask = rows - 1};
    w->line = malloc(rows * sizeof *w->line);
    w->set = calloc(n / 64 + 1, sizeof *w->set);
    w->filled = calloc(n / 4096 + 1, sizeof *w->filled);
    return w->line && w->set && w->filled;
}

void wakes_free(struct wakes *w)
{
    free(w->line);
    free(w->set);
    free(w->filled);
}
