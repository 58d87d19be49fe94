/* kernbench component: engine tiles
 * fill_cycles  integer  16  0..65536  cycles until the first product is out, not held
 */

/*
 * A GEMM engine whose efficiency depends on the tile's shape. The table is measured: the share of
 * the peak rate, in percent, by k and by the smaller of m and n. It was made of tiles.csv by
 *
 *     awk -F, 'NR > 1 {printf "    {%d, %d, %d},\n", $1, $2, $3}' tiles.csv
 *
 * Of the rows that the work reaches in both the last counts. Between two works the array need not
 * run empty: it is free `fill_cycles` before the work is done.
 */
static const struct {
    uint32_t side, k;
    int64_t percent;
} tiles_table[] = {
    {1, 1, 12},   {16, 16, 40}, {16, 64, 55},  {32, 32, 62},
    {32, 64, 71}, {64, 64, 84}, {64, 256, 90}, {128, 256, 96},
};

struct tiles {
    uint64_t works; /* so far; shown by a debugger */
};

static inline void tiles_init(struct tiles *s)
{
    s->works = 0;
}

static inline int64_t tiles_percent(uint32_t side, uint32_t k)
{
    int64_t percent = tiles_table[0].percent;

    for (unsigned i = 0; i < sizeof tiles_table / sizeof *tiles_table; i++)
        if (side >= tiles_table[i].side && k >= tiles_table[i].k)
            percent = tiles_table[i].percent;
    return percent;
}

static inline struct kb_served tiles_serve(struct tiles *s, const struct kb_request *r,
                                           int64_t now_fs)
{
    int64_t percent = tiles_percent(r->m < r->n ? r->m : r->n, r->k);
    int64_t cycle_fs = r->cycles ? r->cycles_fs / (int64_t)r->cycles : 0;
    int64_t hold_fs = r->overhead_fs + (r->cycles_fs * 100 + percent / 2) / percent;

    s->works++;
    return (struct kb_served){hold_fs, now_fs + hold_fs + TILES_FILL_CYCLES * cycle_fs};
}
