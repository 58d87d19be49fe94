/*
 * cmd_merge.c -- `merge`: joins the files that the parts of --shard wrote.
 *
 * `sweep ... -o r.csv --shard 3/8` writes r.csv.3of8, which appears when it is whole. `merge r.csv`
 * finds r.csv.1of8 to r.csv.8of8, sees that none is missing or cut and that all are made of the
 * same (part.h), and writes r.csv: the names of the columns once, then the rows of all in order. It
 * has the bytes that the same command writes without --shard. The parts stay.
 */
#include "cli/command.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include "cli/part.h"
#include "cli/plan/journal.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 64 << 10 };

struct merging {
    const struct cli *cli;
    const char *whole;
    uint64_t n;           /* parts */
    char *part;           /* owned: the name of one */
    bool has_head;        /* the names of the columns are written */
    struct provenance of; /* of the first part */
};

/* N of "WHOLE.IofN"; 0: the name is not of this kind. */
static uint64_t parts_of(const char *name, const char *whole)
{
    size_t len = strlen(whole);
    unsigned long long i, n;
    char suffix[SHARD_SUFFIX_BYTES];

    if (strncmp(name, whole, len) != 0 || sscanf(name + len, ".%lluof%llu", &i, &n) != 2 || i < 1 ||
        i > n || n > SHARDS_MAX)
        return 0;
    shard_suffix(i, n, suffix);
    return strcmp(name + len, suffix) == 0 ? n : 0;
}

/* How many parts there are, by the names in the folder: all must say the same number. */
static enum exit_code count_parts(struct merging *m)
{
    const char *slash = strrchr(m->whole, '/'), *name = slash ? slash + 1 : m->whole;
    char *folder = slash ? memory_part(m->whole, (size_t)(slash - m->whole) + 1) : memory_text(".");
    DIR *dir = opendir(folder);
    enum exit_code code = dir ? EXIT_OK : say_unreadable(m->cli->program, folder, errno);

    free(folder);
    for (const struct dirent *entry; dir && !code && (entry = readdir(dir));) {
        uint64_t n = parts_of(entry->d_name, name);

        if (n > 0 && m->n > 0 && n != m->n)
            code = say(m->cli->program, EXIT_INPUT,
                       "%s has parts of %llu and parts of %llu: remove those of another run",
                       m->whole, (unsigned long long)(m->n < n ? m->n : n),
                       (unsigned long long)(m->n < n ? n : m->n));
        m->n = n > 0 ? n : m->n;
    }
    if (dir)
        closedir(dir);
    if (!code && m->n == 0)
        return say(m->cli->program, EXIT_INPUT, "there are no parts %s.1of... of '%s'", name,
                   m->whole);
    return code;
}

static void name_part(struct merging *m, uint64_t i)
{
    strcpy(m->part, m->whole);
    shard_suffix(i, m->n, m->part + strlen(m->whole));
}

/* The first line of `in`, with its end, in memory of its own; `len` 0: there is none. */
static char *read_line(FILE *in, size_t *len)
{
    char *line = NULL;
    size_t room = 0;

    *len = 0;
    for (int c; (c = getc(in)) != EOF;) {
        line = memory_room(line, *len, &room, 1);
        line[(*len)++] = (char)c;
        if (c == '\n')
            break;
    }
    return line;
}

/* What the parts must be made of is that of the first. */
static enum exit_code check_sources(struct merging *m, const struct provenance *of, uint64_t i)
{
    char names[PROVENANCE_NAMES_BYTES];
    unsigned parts;

    if (i == 1)
        m->of = *of;
    parts = provenance_differs(of, &m->of);
    if (!parts)
        return EXIT_OK;
    provenance_names(parts, names);
    return say(m->cli->program, EXIT_INPUT,
               "%s is not of the same %s as part 1: they are parts of two runs", m->part, names);
}

/* The line before the rows says what they are. */
static enum exit_code take_first_line(struct merging *m, FILE *in, uint64_t i)
{
    struct provenance of;
    uint64_t part, parts;
    size_t len;
    char *line = read_line(in, &len);
    enum exit_code code = EXIT_OK;

