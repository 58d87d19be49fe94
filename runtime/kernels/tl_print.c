/* tl_print.c -- what a tensor holds, for debugging.
 *
 *     kernel gate on c0.pe3: tl_print at gate.c:12: f32 [2, 3]: 1 2 3; 4 5 6
 *
 * Rows are apart by a semicolon. It looks, and changes nothing: neither times nor what is computed.
 */
#include "base/text.h"
#include "kernels/tl_call.h"
#include <stdio.h>

enum { PRINTED_MOST = 64, PLACE_BYTES = 512 };

/* Why its values are not known; NULL: they are. */
static const char *unknown(const struct tl_tensor *x)
{
    if (x->kind == TENSOR_PLACE)
        return "what its address holds";
    if (!x->view.v)
        return "in flight";
    return version_ready(x->view.v) ? NULL : "pending";
}

static void print_number(const char *before, double x)
{
    char text[32];

    text_format(text, sizeof text, "%.9g", x);
    fprintf(stderr, "%s%s", before, text);
}

static void print_elements(const struct tl_tensor *x, const unsigned char *bytes)
{
    uint64_t n = dims_elements(&x->shape);
    uint64_t row = x->shape.rank ? x->shape.dim[x->shape.rank - 1] : 1;

    for (uint64_t i = 0; i < n && i < PRINTED_MOST; i++)
        print_number(i == 0 ? "" : i % row ? " " : "; ", kb_element((kb_dtype)x->dtype, bytes, i));
    fputs(n > PRINTED_MOST ? " ...\n" : "\n", stderr);
}

void tl_print_at(tl_here here, tl_ctx *tl, tl_tensor *x)
{
    struct call call = begin_call(tl, "tl_print", here);
    char place[PLACE_BYTES];
    const char *why;

    check_live(&call, x);
    error_place(tl, call.name, here, place, sizeof place);
    if (x->kind == TENSOR_SCALAR) {
        print_number(place, x->scalar);
        fputs("\n", stderr);
        return;
    }
    fprintf(stderr, "%s%s %s: ", place, tensor_dtype(x), shape_text(&x->shape).text);
    why = unknown(x);
    if (why)
        fprintf(stderr, "%s\n", why);
    else if (version_bytes(x->view.v))
        print_elements(x, tensor_bytes(&call, x));
    else
        call_no_memory(&call);
}
