/* error.c -- the first mistake of a kernel, or lack of memory, ends the run.
 *
 * The kernel that made the mistake is on its own stack, and cannot return into the kernel's code.
 * So the call says what is wrong and ends the run (kernel_error()), and then suspends the coroutine
 * for good (kernel_leave()). Its stack is given back with the simulation.
 */
#include "kernels/error.h"
#include "kernels/requests.h"
#include "machine/endpoint.h"
#include "machine/impl_code.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

enum { COMPONENT_BYTES = 300 };

/* "kernel gemm on c0.pe3: tl_load at file.c:12: " */
size_t error_place(const struct tl_ctx *pe, const char *call, tl_here here, char *text, size_t size)
{
    const struct kb_topology *t = pe->sim->topo;
    kb_endpoint end = {KB_PE, src_cube(t, pe->src) / t->cubes, src_cube(t, pe->src) % t->cubes,
                       src_pe(t, pe->src)};
    char name[KB_ENDPOINT_BYTES];
    int n;

    kb_endpoint_name(&end, name);
    n = snprintf(text, size, "kernel %s on %s: ", pe->launch->request.name, name);
    if (call && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "%s at %s:%d: ", call, here.file, here.line);
    return (size_t)n < size ? (size_t)n : size;
}

void kernel_error(struct tl_ctx *pe, const char *call, tl_here here, const char *format, ...)
{
    char *text = pe->kernels->error.text;
    size_t size = sizeof pe->kernels->error.text, n;
    va_list ap;

    if (pe->sim->status != KB_OK)
        return; /* the first is told */
    n = error_place(pe, call, here, text, size);
    va_start(ap, format);
    text_vformat(text + n, size - n, format, ap);
    va_end(ap);
    engine_fail(pe->sim, KB_KERNEL_ERROR);
}

/* ", last call tl_load at file.c:12" */
struct last_call {
    char text[320];
};

static struct last_call last_call(const struct tl_ctx *pe)
{
    struct last_call last = {""};

    if (pe->call)
        snprintf(last.text, sizeof last.text, ", last call %s at %s:%d", pe->call, pe->here.file,
                 pe->here.line);
    return last;
}

void kernel_overflowed(struct tl_ctx *pe)
{
    kernel_error(pe, NULL, pe->here, "stack overflow%s", last_call(pe).text);
}

void kernel_crashed(struct tl_ctx *pe, struct crash crash)
{
    bool first = pe->sim->status == KB_OK;
    kb_error *why = &pe->kernels->error;
    char text[CRASH_BYTES], of[COMPONENT_BYTES];

    crash_text(crash, text);
    kernel_error(pe, NULL, pe->here, "%s%s", text, last_call(pe).text);
    if (first && impl_code_is_of(pe->sim->topo, crash.code, of, sizeof of))
        snprintf(why->text, sizeof why->text, "%s %s", of, text);
    if (first)
        pe->sim->status = KB_KERNEL_CRASHED;
}

void kernel_no_memory(struct tl_ctx *pe)
{
    if (pe->sim->status != KB_OK)
        return;
    snprintf(pe->kernels->error.text, sizeof pe->kernels->error.text,
             "out of memory while kernels ran");
    engine_fail(pe->sim, KB_NO_MEMORY);
}

_Noreturn void kernel_leave(struct tl_ctx *pe)
{
    for (;;)
        co_suspend(pe->co);
}
