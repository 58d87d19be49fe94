/* cli_main.c -- the command line of a simulator: reads it, and runs the command it names.
 *
 * The way of a command line, in kb_cli_main():
 *
 *     occupy_standard_files()   stdin, stdout and stderr exist, or are /dev/null
 *     stop_catch()              the first Ctrl-C asks to stop, the second ends the program
 *     opts_read()               options/opts.c: words into struct opts, or a message and exit 2
 *     limits_begin()            from here on --limit-s and --limit-mb count
 *     machine_open()            the machine of --machine and --set, if there is one
 *     run_command()             --sqlite is opened; then start(), or cmd_report() around start()
 *     start()                   calls cmd_NAME() through the table made from opts.def
 *
 * A new command is a row of options/opts.def and a file cmd_NAME.c: help, manual page, completion
 * and the table here follow from the row.
 */
#include "cli/cli_main.h"
#include "cli/out/memory.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/gate.h"
#include "cli/machine.h"
#include "cli/out/out_limits.h"
#include "cli/out/say.h"
#include "cli/out/session.h"
#include "cli/out/stop.h"
#include "cli/plan/journal.h"
#include "cli/report/report.h"
#include "cli/sources.h"
#include "cli/vary/vary.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* -- help ----------------------------------------------------------------------------------- */

/* Is this the help of `report` itself, without another command? */
static bool of_report(const struct cli *cli)
{
    return cli->opts.report && cli->opts.command == N_COMMANDS;
}

/* Manual page, completion script, or the examples at the end of --help. */
static void print_tables(const struct cli *cli, FILE *to)
{
    struct described d;

    describe(&d, cli->topo, &cli->info);
    if (cli->opts.man)
        help_man(&d.help, to);
    else if (cli->opts.completion)
        help_script(&d.help, cli->opts.completion, to);
    else
        help_examples(&d.help, of_report(cli) ? COMMAND_REPORT : cli->opts.command, to);
}

/* The same to `s`. */
static void put_tables(const struct cli *cli, struct sink *s)
{
    FILE *to = sink_stream(s);

    print_tables(cli, to);
    fclose(to);
}

/* --help, --version, --man and --completion. They ignore -o. */
static enum exit_code print_help(const struct cli *cli)
{
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, NULL);

    if (code)
        return code;
    if (cli->opts.help) {
        opts_help(cli->program, of_report(cli) ? COMMAND_REPORT : cli->opts.command, &s);
        put_tables(cli, &s);
    } else if (cli->opts.man || cli->opts.completion) {
        put_tables(cli, &s);
    } else {
        sink_text(&s, cli->program);
        sink_text(&s, cli->topo ? " (kernbench " KB_VERSION ", topology " : " " KB_VERSION);
        sink_text(&s, cli->info.hash);
        sink_text(&s, cli->topo ? ")\n" : "\n");
    }
    return sink_close(&s, cli->program, SINK_KEEP);
}

/* --complete WORD...: a shell asks what the last word may become. */
static enum exit_code complete(const struct cli *cli, int n, char **words)
{
    struct described d;
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, NULL);

    if (code)
        return code;
    describe(&d, cli->topo, &cli->info);
    FILE *to = sink_stream(&s);
    if (!help_complete(&d.help, words, (size_t)n, to))
        memory_lacks();
    fclose(to);
    return sink_close(&s, cli->program, SINK_KEEP);
}

/* -- the command ---------------------------------------------------------------------------- */

/* Runs the command that the options name. What components and kernels do is theirs: a crash of one
 * ends it with a message. */
static enum exit_code start(const struct cli *cli)
{
    static enum exit_code (*const commands[N_COMMANDS])(const struct cli *) = {
#define COMMAND(NAME, name, ...) [COMMAND_##NAME] = cmd_##name,
#include "cli/options/opts.def"
    };

    kb_catch_crashes();
    return commands[cli->opts.command](cli);
}

/* `report`: another command, and one HTML page of what it finds. */
enum exit_code cmd_report(const struct cli *cli)
{
    struct cli reported = *cli;

    reported.report = report_new(cli);
    reported.page = &report_page;
    enum exit_code code = start(&reported);
    report_free(reported.report);
    return code;
}

/* What becomes of the rows in the database: those of a study stay also if variants failed, and are
 * a part of them only if memory or a file was lacking. */
static enum sink_end end_of(const struct cli *cli, enum exit_code code)
{
    enum sink_end end = cmd_end(code);

    if (end != SINK_DROP || cli->opts.command != COMMAND_STUDY)
        return end;
    return code == EXIT_SYSTEM ? SINK_PARTIAL : SINK_KEEP;
}

/* What is kept, or handed to a program, says what it is made of. */
static enum exit_code find_sources(struct cli *cli)
{
    const struct opts *o = &cli->opts;

    if ((o->shard.n || o->resume) && !digest_works())
        return say(cli->program, EXIT_SYSTEM,
                   "--%s: this build has no libmd, and cannot say what results are made of",
                   o->resume ? "resume" : "shard");
    return o->sqlite || o->shard.n || o->resume || o->origin || session_here()
               ? sources_of(cli, &cli->sources)
               : EXIT_OK;
}

