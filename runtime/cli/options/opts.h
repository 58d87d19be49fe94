/* opts.h -- the command line, read: which command, and what it was told. */
#ifndef OPTS_H
#define OPTS_H
#include "cli/exit.h"
#include "cli/shard.h"
#include "kernbench.h"
#include "cli/out/out.h"
#include "base/help.h"

enum command {
#define COMMAND(NAME, ...) COMMAND_##NAME,
#include "cli/options/opts.def"
    N_COMMANDS
};

enum { INSPECT_MAX = 64, SETS_MAX = 256 };

/* The results that --verify compares with a reference. */
enum verify { VERIFY_NOTHING, VERIFY_OUTPUTS, VERIFY_OPS };

/* The op_ids of --inspect; KB_LAST_OP is the last operation. */
struct inspect_list {
    uint32_t op[INSPECT_MAX];
    size_t n;
};

/* The tables of a breakdown, as kb_breakdown_by, and last its steps. */
extern const char *const opts_breakdowns[];

/* --by. */
struct opts_by {
    double factor;  /* why: 0 is by limit */
    unsigned table; /* run: 1 + its index in opts_breakdowns; 0: not given */
};

/* The KEY=VALUE of --set, in their order. */
struct set_list {
    const char *word[SETS_MAX];
    size_t n;
};

/*
 * What the command line said: a member for each option, of the type and name that its row in
 * opts.def has, and what follows from the words. Strings belong to argv unless they are owned.
 * Members of options that were not given hold the default of the row; NULL and 0: none, no bound.
 * Percentages and --atol are in millionths.
 */
struct opts {
#define OPTION(NAME, name, letter, argument, commands, type, field, ...) type field;
#include "cli/options/opts.def"
    enum command command; /* N_COMMANDS: none was named */
    bool report;          /* a page is wanted of what the command finds */
    const char **operand; /* owned, the strings are not */
    size_t n_operands;
    char *operand_names;       /* owned: "SRC DST", cut at the blanks */
    char *command_line;        /* owned: the words that decide what is printed, for the results */
    struct origin_arg *params; /* owned: what command_line says, name by name, and defaults */
    size_t n_params;
    char **keys; /* owned, the strings too: keys of --set, which params have as names */
    size_t n_keys, keys_room;
    char *part_name; /* owned: `output` of a part of --shard; NULL: it is the whole */
    uint64_t bytes;  /* --bytes as a number; not of sweep, which takes a list */
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

/* Gives a bench the argument NAME=VALUE, in place of one that was given. The word is borrowed. */
void opts_give_argument(struct opts *o, const char *word);

/* Option `id` as these commands have it, bits as help.h has them. N_COMMANDS stands for none. */
struct help_option opts_option(unsigned id, unsigned commands);
extern const unsigned opts_n_options;

/* The bits of commands of which there are reports: those with results. */
extern const unsigned opts_reported;

/* The words that may stand for "format" or "engine". */
const char *const *opts_words(const char *name, enum command command, size_t *n);

/* Help for `command`, or for the program if it is N_COMMANDS. */
void opts_help(const char *program, enum command command, struct sink *s);

#endif
