/*
 * study_results.c -- what all runs of a study have come to, in few bytes each.
 *
 * A study of a million runs has few different texts: places that bind, algorithms, reasons. Each is
 * kept once, and a result has its number. So a run takes 40 bytes, and 9 more while the table is
 * made.
 */
#include "cli/study/study_results.h"
#include "cli/out/memory.h"
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A text in the tree, with its number before it. */
struct named_text {
    uint32_t number;
    char text[];
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct named_text *)a)->text, ((const struct named_text *)b)->text);
}

static uint32_t number_of(struct study_results *r, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct named_text *entry, **found;

    if (bytes == 1)
        return 0;
    entry = memory_new(sizeof *entry + bytes, 1);
    memcpy(entry->text, text, bytes);
    found = tsearch(entry, &r->tree, by_text);
    if (!found)
        memory_lacks();
    if (*found != entry) {
        free(entry);
        return (*found)->number;
    }
    for (size_t first = r->n_texts; r->n_texts < first + 1 + (first == 0);) { /* 0 is none */
        r->text = memory_room(r->text, r->n_texts, &r->texts_room, sizeof *r->text);
        entry->number = (uint32_t)r->n_texts;
        r->text[r->n_texts++] = entry->text;
    }
    return entry->number;
}

void study_results_resize(struct study_results *r, uint64_t n)
{
    r->result = memory_resize(r->result, n, sizeof *r->result);
    if (n > r->n)
        memset(r->result + r->n, 0, (n - r->n) * sizeof *r->result);
    r->n = n;
}

void study_results_put(struct study_results *r, uint64_t i, const struct study_outcome *o,
                       const char *failed)
{
    r->result[i] = (struct study_result){.time_fs = o->time_fs,
                                         .bound_pct = o->bound_pct,
                                         .bound = number_of(r, o->bound),
                                         .algorithm = number_of(r, o->algorithm),
                                         .metric = number_of(r, o->metric),
                                         .failed = number_of(r, failed),
                                         .code = (uint16_t)o->code,
                                         .state = (uint8_t)o->state};
}

void study_results_free(struct study_results *r)
{
    explained_free(&r->explained);
    tdestroy(r->tree, free);
    free(r->text);
    free(r->result);
}
