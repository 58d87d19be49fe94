/*
 * binding.c -- notes about numbers of the machine that kernels wait for.
 *
 * A launch counts what its PEs waited for free slots and channels, and paid for calls and steps of
 * collectives. Where that is over a tenth of the time of all its PEs, a key may bind. Whether it
 * does is not in the sum: behind a channel that is free sooner the same messages may wait for a
 * link. So the bench runs again, on a machine on which the key is twice as good, and the note is
 * said only if the launch takes clearly less time.
 *
 * Example: all_gather count=4096 algorithm=ring on cube8 waits for channels 0.62 of its time, and
 * takes 31.8 % less with two of them. On mi300x it waits for 0.86, but two channels gain nothing,
 * as the links behind them are as busy: nothing is said.
 *
 * Runs of more commands than COMMANDS_MOST are not repeated. There the note says what was waited
 * for, and of its keys that it is not known whether they bind.
 */
#include "cli/rows/binding.h"
#include "cli/command.h"
#include "cli/out/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MOST = 2, NOTE_BYTES = 512 };
#define COMMANDS_MOST 400000u
#define BETTER        2.0
#define GAIN_LEAST    0.02

struct wait {
    int64_t fs;
    const char *what, *keys[KEYS_MOST];
};

/* What is tried. */
struct trial {
    const struct cli *cli;
    const kb_bench *bench;
    const kb_bench_run *run;
    size_t launch;
    uint64_t commands; /* of the whole run */
};

static int64_t time_fs(const kb_sim *sim, size_t launch)
{
    kb_launch_result r;

    return kb_launch_get(sim, launch, &r) == KB_OK ? r.last_end_fs - r.start_fs : 0;
}

/* The arguments of the run, with those that its bench has found. */
static char **words_of(const kb_bench *bench, const kb_bench_run *run)
{
    char **words = memory_new(bench->n_args + 1, sizeof *words);

    for (size_t i = 0; i < bench->n_args; i++) {
        const char *name = bench->args[i].name, *value = kb_bench_value(run, i);
        size_t room = strlen(name) + strlen(value) + 2;

        words[i] = memory_new(room, 1);
        snprintf(words[i], room, "%s=%s", name, value);
    }
    return words;
}

static void free_words(char **words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(words[i]);
    free(words);
}

/* What the launch takes on `topo`; 0: it does not run there. */
static int64_t time_on(const struct trial *t, const kb_topology *topo)
{
    kb_options options = {.engine = t->cli->opts.engine};
    char **words = words_of(t->bench, t->run);
    kb_bench_run *again = NULL;
    kb_error why = {""};
    int64_t fs = 0;

    if (kb_bench_new(t->bench, topo, &options, t->cli->opts.seed, (const char *const *)words,
                     t->bench->n_args, &again, &why) == KB_OK &&
        kb_sim_run(kb_bench_sim(again), 0, &why) == KB_OK)
        fs = time_fs(kb_bench_sim(again), t->launch);
    kb_bench_free(again);
    free_words(words, t->bench->n_args);
    return fs;
}

/* The share of its time that the launch gains by `key`; 0 too where the key cannot be better. */
static double gain(const struct trial *t, const char *key)
{
    int64_t before_fs = time_fs(kb_bench_sim(t->run), t->launch), fs = 0;
    const kb_topology *topo = NULL;
    char *messages = NULL;

    if (kb_topology_better(t->cli->topo, &key, 1, BETTER, &topo, &messages) == KB_OK) {
        fs = time_on(t, topo);
        kb_topology_free(topo);
    }
    free(messages);
    return fs > 0 && fs < before_fs ? 1 - (double)fs / (double)before_fs : 0;
}

/* Of a run that is too long for trials. */
static void note_untried(const struct trial *t, const char *kernel, const struct wait *w,
                         double share)
{
    const char *other = w->keys[1];

    cmd_note(t->cli,
             "%s: %s %.2f times as long as its kernels run; whether %s%s%s binds is not tried in "
             "runs of more than %u commands",
             kernel, w->what, share, w->keys[0], other ? " or " : "", other ? other : "",
             COMMANDS_MOST);
}

static void note_wait(const struct trial *t, const kb_launch_result *r, const struct wait *w)
{
    double all = (double)(r->last_end_fs - r->start_fs) * r->pes;
    char keys[NOTE_BYTES] = "";
    size_t len = 0;

    if ((double)w->fs <= all / 10)
        return;
    if (t->commands > COMMANDS_MOST) {
        note_untried(t, r->kernel, w, (double)w->fs / all);
        return;
    }
    for (int i = 0; i < KEYS_MOST && w->keys[i]; i++) {
        double share = gain(t, w->keys[i]);
        const char *comma = len > 0 ? ", " : "";

        if (share >= GAIN_LEAST)
            text_format(keys + len, sizeof keys - len, "%s%s (twice as good: %.1f %% less time)",
                        comma, w->keys[i], 100 * share);
        len = strlen(keys);
    }
    if (len > 0)
        cmd_note(t->cli, "%s: %s %.2f times as long as its kernels run: %s", r->kernel, w->what,
                 (double)w->fs / all, keys);
}

void binding_notes(const struct cli *cli, const kb_bench *bench, const kb_bench_run *run)
{
    const kb_sim *sim = kb_bench_sim((kb_bench_run *)run);
    struct trial t = {.cli = cli, .bench = bench, .run = run};
    kb_launch_result r;

    for (size_t i = 0; i < kb_launch_count(sim); i++)
        t.commands += kb_launch_get(sim, i, &r) == KB_OK ? r.ops : 0;
    for (t.launch = 0; t.launch < kb_launch_count(sim); t.launch++) {
        if (kb_launch_get(sim, t.launch, &r) != KB_OK)
            continue;
        const struct wait waits[] = {
            {r.slot_wait_fs,
             "sends wait for free slots",
             {"cube.pe.pe_ipcq.slots", "cube.pe.pe_ipcq.slot_bytes"}},
            {r.channel_wait_fs, "messages wait for a channel", {"cube.pe.pe_dma.write_channels"}},
            {r.software_fs,
             "kernels pay for collectives",
             {"software.call_ns", "software.step_ns"}},
        };

        for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
            note_wait(&t, &r, &waits[i]);
    }
}
