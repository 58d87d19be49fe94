/*
 * cmd_merge.c -- `merge`: joins the files that the parts of --shard wrote.
 *
 * `sweep ... -o r.csv --shard 3/8` writes r.csv.3of8, which appears when it is whole. `merge r.csv`
 * finds r.csv.1of8 to r.csv.8of8, sees that none is missing and that all begin with the same line,
 * and writes r.csv: that line once, then the rows of all in order. It has the bytes that the same
 * command writes without --shard. The parts stay.
 */
#include "cli/command.h"
#include "cli/out/memory.h"
#include "cli/out/say.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 64 << 10 };

struct merging {
    const struct cli *cli;
    const char *whole;
    uint64_t n; /* parts */
    char *part; /* owned: the name of one */
    char *head; /* owned: the first line of all, with its end; NULL: no part has one yet */
    size_t head_len;
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

/* A part's first line must be that of all; it is written once. */
static enum exit_code take_head(struct merging *m, FILE *in, struct sink *s)
{
    size_t len;
    char *line = read_line(in, &len);
    enum exit_code code = EXIT_OK;

    if (len > 0 && !m->head) {
        m->head = line;
        m->head_len = len;
        sink_bytes(s, line, len);
        return EXIT_OK;
    }
    if (len > 0 && (len != m->head_len || memcmp(line, m->head, len) != 0))
        code = say(m->cli->program, EXIT_INPUT,
                   "%s has other columns than the parts before it: it is of another run", m->part);
    free(line);
    return code;
}

static enum exit_code add_part(struct merging *m, uint64_t i, struct sink *s)
{
    static char bytes[PIECE_BYTES];
    enum exit_code code;
    FILE *in;

    name_part(m, i);
    in = fopen(m->part, "r");
    if (!in && errno == ENOENT)
        return say(m->cli->program, EXIT_INPUT, "%s is missing: run the part --shard %llu/%llu",
                   m->part, (unsigned long long)i, (unsigned long long)m->n);
    if (!in)
        return say_unreadable(m->cli->program, m->part, errno);
    code = take_head(m, in, s);
    for (size_t n; !code && (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        sink_bytes(s, bytes, n);
    if (!code && ferror(in))
        code = say_unreadable(m->cli->program, m->part, errno);
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
    free(m.head);
    return code;
}
