/* matrix.h -- the input of `load --pattern matrix:FILE`: which PE sends to which slice, and how
 * much. */
#ifndef MATRIX_H
#define MATRIX_H
#include "cli/command.h"

struct matrix {
    kb_matrix_row *row; /* owned */
    size_t n, room;
};

/*
 * Reads the rows src,dst,weight of `path` ("-": stdin). What is wrong with them goes to stderr.
 * Give back with matrix_free(), also after a failure.
 *
 * returns  EXIT_OK, EXIT_INPUT, EXIT_SYSTEM; EXIT_INTERRUPTED if stop_asked() while reading
 */
enum exit_code matrix_read(struct matrix *matrix, const struct cli *cli, const char *path);
void matrix_free(struct matrix *matrix);

#endif
