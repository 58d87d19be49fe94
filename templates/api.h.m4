gen_banner
/* gen_name.h -- the topology gen_name, to be used with kernbench.h. */
#ifndef gen_NAME[[]]_H
#define gen_NAME[[]]_H
#include <kernbench.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    gen_NAME[[]]_SIPS = gen_sips,
    gen_NAME[[]]_CUBES_PER_SIP = gen_w * gen_h,
    gen_NAME[[]]_PES_PER_CUBE = gen_pes,
};

/* Const and shared by all simulations of it; from lib[[]]gen_name. */
extern const kb_topology gen_name[[]]_topology;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
