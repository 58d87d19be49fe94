/* tl_print.c -- what a tensor holds, for debugging.
 *
 *     kernel gate on c0.pe3: tl_print at gate.c:12: f32 [2, 3]: 1 2 3; 4 5 6
 *
 * Rows are apart by a semicolon. It looks, and changes nothing: neither times nor what is computed.
 */
#include "base/exported.h"
#include "base/text.h"
#include "data/cast.h"
#include "kernels/bound.h"
#include "kernels/flight.h"
#include "kernels/tl_call.h"
#include <string.h>
#include <unistd.h>

enum { PRINTED_MOST = 64, PLACE_BYTES = 512 };

/*
 * Where a debugger finds what it shows of a tensor, whether or not the library has debug
 * information: tools/gdb.py, which has the same order. It only reads, so core files will do.
 */
extern const uint16_t tensor_layout[] EXPORTED(tensor_layout);
const uint16_t tensor_layout[] = {offsetof(struct tl_tensor, kind),
                                  offsetof(struct tl_tensor, dtype),
                                  offsetof(struct tl_tensor, shape.rank),
                                  offsetof(struct tl_tensor, shape.dim),
                                  offsetof(struct tl_tensor, scalar),
                                  offsetof(struct tl_tensor, view.v),
                                  offsetof(struct tl_tensor, view.offset),
                                  offsetof(struct version, kind),
                                  offsetof(struct version, ready),
                                  offsetof(struct version, bytes),
                                  sizeof(struct tl_tensor)};

/* Why its values are not known; NULL: they are. */
static const char *unknown(const struct tl_tensor *x)
{
    if (x->kind == TENSOR_PLACE)
        return "what its address holds";
    if (!x->view.v || flight_has_past(x))
        return "in flight";
    return version_ready(x->view.v) ? NULL : "pending";
}

/* What is printed, in one piece, as several PEs may print. */
struct line {
    char text[4096];
    size_t n;
};

static void put(struct line *line, const char *text)
{
    line->n += (size_t)text_format(line->text + line->n, sizeof line->text - line->n, "%s", text);
}

static void put_number(struct line *line, double x, int digits)
{
    line->n +=
        (size_t)text_format(line->text + line->n, sizeof line->text - line->n, "%.*g", digits, x);
}

static void put_wide(struct line *line, const unsigned char *bytes, bool is_signed)
{
    uint64_t x;

    memcpy(&x, bytes, sizeof x);
    line->n += (size_t)text_format(line->text + line->n, sizeof line->text - line->n,
                                   is_signed && x >> 63 ? "-%llu" : "%llu",
                                   (unsigned long long)(is_signed && x >> 63 ? -x : x));
}

/* Element `i`, exactly: a double does not have all 64 bits, nor nine digits all of an f64. */
static void put_element(struct line *line, kb_dtype dtype, const unsigned char *bytes, uint64_t i)
{
    double x = kb_element(dtype, bytes, i);

    if (dtype == KB_I64 || dtype == KB_U64)
        put_wide(line, bytes + i * sizeof(uint64_t), dtype == KB_I64);
    else
        put_number(line, x, dtype == KB_F64 ? 17 : dtype_is_float(dtype) ? 9 : 10);
}

static void put_elements(struct line *line, const struct tl_tensor *x, const unsigned char *bytes)
{
    uint64_t n = dims_elements(&x->shape);
    uint64_t row = x->shape.rank ? x->shape.dim[x->shape.rank - 1] : 1;

    for (uint64_t i = 0; i < n && i < PRINTED_MOST; i++) {
        put(line, i == 0 ? "" : i % row ? " " : "; ");
        put_element(line, (kb_dtype)x->dtype, bytes, i);
    }
    put(line, n > PRINTED_MOST ? " ..." : "");
}

void tl_print_at(tl_here here, tl_ctx *tl, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_print", here);
    struct line line = {.n = 0};
    const char *why = NULL;

    check_live(&call, x);
    if (bound_weighs(tl->kernels))
        return;
    error_place(tl, call.name, here, line.text, PLACE_BYTES);
    line.n = strlen(line.text);
    if (x->kind == TENSOR_SCALAR) {
        put_number(&line, x->scalar, 9);
    } else {
        put(&line, tensor_dtype(x));
        put(&line, " ");
        put(&line, shape_text(&x->shape).text);
        put(&line, ": ");
        why = unknown(x);
    }
    if (why)
        put(&line, why);
    else if (x->kind != TENSOR_SCALAR && version_bytes(x->view.v))
        put_elements(&line, x, tensor_bytes(&call, x));
    else if (x->kind != TENSOR_SCALAR)
        call_no_memory(&call);
    put(&line, "\n");
    if (write(STDERR_FILENO, line.text, line.n) < 0)
        return; /* there is none: what is printed is lost */
}
