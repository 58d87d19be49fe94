/* main.c -- the command line of a simulator: reads it, and runs the command it names. */
#include "cli/main.h"
#include "cli/command.h"
#include "cli/options/describe.h"
#include "cli/out/say.h"
#include "cli/out/stop.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 };

/* The exit code that a failed call of the library means, for what a command line asked. */
static enum exit_code exit_code_of(kb_status status)
{
    switch (status) {
    case KB_OK:
        return EXIT_OK;
    case KB_BAD_REQUEST:
        return EXIT_USAGE;
    case KB_TIME_RANGE:
        return EXIT_INPUT;
    case KB_NO_MEMORY:
    case KB_FILE_ERROR:
        return EXIT_SYSTEM;
    case KB_DEADLOCK:
        return EXIT_DEADLOCK;
    case KB_KERNEL_ERROR:
        return EXIT_KERNEL;
    case KB_DIFFERENT:
        return EXIT_DIFFERENT;
    case KB_AGAIN: /* no failures: whoever calls them one is wrong */
    case KB_STOPPED:
    case KB_PENDING:
    case KB_INTERNAL:
        return EXIT_INTERNAL;
    }
    return EXIT_INTERNAL;
}

enum exit_code cmd_fail(const struct cli *cli, kb_status status, const kb_error *why)
{
    const char *text = why && why->text[0]        ? why->text
                       : status == KB_NO_MEMORY   ? "out of memory"
                       : status == KB_TIME_RANGE  ? "simulated time passes 2^63 fs"
                       : status == KB_BAD_REQUEST ? "this cannot be asked"
                       : status == KB_FILE_ERROR  ? "a file could not be read or written"
                                                  : "internal error";

    return say(cli->program, exit_code_of(status), "%s", text);
}

static void note_line(const struct cli *cli, const char *program, const char *format, va_list args)
{
    char line[LINE_BYTES];

    vsnprintf(line, sizeof line, format, args);
    fprintf(stderr, "%s%s%s\n", program, *program ? ": " : "", line);
    if (cli->report)
        report_note(cli->report, line);
}

void cmd_note(const struct cli *cli, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    note_line(cli, "", format, args);
    va_end(args);
}

enum exit_code cmd_say(const struct cli *cli, enum exit_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    note_line(cli, cli->program, format, args);
    va_end(args);
    return code;
}

enum exit_code cmd_endpoint(const struct cli *cli, const char *word, kb_endpoint *out)
{
    kb_error why = {""};
    kb_status status = kb_endpoint_parse(cli->topo, word, strlen(word), out, &why);

    return status ? cmd_fail(cli, status, &why) : EXIT_OK;
}

struct origin cmd_origin(const struct cli *cli)
{
    return (struct origin){.command = opts_command_name(cli->opts.command),
                           .command_line = cli->opts.command_line,
                           .info = &cli->info,
                           .seed = cli->opts.seed,
                           .params = cli->opts.params,
                           .n_params = cli->opts.n_params};
}

void cmd_write(const struct cli *cli, const struct rows *rows, struct sink *s)
{
    cmd_write_with(cli, rows, NULL, 0, s);
}

void cmd_write_as(const struct cli *cli, const char *name, const struct rows *rows, struct sink *s)
{
    struct origin origin = cmd_origin(cli);

    origin.command = name;
    out_write(rows, &origin, cli->opts.format, s);
    cmd_add(cli, rows, &origin, s);
}

void cmd_write_with(const struct cli *cli, const struct rows *rows, const struct origin_arg *args,
                    size_t n_args, struct sink *s)
{
    struct origin origin = cmd_origin(cli);

    origin.args = args;
    origin.n_args = n_args;
    if (cli->report)
        report_rows(cli->report, rows, &origin);
    else
        out_write(rows, &origin, cli->opts.format, s);
    cmd_add(cli, rows, &origin, s);
}

void cmd_add(const struct cli *cli, const struct rows *rows, const struct origin *origin,
             struct sink *s)
{
    if (!cli->sqlite)
        return;
    sink_flush(s); /* a reader who takes his time does not lock the database */
    out_sqlite_add(cli->sqlite, rows, origin);
}

enum exit_code cmd_print(const struct cli *cli, const struct rows *rows)
{
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, cli->opts.output);

    if (code)
        return code;
    cmd_write(cli, rows, &s);
    if (cli->report)
        code = report_write(cli->report, &s);
    enum exit_code closed = sink_close(&s, cli->program, !code);
    return code ? code : closed;
}

