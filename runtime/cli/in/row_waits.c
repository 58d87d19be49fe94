/*
 * row_waits.c -- what the rows of a file wait for: each row names those that have to end before it.
 *
 * `after` may name a later row, so whether it exists is known only at the end of the file; and rows
 * may depend on each other in a circle. The simulation itself finds circles, but by id alone. A
 * circle must contain at least one row that names itself or a later row; the places of only those
 * rows (few, mostly none) are kept, to tell line and column in the end.
 *
 * For example rows 0, 1 and 2 that wait for 2, 0 and 1: row 0 names a later one, so its place is
 * kept, and at the end of the file the message is
 *
 *     <stdin>:2:30: transactions wait for each other: 0 -> 2 -> 1 -> 0
 *
 * Rows 1 and 2 name earlier ones only, and take no memory.
 */
#include "cli/in/row_waits.h"
#include "cli/out/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "3|7": ids of rows, which the file may not have. The last of them all in `place`. */
static bool read_ids(struct row_waits *w, const struct field *f)
{
    if (f->len == 0)
        return true;
    w->place.after_column = (uint32_t)fields_column(w->fields, f->text);
    for (const char *at = f->text, *end = at + f->len, *bar; at; at = bar ? bar + 1 : NULL) {
        bar = memchr(at, '|', (size_t)(end - at));
        struct field one = {at, (size_t)((bar ? bar : end) - at)};
        w->ids = memory_room(w->ids, w->n_ids, &w->ids_room, sizeof *w->ids);
        uint64_t *id = &w->ids[w->n_ids++];

        if (!text_read_count(one.text, one.len, id))
            return fields_bad_field(w->fields, &one, "after",
                                    "the id of a row: digits, with | between two ids");
        if (w->n_ids == 1 || *id > w->place.last_id) {
            w->place.last_id = *id;
            w->place.last_id_column = (uint32_t)fields_column(w->fields, at);
        }
    }
    return true;
}

static bool read_think(struct row_waits *w, const struct field *f)
{
    if (f->len > 0 && !text_read_ns(f->text, f->len, &w->think_fs))
        return fields_bad_field(w->fields, f, "think_ns",
                                "a time: 0 to " TEXT_NS_MAX_SHOWN ", at most six decimals");
    if (w->think_fs > 0 && w->n_ids == 0)
        return fields_bad(w->fields, f->text,
                          "think_ns without after: there is nothing that it could follow");
    return true;
}

bool row_waits_read(struct row_waits *w, const struct field *after, const struct field *think)
{
    w->n_ids = 0;
    w->think_fs = 0;
    w->place = (struct row_place){.row = w->fields->n_rows, .line = w->fields->lines.number};
    return read_ids(w, after) && read_think(w, think);
}

void row_waits_leave_warm(struct row_waits *w, int64_t *issue_fs)
{
    size_t kept = 0, all = w->n_ids;

    for (size_t i = 0; i < all; i++)
        if (w->ids[i] >= w->n_warm)
            w->ids[kept++] = w->ids[i] - w->n_warm;
    w->n_ids = kept;
    if (kept < all && w->think_fs > *issue_fs)
        *issue_fs = w->think_fs;
}

kb_status row_waits_add(struct row_waits *w)
{
    struct fields *fields = w->fields;
    kb_status status;
    kb_error why; /* filled only by what fails */

    if (w->n_ids == 0)
        return KB_OK;
    if (w->place.last_id >= fields->n_rows) {
        w->places = memory_room(w->places, w->n_places, &w->places_room, sizeof *w->places);
        w->places[w->n_places++] = w->place;
    }
    if (fields->n_bad > 0 || w->place.last_id >= KB_TRANSACTIONS_MAX)
        return KB_OK; /* there will be no run */
    status = kb_sim_add_dependencies(w->sim, fields->n_rows - w->n_warm, w->ids, w->n_ids,
                                     w->think_fs, &why);
    if (status != KB_OK && status != KB_NO_MEMORY)
        fields_bad_at(fields, w->place.line, w->place.last_id_column, why.text);
    return status == KB_NO_MEMORY ? status : KB_OK;
}

static void check_ids(struct row_waits *w)
{
    for (size_t i = 0; i < w->n_places && !fields_enough(w->fields); i++) {
        const struct row_place *place = &w->places[i];
        char text[128];

        if (place->last_id < w->fields->n_rows)
            continue;
        snprintf(text, sizeof text, "after '%llu' is the id of no row: the last one's is %llu",
                 (unsigned long long)place->last_id, (unsigned long long)w->fields->n_rows - 1);
        fields_bad_at(w->fields, place->line, place->last_id_column, text);
    }
}

static kb_status check_cycles(struct row_waits *w)
{
    const struct row_place *place = w->places;
    kb_error why = {""};
    uint64_t id;
    kb_status status = kb_sim_check_dependencies(w->sim, &id, &why);

    if (status != KB_BAD_REQUEST)
        return status;
    while (place->row != id + w->n_warm)
        place++;
    fields_bad_at(w->fields, place->line, place->after_column, why.text);
    return KB_OK;
}

kb_status row_waits_check(struct row_waits *w)
{
    check_ids(w);
    return w->fields->code ? KB_OK : check_cycles(w);
}

void row_waits_free(struct row_waits *w)
{
    free(w->ids);
    free(w->places);
}
