/*
 * values.c -- the argument of one option, read into its member of struct opts.
 *
 * There is one reader for each kind of value (opts.def lists them), and one for each option with a
 * form of its own. A reader gets the row, for bounds and messages, and the place of the member. It
 * writes the member and returns EXIT_OK, or says "--seeds '0' is not a number of simulations, 1 to
 * 1000" and returns EXIT_USAGE. Defaults go through the same readers.
 */
#include "cli/options/reading.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

const char *const opts_formats[] = {
#define FORMAT(NAME, name) #name,
    FORMATS
#undef FORMAT
        NULL};
const char *const opts_engines[] = {[KB_FUSED] = "fused", [KB_HOP] = "hop", NULL};
const char *const opts_breakdowns[] = {
    [KB_BREAKDOWN_ALL] = "all",       [KB_BREAKDOWN_PLACE] = "place",
    [KB_BREAKDOWN_WAIT] = "wait",     [KB_BREAKDOWN_SOURCE] = "source",
    [KB_BREAKDOWN_TARGET] = "target", [KB_BREAKDOWN_OP] = "op",
    [KB_BREAKDOWN_PE] = "pe",         [KB_BREAKDOWN_PATH] = "path",
    [KB_BREAKDOWN_LINE] = "line",     [KB_BREAKDOWN_REGION] = "region",
    [KB_N_BREAKDOWNS] = "step"};
const char *const opts_arrivals[] = {"poisson", "fixed", NULL};
const char *const opts_computes[] = {"roofline", "recorded", NULL};
const char *const opts_off_on[] = {"off", "on", NULL};
const char *const opts_auto_on[] = {"auto", "on", NULL};
const char *const opts_shells[] = {"bash", "zsh", "fish", NULL};

int opts_find(const char *word, const char *const names[], size_t n_names)
{
    for (size_t i = 0; i < n_names; i++)
        if (strcmp(word, names[i]) == 0)
            return (int)i;
    return -1;
}

enum exit_code opts_refuse(const struct reading *r, const struct option_row *row, const char *word,
                           const char *expected)
{
    char shown[64];

    return say(r->program, EXIT_USAGE, "--%s '%s' is not %s", row->shown.name,
               text_show(word, strlen(word), shown, sizeof shown), expected);
}

static enum exit_code refuse(const struct reading *r, const struct option_row *row,
                             const char *word)
{
    return opts_refuse(r, row, word, row->expected);
}

/* -- by kind -------------------------------------------------------------------------------- */

enum exit_code read_flag(struct reading *r, const struct option_row *row, const char *word,
                         void *field)
{
    (void)r;
    (void)row;
    (void)word;
    *(bool *)field = true;
    return EXIT_OK;
}

enum exit_code read_text(struct reading *r, const struct option_row *row, const char *word,
                         void *field)
{
    (void)r;
    (void)row;
    *(const char **)field = word;
    return EXIT_OK;
}

/* Members are unsigned or uint64_t. */
static enum exit_code set_number(const struct reading *r, const struct option_row *row,
                                 const char *word, uint64_t value, void *field)
{
    if (value < row->least || value > row->most)
        return refuse(r, row, word);
    if (row->field_bytes == sizeof(unsigned))
        *(unsigned *)field = (unsigned)value;
    else
        *(uint64_t *)field = value;
    return EXIT_OK;
}

enum exit_code read_count(struct reading *r, const struct option_row *row, const char *word,
                          void *field)
{
    uint64_t value;

    if (!text_read_count(word, strlen(word), &value))
        return refuse(r, row, word);
    return set_number(r, row, word, value, field);
}

enum exit_code read_size(struct reading *r, const struct option_row *row, const char *word,
                         void *field)
{
    uint64_t value;

    if (!text_read_size(word, strlen(word), &value))
        return refuse(r, row, word);
    return set_number(r, row, word, value, field);
}

/* text_read_ns() reads any decimal with at most six places exactly, in millionths. */
enum exit_code read_decimal(struct reading *r, const struct option_row *row, const char *word,
                            void *field)
{
    int64_t value;

    if (!text_read_ns(word, strlen(word), &value) || (uint64_t)value < row->least ||
        (uint64_t)value > row->most)
        return refuse(r, row, word);
    *(int64_t *)field = value;
    return EXIT_OK;
}

/* The member holds the index, as an enum or as a bool, or points to the word. */
enum exit_code read_word(struct reading *r, const struct option_row *row, const char *word,
                         void *field)
{
    size_t n = 0;

    while (row->names[n])
        n++;
    int i = opts_find(word, row->names, n);
    if (i < 0)
        return say_unknown(r->program, row->expected, "", word, row->names, n);
    if (row->field_bytes == sizeof(bool))
        *(bool *)field = i > 0;
    else if (row->field_bytes == sizeof(int))
        *(int *)field = i;
    else
        *(const char **)field = row->names[i];
    return EXIT_OK;
}

/* -- of one option -------------------------------------------------------------------------- */

enum exit_code read_verify(struct reading *r, const struct option_row *row, const char *word,
                           void *field)
{
    enum verify *verify = field;

    if (word && strcmp(word, "ops") != 0)
        return opts_refuse(r, row, word, "'ops'");
    if (*verify != VERIFY_OPS)
        *verify = word ? VERIFY_OPS : VERIFY_OUTPUTS;
    return EXIT_OK;
}

#define BY_TABLES "all, place, wait, source, target, op, pe, path, step, line or region"

