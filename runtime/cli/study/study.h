/* study.h -- a study: variants of a machine, commands, and what a variant costs. */
#ifndef STUDY_H
#define STUDY_H
#include "cli/command.h"
#include "cli/out/say.h"
#include "cli/vary/explained.h"
#include "cli/vary/variants.h"

enum {
    STUDY_COMMANDS_MAX = 64,
    STUDY_KEYS_MAX = VARY_KEYS_MAX, /* each becomes a column */
    STUDY_NAME_BYTES = 64,          /* of a variant that the file names */
    STUDY_VALUE_BYTES = 64,         /* of a value of `vary` */
};

/* A key that a variant changes, or that has a cost; or an argument of benches. */
struct study_key {
    char *name;        /* owned: "sip.d2d.bw_gbs", "arg.M" */
    char *base;        /* owned: its value in the base machine, or in the first command; as text */
    double base_value; /* NAN: it is a word */
    bool is_count;     /* it takes integers only */
    bool is_changed;   /* by a variant */
    double cost;       /* of one more of its unit; NAN: none */
    int line, column;  /* where the file has it first */
};

/* A variant that the file names. */
struct study_named {
    char *name;                  /* owned */
    char *value[STUDY_KEYS_MAX]; /* owned: of each key; NULL: that of the base machine */
    double own_cost;             /* NAN: none */
    int line, column;
};

/* Any variant, as study_variant() tells it. */
struct study_variant {
    char
        name[STUDY_KEYS_MAX * (STUDY_VALUE_BYTES + 1)]; /* of a combination its values: "256,128" */
    char full[STUDY_KEYS_MAX * 256];                    /* with the keys, for messages */
    const char *value[STUDY_KEYS_MAX]; /* borrowed: of each key; NULL: that of the base machine */
    double cost;                       /* of all that it changes; NAN: the study has no costs */
    int line, column;
};

struct study_command {
    char *line;  /* owned: "run gemm M=512" */
    char **word; /* owned: line cut at blanks; word[0] stays free for the program */
    int n_words; /* with that one */
    int at_line, column;
    bool takes[STUDY_KEYS_MAX]; /* of each key: it is an argument of the command's bench */
};

/* What the file says. Variant 0 is the base machine, then come those with names, then the points of
 * `vary`. */
struct study {
    const struct cli *cli;
    const char *file; /* borrowed */
    char *machine;    /* owned; NULL: that of the program */
    char **set;       /* owned: KEY=VALUE of the base machine */
    size_t n_sets;
    struct study_key key[STUDY_KEYS_MAX];
    size_t n_keys;
    struct study_named *named; /* owned */
    size_t n_named, named_room;
    struct variants points;          /* of `vary` */
    size_t point_key[VARY_KEYS_MAX]; /* the number of each of its keys in `key` */
    int vary_line, vary_column;
    uint64_t n_searched; /* points that the search for the front may run; 0: there is none */
    struct study_command command[STUDY_COMMANDS_MAX];
    size_t n_commands;
    bool has_costs;
    const kb_topology *base; /* owned if it is not that of the program */
    const kb_topology *from; /* what machines are made of: that, or a copy made at run time */
    kb_info info;            /* of base */
};

/* What a variant did with a command. Of fixed size: it comes through a pipe. */
struct study_outcome {
    enum { STUDY_WAITS, STUDY_OK, STUDY_FAILED } state;
    int code;        /* exit code, if it failed */
    char metric[16]; /* "kernel_ns", "mean_ns" */
    int64_t time_fs;
    char bound[KB_PLACE_BYTES + 16]; /* what was busiest; "": unknown */
    double bound_pct;
    char algorithm[32]; /* "": none to choose */
};

/*
 * Reads `file`. Give back with study_free(), also after a failure.
 *
 * returns  EXIT_OK; EXIT_INPUT after a message for each mistake, with its place; EXIT_SYSTEM
 */
enum exit_code study_read(struct study *s, const struct cli *cli, const char *file);
void study_free(struct study *s);

/* Makes the base machine and each with a name once, and says what is wrong with them, with keys and
 * with commands. As above. */
enum exit_code study_check(struct study *s);

/* How many variants there are, and variant `v` of them. */
static inline uint64_t study_n_variants(const struct study *s)
{
    return s->n_named + s->points.n;
}
void study_variant(const struct study *s, uint64_t v, struct study_variant *out);
double study_cost(const struct study *s, uint64_t v); /* NAN: the study has no costs */

/* The topology of variant `v`, to be given back with kb_topology_free(); after messages NULL. */
const kb_topology *study_machine(const struct study *s, uint64_t v);

/* What variant `v` gives the bench of a command, " M=64 N=32" or "". Owned by the caller. */
char *study_arguments(const struct study *s, uint64_t v, size_t command);

/* "FILE:LINE:COLUMN: variant NAME: TEXT" on stderr. */
void study_say(const struct study *s, uint64_t variant, const char *text);

/* Runs one, in this process; what it says is its caller's to take. `run` gets its causes and
 * utilization as `e` wants them, if these are asked for. */
void study_run_one(const struct study *s, uint64_t variant, size_t command,
                   struct study_outcome *out, const struct explained *e, struct run_explained *run);

#endif
