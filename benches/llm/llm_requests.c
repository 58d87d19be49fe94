/*
 * llm_requests.c -- requests of unlike lengths: which row is whose, and where their pages lie.
 *
 * Rows of new tokens lie request by request. Pages lie as those of requests that are alike: with as
 * many units as PEs or more, unit u is in PE u modulo PEs, behind the units before it there; else
 * page j of a unit is in the (j modulo n)-th of its n PEs.
 *
 * Example: 3 requests of 1, 2 and 3 pages, one head, 2 PEs. Units 0 and 2 are in PE 0, with pages 0
 * and 1 to 3; unit 1 is in PE 1 with pages 0 and 1. Each PE has room for 4.
 */
#include <stdlib.h>
#include "benches/llm/llm_place.h"

struct llm_requests *llm_requests_new(int64_t n, int64_t kv_heads)
{
    struct llm_requests *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->n = n;
    r->units = n * kv_heads;
    r->request = calloc((size_t)n, sizeof *r->request);
    r->last = calloc((size_t)n, sizeof *r->last);
    r->before = calloc((size_t)r->units, sizeof *r->before);
    if (r->request && r->last && r->before)
        return r;
    llm_requests_free(r);
    return NULL;
}

void llm_requests_end(struct llm_requests *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        struct llm_request *one = &r->request[i];

        one->row = r->tokens;
        r->tokens += one->q;
        r->longest = one->kv > r->longest ? one->kv : r->longest;
        if (one->has_head)
            r->last[r->heads++] = r->tokens - 1;
    }
}

void llm_requests_free(struct llm_requests *r)
{
    if (!r)
        return;
    free(r->request);
    free(r->last);
    free(r->before);
    free(r);
}

int64_t llm_request_with(const struct llm_op *op, int64_t row)
{
    const struct llm_requests *r = op->requests;
    int64_t low = 0, high = r ? r->n : 1;

    if (!r)
        return row / op->q;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;

        if (r->request[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t llm_units(const struct llm_op *op)
{
    return op->batch * op->kv_heads;
}

int64_t llm_pes_of_unit(const struct llm_op *op, uint32_t pes)
{
    int64_t units = llm_units(op);

    return units >= pes ? 1 : pes / units;
}

static int64_t pages_of(const struct llm_op *op, int64_t unit, int64_t page)
{
    return parts(op->requests->request[unit / op->kv_heads].kv, page);
}

void llm_lay_pages(const struct llm_op *op, const struct llm_step *s)
{
    struct llm_requests *r = op->requests;
    int64_t units = llm_units(op), n = llm_pes_of_unit(op, s->pes), end;

    r->pages = 0;
    for (int64_t u = 0; u < units; u++) {
        r->before[u] = u < s->pes ? 0 : r->before[u - s->pes] + pages_of(op, u - s->pes, s->page);
        end = r->before[u] + parts(pages_of(op, u, s->page), n);
        r->pages = end > r->pages ? end : r->pages;
    }
}
