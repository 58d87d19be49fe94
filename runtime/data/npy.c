/* npy.c -- arrays in numpy's .npy files: a header that is a Python dict, then the elements.
 *
 * A file of f32 with shape (3, 4) begins with 6 magic bytes, version 1.0, the length of the header
 * in 2 bytes, and the header, padded so that the elements begin at a multiple of 64:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * Files come from users, so each mistake has a message that says what is wrong, and no size in a
 * file is trusted: a header is at most 64 KiB, products of extents are checked for overflow, and
 * memory is only taken if the file really has that many bytes.
 *
 * Bytes of x of `run softmax --dump DIR`, 256 x 256 in f16, 131200 bytes in all:
 *
 *     0    93 4e 55 4d 50 59    "\x93NUMPY"
 *     6    01 00                version 1.0
 *     8    76 00                the header has 118 bytes, so the elements begin at 10 + 118 = 128
 *     10   {'descr': '<f2', 'fortran_order': False, 'shape': (256, 256), }, blanks, a newline
 *     128  131072 bytes of elements, row by row
 *
 * numpy has no bf16, no f8 and no i4: such elements are written as u2 and u1, of i4 the bytes with
 * two each, and such tensors take files of these.
 *
 * A file is written under a temporary name and renamed when it is complete, so that a run that is
 * ended in between leaves no half of an array.
 */
#include "data/npy.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/newfile.h"
#include "machine/endpoint.h"
#include "base/text.h"

enum {
    MAGIC_BYTES = 6,
    PREFIX_BYTES = 10,    /* of version 1.0: magic, version, the header's length in 16 bits */
    ALIGNMENT = 64,       /* of the elements in the file */
    HEADER_MAX = 1 << 16, /* bytes of a header; numpy reads longer ones only if asked to */
};

static const char magic[MAGIC_BYTES] = "\x93NUMPY";

/* As numpy writes them: '<' little endian, '|' single bytes. */
static const struct {
    const char *descr;
    kb_dtype dtype;
} descrs[] = {
    {"<f2", KB_F16},  {"<f4", KB_F32},    {"<f8", KB_F64},    {"|i1", KB_I8},
    {"<i2", KB_I16},  {"<i4", KB_I32},    {"<i8", KB_I64},    {"|u1", KB_U8},
    {"<u2", KB_U16},  {"<u4", KB_U32},    {"<u8", KB_U64},    {"|b1", KB_BOOL},
    {"<u2", KB_BF16}, {"|u1", KB_F8E4M3}, {"|u1", KB_F8E5M2}, {"|u1", KB_I4},
};

enum { N_DESCRS = sizeof descrs / sizeof descrs[0] };

/* -- the header's text ---------------------------------------------------------------------- */

/* The file that is read. */
struct reader {
    const char *path;
    FILE *file;
    kb_error *why;
    const char *at, *end; /* of the header not yet read */
    bool fortran;
    struct npy *npy;
};

/* False after a message that begins with the file's name. */
__attribute__((format(printf, 2, 3))) static bool bad(const struct reader *r, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    text_vformat(text, sizeof text, fmt, ap);
    va_end(ap);
    endpoint_error(r->why, "%.240s: %s", r->path, text);
    return false;
}

/* The next character that is not blank; 0 at the end. */
static char peek(struct reader *r)
{
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4))
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

/* Takes the next character if it is `c`. */
static bool take(struct reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static bool need(struct reader *r, char c)
{
    return take(r, c) || bad(r, "its header has no '%c' where one must be", c);
}

/* A string in quotes of either kind, without backslashes. */
static bool read_string(struct reader *r, char *text, size_t room)
{
    char quote = peek(r);
    size_t n = 0;

    if (quote != '\'' && quote != '"')
        return bad(r, "its header has no string where one must be");
    for (r->at++; r->at < r->end && *r->at != quote; r->at++) {
        if (n + 1 == room || *r->at == '\\' || (unsigned char)*r->at < ' ')
            return bad(r, "its header has a string that is not understood");
        text[n++] = *r->at;
    }
    text[n] = 0;
    return need(r, quote);
}

static bool read_bool(struct reader *r, bool *out)
{
    static const char *const words[] = {"False", "True"};

    peek(r);
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(words[i]);

        if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i], n) != 0)
            continue;
        r->at += n;
        *out = i;
        return true;
    }
    return bad(r, "its fortran_order is neither True nor False");
}

static bool read_descr(struct reader *r)
{
    char text[16];

    if (peek(r) == '[')
        return bad(r, "its elements are records; they must be numbers");
    if (!read_string(r, text, sizeof text))
        return false;
    if (text[0] == '>')
        return bad(r, "its type '%s' is big-endian; save it with .astype('<%s')", text, text + 1);
    for (int i = 0; i < N_DESCRS && !r->npy->dtype; i++)
        if (strcmp(text, descrs[i].descr) == 0)
            r->npy->dtype = descrs[i].dtype;
    if (r->npy->dtype)
        return true;
    return bad(r, "its type '%.8s' is none of <f2 <f4 <f8 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 |b1",
               text);
}

