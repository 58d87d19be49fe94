/* lap.h -- a lap around a grid of cubes or of SIPs, from neighbour to neighbour. */
#ifndef LAP_H
#define LAP_H
#include "kernbench.h"

/*
 * A ring of messages is as fast as its steps, and two steps that share a link halve its speed. So a
 * lap should go from each place of the grid to one beside it, and from the last back to the first.
 *
 *     LAP_ROWS      by number: row by row. The only lap of a single row, if its ends are joined.
 *     LAP_SNAKE     east along row 0, then back west through the other rows, column by column. Its
 *                   last step is one if the number of columns is even, or if columns are joined.
 *     LAP_COLUMNS   the same with rows and columns exchanged
 *     LAP_HELIX     row by row, each beginning below the end of the one before: it goes east and
 *                   south only, over the joined ends of the rows, for planes that are one-way
 *
 * Example: 3 x 2 cubes with joined rows. LAP_SNAKE is 0 1 2 5 4 3, and all steps are one. LAP_ROWS,
 * 0 1 2 3 4 5, has two of two steps. LAP_HELIX is 0 1 2 5 3 4, and only its last step is two.
 */
enum lap_way { LAP_ROWS, LAP_SNAKE, LAP_COLUMNS, LAP_HELIX };

struct lap {
    uint32_t w, h;
    enum lap_way way;
    bool west, north; /* the same in the mirror, for planes that go there only */
};

/* The i-th of a snake through w columns of h places. */
static inline uint32_t lap_snake(uint32_t w, uint32_t h, uint32_t i, uint32_t *column)
{
    uint32_t row;

    *column = i;
    if (i < w)
        return 0;
    i -= w;
    *column = i / (h - 1);
    row = i % (h - 1);
    if (*column % 2)
        row = h - 2 - row;
    *column = w - 1 - *column;
    return 1 + row;
}

/* The number of the i-th place of the lap. */
static inline uint32_t lap_at(const struct lap *lap, uint32_t i)
{
    uint32_t column = i % lap->w, row = i / lap->w;

    if (lap->way == LAP_SNAKE)
        row = lap_snake(lap->w, lap->h, i, &column);
    else if (lap->way == LAP_COLUMNS)
        column = lap_snake(lap->h, lap->w, i, &row);
    else if (lap->way == LAP_HELIX)
        column = (column + lap->w - row % lap->w) % lap->w;
    if (lap->west)
        column = (lap->w - column) % lap->w;
    if (lap->north)
        row = (lap->h - row) % lap->h;
    return row * lap->w + column;
}

/* The lap of a grid of which rows, columns or both are joined at their ends. */
static inline struct lap lap_joined(uint32_t w, uint32_t h, bool columns_joined)
{
    struct lap lap = {.w = w, .h = h};

    if (w > 1 && h > 1)
        lap.way = columns_joined || w % 2 == 0 ? LAP_SNAKE : LAP_COLUMNS;
    return lap;
}

/*
 * The lap of a SIP's cubes, which are a grid. Where a write passes fewer nodes to the east, say,
 * than back, its plane is one-way.
 */
struct lap lap_of_cubes(const kb_topology *topo, const kb_info *info);

/* The lap of the SIPs, if they are joined in a grid; else they are taken by number. */
struct lap lap_of_sips(const kb_info *info);

#endif
