/* pattern.h -- cubes and PEs as the keys of a topology name them: c3, s1.c*, c[4-7], c1.pe[0,2-3],
 * and the switches between SIPs: sw3, sw[0-8].
 */
#ifndef PATTERN_H
#define PATTERN_H
#include "arena.h"
#include "machine/tables.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers in one place. All zero is 0 alone. */
struct pattern_numbers {
    bool all;         /* * */
    const char *list; /* behind '[': ranges with commas between them; NULL: one number */
    uint32_t one;
};

/* Cubes, or some PEs of them, or switches. Borrows its text. */
struct pattern {
    struct pattern_numbers sip, cube, pe; /* cube: of switches, too */
    bool of_pes, of_switches;
};

/* How many there are: cubes of each SIP, and switches behind all of them. */
struct pattern_room {
    uint32_t sips, cubes, switches;
};

/* Reads `len` bytes, ended by 0 or not. False: that is no such pattern; *out is as it was. */
bool pattern_of_text(const char *text, size_t len, struct arena *a, struct pattern *out);

/* Whether the pattern has this cube or switch, counted over all, or PEs of it. */
bool pattern_has_cube(const struct pattern *p, const struct pattern_room *room, uint32_t cube);

/* The cubes or switches of such a pattern in its order, counted over all, into `out`, which has
 * room for `most`: how many. UINT32_MAX: it has one that is not there, or too many. */
uint32_t pattern_cubes(const struct pattern *p, const struct pattern_room *room, uint32_t *out,
                       uint32_t most);

/* Which of the first `n` PEs of such a cube it has. */
struct pe_set pattern_pes(const struct pattern *p, uint32_t n);

#endif
