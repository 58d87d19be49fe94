/* study.h -- a study: variants of a machine, commands, and what a variant costs. */
#ifndef STUDY_H
#define STUDY_H
#include "cli/command.h"

enum {
    STUDY_VARIANTS_MAX = 10000,
    STUDY_COMMANDS_MAX = 64,
    STUDY_KEYS_MAX = 16,   /* each becomes a column */
    STUDY_NAME_BYTES = 64, /* of a variant that the file names */
};

/* A key that a variant changes, or that has a cost. */
struct study_key {
    char *name;        /* owned: "sip.d2d.bw_gbs" */
    char *base;        /* owned: its value in the base machine, as text */
    double base_value; /* NAN: it is a word */
    bool is_changed;   /* by a variant */
    double cost;       /* of one more of its unit; NAN: none */
    int line, column;  /* where the file has it first */
};

struct study_variant {
    char *name;                  /* owned; of a combination its values: "256,128" */
    char *full;                  /* owned: with the keys, for messages; NULL: `name` */
    char *value[STUDY_KEYS_MAX]; /* owned: of each key; NULL: that of the base machine */
    double own_cost;             /* NAN: none */
    int line, column;
    char hash[24];        /* of its machine: these three are set by study_check() */
    struct provenance of; /* of the machine */
    double cost;          /* of all that it changes; NAN: the study has no costs */
};

struct study_command {
    char *line;  /* owned: "run gemm M=512" */
    char **word; /* owned: line cut at blanks; word[0] stays free for the program */
    int n_words; /* with that one */
    int at_line, column;
};

/* What the file says. Variant 0 is the base machine. */
struct study {
    const struct cli *cli;
    const char *file; /* borrowed */
    char *machine;    /* owned; NULL: that of the program */
    char **set;       /* owned: KEY=VALUE of the base machine */
    size_t n_sets;
    struct study_key key[STUDY_KEYS_MAX];
    size_t n_keys;
    struct study_variant *variant; /* owned */
    size_t n_variants, variants_room;
    struct study_command command[STUDY_COMMANDS_MAX];
    size_t n_commands;
    bool has_costs;
    const kb_topology *base; /* owned if it is not that of the program */
    kb_info info;            /* of it */
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

/* Makes each machine once, and finds its hash and cost; says what is wrong with it. As above. */
enum exit_code study_check(struct study *s);

/* The topology of a variant, to be given back with kb_topology_free(); after messages NULL. */
const kb_topology *study_machine(const struct study *s, const struct study_variant *variant);

/*
 * Runs all commands on all variants, the base machine first; outcomes[v * n_commands + c]. What
 * `cli->sqlite` has already is taken from there.
 *
 * returns  EXIT_OK; the code of the first that failed, after a message that names it;
 *          EXIT_INTERRUPTED
 */
enum exit_code study_run(const struct study *s, struct study_outcome *outcomes);

/* The name of a variant, with its keys if the file gives it none. */
static inline const char *study_name(const struct study_variant *v)
{
    return v->full ? v->full : v->name;
}

/* Runs one, in this process. */
void study_run_one(const struct study *s, size_t variant, size_t command,
                   struct study_outcome *out);

#endif