    if (journal_is(m->part))
        code = say(m->cli->program, EXIT_USAGE,
                   "%s has results, and no rows: the same command joins them, with --resume in "
                   "place of --shard",
                   m->part);
    if (code) {
        free(line);
        return code;
    }
    line = memory_resize(line, len + 1, 1);
    line[len > 0 ? len - 1 : 0] = '\0';
    if (ferror(in))
        code = say_unreadable(m->cli->program, m->part, errno);
    else if (!part_read(line, &part, &parts, &of))
        code = say(m->cli->program, EXIT_INPUT, "%s %s: run the part --shard %llu/%llu again",
                   m->part, len ? "does not say what it is made of" : "is empty",
                   (unsigned long long)i, (unsigned long long)m->n);
    else if (part != i || parts != m->n)
        code = say(m->cli->program, EXIT_INPUT,
                   "%s is part %llu of %llu, by what is in it: it has got another name", m->part,
                   (unsigned long long)part, (unsigned long long)parts);
    else
        code = check_sources(m, &of, i);
    free(line);
    return code;
}

/* How many bytes lie between here and the last line, which is the one that a whole part has. */
static enum exit_code find_end(struct merging *m, FILE *in, uint64_t i, size_t *left)
{
    char want[PART_LINE_BYTES], line[PART_LINE_BYTES] = "";
    long here = ftell(in), end = 0;

    part_last_line(i, m->n, want);
    long len = (long)strlen(want);
    bool whole = here >= 0 && fseek(in, -len, SEEK_END) == 0 && (end = ftell(in)) >= here &&
                 fread(line, 1, (size_t)len, in) == (size_t)len && strcmp(line, want) == 0;

    if (ferror(in))
        return say_unreadable(m->cli->program, m->part, errno);
    if (!whole || fseek(in, here, SEEK_SET) != 0)
        return say(m->cli->program, EXIT_INPUT,
                   "%s is cut: its last line is not there; copy it, or run the part --shard "
                   "%llu/%llu, again",
                   m->part, (unsigned long long)i, (unsigned long long)m->n);
    *left = (size_t)(end - here);
    return EXIT_OK;
}

/* The names of the columns are written once; a part without rows may have none. */
static void take_head(struct merging *m, FILE *in, struct sink *s, size_t *left)
{
    size_t len;
    char *line;

    if (*left == 0)
        return;
    line = read_line(in, &len);
    *left -= len;
    if (!m->has_head)
        sink_bytes(s, line, len);
    m->has_head = true;
    free(line);
}

static enum exit_code add_rows(struct merging *m, FILE *in, struct sink *s, size_t left)
{
    static char bytes[PIECE_BYTES];

    for (size_t n; left > 0; left -= n) {
        n = fread(bytes, 1, left < sizeof bytes ? left : sizeof bytes, in);
        if (n == 0)
            return say_unreadable(m->cli->program, m->part, errno);
        sink_bytes(s, bytes, n);
    }
    return EXIT_OK;
}

static enum exit_code add_part(struct merging *m, uint64_t i, struct sink *s)
{
    enum exit_code code;
    size_t left;
    FILE *in;

    name_part(m, i);
    in = fopen(m->part, "r");
    if (!in && errno == ENOENT)
        return say(m->cli->program, EXIT_INPUT, "%s is missing: run the part --shard %llu/%llu",
                   m->part, (unsigned long long)i, (unsigned long long)m->n);
    if (!in)
        return say_unreadable(m->cli->program, m->part, errno);
    code = take_first_line(m, in, i);
    if (!code)
        code = find_end(m, in, i, &left);
    if (!code) {
        take_head(m, in, s, &left);
        code =
            ferror(in) ? say_unreadable(m->cli->program, m->part, errno) : add_rows(m, in, s, left);
    }
    fclose(in);
    return code;
}

static enum exit_code merge_into(void *arg, struct sink *s)
{
    struct merging *m = arg;
    enum exit_code code = EXIT_OK;

    for (uint64_t i = 1; i <= m->n && !code; i++)
        code = add_part(m, i, s);
    return code;
}

enum exit_code cmd_merge(const struct cli *cli)
{
    struct merging m = {.cli = cli, .whole = cli->opts.operand[0]};
    struct cli to = *cli;
    enum exit_code code = count_parts(&m);

    if (!cli->opts.output)
        to.opts.output = m.whole;
    m.part = memory_new(strlen(m.whole) + SHARD_SUFFIX_BYTES, 1);
    if (!code)
        code = cmd_output(&to, merge_into, &m);
    free(m.part);
    return code;
}
