/* opts.h -- the command line, read: which command, and what it was told. */
#ifndef OPTS_H
#define OPTS_H
#include "cli/exit.h"
#include "kernbench.h"
#include "cli/out/out.h"
#include "base/help.h"

enum command {
#define COMMAND(NAME, ...) COMMAND_##NAME,
#include "cli/options/opts.def"
    N_COMMANDS
};

enum { INSPECT_MAX = 64 };

/* What the command line said. Strings belong to argv, but for `command_line`. */
struct opts {
    enum command command; /* N_COMMANDS: none was named */
    bool report;          /* a page is wanted of what the command finds */
    const char **operand; /* owned, the strings are not */
    size_t n_operands;
    char *operand_names; /* owned: "SRC DST", cut at the blanks */
    char *command_line;  /* owned: the words that decide what is printed, for the results */
    enum format format;
    const char *output;        /* NULL: stdout */
    const char *sqlite;        /* NULL: none */
    const char *stats;         /* NULL: none; written, of view read */
    struct origin_arg *params; /* owned: what command_line says, name by name, and defaults */
    size_t n_params;
    kb_engine engine;
    const char *only_case;                                  /* NULL: all */
    const char *bytes_list;                                 /* --bytes as it was written */
    uint64_t bytes;                                         /* not for sweep, which takes a list */
    const char *src, *dst, *inflight, *op, *pattern, *rate; /* NULL: not given */
    uint64_t txns, seeds;
    int64_t until_fs;    /* 0: no bound */
    uint64_t max_events; /* 0: no bound */
    bool verify, verify_ops, phase2;
    const char *dump, *oplog;           /* NULL: none */
    uint64_t oplog_limit;               /* 0: no bound */
    const char *trace;                  /* NULL: none */
    const char *trace_filter;           /* NULL: all */
    int64_t trace_from_fs, trace_to_fs; /* to 0: no bound */
    uint64_t trace_max_bytes;           /* 0: no bound */
    uint64_t seed;
    int64_t tolerance, bound; /* millionths of a per cent, at most 10^12 */
    int64_t atol;             /* millionths */
    const char *at;           /* which SIP, cube or PE is drawn; NULL: the first */
    const char *columns;      /* names, commas between them; NULL: all */
    uint64_t top;             /* 0: not given */
    unsigned jobs;            /* 0: as many as processors */
    bool breakdown, race;           /* instead of rows */
    bool fixed;               /* arrivals at equal intervals */
    bool quiet, config, fingerprint, dry_run, help, version, man;
    uint32_t inspect[INSPECT_MAX]; /* op_ids, KB_LAST_OP */
    size_t n_inspect;
    const char *completion; /* NULL, or for which shell */
};

/*
 * Reads `argv`; complaints begin with `program`. Give back what it owns with opts_free(), also
 * after a failure.
 *
 * returns  EXIT_OK, EXIT_USAGE or EXIT_SYSTEM after a message
 */
enum exit_code opts_read(struct opts *o, const char *program, int argc, char **argv);
void opts_free(struct opts *o);

/* The name of a command as it is typed. */
const char *opts_command_name(enum command command);

/* Was the program asked about itself, and for nothing else? */
bool opts_asks(const struct opts *o);

/* Option `id` as these commands have it, bits as usage.h has them. N_COMMANDS stands for none. */
struct usage_option opts_option(unsigned id, unsigned commands);
extern const unsigned opts_n_options;

/* The bits of commands of which there are reports: those with results. */
extern const unsigned opts_reported;

/* What may stand for "format" or "engine". */
const char *const *opts_words(const char *name, enum command command, size_t *n);

/* Help for `command`, or for the program if it is N_COMMANDS. */
void opts_help(const char *program, enum command command, struct sink *s);

#endif
