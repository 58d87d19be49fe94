/*
 * cmd_merge.c -- `merge`: joins the files that the parts of --shard wrote.
 *
 * `sweep ... -o r.csv --shard 3/8` writes r.csv.3of8, which appears when it is whole. `merge r.csv`
 * finds r.csv.1of8 to r.csv.8of8, sees that none is missing or cut and that all are made of the
 * same (part.h), and writes r.csv: the names of the columns once, then the rows of all in order. It
 * has the bytes that the same command writes without --shard. The parts stay.
 *
 * All parts are looked at before anything is written, as a part whose machines all failed does not
 * know the columns: its rows have keys alone, and get the empty cells of the others' columns.
 * Example: the head of part 1 is `sips`, that of part 2 `sips,case,src`; the row `99` becomes
 * `99,,`.
 */
#include "base/newfile.h"
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
    char *head;           /* owned: the line with the names of the columns; NULL: no part has one */
    uint64_t n_bare;      /* parts whose machines all failed */
    struct provenance of; /* of the first part */
};

/* A part, where its rows begin. */
struct part {
    FILE *in;    /* owned; NULL: it cannot be read */
    char *head;  /* owned: its names of columns; NULL: it has no rows */
    size_t left; /* bytes of its rows */
    bool bare;   /* which have keys alone */
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

/* The next line of the part, with a NUL behind it; NULL: there is none. */
static char *take_line(struct part *p)
{
    size_t len;
    char *line = p->left > 0 ? read_line(p->in, &len) : NULL;

    if (!line)
        return NULL;
    p->left -= len;
    line = memory_resize(line, len + 1, 1);
    line[len] = '\0';
    return line;
}

/* What stands before the rows; a part without rows may have nothing. */
static enum exit_code take_head(struct merging *m, struct part *p)
{
    p->head = take_line(p);
    p->bare = p->head && part_is_bare(p->head);
    if (p->bare) {
        free(p->head);
        p->head = take_line(p);
    }
    return ferror(p->in) ? say_unreadable(m->cli->program, m->part, errno) : EXIT_OK;
}

/* Opens part `i`, of which all is known to be there then. */
static enum exit_code open_part(struct merging *m, uint64_t i, struct part *p)
{
    enum exit_code code;

    *p = (struct part){0};
    name_part(m, i);
    p->in = fopen(m->part, "r");
    if (!p->in && errno == ENOENT)
        return say(m->cli->program, EXIT_INPUT, "%s is missing: run the part --shard %llu/%llu",
                   m->part, (unsigned long long)i, (unsigned long long)m->n);
    if (!p->in)
        return say_unreadable(m->cli->program, m->part, errno);
    code = take_first_line(m, p->in, i);
    if (!code)
        code = find_end(m, p->in, i, &p->left);
    return code ? code : take_head(m, p);
}

static void close_part(struct part *p)
{
    if (p->in)
        fclose(p->in);
    free(p->head);
}

static enum exit_code other_columns(const struct merging *m)
{
    return say(m->cli->program, EXIT_INPUT, "%s has other columns than the others", m->part);
}

/* Looks at part `i`: is it there, and what are the columns? */
static enum exit_code check_part(struct merging *m, uint64_t i)
{
    const char *output = m->cli->opts.output;
    struct part p;
    enum exit_code code = open_part(m, i, &p);

    if (!code && output && newfile_same(output, m->part))
        code = say(m->cli->program, EXIT_USAGE, "-o names the part %s", m->part);
    if (!code && p.bare) {
        m->n_bare++;
    } else if (!code && p.head && m->head && strcmp(p.head, m->head) != 0) {
        code = other_columns(m);
    } else if (!code && !m->head) {
        m->head = p.head;
        p.head = NULL;
    }
    close_part(&p);
    return code;
}

static size_t commas(const char *line)
{
    size_t n = 0;

    while ((line = strchr(line, ',')))
        n++, line++;
    return n;
}

/* Are the columns of `head`, of keys, the first of all? */
static bool begins(const char *all, const char *head)
{
    size_t n = strlen(head) - 1;

    return strncmp(all, head, n) == 0 && (all[n] == ',' || all[n] == '\n');
}

/* Rows of keys, each with the cells of other columns, which are empty. */
static enum exit_code add_bare(struct merging *m, struct part *p, struct sink *s)
{
    size_t lacks = commas(m->head) - commas(p->head);

    if (!begins(m->head, p->head))
        return other_columns(m);
    for (char *line; (line = take_line(p)); free(line)) {
        sink_bytes(s, line, strlen(line) - 1);
        for (size_t k = 0; k < lacks; k++)
            sink_text(s, ",");
        sink_text(s, "\n");
    }
    return EXIT_OK;
}

static enum exit_code add_rows(struct merging *m, struct part *p, struct sink *s)
{
    static char bytes[PIECE_BYTES];

    for (size_t n; p->left > 0; p->left -= n) {
        n = fread(bytes, 1, p->left < sizeof bytes ? p->left : sizeof bytes, p->in);
        if (n == 0)
            return say_unreadable(m->cli->program, m->part, errno);
        sink_bytes(s, bytes, n);
    }
    return EXIT_OK;
}

static enum exit_code add_part(struct merging *m, uint64_t i, struct sink *s)
{
    struct part p;
    enum exit_code code = open_part(m, i, &p);

    if (!code && p.bare && p.head)
        code = add_bare(m, &p, s);
    else if (!code)
        code = add_rows(m, &p, s);
    close_part(&p);
    return code;
}

static enum exit_code merge_into(void *arg, struct sink *s)
{
    struct merging *m = arg;
    enum exit_code code = EXIT_OK;

    for (uint64_t i = 1; i <= m->n && !code; i++)
        code = check_part(m, i);
    if (!code && m->n_bare > 0 && !m->head)
        code =
            say(m->cli->program, EXIT_INPUT, "there are no rows: all machines of all parts failed");
    if (!code && m->head)
        sink_text(s, m->head);
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
    free(m.head);
    return code;
}
