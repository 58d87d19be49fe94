/*
 * trace_commands.c -- commands and kernels, as slices on the lanes of their PE.
 *
 * A kernel has the first lane of its PE. A call that its kernel waits for is nested in the kernel's
 * slice, and its dispatch (from the call to the issue) in the call. An asynchronous command has two
 * slices: the dispatch in the kernel, and the rest on a lane of its own, where the flow passes. A
 * wait for another PE is nested in the command that waits.
 */
#include "cli/trace/commands.h"
#include "cli/trace/flights.h"
#include <stdio.h>
#include <string.h>

/* -- lanes of a PE -------------------------------------------------------------------------- */

/* A slice on the first free lane of the PE, from `first_lane` on. */
static struct slice *begin_of_pe(struct trace *t, struct flight *f, uint32_t pe, size_t first_lane,
                                 int64_t begin_fs, struct trace_text *name)
{
    struct component *c = lanes_of_pe(&t->lanes, pe);
    struct lane *lane = lanes_take(c, first_lane, begin_fs);
    struct slice *s = slice_add(t, f, c, lane, begin_fs);

    s->name = name;
    return s;
}

/* A slice nested in that of the PE's kernel, on the same lane. */
static struct slice *begin_in_kernel(struct trace *t, struct flight *f, uint32_t pe,
                                     int64_t begin_fs, struct trace_text *name)
{
    struct flight *kernel = map_get(&t->flights, KERNEL_KEY | pe);
    struct slice *in = kernel ? kernel->slices : NULL, *s;

    if (!in)
        return NULL;
    s = slice_add(t, f, in->component, in->lane, begin_fs);
    s->nested = true;
    s->name = name;
    return s;
}

static void set_command(struct trace *t, struct slice *s, const kb_command *command)
{
    s->about.id = command->id;
    s->about.op = lanes_constant(&t->lanes, command->name, 0);
    s->about.at = lanes_constant(&t->lanes, command->file, command->line);
    if (command->region)
        s->about.region = lanes_constant(&t->lanes, command->region, 0);
    s->flow[1] = flight_command_flow(command->id, KB_NO_ID);
}

/* From its call to its issue a command keeps its kernel waiting, even if it is asynchronous. */
static void show_dispatch(struct trace *t, struct flight *f, const kb_command *command)
{
    struct slice *s = begin_in_kernel(t, f, command->pe, command->call_fs,
                                      command->async ? lanes_constant(&t->lanes, command->call, 0)
                                                     : t->words.dispatch);

    if (!s)
        return;
    if (command->async) {
        set_command(t, s, command);
        s->flow[1] = 0; /* the other slice has it */
    }
    slice_begin(t, s);
    slice_end(t, f, s, command->issue_fs);
}

/* -- commands and kernels ------------------------------------------------------------------- */

/*
 * A send has two slices: one in its kernel until the kernel continues, and one on a lane of its own
 * until the data is there.
 */
static void begin_send(struct trace *t, struct flight *f, const kb_command *send,
                       struct trace_text *name)
{
    struct slice *s = begin_in_kernel(t, f, send->pe, send->call_fs, name), *rest;

    if (!s)
        return;
    s->service = true;
    set_command(t, s, send);
    s->flow[1] = 0; /* the other slice has it */
    slice_begin(t, s);
    show_dispatch(t, f, send);
    rest = begin_of_pe(t, f, send->pe, 1, send->issue_fs, name);
    set_command(t, rest, send);
    slice_begin(t, rest);
}

void command_go_on(struct trace *t, const kb_command *send)
{
    struct flight *f = map_get(&t->flights, COMMAND_KEY | send->id);
    struct slice *s = f ? f->slices : NULL;

    while (s && !s->service)
        s = s->next;
    if (s)
        slice_end(t, f, s, send->return_fs);
}

void command_issue(struct trace *t, const kb_command *command)
{
    struct flight *f = flight_get(t, COMMAND_KEY | command->id);
    struct trace_text *name = lanes_constant(&t->lanes, command->call, 0);
    struct slice *s;

    if (strcmp(command->name, "send") == 0) {
        begin_send(t, f, command, name);
        return;
    }
    if (command->async)
        show_dispatch(t, f, command);
    s = command->async ? begin_of_pe(t, f, command->pe, 1, command->issue_fs, name)
                       : begin_in_kernel(t, f, command->pe, command->call_fs, name);
    if (!s)
        return;
    s->service = true;
    set_command(t, s, command);
    slice_begin(t, s);
    if (!command->async)
        show_dispatch(t, f, command);
}

void command_start_kernel(struct trace *t, const kb_kernel_run *run)
{
    struct slice *s = begin_of_pe(t, flight_get(t, KERNEL_KEY | run->pe), run->pe, 0, run->start_fs,
                                  lanes_text(&t->lanes, run->kernel));

    slice_begin(t, s);
}

/* -- waits for other PEs, which are seen in the command that waits -------------------------- */

void command_open_wait(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, COMMAND_KEY | span->command);
    struct slice *in = f ? f->slices : NULL, *s;

    while (in && !in->service)
        in = in->next;
    s = in ? slice_add(t, f, in->component, in->lane, span->begin_fs) : NULL;
    if (!s)
        return;
    s->nested = true;
    s->name = span->behind == KB_NOWHERE ? t->words.wait
                                         : lanes_label(&t->lanes, "wait for", span->behind);
    slice_begin(t, s);
}

void command_close_wait(struct trace *t, const kb_span *span)
{
    struct flight *f = map_get(&t->flights, COMMAND_KEY | span->command);
    struct slice *s = f ? f->slices : NULL;

    while (s && (s->service || !s->nested))
        s = s->next;
    if (s)
        slice_end(t, f, s, span->end_fs);
}