/* --origin: what the rows are of, beside them. */
static enum exit_code write_origin(const struct cli *cli)
{
    struct origin origin = cmd_origin(cli);
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, cli->opts.origin);

    if (code)
        return code;
    out_json_origin(&origin, &s);
    return sink_close(&s, cli->program, SINK_KEEP);
}

/* Is the journal more than what was written: is something missing there, or is it a part itself? */
static bool is_needed(const struct cli *cli, enum exit_code code)
{
    return !cli->journal->complete || cli->journal->is_part || code == EXIT_SYSTEM ||
           code == EXIT_INTERRUPTED || code == EXIT_LIMIT;
}

/* Rows stay in the database if what was printed stays. */
static enum exit_code run_command(struct cli *cli)
{
    enum sink_end end = SINK_DROP;
    enum exit_code code = find_sources(cli);
    if (!code)
        code = out_sqlite_open(&cli->sqlite, cli->program, cli->opts.sqlite);
    if (code)
        return code;
    if (cli->opts.vary.n > 0) {
        code = vary_run(cli, start, &end);
    } else {
        code = cli->opts.report ? cmd_report(cli) : start(cli);
        end = end_of(cli, code);
    }
    enum exit_code closed = out_sqlite_close(cli->sqlite, end);
    if (!code && !closed && cli->opts.origin)
        code = write_origin(cli);
    code = gate_end(cli, closed ? closed : code);
    if (!stop_leaves())
        journal_close(cli->journal, is_needed(cli, code));
    return code;
}

/*
 * A file that we open must not become stdin, stdout or stderr because these were closed. What
 * takes their place cannot be used in their direction, so that writing to it still fails.
 */
static void occupy_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return;
}

/*
 * Lines and rows are made on the stack, so that a few KiB do not do: there would not even be room
 * for printf(). Threads take the limit that they find for the size of their own stacks.
 */
static bool ask_for_stack(void)
{
    enum { LEAST_BYTES = 512 << 10, WANTED_BYTES = 8 << 20 };
    struct rlimit limit;
    pthread_attr_t threads;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST_BYTES)
        return true;
    limit.rlim_cur = limit.rlim_max < WANTED_BYTES ? limit.rlim_max : WANTED_BYTES;
    if (setrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur < LEAST_BYTES)
        return false;
    pthread_attr_init(&threads);
    pthread_attr_setstacksize(&threads, WANTED_BYTES);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
    return true;
}

/* Does it simulate the machine as it is? */
static bool simulates(const struct opts *o)
{
    static const unsigned commands = 1u << COMMAND_PROBE | 1u << COMMAND_REPLAY |
                                     1u << COMMAND_RUN | 1u << COMMAND_SWEEP | 1u << COMMAND_LOAD |
                                     1u << COMMAND_WHY;

    return commands >> o->command & 1 && !o->dry_run && o->vary.n == 0;
}

/* The machine and the command, within what they may take. */
static enum exit_code run_limited(struct cli *cli)
{
    enum { BYTES_OF_MB = 1000000 };
    const struct opts *o = &cli->opts;
    struct limits limits;
    enum exit_code code = limits_begin(&limits, cli->program, (double)o->limit_us * 1e-6,
                                       o->limit_mb * BYTES_OF_MB, o->quiet || o->fingerprint);

    if (!code)
        code = machine_open(cli);
    if (!code && simulates(o))
        code = limits_expect(&limits, cli->program, kb_sim_bytes(cli->topo));
    if (!code)
        code = run_command(cli);
    return limits_end(&limits, code);
}

int main_line(struct cli *cli, int argc, char **argv)
{
    enum exit_code code = opts_read(&cli->opts, cli->program, argc, argv);

    if (!code && opts_asks(&cli->opts))
        code = print_help(cli);
    else if (!code)
        code = run_limited(cli);
    return (int)code;
}

void main_close(struct cli *cli)
{
    machine_close(cli);
    opts_free(&cli->opts);
}

/* A whole command line; not inlined, as its variables need more than a small stack has. */
__attribute__((noinline)) static int run_line(const kb_topology *topo, int argc, char **argv)
{
    struct gates gates = {0};
    struct journal journal = {0};
    struct cli cli = {.topo = topo, .gates = &gates, .journal = &journal};

    if (topo)
        kb_topology_info(topo, &cli.info);
    else
        cli.info = (kb_info){.name = "kernbench", .config = "", .hash = "", .links = ""};
    cli.program = cli.info.name;
    memory_begin(cli.program);
    if (argc > 1 && strcmp(argv[1], "--complete") == 0)
        return (int)complete(&cli, argc - 2, argv + 2);
    int code = main_line(&cli, argc, argv);
    if (stop_leaves())
        exit(code);
    main_close(&cli);
    return code;
}

int kb_cli_main(const kb_topology *topo, int argc, char **argv)
{
    static const char text[] =
        "kernbench: the stack is too small, 512 KiB are needed: see ulimit -s\n";

    occupy_standard_files();
    if (!ask_for_stack())
        return write(STDERR_FILENO, text, sizeof text - 1), (int)EXIT_SYSTEM;
    stop_catch();
    return run_line(topo, argc, argv);
}