static bool read_extent(struct reader *r, int64_t *out)
{
    char c = peek(r);

    if (c < '0' || c > '9')
        return bad(r, "its shape is not a list of extents");
    for (*out = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (*out > (INT64_MAX - 9) / 10)
            return bad(r, "an extent of its shape is too large");
        *out = 10 * *out + (*r->at - '0');
    }
    return true;
}

static bool read_shape(struct reader *r)
{
    kb_shape *s = &r->npy->shape;

    if (!need(r, '('))
        return false;
    for (s->rank = 0; !take(r, ')'); s->rank++) {
        if (s->rank == KB_RANK_MAX)
            return bad(r, "its shape has more than %d extents", KB_RANK_MAX);
        if (!read_extent(r, &s->dim[s->rank]))
            return false;
        if (!take(r, ',') && peek(r) != ')')
            return bad(r, "its shape does not end");
    }
    return true;
}

/*
 * One key and its value. The three keys may come in any order, each exactly once: `seen` has a bit
 * for each. numpy writes them sorted, other programs need not.
 */
static bool read_item(struct reader *r, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned i = 0;
    char key[16];

    if (!read_string(r, key, sizeof key) || !need(r, ':'))
        return false;
    while (i < 3 && strcmp(key, keys[i]) != 0)
        i++;
    if (i == 3 || *seen & 1u << i)
        return bad(r, "its header has a key too much: '%s'", key);
    *seen |= 1u << i;
    return i == 0 ? read_descr(r) : i == 1 ? read_bool(r, &r->fortran) : read_shape(r);
}

/* {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, and blanks. */
static bool read_dict(struct reader *r)
{
    unsigned seen = 0;

    if (!need(r, '{'))
        return false;
    while (!take(r, '}')) {
        if (!read_item(r, &seen))
            return false;
        if (!take(r, ',') && peek(r) != '}')
            return bad(r, "its header does not end");
    }
    if (seen != 7)
        return bad(r, "its header lacks one of descr, fortran_order and shape");
    if (peek(r) || r->at < r->end)
        return bad(r, "its header goes on after its end");
    if (r->fortran && r->npy->shape.rank > 1)
        return bad(r, "it is in Fortran order; save it with numpy.ascontiguousarray()");
    return true;
}

/* -- the file ------------------------------------------------------------------------------- */

static bool read_exactly(struct reader *r, void *to, size_t n)
{
    if (fread(to, 1, n, r->file) == n)
        return true;
    return bad(r, ferror(r->file) ? "it cannot be read" : "it ends too early");
}

/* Reads the length of the header, in the format of the file's version. */
static bool read_prefix(struct reader *r, uint32_t *length)
{
    unsigned char head[MAGIC_BYTES + 2], size[4] = {0};

    if (!read_exactly(r, head, sizeof head))
        return false;
    if (memcmp(head, magic, MAGIC_BYTES) != 0)
        return bad(r, "it is no .npy file");
    if (head[6] < 1 || head[6] > 3 || head[7] != 0)
        return bad(r, "it has version %u.%u; 1.0 to 3.0 are known", head[6], head[7]);
    if (!read_exactly(r, size, head[6] == 1 ? 2 : 4))
        return false;
    *length = size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (uint32_t)size[3] << 24;
    return *length <= HEADER_MAX || bad(r, "its header has %" PRIu32 " bytes", *length);
}

static kb_status read_header(struct reader *r)
{
    uint32_t length = 0;
    char *text;
    bool ok;

    if (!read_prefix(r, &length))
        return KB_FILE_ERROR;
    text = malloc(length + 1);
    if (!text) {
        bad(r, "out of memory");
        return KB_NO_MEMORY;
    }
    r->at = text;
    r->end = text + length;
    ok = read_exactly(r, text, length) && read_dict(r);
    free(text);
    return ok ? KB_OK : KB_FILE_ERROR;
}

static bool elements_bytes(kb_dtype dtype, const kb_shape *shape, uint64_t *nbytes)
{
    *nbytes = kb_dtype_bytes(dtype);
    for (int64_t i = 0; i < shape->rank; i++)
        if (__builtin_mul_overflow(*nbytes, (uint64_t)shape->dim[i], nbytes))
            return false;
    return true;
}

/* What a file has in the place of i4. */
kb_shape npy_cells(kb_dtype dtype, kb_shape shape)
{
    if (dtype == KB_I4)
        shape.dim[shape.rank - 1] /= 2;
    return shape;
}

