/*
 * component_text.c -- components after the preprocessor: what they include, and their own text.
 *
 * What a component includes is not seen in its file: `%:include`, lines that end in a backslash,
 * macros and comments hide it. The preprocessor knows, and says so by lines like
 *
 *     # 1 "/usr/include/time.h" 1 3 4
 *
 * where 1 means that a file begins here, and 2 that the one that included it goes on. component.h,
 * <stdint.h>, <stdbool.h> and <stddef.h> are included before the components, so a component that
 * includes them again gets nothing; a file that was not named by then, or any text of a file inside
 * a component, is refused. Other lines with a # are pragmas, and are refused, too.
 *
 * The components' own text is then free of the preprocessor, and means the same wherever it is
 * compiled: in the object that is judged, in the one that is loaded, and in topo.c.
 */
#include "component_text.h"
#include <stdlib.h>
#include <string.h>

/* One line of the preprocessor: # 12 "FILE" FLAGS */
struct marker {
    const char *file;
    size_t file_len, line;
    bool enters, leaves;
};

struct reading {
    struct component_text *out;
    const char *first; /* of the whole text */
    const char *end;   /* the marker of COMPONENTS_END that was read last */
    struct marker at;  /* where the next line is from */
    size_t depth;      /* of files inside the components */
};

/* A line that begins with "# 1": the file's name is as the preprocessor has quoted it. */
static bool read_marker(const char *line, size_t len, struct marker *m)
{
    const char *open = memchr(line, '"', len), *close = open;
    char *digits;

    if (len < 3 || line[0] != '#' || line[1] != ' ' || line[2] < '0' || line[2] > '9' || !open)
        return false;
    for (const char *p = open + 1; p < line + len; p++)
        close = *p == '"' ? p : close;
    *m = (struct marker){.file = open + 1,
                         .file_len = close > open ? (size_t)(close - open) - 1 : 0};
    m->line = strtoul(line + 2, &digits, 10);
    m->enters = strncmp(close, "\" 1", 3) == 0;
    m->leaves = strncmp(close, "\" 2", 3) == 0;
    return true;
}

static bool is_file(const struct marker *m, const char *name)
{
    return m->file_len == strlen(name) && memcmp(m->file, name, m->file_len) == 0;
}

static bool is_blank(const char *line, size_t len)
{
    return strspn(line, " \t\r\f\v") >= len;
}

/* Was the file read before the first component? */
static bool is_known(const struct reading *r, const struct marker *m)
{
    struct marker other;

    for (const char *line = r->first; line < r->out->begin; line++) {
        size_t len = strcspn(line, "\n");

        if (read_marker(line, len, &other) && other.file_len == m->file_len &&
            memcmp(other.file, m->file, m->file_len) == 0)
            return true;
        line += len;
    }
    return false;
}

static bool refuse(const struct reading *r, const char *what, size_t len)
{
    r->out->line = r->at.line;
    r->out->what = what;
    r->out->what_len = len;
    return false;
}

/* A marker among the components. */
static bool follow(struct reading *r, const struct marker *m, const char *line)
{
    if (m->enters && !is_known(r, m))
        return refuse(r, m->file, m->file_len);
    r->depth += m->enters;
    r->depth -= m->leaves && r->depth;
    if (is_file(m, COMPONENTS_END))
        r->end = line;
    r->at = *m;
    return true;
}

/* A line, of the components from the marker COMPONENTS_BEGIN on. */
static bool read_line(struct reading *r, const char *line, size_t len)
{
    struct marker m;
    bool is_marker = read_marker(line, len, &m);

    if (!r->out->begin && !(is_marker && is_file(&m, COMPONENTS_BEGIN)))
        return true;
    if (!r->out->begin)
        r->out->begin = line;
    if (is_marker)
        return follow(r, &m, line);
    if (line[strspn(line, " \t")] == '#')
        return refuse(r, line, len);
    if (r->depth && !is_blank(line, len))
        return refuse(r, r->at.file, r->at.file_len);
    r->at.line++;
    return true;
}

bool component_text_read(const char *text, struct component_text *out)
{
    struct reading r = {.out = out, .first = text};

    *out = (struct component_text){0};
    for (const char *line = text; *line; line++) {
        size_t len = strcspn(line, "\n");

        if (!read_line(&r, line, len))
            return false;
        line += len;
        if (!*line)
            break;
    }
    if (r.end)
        out->len = (size_t)(r.end - out->begin);
    return r.end;
}
