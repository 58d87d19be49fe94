/* reading.h -- what the files of this folder share: the tables made of opts.def, and one reading of
 * a command line. */
#ifndef READING_H
#define READING_H
#include "cli/options/opts.h"

enum option_id {
#define OPTION(NAME, ...) OPTION_##NAME,
#include "cli/options/opts.def"
    N_OPTIONS
};

#define ALONE    (1u << N_COMMANDS) /* no command is needed */
#define ALL      ((1u << N_COMMANDS) - 1 + ALONE)
#define IN(NAME) (1u << COMMAND_##NAME)

struct reading;
struct option_row;

/* Reads `word` (NULL: none was given) into the member of struct opts at `field`; EXIT_USAGE after a
 * message. */
typedef enum exit_code option_reader(struct reading *r, const struct option_row *row,
                                     const char *word, void *field);

/* One option: what help and completion show, then how its argument is read, as opts.def says. */
struct option_row {
    struct help_option shown;
    size_t field, field_bytes; /* its place in struct opts */
    option_reader *read;
    uint64_t least, most; /* of numbers */
    const char *expected; /* in messages */
    const char *const *names;
    const char *initial; /* read before the command line; NULL: zero */
};

struct command_row {
    const char *name, *operands;
    size_t fewest, most;
    enum format format;
    const char *summary, *description;
};

extern const struct option_row option_rows[N_OPTIONS];
extern const bool option_asides[N_OPTIONS]; /* results do not tell them */
extern const struct command_row command_rows[N_COMMANDS];
extern const char *const command_names[N_COMMANDS];
extern const char *const option_names[N_OPTIONS];

/* The reading of one command line. */
struct reading {
    struct opts *o;
    const char *program;
    bool given[N_OPTIONS];
};

/* -- table.c -------------------------------------------------------------------------------- */

/* Reads `word` as the value of option `id`. */
enum exit_code opts_read_value(struct reading *r, enum option_id id, const char *word);

/* -- values.c ------------------------------------------------------------------------------- */

option_reader read_flag, read_text, read_file_name, read_count, read_size, read_decimal, read_word,
    read_verify, read_inspect, read_trace, read_names, read_set, read_vary, read_by, read_condition,
    read_shard;

/* Lists of words, each up to NULL. */
extern const char *const opts_formats[],
    *const opts_engines[], *const opts_arrivals[], *const opts_off_on[],
                                                       *const opts_computes[],
                                                           *const opts_auto_on[],
                                                               *const opts_shells[];

/* The index of `word` among `names`, or -1. */
int opts_find(const char *word, const char *const names[], size_t n_names);

/* "--bytes 'x' is not EXPECTED": EXIT_USAGE. */
enum exit_code opts_refuse(const struct reading *r, const struct option_row *row, const char *word,
                           const char *expected);

/* -- words.c -------------------------------------------------------------------------------- */

/* Room for what read_words() collects: operands, params, command_line. */
void words_make_room(struct reading *r, int argc, char **argv);

/* Takes all of `argv`: options, the command, operands. */
enum exit_code words_read(struct reading *r, int argc, char **argv);

/* Adds the names of operands, and defaults of options that were not given. */
void words_add_defaults(struct reading *r);

/* "WHY" and the commands of which there are reports: EXIT_USAGE. */
enum exit_code words_refuse_report(const struct reading *r, const char *why);

/* The command was given an option that it does not take: says which ones do. */
enum exit_code words_misplaced(const struct reading *r, const struct option_row *row);

/* The names of those of `commands`; returns how many. */
size_t words_commands(unsigned commands, const char *names[N_COMMANDS]);

#endif
