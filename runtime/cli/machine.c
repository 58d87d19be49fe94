/*
 * machine.c -- the machine that a command line simulates: compiled, or made of --machine and --set.
 *
 * A program with a topology of its own changes keys of that one: --set alone makes the machine
 * again from its resolved YAML. A file of --machine takes its place. With neither, the compiled
 * tables and the engine compiled for them are used, and nothing here is done.
 */
#include "cli/machine.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 }; /* as kbgen has it, which says so for one byte more */

/* The text of the file; NULL with errno. */
static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text;
    int error;

    if (!f)
        return NULL;
    text = memory_new(FILE_BYTES_MAX + 1, 1);
    *len = fread(text, 1, FILE_BYTES_MAX + 1, f);
    error = ferror(f) ? errno : 0;
    fclose(f);
    if (!error)
        return memory_resize(text, *len + 1, 1);
    free(text);
    errno = error;
    return NULL;
}

/* The lines that kbgen would print. */
static void say_messages(const char *messages)
{
    while (*messages) {
        size_t n = strcspn(messages, "\n");

        say_line("%.*s", (int)n, messages);
        messages += n + (messages[n] != '\0');
    }
}

/* Commands that need no machine. */
static bool needs_machine(const struct opts *o)
{
    if (o->command == COMMAND_DESCRIBE)
        return o->n_operands == 1 && strcmp(o->operand[0], "keys") == 0;
    if (o->command == COMMAND_LLM)
        return o->n_operands == 1 && !o->dry_run;
    return o->command != COMMAND_DIFF && o->command != COMMAND_LIST &&
           o->command != COMMAND_STUDY && o->command != COMMAND_CC && o->command != COMMAND_MERGE;
}

/* The YAML that --set changes: of the file, or of the compiled machine. */
static enum exit_code find_source(struct cli *cli, kb_topology_source *source)
{
    const struct opts *o = &cli->opts;

    *source = (kb_topology_source){.sets = o->set.word, .n_sets = o->set.n};
    if (o->machine) {
        cli->yaml = read_file(o->machine, &cli->yaml_bytes);
        source->nbytes = cli->yaml_bytes;
        source->file = o->machine;
        source->text = cli->yaml;
        return cli->yaml ? EXIT_OK : say_unreadable(cli->program, o->machine, errno);
    }
    if (!cli->topo)
        return say(cli->program, EXIT_USAGE,
                   "it has no machine of its own: --machine FILE.yaml names one");
    for (size_t i = 0; i < o->set.n; i++)
        if (strncmp(o->set.word[i], "kernbench=", strlen("kernbench=")) == 0)
            return say(cli->program, EXIT_USAGE,
                       "--set %s: what the YAML leaves out is compiled already, it needs --machine",
                       o->set.word[i]);
    source->file = cli->info.name;
    source->text = cli->info.config;
    source->nbytes = strlen(cli->info.config);
    return EXIT_OK;
}

static bool is_asked(void *arg)
{
    (void)arg;
    return stop_asked();
}

static enum exit_code load(struct cli *cli, const kb_topology_source *source)
{
    char *messages;
    kb_status status = kb_topology_load_until(source, is_asked, NULL, &cli->loaded, &messages);

    if (messages && (status || !cli->opts.quiet))
        say_messages(messages);
    if (status == KB_NO_MEMORY)
        memory_lacks();
    free(messages);
    if (status == KB_STOPPED)
        return EXIT_INTERRUPTED;
    if (status)
        return status == KB_BAD_REQUEST  ? EXIT_USAGE
               : status == KB_FILE_ERROR ? EXIT_SYSTEM
                                         : EXIT_INPUT;
    cli->topo = cli->loaded;
    kb_topology_info(cli->topo, &cli->info);
    return EXIT_OK;
}

enum exit_code machine_open(struct cli *cli)
{
    const struct opts *o = &cli->opts;
    kb_topology_source source;
    enum exit_code code;

    if (!o->machine && !o->set.n && (cli->topo || !needs_machine(o)))
        return EXIT_OK;
    cli->compiled = cli->topo;
    code = find_source(cli, &source);
    return code ? code : load(cli, &source);
}

void machine_close(struct cli *cli)
{
    kb_topology_free(cli->loaded);
    free(cli->yaml);
}
