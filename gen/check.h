/* check.h -- mistakes that no key shows alone: missing keys, keys that do not fit together. */
#ifndef CHECK_H
#define CHECK_H
#include "spec.h"

enum { VERSION_OF_KINDS = 3 };

/*
 * Check the spec after the file and all --set options. Of several keys that do not fit together,
 * one that was set is blamed rather than one of the file, and that rather than a default. Keys that
 * already have a message are left out. False when there is any mistake, found here or before.
 */
bool check_spec(const struct spec *spec);

/* The key that is blamed for a mistake of several; N_KEYS if one of them already has a message.
 * culprit.c, as are the two below */
enum key culprit(const struct spec *spec, const enum key keys[], size_t n_keys);

/* Slices and crossbar nodes of a cube; 0 for a mistake that check() reports. */
int64_t slices_of(const struct spec *spec);
int64_t crossbars_of(const struct spec *spec);

/* Has it neither PEs nor slices? Then it has a NoC and ports only. */
bool is_switch(const struct spec *spec);

/* -- for files of checks -------------------------------------------------------------------- */

/* Was it written; has it a message already? */
bool check_is_given(const struct spec *spec, enum key k);
bool check_is_bad(const struct spec *spec, enum key k);
bool check_is_power_of_two(int64_t n);

/* The keys of an HBM with banks.  check_banks.c */
void check_banks(const struct spec *spec);
/* Those keys beside a memory without banks: a mistake from version 3 on, before it a warning. */
void check_no_banks(const struct spec *spec);

/* The keys of a cache of a memory, and of an L2.  check_banks.c */
void check_cache(const struct spec *spec);
void check_l2(const struct spec *spec);

/* -- counts --------------------------------------------------------------------------------- */

/* Nodes of one cube; of the whole topology, as `info` counts them. */
int64_t count_cube_nodes(const struct spec *spec);
int64_t count_nodes(const struct spec *spec);

#endif
