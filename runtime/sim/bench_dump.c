/* bench_dump.c -- inputs and outputs of a bench as .npy files in a folder.
 *
 * The files are named by role and tensor, so that they can be read without knowing the bench: gemm
 * gives in.a.npy, in.b.npy and out.c.npy. NumPy has no bf16: such a file says .bf16.npy and has the
 * bits as unsigned integers. Scratch tensors are left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "machine/endpoint.h"
#include "sim/bench.h"

static kb_status file_error(kb_error *why, const char *path)
{
    endpoint_error(why, "%s: %s", path, strerror(errno));
    return KB_FILE_ERROR;
}

/* Makes `folder` and those above it, so far as they lack. */
static kb_status make_folder(const char *folder, kb_error *why)
{
    char *path = malloc(strlen(folder) + 1);
    kb_status status = path ? KB_OK : KB_NO_MEMORY;

    if (path)
        strcpy(path, folder);
    for (char *p = path; !status && *p;) {
        p += strspn(p, "/");
        p += strcspn(p, "/");
        char end = *p;
        *p = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            status = file_error(why, path);
        *p = end;
    }
    free(path);
    return status;
}

static kb_status dump(const kb_tensor *t, kb_bench_role role, const char *folder, kb_error *why)
{
    kb_dtype dtype = kb_tensor_dtype(t);
    bool is_kept = dtype != KB_BF16 && dtype != KB_F8E4M3 && dtype != KB_F8E5M2 && dtype != KB_I4;
    size_t room = strlen(folder) + strlen(kb_tensor_name(t)) + 32;
    char *path = malloc(room);
    kb_status status = KB_NO_MEMORY;

    if (path) {
        snprintf(path, room, "%s/%s.%s%s%s.npy", folder, role == KB_BENCH_INPUT ? "in" : "out",
                 kb_tensor_name(t), is_kept ? "" : ".", is_kept ? "" : kb_dtype_name(dtype));
        status = kb_tensor_save_npy(t, path, why);
    }
    free(path);
    return status;
}

kb_status kb_bench_dump(const kb_bench_run *run, const char *folder, kb_error *why)
{
    REFUSE_NULL(run && folder, "run, folder", why);
    kb_status status =
        *folder ? make_folder(folder, why) : endpoint_error(why, "a folder for dumps needs a name");

    for (size_t i = 0; i < run->n_tensors && !status; i++)
        if (run->roles[i] != KB_BENCH_SCRATCH)
            status = dump(run->tensors[i], run->roles[i], folder, why);
    return status;
}
