/* pe_clear.c -- what a kernel leaves in its PE is freed.
 */
#include "kernels/acc.h"
#include "kernels/pool.h"
#include "pe/boxes.h"

void pe_clear(struct tl_ctx *pe)
{
    tensors_free_all(pe);
    accs_free_all(pe);
    pe->readers = pe->updates = NULL;
    version_drop(pe->value.v);
    pe->value.v = NULL;
    if (pe->kept)
        command_free(pe->kernels, pe->kept);
    pe->kept = NULL;
    host_bytes_free_all(pe);
    free(pe->buffer_taken);
    pe->buffer_taken = NULL;
    pe->next_buffer = 0;
    pe->region = NULL;
}
