/* sim_oplog.c -- a simulation's op log as a file.
 *
 * The end of the name decides the format: .csv, or JSON lines for anything else;
 * record/oplog_text.c writes both. The file gets its name only when all of it is written
 * (base/newfile.h), so that a reader never sees half a log, and a failure leaves an older file as
 * it was. JSON lines begin with the topology, the command line and the seed, so the same run can be
 * made again from the log alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "machine/endpoint.h"
#include "base/newfile.h"
#include "record/oplog.h"
#include "engine/state.h"

static kb_status cannot_write(kb_error *why, const char *path, int error)
{
    endpoint_error(why, "cannot write %s: %s", path, strerror(error));
    return KB_FILE_ERROR;
}

static enum op_format format_of(const char *path)
{
    size_t n = strlen(path);

    return n >= 4 && strcmp(path + n - 4, ".csv") == 0 ? OP_CSV : OP_JSONL;
}

/* The stream has a descriptor of its own, so that the file is closed once, where it gets its name.
 */
static FILE *stream_of(const struct newfile *file)
{
    int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (!out && fd >= 0)
        close(fd);
    return out;
}

static kb_status write_to(struct op_log *log, const char *path, const char *command_line,
                          uint64_t seed, const struct newfile *file, kb_error *why)
{
    FILE *out = stream_of(file);
    kb_status status;

    if (!out)
        return cannot_write(why, path, errno);
    status = op_log_export(log, format_of(path), command_line, seed, out, why);
    if (fclose(out) != 0 && status == KB_OK)
        return cannot_write(why, path, errno);
    return status;
}

kb_status kb_oplog_write(kb_sim *s, const char *path, const char *command_line, uint64_t seed,
                         kb_error *why)
{
    REFUSE_NULL(s && path, "sim, path", why);
    struct newfile file;
    kb_status status;

    if (!s->log)
        return endpoint_error(why, "the simulation keeps no op log: ask for it with its options");
    if (!newfile_open(&file, path)) {
        status = cannot_write(why, path, errno);
        newfile_close(&file, false);
        return status;
    }
    status = write_to(s->log, path, command_line, seed, &file, why);
    if (!newfile_close(&file, status == KB_OK) && status == KB_OK)
        return cannot_write(why, path, errno);
    return status;
}