bool cmd_is_kept(enum exit_code code)
{
    return code == EXIT_OK || code == EXIT_DIFFERENT || code == EXIT_DEADLOCK ||
           code == EXIT_INTERRUPTED;
}

enum exit_code cmd_output(const struct cli *cli, enum exit_code (*run)(void *arg, struct sink *s),
                          void *arg)
{
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, cli->opts.output);

    if (code)
        return code;
    stop_defer(true);
    code = run(arg, &s);
    if (cli->report && cmd_is_kept(code)) {
        enum exit_code written = report_write(cli->report, &s);

        code = written ? written : code;
    }
    enum exit_code closed = sink_close(&s, cli->program, cmd_is_kept(code));
    stop_defer(false);
    return closed ? closed : code;
}

/* Is it the help of report itself that is asked for? */
static bool of_report(const struct cli *cli)
{
    return cli->opts.report && cli->opts.command == N_COMMANDS;
}

/* What is made of all that the program takes. */
static void print_usage(const struct cli *cli, FILE *to)
{
    struct described d;

    describe(&d, cli->topo, &cli->info);
    if (cli->opts.man)
        usage_man(&d.usage, to);
    else if (cli->opts.completion)
        usage_script(&d.usage, cli->opts.completion, to);
    else
        usage_examples(&d.usage, of_report(cli) ? COMMAND_REPORT : cli->opts.command, to);
}

/* The same to `s`, by a stream in memory. False without memory. */
static bool put_usage(const struct cli *cli, struct sink *s)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return false;
    print_usage(cli, memory);
    bool ok = fclose(memory) == 0;
    if (ok)
        sink_bytes(s, text, size);
    free(text);
    return ok;
}

/* --help, --version, --man and --completion. They ignore -o: who asks wants to read. */
static enum exit_code print_help(const struct cli *cli)
{
    struct sink s;
    enum exit_code code = sink_open(&s, cli->program, NULL);
    bool ok = true;

    if (code)
        return code;
    if (cli->opts.help) {
        opts_help(cli->program, of_report(cli) ? COMMAND_REPORT : cli->opts.command, &s);
        ok = put_usage(cli, &s);
    } else if (cli->opts.man || cli->opts.completion) {
        ok = put_usage(cli, &s);
    } else {
        sink_text(&s, cli->program);
        sink_text(&s, " (kernbench " KB_VERSION ", topology ");
        sink_text(&s, cli->info.hash);
        sink_text(&s, ")\n");
    }
    code = sink_close(&s, cli->program, true);
    return ok ? code : say(cli->program, EXIT_SYSTEM, "out of memory");
}

/* --complete WORD...: a shell asks what the last word may become. */
static enum exit_code complete(const struct cli *cli, int n, char **words)
{
    struct described d;

    describe(&d, cli->topo, &cli->info);
    return usage_complete(&d.usage, words, (size_t)n, stdout) && fflush(stdout) == 0 ? EXIT_OK
                                                                                     : EXIT_SYSTEM;
}

enum exit_code cmd_start(const struct cli *cli)
{
    static enum exit_code (*const commands[N_COMMANDS])(const struct cli *) = {
#define COMMAND(NAME, name, ...) [COMMAND_##NAME] = cmd_##name,
#include "cli/options/opts.def"
    };

    return commands[cli->opts.command](cli);
}

/* Rows stay in the database if what was printed stays. */
static enum exit_code run_command(struct cli *cli)
{
    enum exit_code code = out_sqlite_open(&cli->sqlite, cli->program, cli->opts.sqlite);
    if (code)
        return code;
    code = cli->opts.report ? cmd_report(cli) : cmd_start(cli);
    enum exit_code closed = out_sqlite_close(cli->sqlite, cmd_is_kept(code));
    return closed ? closed : code;
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

int kb_cli_main(const kb_topology *topo, int argc, char **argv)
{
    struct cli cli = {.topo = topo};
    enum exit_code code;

    occupy_standard_files();
    stop_catch();
    kb_topology_info(topo, &cli.info);
    cli.program = cli.info.name;
    if (argc > 1 && strcmp(argv[1], "--complete") == 0)
        return (int)complete(&cli, argc - 2, argv + 2);
    code = opts_read(&cli.opts, cli.program, argc, argv);
    if (!code)
        code = opts_asks(&cli.opts) ? print_help(&cli) : run_command(&cli);
    opts_free(&cli.opts);
    return (int)code;
}
