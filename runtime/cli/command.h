/* command.h -- what every command is given, and what commands share. */
#ifndef COMMAND_H
#define COMMAND_H
#include "base/provenance.h"
#include "cli/options/opts.h"
#include "cli/out/out_sqlite.h"

struct captured;
struct gates;
struct journal;
struct report;

/* How a report is told the results of a command, which are then not printed. Pointers, as
 * commands and rows/ stand below report/: they know that there is a page, not how it is made. */
struct page {
    void (*note)(struct report *r, const char *line);
    void (*rows)(struct report *r, const struct rows *rows, const struct origin *origin);
    void (*deadlock)(struct report *r, const struct rows *rows, const struct origin *origin,
                     const char *why);
    /* Rows of --breakdown, and sums by cause. NULL: none is made */
    void (*breakdown)(struct report *r, const struct rows *causes, const struct rows *sums);
    void (*machine)(struct report *r, const kb_topology *topo);         /* that it is of */
    void (*sim)(struct report *r, const kb_sim *sim, const char *when); /* " at rate 0.8" */
    enum exit_code (*write)(struct report *r, struct sink *s);
};

/* One run of the command line. */
struct cli {
    const kb_topology *topo; /* NULL: none, for commands that need none */
    kb_info info;
    const char *program; /* the name of the topology that it was compiled for, or "kernbench" */
    const kb_topology *compiled; /* what --machine or --set took the place of; NULL: nothing */
    const kb_topology *loaded;   /* owned: topo, if it is not compiled */
    char *yaml;                  /* owned: the text of --machine, `yaml_bytes` of it */
    size_t yaml_bytes;
    struct opts opts;
    struct provenance sources; /* of what is kept, or handed to a program; else nothing */
    struct out_sqlite *sqlite; /* owned: where rows go besides; NULL: nowhere */
    struct captured
        *varied; /* borrowed: what takes the rows of one machine of --vary; NULL: none */
    struct captured *varied_stats; /* borrowed: the same of its --stats */
    bool varies_routers;           /* some machine of --vary has routers */
    bool varies_ideal; /* and some has ideal links, of which a warning may stand beside its rows */
    bool wants_use;    /* the utilization of its simulation is wanted, though it has no --stats */
    struct gates *gates;     /* borrowed: what --fail-if and the like have found */
    struct journal *journal; /* borrowed: results that are kept for --resume, if it is open */
    struct report *report;   /* borrowed: the page that is wanted instead of rows; NULL: none */
    const struct page *page; /* how to tell it; not NULL if there is one */
};

/* Each command is a cmd_name() in cmd_name.c. They return after a message, or 0. */
#define COMMAND(NAME, name, ...) enum exit_code cmd_##name(const struct cli *cli);
#include "cli/options/opts.def"

/* Prints `rows` in the format and to the place that were asked for; --sqlite gets them after that.
 */
enum exit_code cmd_print(const struct cli *cli, const struct rows *rows);

/*
 * Opens the output that was asked for, calls `run` with it, and closes it: kept if `run` returned
 * EXIT_OK, EXIT_DIFFERENT or EXIT_INTERRUPTED. It is opened first: a folder that cannot be written
 * to is not found out after hours. Meanwhile Ctrl-C only makes stop_asked() true.
 */
enum exit_code cmd_output(const struct cli *cli, enum exit_code (*run)(void *arg, struct sink *s),
                          void *arg);

/* What becomes of the output of a command that ends with `code`. */
enum sink_end cmd_end(enum exit_code code);

/* As cmd_print(), to an open `s`, which stays open. */
void cmd_write(const struct cli *cli, const struct rows *rows, struct sink *s);

/* The same, with the arguments that the rows were made with. */
void cmd_write_with(const struct cli *cli, const struct rows *rows, const struct origin_arg *args,
                    size_t n_args, struct sink *s);

/* As cmd_write(), of rows that are not the command's own: their schema is kernbench.`name`. */
void cmd_write_as(const struct cli *cli, const char *name, const struct rows *rows, struct sink *s);

/* The origin that results of this command line tell. */
struct origin cmd_origin(const struct cli *cli);

/* For what prints rows by itself: adds them to the database of --sqlite, after all is printed. */
void cmd_add(const struct cli *cli, const struct rows *rows, const struct origin *origin,
             struct sink *s);

/* Are there routers, so that the data of a read have a way back, which is a term of its own? */
bool cmd_has_return(const struct cli *cli);

/* Are the cubes of a SIP a mesh, or rings, by its width and height? Those of a net are not. */
bool cmd_has_mesh(const struct cli *cli);

/* Do rows have a column of it? All machines of --vary have one if any of them has routers. */
bool cmd_tells_return(const struct cli *cli);

/* Are rows of buffers wanted, and are there any: --stats, or a report, and routers? */
bool cmd_counts_buffers(const struct cli *cli);

/* Copies columns, with `column` behind that of the response: `n` + 1 of them. */
void cmd_add_return(const struct column *columns, size_t n, const struct column *column,
                    struct column *out);

/* Does a page want the breakdown? */
bool cmd_explains(const struct cli *cli);

/* Shows a page the simulation, while it is there, and when that was. The last call counts. */
void cmd_show(const struct cli *cli, const kb_sim *sim, const char *when);

/* Do the rows that are printed begin with their warning? Else it must be said on stderr. */
bool cmd_shows_warning(const struct cli *cli);

/* A line on stderr about a result, which a report tells, too. */
void cmd_note(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same as say() has it: "PROGRAM: ..."; returns `code`. */
enum exit_code cmd_say(const struct cli *cli, enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The exit code of a call of the library that returned `status`. */
enum exit_code cmd_code_of(kb_status status);

/* Says why a call failed; returns its exit code. */
enum exit_code cmd_fail(const struct cli *cli, kb_status status, const kb_error *why);

/* "c0.pe3" in `name`, which is returned; PEs are numbered over all SIPs and cubes. */
static inline const char *cmd_name_pe(const struct cli *cli, uint32_t pe,
                                      char name[KB_ENDPOINT_BYTES])
{
    kb_endpoint end = {0};

    kb_pe_get(cli->topo, pe, &end);
    kb_endpoint_name(&end, name);
    return name;
}

/* Reads an operand as an endpoint; EXIT_USAGE after a message. */
enum exit_code cmd_endpoint(const struct cli *cli, const char *word, kb_endpoint *out);

#endif
