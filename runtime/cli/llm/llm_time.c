/* llm_time.c -- what a language model takes on a machine, without rows, to compare machines. */
#include "cli/llm/llm_time.h"
#include "cli/llm/chakra_run.h"
#include "cli/llm/graph_yaml.h"
#include "cli/llm/llm_iterate.h"
#include <stdio.h>

bool llm_times_tokens(const struct opts *o)
{
    return o->decode || o->tokens > 0 || o->prefill == 0;
}

static enum exit_code one_batch(struct llm *l)
{
    struct shape s = l->shape;

    if (l->tps.n > 1 || l->batches.n > 1 || l->decodes.n > 1)
        return cmd_say(l->cli, EXIT_USAGE, "one time is of one --tp, --batch and --decode");
    s.tp = (int64_t)l->tps.value[0];
    enum exit_code code = llm_split(l, (int64_t)l->batches.value[0], &s);
    return code ? code : llm_batch(l, &s);
}

/* Prompts are not simulated where the time of a token is asked for. */
static void ask_for_one(struct opts *o, char text[24])
{
    snprintf(text, 24, "%d", DEFAULT_TOKENS);
    if (o->prefill == 0 && o->tokens == 0 && !o->decode)
        o->decode = text;
    if (o->decode && o->prefill > 0)
        o->prefill = o->chunk = 0;
}

enum exit_code llm_time(const struct cli *asked, int64_t *fs)
{
    struct cli one = *asked;
    const struct cli *cli = &one;
    struct llm l = {.cli = cli, .rows.model = one.opts.operand[0]};
    struct tile_map map = {.n = 0};
    char text[24];

    ask_for_one(&one.opts, text);
    if (chakra_is_trace(l.rows.model) || graph_yaml_is(l.rows.model))
        return cmd_say(cli, EXIT_USAGE, "%s is one iteration, and not a model", l.rows.model);
    enum exit_code code = model_read(cli->program, l.rows.model, cli->opts.quiet, &l.model);
    if (code)
        return code;
    code = llm_open(&l, &map);
    if (!code)
        code = llm_read_model(&l);
    if (!code)
        code = one_batch(&l);
    *fs = llm_times_tokens(&cli->opts) ? l.last.tpot_fs : l.last.ttft_fs;
    llm_close(&l);
    tile_map_free(&map);
    return code;
}
