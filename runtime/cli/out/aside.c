/*
 * aside.c -- bytes for later: what is more than some MB goes to a temporary file.
 *
 * A table is as wide as its widest row, so all rows must be there before the first is printed, and
 * they may be more than the memory. They are put aside in parts, each with its length before it.
 * The last ASIDE_BYTES stay in memory, so that small tables need no file; the file has no name, and
 * is gone when it is closed or the program ends.
 */
#include "cli/out/aside.h"
#include "cli/out/memory.h"
#include <errno.h>
#include <stdint.h>

enum { ASIDE_BYTES = 16 << 20 };

static void keep_error(struct aside *a)
{
    if (!a->error)
        a->error = errno ? errno : EIO;
}

/* Moves what is in memory to the file. */
static void write_part(struct aside *a)
{
    if (!a->file && !(a->file = tmpfile()))
        keep_error(a);
    else if (fwrite(a->part.bytes, 1, a->part.n, a->file) != a->part.n)
        keep_error(a);
    a->part.n = 0;
}

void aside_put(struct aside *a, const void *bytes, size_t n)
{
    PACKED_PUT(&a->part, n);
    packed_put(&a->part, bytes, n);
    if (a->part.lost)
        memory_lacks();
    if (a->part.n >= ASIDE_BYTES)
        write_part(a);
}

void aside_rewind(struct aside *a)
{
    if (a->file && a->part.n > 0)
        write_part(a);
    if (a->file && fseek(a->file, 0, SEEK_SET) != 0)
        keep_error(a);
    a->part.at = 0;
}

static bool take_bytes(struct aside *a, void *to, size_t n)
{
    if (!a->file) {
        packed_take(&a->part, to, n);
        return true;
    }
    if (fread(to, 1, n, a->file) == n)
        return true;
    if (ferror(a->file))
        keep_error(a);
    return false;
}

bool aside_take(struct aside *a, struct packed *part)
{
    size_t n;

    if (a->error || (!a->file && a->part.at == a->part.n) || !take_bytes(a, &n, sizeof n))
        return false;
    if (n > part->room) {
        part->bytes = memory_resize(part->bytes, n, 1);
        part->room = n;
    }
    part->n = n;
    part->at = 0;
    return take_bytes(a, part->bytes, n);
}

void aside_free(struct aside *a)
{
    if (a->file)
        fclose(a->file);
    packed_free(&a->part);
    *a = (struct aside){0};
}
