/* percentiles.c -- latencies of many transactions: their percentiles, exact or from a histogram. */
#include "base/percentiles.h"
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Transactions that waited in one queue come in order. */
static bool is_sorted(const int64_t *values, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (values[i] < values[i - 1])
            return false;
    return true;
}

void samples_sort(int64_t *values, size_t n)
{
    if (!is_sorted(values, n))
        qsort(values, n, sizeof *values, compare);
}
