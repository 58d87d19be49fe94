/*
 * number.c -- numbers of result files, read without losing a digit.
 *
 * A number is an integer of millionths in 128 bits if it has at most 20 digits and six decimals.
 * Commands print nothing else: times are fs, which are millionths of a ns, and counts are below
 * 2^64. So 18.085 and 18.085000 are the same number (18085000), their difference with 18.084999 is
 * 1 and not 1.0000000008, and a sum of any two fits. Numbers of other programs may be longer, or
 * have an exponent: these are double, as are inf and nan.
 */
#include "cli/diff/number.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

enum { DECIMALS = 6, MILLION = 1000000, WHOLE_DIGITS_MAX = 20 };

static const char digits[] = "0123456789";

size_t number_span(const char *text)
{
    const char *p = text + (*text == '-');
    size_t n = *p == '0' ? 1 : strspn(p, digits);

    if (n == 0)
        return 0;
    p += n;
    if (*p == '.' && (n = strspn(p + 1, digits)) > 0)
        p += 1 + n;
    if (*p == 'e' || *p == 'E') {
        const char *e = p + 1 + (p[1] == '+' || p[1] == '-');

        n = strspn(e, digits);
        if (n > 0)
            p = e + n;
    }
    return (size_t)(p - text);
}

/* Reads digits, and a point and digits if there are; false if they are too many to be exact. */
static bool read_exact(const char *text, __int128 *out)
{
    bool negative = *text == '-';
    const char *p = text + negative;
    size_t whole = strspn(p, digits);
    size_t decimals = p[whole] == '.' ? strspn(p + whole + 1, digits) : 0;
    __int128 sum = 0;

    if (whole > WHOLE_DIGITS_MAX || decimals > DECIMALS ||
        p[whole + (decimals > 0 ? 1 + decimals : 0)] != '\0')
        return false;
    for (size_t i = 0; i < whole; i++)
        sum = sum * 10 + (p[i] - '0');
    for (size_t i = 0; i < DECIMALS; i++)
        sum = sum * 10 + (i < decimals ? p[whole + 1 + i] - '0' : 0);
    *out = negative ? -sum : sum;
    return true;
}

bool number_read(const char *text, struct number *out)
{
    size_t n = number_span(text);

    *out = (struct number){.exact = false};
    if (n == 0 && strcmp(text, "inf") != 0 && strcmp(text, "-inf") != 0 &&
        strcmp(text, "nan") != 0 && strcmp(text, "-nan") != 0)
        return false;
    if (n > 0 && (text[n] != '\0' || n > NUMBER_CHARS_MAX))
        return false;
    out->exact = n > 0 && read_exact(text, &out->millionths);
    out->value = out->exact ? (double)out->millionths / MILLION : text_to_double(text, NULL);
    return true;
}

char *number_put(char *to, __int128 millionths, bool decimals)
{
    unsigned __int128 left =
        millionths < 0 ? -(unsigned __int128)millionths : (unsigned __int128)millionths;
    char reversed[48] = "0";
    size_t n = 0;
    bool whole = !decimals && left % MILLION == 0;

    if (whole)
        left /= MILLION;
    if (millionths < 0)
        *to++ = '-';
    while (left > 0 || n < (whole ? 1 : DECIMALS + 1)) {
        reversed[n++] = (char)('0' + (int)(left % 10));
        left /= 10;
    }
    while (n > 0) {
        *to++ = reversed[--n];
        if (!whole && n == DECIMALS)
            *to++ = '.';
    }
    return to;
}

char *number_put_short(char *to, __int128 millionths)
{
    char *end = number_put(to, millionths, false);

    if (millionths % MILLION != 0)
        while (end[-1] == '0')
            end--;
    return end;
}
