/* oplog_find.c -- records of the log by their ids. */
#include "record/oplog.h"

const struct record *op_log_find(const struct op_log *log, uint32_t id, const unsigned char **chunk)
{
    const struct record *found = NULL;

    for (uint32_t c = 0; c < log->n_chunks; c++) {
        const struct record *r = chunk_records(log, &log->chunks[c]);

        for (uint32_t i = 0; i < log->chunks[c].n; i++, r++) {
            bool last = id == UINT32_MAX && !record_is_token(r) && (!found || r->id > found->id);

            if (r->id != id && !last)
                continue;
            found = r;
            *chunk = chunk_bytes(log, &log->chunks[c]);
        }
    }
    return found;
}
