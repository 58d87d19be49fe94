/*
 * presets.c -- cube.hbm.preset: values of a DRAM for the keys of banks that are not given.
 *
 * A preset is a list of other defaults. A key that is given beside it has the value given, and the
 * resolved YAML names the preset and, of its keys, those with another value than the preset's.
 *
 * hbm2_dramsim3 are the defaults themselves: HBM2_8Gb_x128.ini of DRAMsim3 (umd-memsys/DRAMsim3,
 * 1 ns a cycle). Where it has two values, for the same bank group and for others, ours is the mean
 * (rrd: the one for others): groups have no times of their own.
 *
 * hbm3_ramulator2 are the timings of HBM3_2Gbps in src/dram/impl/HBM3.cpp of Ramulator 2.0
 * (CMU-SAFARI/ramulator2, 1 ns a cycle): those between bank groups, nRFC of 4 Gb, and for rtw the 2
 * cycles between a read's data and a write's.
 */
#include "presets.h"
#include "machine/tables.h"
#include <string.h>

enum preset { PRESET_NONE, PRESET_HBM2_DRAMSIM3, PRESET_HBM3_RAMULATOR2 };

static const struct {
    enum preset preset;
    enum key key;
    double value;
} rows[] = {
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_rcd, 7},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_rp, 7},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_cl, 7},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_cwl, 2},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_ras, 17},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_rrd, 2},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_faw, 15},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_rtp, 2},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_wr, 8},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_wtr, 3},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_rtw, 2},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_refi, 3900},
    {PRESET_HBM3_RAMULATOR2, KEY_cube_hbm_timing_ns_rfc, 260},
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

const void *presets_default(const struct spec *spec, enum key k)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if ((int)rows[i].preset == spec->cube_hbm_preset && rows[i].key == k)
            return &rows[i].value;
    return NULL;
}

/* The key may have had the value of another preset: of a variant of a machine. */
void presets_take(struct spec *spec)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        enum key k = rows[i].key;

        if (spec->given[k][key_depth(k)].key.kind == PLACE_NONE)
            memcpy(spec_field(spec, k), spec_default(spec, k), key_rows[k].bytes);
    }
}

void presets_leave_server(struct spec *spec, bool beside)
{
    if (spec->cube_hbm_model == MEMORY_BANKS && !beside)
        spec_forget(spec, KEY_cube_hbm_hold);
}
