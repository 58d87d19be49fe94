/* test_oplog.c -- the op log: what each kind of record says, its order, its file, what it keeps. */
#include "cube8.h"
#include "op.h"
#include "rig.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

/* -- stand-ins ------------------------------------------------------------------------------ */

void version_drop(struct version *v)
{
    if (v)
        v->refs--;
}

void op_ids_clear(struct op_ids *set)
{
    free(set->ids);
    memset(set, 0, sizeof *set);
}

size_t kb_dtype_bytes(kb_dtype dtype)
{
    static const uint8_t bytes[] = {0, 2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};

    return bytes[dtype];
}

const char *kb_dtype_name(kb_dtype dtype)
{
    static const char *const names[] = {"",    "f16", "bf16", "f32", "f64", "i8",  "i16",
                                        "i32", "i64", "u8",   "u16", "u32", "u64", "bool"};

    return names[dtype];
}

int main(void)
{
    struct op_log *log = op_log_new(&cube8_topology, 0, false);
    struct op op = {.kind = OP_DMA_READ, .id = 3, .pe = 9, .n_in = 1};
    op.in[0].shape = (struct dims){2, {32, 64}};
    op.in[0].dtype = KB_F16;
    op.out.space = SPACE_TCM;
    op_log_add(log, &op, 5, 7000001);
    struct op_token t = {.stage = STAGE_GEMM, .m = 3, .region = "a\"\xff" "b"};
    op_log_add_token(log, &t, 4, 100);
    op_log_export(log, OP_JSONL, "cmd", stdout, NULL);
    op_log_export(log, OP_CSV, "cmd", stdout, NULL);
    op_log_free(log);
}
