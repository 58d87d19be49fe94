/*
 * bank_row.c -- the numbers of an HBM with banks: times in fs, and where the parts of an address
 * lie.
 *
 * Example, the defaults: 256 GB/s over 8 channels are 32 each, so a burst of 64 bytes takes 2 ns.
 * The map [row, bank, column, group, channel] has the channel in bits 0 to 2 of a burst's number,
 * the group in 3 and 4, the column in 5 to 9, the bank in 10 and 11, and the row above.
 */
#include "bank_row.h"
#include "nodes.h"
#include <math.h>

static uint8_t bits_of(int64_t power)
{
    return (uint8_t)__builtin_ctzll((uint64_t)power);
}

/* The lowest bit of each part but the row: the last in the list is the lowest. */
static void place_parts(struct bank_row *b, uint32_t order)
{
    uint8_t at = 0;

    for (int i = ADDRESS_FIELDS; i-- > 1;) {
        switch (fields_at(order, i)) {
        case IN_CHANNEL:
            b->channel_at = at;
            at = (uint8_t)(at + b->channel_bits);
            break;
        case IN_GROUP:
            b->group_at = at;
            at = (uint8_t)(at + b->group_bits);
            break;
        case IN_BANK:
            b->bank_at = at;
            at = (uint8_t)(at + b->bank_bits);
            break;
        case IN_COLUMN:
            b->column_at = at;
            at = (uint8_t)(at + b->column_bits);
            break;
        case IN_RANK:
            b->rank_at = at;
            at = (uint8_t)(at + b->rank_bits);
            break;
        case IN_ROW:
        case ADDRESS_FIELDS:
            break;
        }
    }
    b->row_at = at; /* the first of all, which takes the rest */
}

struct bank_row bank_row_of(const struct spec *s)
{
    double channel_gbs = hbm_gbs(s) / (double)s->cube_hbm_channels;
    struct bank_row b = {
        .burst_bits = bits_of(s->cube_hbm_burst_bytes),
        .channel_bits = bits_of(s->cube_hbm_channels),
        .rank_bits = bits_of(s->cube_hbm_ranks),
        .group_bits = bits_of(s->cube_hbm_groups),
        .bank_bits = bits_of(s->cube_hbm_banks),
        .number_bits = bits_of(s->cube_hbm_groups * s->cube_hbm_banks),
        .column_bits = bits_of(s->cube_hbm_columns),
        .hash = (uint8_t)s->cube_hbm_hash,
        .policy = (uint8_t)s->cube_hbm_policy,
        .ack = (uint8_t)s->cube_hbm_write_ack,
        .refresh = (uint8_t)s->cube_hbm_refresh,
        .queue = (uint32_t)s->cube_hbm_queue,
        .bank_queue = s->cube_hbm_bank_queue ? (uint32_t)s->cube_hbm_bank_queue : UINT32_MAX,
        .burst_fs = llround((double)s->cube_hbm_burst_bytes * 1e6 / channel_gbs),
        .rcd_fs = fs_of_ns(s->cube_hbm_timing_ns_rcd),
        .rp_fs = fs_of_ns(s->cube_hbm_timing_ns_rp),
        .cl_fs = fs_of_ns(s->cube_hbm_timing_ns_cl),
        .cwl_fs = fs_of_ns(s->cube_hbm_timing_ns_cwl),
        .ras_fs = fs_of_ns(s->cube_hbm_timing_ns_ras),
        .rrd_fs = fs_of_ns(s->cube_hbm_timing_ns_rrd),
        .faw_fs = fs_of_ns(s->cube_hbm_timing_ns_faw),
        .rtp_fs = fs_of_ns(s->cube_hbm_timing_ns_rtp),
        .wr_fs = fs_of_ns(s->cube_hbm_timing_ns_wr),
        .wtr_fs = fs_of_ns(s->cube_hbm_timing_ns_wtr),
        .rtw_fs = fs_of_ns(s->cube_hbm_timing_ns_rtw),
        .ccd_fs = fs_of_ns(s->cube_hbm_timing_ns_ccd_l),
        .rtrs_fs = fs_of_ns(s->cube_hbm_timing_ns_rtrs),
        .refi_fs = fs_of_ns(s->cube_hbm_timing_ns_refi),
        .rfc_fs = fs_of_ns(s->cube_hbm_timing_ns_rfc),
        .ctrl_fs = fs_of_ns(s->cube_hbm_timing_ns_ctrl),
    };

    place_parts(&b, s->cube_hbm_map);
    return b;
}
