/* chip.h -- what the machine has for a model: units, ranks, and the figures that mappings follow.
 */
#ifndef CHIP_H
#define CHIP_H
#include "cli/command.h"
#include "cli/llm/told.h"

/* A read alone: what it takes beside its bytes, and their rate. */
struct way {
    double ns, gbs;
};

/* Keys of `energy`; mac_pj by type: f64 f32 f16 bf16 f8 i64 i32 i16 i8. */
struct chip_energy {
    double mac_pj[9], math_pj, tcm_pj_bit, hbm_pj_bit, noc_pj_bit_mm, d2d_pj_bit, fabric_pj_bit,
        static_w, ns_per_mm;
    bool is_known; /* any of them is not 0 */
};

struct chip {
    const kb_topology *topo;
    struct told *told; /* borrowed, or NULL: is told what is simulated */
    kb_info info;
    double mac[3], clock_ghz, rate; /* of pe_gemm; rate: of products in bf16 */
    double slice_gbs, lat_ns;       /* of the own slice; before its first byte */
    double channels, issue_ns;
    double command_ns; /* from the call of a command to its issue */
    double tcm_gbs, tcm_ports;
    int64_t acc_bytes, tcm_bytes;
    struct way own,
        other; /* of the first PE: its slice; those of other PEs of its unit, in the mean */
    bool has_plain_pes;    /* alike, and no component */
    bool has_flat_memory;  /* no cache, banks or component before or in it: each read goes there */
    bool has_plain_memory; /* nor a granule: rooms of PEs lie in their own slices */
    uint64_t round;        /* bytes behind which addresses come to the same slice; 0: the next is */
    bool takes_turns;      /* transactions take one of several ways by their ids */
    bool leaps;            /* what a rank does alone takes the same in all layers */
    bool repeats;          /* layers a round apart take the same */
    bool forgets;          /* a transaction's time does not depend on where in its memory it lies */
    bool has_lone_units; /* what passes between others shares nothing with what a unit does alone */
    bool has_like_units; /* all have the same parts */
    uint32_t units;      /* SIPs, cubes with PEs, or 1: the whole machine */
    uint32_t unit_pes;
    uint32_t grid_p;      /* rows of the grid that was asked for; 0: by the number of tokens */
    const char *unit;     /* "sip", "cube", "machine" */
    uint32_t *order;      /* owned: PEs, unit by unit, neighbours behind each other */
    uint64_t unit_bytes;  /* that its PEs can have in their slices, each as many */
    uint32_t unit_slices; /* over which what a unit has is spread at most */
    struct chip_energy energy;
};

/* The peak of a rank's engines in bf16: a product and a sum are two. */
double chip_flops_per_ns(const struct chip *c);

/* What bytes take alone between the home of a PE and the host of its SIP; `load`: to the PE. */
kb_status chip_host_fs(const struct chip *c, uint32_t pe, bool load, uint64_t bytes, int64_t *fs,
                       kb_error *why);

/* EXIT_USAGE after a message: units have different numbers of PEs. Give back with chip_free(). */
enum exit_code chip_of(const struct cli *cli, struct chip *out);
void chip_free(struct chip *chip);

#endif
