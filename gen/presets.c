/*
 * presets.c -- cube.hbm.preset: values of a DRAM for the keys of banks that are not given.
 *
 * A preset is a list of other defaults. A key that is given beside it has the value given, and the
 * resolved YAML names the preset and, of its keys, those with another value than the preset's.
 *
 * hbm2_dramsim3 are the defaults themselves: HBM2_8Gb_x128.ini of DRAMsim3 (umd-memsys/DRAMsim3,
 * 1 ns a cycle), and from version 3 of the keys on its queue of 8 requests for each bank. Where it
 * has two values, for the same bank group and for others, ours is the mean (rrd: the one for
 * others): rrd and wtr are the same for all groups.
 *
 * hbm3_ramulator2 are the timings of HBM3_2Gbps in src/dram/impl/HBM3.cpp of Ramulator 2.0
 * (CMU-SAFARI/ramulator2, 1 ns a cycle): those between bank groups, nRFC of 4 Gb, and for rtw the 2
 * cycles between a read's data and a write's.
 *
 * ddr4_3200 is DDR4_8Gb_x8_3200.ini of DRAMsim3, 0.63 ns a cycle, a channel of two ranks. A burst
 * takes 4 cycles if bw_gbs is 25.396825. Its tRRD_L and tWTR_L have no key.
 */
#include "presets.h"
#include "machine/tables.h"
#include <string.h>

enum preset { PRESET_NONE, PRESET_HBM2_DRAMSIM3, PRESET_HBM3_RAMULATOR2, PRESET_DDR4_3200 };

/* In the type of the key's field. */
union preset_value {
    double real;
    int64_t n;
    uint32_t fields;
};

/* clang-format off */
static const struct {
    enum preset preset;
    int64_t since; /* version of the keys */
    enum key key;
    union preset_value value;
} rows[] = {
    {PRESET_HBM2_DRAMSIM3, 3, KEY_cube_hbm_bank_queue, {.n = 8}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_rcd, {.real = 7}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_rp, {.real = 7}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_cl, {.real = 7}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_cwl, {.real = 2}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_ras, {.real = 17}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_rrd, {.real = 2}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_faw, {.real = 15}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_rtp, {.real = 2}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_wr, {.real = 8}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_wtr, {.real = 3}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_rtw, {.real = 2}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_refi, {.real = 3900}},
    {PRESET_HBM3_RAMULATOR2, 1, KEY_cube_hbm_timing_ns_rfc, {.real = 260}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_rcd, {.real = 13.86}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_rp, {.real = 13.86}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_cl, {.real = 13.86}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_cwl, {.real = 10.08}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_ras, {.real = 32.76}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_rrd, {.real = 2.52}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_faw, {.real = 21.42}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_rtp, {.real = 7.56}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_wr, {.real = 15.12}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_wtr, {.real = 2.52}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_ccd_l, {.real = 5.04}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_rtrs, {.real = 0.63}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_refi, {.real = 7862.4}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_timing_ns_rfc, {.real = 352.8}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_channels, {.n = 1}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_burst_bytes, {.n = 64}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_groups, {.n = 4}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_banks, {.n = 4}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_columns, {.n = 128}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_ranks, {.n = 2}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_queue, {.n = 16}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_bank_queue, {.n = 8}},
    {PRESET_DDR4_3200, 1, KEY_cube_hbm_map, {.fields = 0x045132}}, /* row channel rank bank group column */
};
/* clang-format on */

enum { N_ROWS = sizeof rows / sizeof rows[0] };

const void *presets_default(const struct spec *spec, enum key k)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if ((int)rows[i].preset == spec->cube_hbm_preset && rows[i].key == k &&
            rows[i].since <= spec->kernbench)
            return &rows[i].value;
    return NULL;
}

/*
 * Another preset was chosen than that of `before`, whose file gives `k` its default: the resolved
 * YAML leaves that out, so it says nothing against the preset.
 */
static bool is_left_behind(const struct spec *spec, const struct spec *before, enum key k)
{
    const struct place *now = &spec->given[k][key_depth(k)].at;
    const struct place *then = &before->given[k][key_depth(k)].at;

    return spec->cube_hbm_preset != before->cube_hbm_preset && spec_is_default(before, k) &&
           now->kind != PLACE_SET && now->line == then->line && now->col == then->col;
}

/* The key may have had the value of another preset: of a variant of a machine. */
void presets_take(struct spec *spec, const struct spec *before)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (is_left_behind(spec, before, rows[i].key))
            spec_forget(spec, rows[i].key);
        else
            spec_take_default(spec, rows[i].key);
    }
}

void presets_leave_server(struct spec *spec, bool beside)
{
    if (spec->cube_hbm_model == MEMORY_BANKS && !beside)
        spec_forget(spec, KEY_cube_hbm_hold);
}