/* The file must have exactly the bytes of its shape: no memory is taken for what it lacks. */
static bool check_size(struct reader *r)
{
    long at = ftell(r->file);
    struct stat st;
    uint64_t rest;

    if (at < 0 || fstat(fileno(r->file), &st) < 0 || !S_ISREG(st.st_mode))
        return bad(r, "it is no regular file");
    rest = st.st_size < at ? 0 : (uint64_t)(st.st_size - at);
    if (!elements_bytes(r->npy->dtype, &r->npy->shape, &r->npy->nbytes))
        return bad(r, "its shape is too large");
    if (r->npy->nbytes != rest)
        return bad(r, "its shape asks for %" PRIu64 " bytes of elements, it has %" PRIu64,
                   r->npy->nbytes, rest);
    return true;
}

static kb_status read_elements(struct reader *r)
{
    if (!check_size(r))
        return KB_FILE_ERROR;
    r->npy->bytes = malloc(r->npy->nbytes + 1);
    if (!r->npy->bytes) {
        bad(r, "out of memory for its %" PRIu64 " bytes", r->npy->nbytes);
        return KB_NO_MEMORY;
    }
    if (read_exactly(r, r->npy->bytes, r->npy->nbytes))
        return KB_OK;
    npy_free(r->npy);
    return KB_FILE_ERROR;
}

kb_status npy_read(const char *path, struct npy *out, kb_error *why)
{
    struct reader r = {.path = path, .why = why, .npy = out};
    kb_status status;

    *out = (struct npy){.bytes = NULL};
    r.file = fopen(path, "rbe");
    if (!r.file) {
        bad(&r, "%s", strerror(errno));
        return KB_FILE_ERROR;
    }
    status = read_header(&r);
    if (status == KB_OK)
        status = read_elements(&r);
    fclose(r.file);
    return status;
}

void npy_free(struct npy *npy)
{
    free(npy->bytes);
    npy->bytes = NULL;
}

/* -- writing -------------------------------------------------------------------------------- */

void npy_put_shape(char text[NPY_SHAPE_BYTES], const kb_shape *shape)
{
    size_t room = NPY_SHAPE_BYTES, n = (size_t)snprintf(text, room, "(");

    for (int64_t i = 0; i < shape->rank; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%" PRId64, i ? ", " : "", shape->dim[i]);
    snprintf(text + n, room - n, shape->rank == 1 ? ",)" : ")");
}

static const char *descr_of(kb_dtype dtype)
{
    int i = 0;

    while (descrs[i].dtype != dtype)
        i++;
    return descrs[i].descr;
}

/* Writes prefix and header, padded by blanks and a newline; returns their length. */
static size_t put_header(char text[8 * ALIGNMENT], kb_dtype dtype, const kb_shape *shape)
{
    char extents[NPY_SHAPE_BYTES];
    size_t n = PREFIX_BYTES, length;

    npy_put_shape(extents, shape);
    n += (size_t)snprintf(text + n, 7 * ALIGNMENT - n,
                          "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr_of(dtype),
                          extents);
    text[n++] = ' '; /* numpy leaves one in any case */
    do
        text[n++] = ' ';
    while (n % ALIGNMENT);
    text[n - 1] = '\n';
    length = n - PREFIX_BYTES;
    memcpy(text, magic, MAGIC_BYTES);
    text[6] = 1;
    text[7] = 0;
    text[8] = (char)(length & 0xff);
    text[9] = (char)(length >> 8);
    return n;
}

/* False: errno tells why. */
static bool write_all(int fd, const void *bytes, uint64_t nbytes)
{
    const char *at = bytes, *end = at + nbytes;

    while (at < end) {
        ssize_t n = write(fd, at, (size_t)(end - at));

        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
    }
    return true;
}

kb_status npy_write(const char *path, kb_dtype dtype, kb_shape shape, const void *bytes,
                    kb_error *why)
{
    struct reader r = {.path = path, .why = why};
    char header[8 * ALIGNMENT];
    kb_shape cells = npy_cells(dtype, shape);
    size_t n_header = put_header(header, dtype, &cells);
    struct newfile file;
    uint64_t nbytes;
    bool ok = newfile_open(&file, path) &&
              elements_bytes(dtype == KB_I4 ? KB_U8 : dtype, &cells, &nbytes) &&
              write_all(file.fd, header, n_header) && write_all(file.fd, bytes, nbytes);
    int error = errno;

    if (!newfile_close(&file, ok) && ok) {
        ok = false;
        error = errno;
    }
    if (ok)
        return KB_OK;
    bad(&r, "%s", error == ENOMEM ? "out of memory" : strerror(error));
    return error == ENOMEM ? KB_NO_MEMORY : KB_FILE_ERROR;
}
