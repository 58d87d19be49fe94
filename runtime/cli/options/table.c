/* table.c -- the tables that opts.def becomes; see opts.c. */
#include "cli/options/reading.h"
#include "base/text.h"

/* The readers as opts.def writes them. */
#define FLAG                           read_flag, 0, 0, NULL, NULL
#define TEXT                           read_text, 0, 0, NULL, NULL
#define COUNT(least, most, expected)   read_count, least, most, expected, NULL
#define SIZE(least, expected)          read_size, least, UINT64_MAX, expected, NULL
#define DECIMAL(least, most, expected) read_decimal, least, most, expected, NULL
#define WORD(what, names)              read_word, 0, 0, what, names
#define AS(name)                       read_##name, 0, 0, NULL, NULL
#define PERCENT_MAX                    UINT64_C(1000000000000) /* millionths */

const struct option_row option_rows[N_OPTIONS] = {
#define OPTION(NAME, name, letter, argument, commands, type, field, READER, initial, help)         \
    [OPTION_##NAME] = {{name, letter, argument, commands, help, NULL},                             \
                       offsetof(struct opts, field),                                               \
                       sizeof(type),                                                               \
                       READER,                                                                     \
                       initial},
#include "cli/options/opts.def"
};

const bool option_asides[N_OPTIONS] = {
#define OPTION_ASIDE(NAME) [OPTION_##NAME] = true,
#include "cli/options/opts.def"
};

const char *const option_names[N_OPTIONS] = {
#define OPTION(NAME, name, ...) name,
#include "cli/options/opts.def"
};

const struct command_row command_rows[N_COMMANDS] = {
#define COMMAND(NAME, name, operands, fewest, most, format, summary, description)                  \
    [COMMAND_##NAME] = {#name, operands, fewest, most, format, summary, description},
#include "cli/options/opts.def"
};

const char *const command_names[N_COMMANDS] = {
#define COMMAND(NAME, name, ...) #name,
#include "cli/options/opts.def"
};

const unsigned opts_n_options = N_OPTIONS;

const unsigned opts_reported =
    IN(PROBE) | IN(REPLAY) | IN(SWEEP) | IN(LOAD) | IN(RUN) | IN(WHY) | IN(STUDY) | IN(LLM);

const char *opts_command_name(enum command command)
{
    return command_names[command];
}

enum exit_code opts_read_value(struct reading *r, enum option_id id, const char *word)
{
    const struct option_row *row = &option_rows[id];

    return row->read(r, row, word, (char *)r->o + row->field);
}
