/* tensors.c -- makes tensors of a simulation's host. */
#include "data/host.h"
#include "engine/state.h"
#include "machine/endpoint.h"

kb_status kb_tensor_new(kb_sim *s, const char *name, kb_dtype dtype, kb_shape shape,
                        kb_placement placement, kb_tensor **out, kb_error *why)
{
    REFUSE_NULL(s && name && out, "sim, name, out", why);
    kb_status status = host_tensor_new(&s->host, s->topo, name, dtype, shape, placement, out, why);

    if (!status && (s->options.phase2 || s->options.values || s->options.inspect) &&
        !s->options.max_events)
        host_fill_now(s->host);
    return status;
}
