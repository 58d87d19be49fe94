/* bank_use.c -- how much the channels of a slice with banks were used.
 *
 * A channel counts segments and bursts when it grants them its bus, so what is shown of it is the
 * same for every engine once a run has ended. Posted writes may be served behind that end; then the
 * last burst on a bus is the end for its channel, and none is in use for more than 100 %.
 *
 * Refreshes are not counted, as an idle channel has no event for them: one begins every `refi`, and
 * takes `rp` and `rfc`. Example, the defaults: in 10000 ns there are two, at 3900 and 7800 ns, and
 * they take 2 * (14 + 260) = 548 ns of a channel, 5.48 %.
 */
#include "explain/bank_use.h"
#include "machine/place.h"

static void add_rows(kb_utilization *use, const struct bank_channel *c)
{
    use->row_hits += c->counts.kinds[BANK_HIT];
    use->row_misses += c->counts.kinds[BANK_MISS];
    use->row_conflicts += c->counts.kinds[BANK_CONFLICT];
    for (uint32_t rank = 0; rank < RANKS_MAX; rank++)
        use->activations += c->ranks[rank].n_acts;
}

static double refresh_pct(const struct bank_row *row, uint64_t until_fs)
{
    if (row->refresh != REFRESH_ALL || !until_fs)
        return 0;
    return 100 *
           (double)(until_fs / (uint64_t)row->refi_fs * (uint64_t)(row->rp_fs + row->rfc_fs)) /
           (double)until_fs;
}

static uint64_t until_of(const struct bank_channel *c, uint64_t now_fs)
{
    uint64_t until_fs = (uint64_t)c->counts.until_fs;

    return until_fs > now_fs ? until_fs : now_fs;
}

/* All channels together: they are the servers of the slice. */
static uint64_t add_channels(const struct bank_slice *slice, uint64_t now_fs, kb_utilization *use)
{
    use->servers = bank_channels(slice->view.row);
    for (uint32_t i = 0; i < use->servers; i++) {
        const struct bank_channel *c = banks_channel(slice, i);

        use->busy_fs += (int64_t)c->counts.bursts * slice->view.burst_fs;
        add_rows(use, c);
        now_fs = until_of(c, now_fs);
    }
    return now_fs;
}

static kb_utilization use_of_channel(const struct kb_sim *s, const struct bank_slice *slice,
                                     uint32_t channel, double gbs)
{
    const struct bank_channel *c = banks_channel(slice, channel);
    kb_utilization use = {.kind = KB_AT_BANKS,
                          .gbs = gbs,
                          .servers = 1,
                          .bytes = c->counts.bursts << slice->view.row->burst_bits,
                          .busy_fs = (int64_t)c->counts.bursts * slice->view.burst_fs,
                          .has_rows = true};

    add_rows(&use, c);
    use.count = use.row_hits + use.row_misses + use.row_conflicts;
    kb_place_name(s->topo, place_banks(slice->memory, channel), use.name);
    return use;
}

void bank_use_each(const struct kb_sim *s, const struct bank_slice *slice, kb_utilization *use,
                   uint64_t now_fs, void (*each)(void *arg, kb_utilization *use, uint64_t until_fs),
                   void *arg)
{
    const struct bank_row *row = slice->view.row;
    uint64_t until_fs = add_channels(slice, now_fs, use);

    use->has_rows = true;
    use->refresh_pct = refresh_pct(row, until_fs);
    each(arg, use, until_fs);
    for (uint32_t i = 0; i < bank_channels(row); i++) {
        kb_utilization of = use_of_channel(s, slice, i, use->gbs / use->servers);

        until_fs = until_of(banks_channel(slice, i), now_fs);
        of.refresh_pct = refresh_pct(row, until_fs);
        if (of.count)
            each(arg, &of, until_fs);
    }
}
