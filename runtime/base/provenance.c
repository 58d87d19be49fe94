/* provenance.c -- records of what a result was made of: written, read, and compared. */
#include "base/provenance.h"
#include <stdio.h>
#include <string.h>

static const char *const names[N_PROVENANCE] = {
#define PART(NAME, name) [PROVENANCE_##NAME] = #name,
    PROVENANCE_PARTS(PART)
#undef PART
};

void provenance_write(const struct provenance *p, char text[PROVENANCE_BYTES])
{
    char *end = text;

    for (int i = 0; i < N_PROVENANCE; i++)
        end += sprintf(end, "%s%s=%s", i ? " " : "", names[i], *p->of[i] ? p->of[i] : "-");
}

/* "NAME=DIGITS" at `text`, whose end is returned; NULL: it is something else. */
static const char *read_part(const char *text, const char *name, char digits[DIGEST_CHARS + 1])
{
    size_t n = strlen(name), len;

    if (strncmp(text, name, n) != 0 || text[n] != '=')
        return NULL;
    text += n + 1;
    if (*text == '-')
        return text + 1;
    len = strspn(text, "0123456789abcdef");
    if (len != DIGEST_CHARS)
        return NULL;
    memcpy(digits, text, len);
    digits[len] = '\0';
    return text + len;
}

bool provenance_read(const char *text, struct provenance *p)
{
    struct provenance read = {0};

    *p = read;
    for (int i = 0; i < N_PROVENANCE; i++) {
        if (i && *text++ != ' ')
            return false;
        text = read_part(text, names[i], read.of[i]);
        if (!text)
            return false;
    }
    if (*text)
        return false;
    *p = read;
    return true;
}

unsigned provenance_differs(const struct provenance *a, const struct provenance *b)
{
    unsigned parts = 0;

    for (int i = 0; i < N_PROVENANCE; i++)
        if (strcmp(a->of[i], b->of[i]) != 0)
            parts |= 1U << i;
    if (parts & 1U << PROVENANCE_MACHINE) /* the hash of components has it, too */
        parts &= ~(1U << PROVENANCE_COMPONENTS);
    return parts;
}

void provenance_names(unsigned parts, char text[PROVENANCE_NAMES_BYTES])
{
    char *end = text;

    *end = '\0';
    for (int i = 0; i < N_PROVENANCE; i++) {
        if (!(parts >> i & 1))
            continue;
        end += sprintf(end, "%s%s", end == text ? "" : parts >> (i + 1) ? ", " : " and ", names[i]);
    }
}
