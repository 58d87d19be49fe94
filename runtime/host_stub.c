#include "host.h"
#include "address.h"
#include "end.h"
#include <string.h>
uint64_t kb_address(const kb_topology *t, const kb_endpoint *m, uint64_t offset)
{ uint32_t unit = m->kind == KB_SLICE ? m->unit : m->kind == KB_SRAM ? t->pes : t->pes + 1 + m->unit;
  return address_of(t, dst_pack(t, m->sip * t->cubes + m->cube, unit), offset); }
static kb_sim *S; static uint64_t B;
kb_status kb_tensor_new(kb_sim *sim, const char *name, kb_dtype dtype, kb_shape shape, kb_placement placement, kb_tensor **out, kb_error *why)
{ S = sim; B = kb_dtype_bytes(dtype); for (int i = 0; i < shape.rank; i++) B *= (uint64_t)shape.dim[i]; *out = (void*)1; return 0; }
kb_status kb_tensor_fill_random(kb_tensor *t, uint64_t seed, double scale, kb_error *why)
{ struct version *v = version_new_bytes(B); const struct kb_topology *tp = S->topo; memset(v->bytes, 1, B); v->ready = true;
 for (uint32_t c = 0; c < tp->sips*tp->cubes; c++) for (uint32_t p = 0; p < tp->pes; p++) { uint32_t d = dst_pack(tp, c, p); mem_write(host_mem(S), d, address_of(tp,d,0), B, (struct view){v,0}, OP_NONE);} return 0; }
kb_status kb_tensor_fill_arange(kb_tensor *t, double a, double b, kb_error *why) { (void)a; (void)b; return kb_tensor_fill_random(t,0,0,why); }
