/*
 * gate.c -- gates: what a command line asks of its results, and the exit code of the answer.
 */
#include "cli/gate.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/diff/number.h"
#include "cli/out/say.h"
#include <math.h>
#include <stdarg.h>

static bool is_finite(const struct number *n)
{
    return n->exact || isfinite(n->value);
}

enum gate gate_compare(const struct number *value, unsigned ops, const struct number *bound)
{
    bool exact = value->exact && bound->exact;
    bool less = exact ? value->millionths < bound->millionths : value->value < bound->value;
    bool equal = exact ? value->millionths == bound->millionths : value->value == bound->value;

    if (!is_finite(bound) || isnan(value->value))
        return GATE_UNDECIDED;
    return ops & (less ? GATE_LESS : equal ? GATE_EQUAL : GATE_GREATER) ? GATE_MET : GATE_NOT_MET;
}

void gate_count(struct gates *gates, enum gate answer, const char *format, ...)
{
    char *text = answer == GATE_MET ? gates->met : gates->undecided;
    va_list args;

    if (answer == GATE_NOT_MET || (answer == GATE_MET ? gates->n_met++ : gates->n_undecided++) > 0)
        return;
    va_start(args, format);
    text_vformat(text, GATE_TEXT_BYTES, format, args);
    va_end(args);
}

void gate_add(struct gates *gates, const struct gates *of_one)
{
    if (of_one->n_met > 0)
        gate_count(gates, GATE_MET, "%s", of_one->met);
    if (of_one->n_undecided > 0)
        gate_count(gates, GATE_UNDECIDED, "%s", of_one->undecided);
}

void gate_cut(const struct cli *cli, const char *things, uint64_t done, uint64_t total)
{
    const struct opts *o = &cli->opts;
    const char *gate = o->verify          ? "--verify"
                       : o->race          ? "--race"
                       : o->fail_if.n > 0 ? "--fail-if"
                                          : NULL;

    if (gate)
        gate_count(cli->gates, GATE_UNDECIDED,
                   "%s cannot be decided: the run was ended with %llu of %llu %s complete", gate,
                   (unsigned long long)done, (unsigned long long)total, things);
}

/* What no row was asked has no answer; but a part of several may have no rows. */
static void count_nothing(const struct cli *cli)
{
    const struct opts *o = &cli->opts;
    const char *other = o->breakdown       ? "--breakdown"
                        : o->race          ? "--race"
                        : o->inspect.n > 0 ? "--inspect"
                                           : NULL;

    if (o->fail_if.n == 0 || cli->gates->n_rows > 0 || o->shard.n > 0)
        return;
    gate_count(cli->gates, GATE_UNDECIDED, "--fail-if cannot be decided: %s%s",
               other ? "it is of the rows without " : "there are no rows", other ? other : "");
}

enum exit_code gate_end(const struct cli *cli, enum exit_code code)
{
    const struct gates *g = cli->gates;

    if (code)
        return code;
    count_nothing(cli);
    if (g->n_met == 1)
        return say(cli->program, EXIT_DIFFERENT, "failed by --fail-if: %s", g->met);
    if (g->n_met > 1)
        return say(cli->program, EXIT_DIFFERENT, "failed by --fail-if: %s, and %llu more", g->met,
                   (unsigned long long)g->n_met - 1);
    return g->n_undecided > 0 ? say(cli->program, EXIT_USAGE, "%s", g->undecided) : EXIT_OK;
}
