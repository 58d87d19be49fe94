/* npy.h -- arrays in numpy's .npy files. */
#ifndef NPY_H
#define NPY_H
#include "kernbench.h"

/* numpy has no bf16, no f8 and no i4: they are kept as <u2, |u1, and |u1 with two elements each. */
struct npy {
    kb_dtype dtype;
    kb_shape shape;       /* an extent may be 0 */
    uint64_t nbytes;      /* of all elements */
    unsigned char *bytes; /* owned; C order */
};

/*
 * Reads a file of version 1.0, 2.0 or 3.0. Give *out back with npy_free().
 *
 * returns  KB_FILE_ERROR: it cannot be read, or is no such file; KB_NO_MEMORY
 */
kb_status npy_read(const char *path, struct npy *out, kb_error *why);
void npy_free(struct npy *npy);

/* The shape of the file that keeps a tensor: of i4 that of its bytes, else the same. */
kb_shape npy_cells(kb_dtype dtype, kb_shape shape);

/* A shape as Python writes a tuple: (), (3,), (3, 4). */
enum { NPY_SHAPE_BYTES = KB_RANK_MAX * 24 };
void npy_put_shape(char text[NPY_SHAPE_BYTES], const kb_shape *shape);

/* Writes version 1.0. The file gets its name when it is complete. */
kb_status npy_write(const char *path, kb_dtype dtype, kb_shape shape, const void *bytes,
                    kb_error *why);

#endif