/* Of why "limit" is 0, "key" is 2, "key=1.25" is 1.25; of run it is a table of the breakdown. */
enum exit_code read_by(struct reading *r, const struct option_row *row, const char *word,
                       void *field)
{
    const double factor_max = 1000;
    struct opts_by *by = field;
    double *factor = &by->factor;
    char *end;

    if (r->o->command == COMMAND_RUN) {
        by->table = 1 + (unsigned)opts_find(word, opts_breakdowns, KB_N_BREAKDOWNS + 1);
        return by->table ? EXIT_OK : opts_refuse(r, row, word, BY_TABLES);
    }
    *factor = 0;
    if (strcmp(word, "limit") == 0)
        return EXIT_OK;
    *factor = 2;
    if (strcmp(word, "key") == 0)
        return EXIT_OK;
    if (strncmp(word, "key=", 4) == 0 && word[4] >= '0' && word[4] <= '9') {
        *factor = text_to_double(word + 4, &end);
        if (!*end && *factor > 1 && *factor <= factor_max)
            return EXIT_OK;
    }
    return opts_refuse(
        r, row, word,
        "limit, key, or key=F with F above 1 and at most 1000; of run --breakdown it "
        "is " BY_TABLES);
}

/* A column, < <= > >= == or !=, and a value. */
enum exit_code read_condition(struct reading *r, const struct option_row *row, const char *word,
                              void *field)
{
    struct set_list *list = field;
    size_t n = strcspn(word, "<>=!"), op = strspn(word + n, "<>=!");
    bool known = (op == 1 && strchr("<>", word[n])) || (op == 2 && word[n + 1] == '=');

    if (n == 0 || !known || word[n + op] == '\0' || memchr(word, ' ', n + op))
        return opts_refuse(r, row, word,
                           "a condition without blanks, as 'kernel_ns>4000' or 'verify!=pass'");
    if (list->n == SETS_MAX)
        return say(r->program, EXIT_USAGE, "--fail-if is given more than %d times", SETS_MAX);
    list->word[list->n++] = word;
    return EXIT_OK;
}

enum exit_code read_shard(struct reading *r, const struct option_row *row, const char *word,
                          void *field)
{
    struct shard *shard = field;
    size_t n = strcspn(word, "/");

    if (word[n] != '/' || !text_read_count(word, n, &shard->i) ||
        !text_read_count(word + n + 1, strlen(word + n + 1), &shard->n) || shard->i < 1 ||
        shard->i > shard->n || shard->n > SHARDS_MAX)
        return opts_refuse(r, row, word, "a part and the number of parts, as 3/8, at most 1000000");
    return EXIT_OK;
}

enum exit_code read_inspect(struct reading *r, const struct option_row *row, const char *word,
                            void *field)
{
    struct inspect_list *list = field;
    uint64_t id = KB_LAST_OP;

    if (strcmp(word, "last") != 0 &&
        (!text_read_count(word, strlen(word), &id) || id >= KB_LAST_OP))
        return opts_refuse(r, row, word, "the op_id of an operation, or 'last'");
    if (list->n == INSPECT_MAX)
        return say(r->program, EXIT_USAGE, "--inspect is given more than %d times", INSPECT_MAX);
    list->op[list->n++] = (uint32_t)id;
    return EXIT_OK;
}

enum exit_code read_file_name(struct reading *r, const struct option_row *row, const char *word,
                              void *field)
{
    *(const char **)field = word;
    return *word ? EXIT_OK : opts_refuse(r, row, word, "the name of a file");
}

/* The suffix of FILE tells its format. */
enum exit_code read_trace(struct reading *r, const struct option_row *row, const char *word,
                          void *field)
{
    const char *suffix = strrchr(word, '.');

    *(const char **)field = word;
    if (!suffix || (strcmp(suffix, ".pftrace") != 0 && strcmp(suffix, ".json") != 0))
        return opts_refuse(r, row, word, "a name that ends in .pftrace or .json");
    return EXIT_OK;
}

enum exit_code read_names(struct reading *r, const struct option_row *row, const char *word,
                          void *field)
{
    *(const char **)field = word;
    if (!*word || *word == ',' || strstr(word, ",,") || word[strlen(word) - 1] == ',')
        return opts_refuse(r, row, word, "a list of names, commas between them");
    return EXIT_OK;
}

static bool is_pair(const char *word)
{
    const char *equals = strchr(word, '=');

    return equals && equals != word;
}

static enum exit_code add_word(struct reading *r, const struct option_row *row,
                               struct set_list *list, const char *word)
{
    if (list->n == SETS_MAX)
        return say(r->program, EXIT_USAGE, "--%s is given more than %d times", row->shown.name,
                   SETS_MAX);
    list->word[list->n++] = word;
    return EXIT_OK;
}

/* Key and value, or what is in a file, are the library's to judge: it knows all keys. */
enum exit_code read_set(struct reading *r, const struct option_row *row, const char *word,
                        void *field)
{
    if (!(*word == '@' && word[1]) && !is_pair(word))
        return opts_refuse(r, row, word,
                           "a key and its value, as cube.hbm.bw_gbs=512, or @FILE with many");
    return add_word(r, row, field, word);
}

/* Values come one by one from vary/variants.c. No file has lists. */
enum exit_code read_vary(struct reading *r, const struct option_row *row, const char *word,
                         void *field)
{
    if (*word == '@' || !is_pair(word))
        return opts_refuse(r, row, word, "a key and its values, as cube.hbm.bw_gbs=256,512");
    return add_word(r, row, field, word);
}
