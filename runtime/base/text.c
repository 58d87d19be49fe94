/* text.c -- reads and writes names, numbers and sizes, for the generator and the command line.
 *
 * Times are integers of fs, and their texts ns with up to six decimals, so that reading and writing
 * are exact: "18.085" is 18085000 fs, which is written as "18.085000". No double is in between.
 *
 * A result has some twenty times per row, and a replay may have millions of rows. printf() would
 * take longer than the simulation. So numbers are written two digits at a time, from a table, and
 * six decimals without a loop; a time of 0, as most waits are, is one copy.
 *
 * A library is also used by programs that have called setlocale(). So all else that has a fraction
 * is written and read here, in the locale "C": no other file calls strtod(), or printf() with %f.
 *
 * Texts from files and command lines are not trusted: text_show() shortens them for messages and
 * replaces control characters, and the JSON writers replace invalid UTF-8, so that output is always
 * valid. All readers take a length, because words end inside of lines.
 */
#include "base/larger.h"
#include "base/text.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 63 }; /* longer words are no typing mistakes */

/* Optimal string alignment distance; both words are at most WORD_MAX bytes long. */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[3][WORD_MAX + 1];
    size_t *before = row[0], *above = row[1], *here = row[2];

    for (size_t j = 0; j <= nb; j++)
        above[j] = j;
    for (size_t i = 1; i <= na; i++) {
        here[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);

            here[j] = smaller(change, smaller(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = smaller(here[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = above;
        above = here;
        here = free_row;
    }
    return above[nb];
}

/* The first of `names` that begins with `word`. */
static const char *completion(const char *word, size_t len, const char *const names[],
                              size_t n_names)
{
    for (size_t i = 0; i < n_names && len >= 3; i++)
        if (strncmp(names[i], word, len) == 0)
            return names[i];
    return NULL;
}

/* The longest of `names` that `word` has something behind: until-ns for until. */
static const char *beginning(const char *word, size_t len, const char *const names[],
                             size_t n_names)
{
    const char *best = NULL;
    size_t longest = 2;

    for (size_t i = 0; i < n_names; i++) {
        size_t n = strlen(names[i]);

        if (n > longest && n < len && strncmp(names[i], word, n) == 0 &&
            (word[n] == '-' || word[n] == '_')) {
            best = names[i];
            longest = n;
        }
    }
    return best;
}

const char *text_nearest(const char *word, size_t len, const char *const names[], size_t n_names)
{
    const char *best = NULL;
    size_t limit = len < 3 ? 1 : len / 3;

    if (len == 0 || len > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < n_names; i++) {
        size_t n = strlen(names[i]);
        size_t d = n > WORD_MAX ? WORD_MAX : edits(word, len, names[i], n);

        if (d <= limit && (!best || d < limit)) {
            best = names[i];
            limit = d;
        }
    }
    if (!best)
        best = completion(word, len, names, n_names);
    return best ? best : beginning(word, len, names, n_names);
}

/* The length of the longest part of `word` that has at most `room` bytes and whole characters. */
static size_t whole_characters(const char *word, size_t room)
{
    size_t n = room;

    while (n > 0 && ((unsigned char)word[n] & 0xc0) == 0x80)
        n--;
    return n;
}

const char *text_show(const char *word, size_t len, char *text, size_t room)
{
    static const char dots[] = "...";
    size_t n = len < room ? len : whole_characters(word, room - sizeof dots);

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)word[i];

        text[i] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
    }
    text[n] = '\0';
    if (n < len)
        memcpy(text + n, dots, sizeof dots);
    return text;
}

void text_join(const char *const names[], size_t n_names, const char *prefix, char *text,
               size_t room)
{
    static const char cut[] = "...";
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n_names && n < room; i++) {
        int more = snprintf(text + n, room - n, "%s%s%s", i > 0 ? ", " : "", prefix, names[i]);

        n += (size_t)more;
    }
    if (n >= room && room > sizeof cut)
        memcpy(text + room - sizeof cut, cut, sizeof cut);
}

/* Reads digits from `*at` on, before `end`. False: there are none, or too many. */
static bool read_digits(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at;
    uint64_t value = 0;

    for (; p < end && (unsigned)(*p - '0') < 10; p++) {
        uint64_t digit = (uint64_t)(*p - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (p == *at)
        return false;
    *at = p;
    *out = value;
    return true;
}

bool text_read_count(const char *text, size_t len, uint64_t *out)
{
    const char *end = text + len;
    uint64_t value;

    if (!read_digits(&text, end, &value) || text != end)
        return false;
    *out = value;
    return true;
}

/* The binary logarithm of a suffix's factor; 0: no such suffix. */
static unsigned suffix_bits(char suffix)
{
    return suffix == 'K' ? 10 : suffix == 'M' ? 20 : suffix == 'G' ? 30 : 0;
}

bool text_read_size(const char *text, size_t len, uint64_t *out)
{
    const char *end = text + len;
    uint64_t value;
    unsigned bits = 0;

    if (!read_digits(&text, end, &value))
        return false;
    if (text < end) {
        bits = suffix_bits(*text++);
        if (bits == 0)
            return false;
    }
    if (text != end || value > UINT64_MAX >> bits)
        return false;
    *out = value << bits;
    return true;
}

/* Reads the decimals of a time, from `at` to `end`, in fs. */
static bool read_decimals(const char *at, const char *end, uint64_t *out_fs)
{
    static const uint32_t unit_fs[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    size_t n = (size_t)(end - at);
    uint64_t digits;

    if (n > 6 || !read_digits(&at, end, &digits) || at != end)
        return false;
    *out_fs = digits * unit_fs[n];
    return true;
}

bool text_read_ns(const char *text, size_t len, int64_t *out_fs)
{
    const char *end = text + len;
    uint64_t ns, rest_fs = 0;

    if (!read_digits(&text, end, &ns) || ns > TEXT_NS_MAX)
        return false;
    if (text < end && (*text != '.' || !read_decimals(text + 1, end, &rest_fs)))
        return false;
    if (ns == TEXT_NS_MAX && rest_fs > 0)
        return false;
    *out_fs = (int64_t)(ns * 1000000 + rest_fs);
    return true;
}

/* "00" .. "99": two digits at a time need half the divisions. */
static const char pairs[200] = "00010203040506070809101112131415161718192021222324"
                               "25262728293031323334353637383940414243444546474849"
                               "50515253545556575859606162636465666768697071727374"
                               "75767778798081828384858687888990919293949596979899";

static void put_pair(char *to, uint32_t value)
{
    memcpy(to, pairs + 2 * (size_t)value, 2);
}

/* Writes `value` < 10^6 as six digits. */
static char *put_six(char *to, uint32_t value)
{
    put_pair(to, value / 10000);
    put_pair(to + 2, value / 100 % 100);
    put_pair(to + 4, value % 100);
    return to + 6;
}

char *text_put_count(char *to, uint64_t value)
{
    size_t n = 3;
    char *p;

    if (value < 10) { /* most are small */
        *to = (char)('0' + value);
        return to + 1;
    }
    if (value < 100) {
        put_pair(to, (uint32_t)value);
        return to + 2;
    }
    for (uint64_t rest = value / 1000; rest > 0; rest /= 10)
        n++;
    for (p = to + n; value >= 100; value /= 100)
        put_pair(p -= 2, (uint32_t)(value % 100));
    if (value >= 10)
        put_pair(to, (uint32_t)value);
    else
        *to = (char)('0' + value);
    return to + n;
}

/* Writes the sign of `fs` and returns its magnitude, for INT64_MIN, too. */
static char *put_sign(char *to, int64_t fs, uint64_t *magnitude_fs)
{
    *magnitude_fs = fs < 0 ? 0 - (uint64_t)fs : (uint64_t)fs;
    if (fs < 0)
        *to++ = '-';
    return to;
}

char *text_put_ns(char *to, int64_t fs)
{
    uint64_t magnitude_fs;

    if (fs == 0) /* most waits are 0 */
        return text_put_text(to, "0.000000");
    to = put_sign(to, fs, &magnitude_fs);
    to = text_put_count(to, magnitude_fs / 1000000);
    *to++ = '.';
    return put_six(to, (uint32_t)(magnitude_fs % 1000000));
}

char *text_put_ns_rounded(char *to, int64_t fs)
{
    uint64_t magnitude_fs;

    to = put_sign(to, fs, &magnitude_fs);
    uint64_t hundredths = (magnitude_fs + 5000) / 10000;
    to = text_put_count(to, hundredths / 100);
    *to++ = '.';
    put_pair(to, (uint32_t)(hundredths % 100));
    return to + 2;
}

/* -- numbers of the C library --------------------------------------------------------------- */

/* The locale "C" is always there, and costs no memory. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int text_vformat(char *to, size_t room, const char *format, va_list args)
{
    locale_t own = uselocale(c_locale());
    int n = vsnprintf(to, room, format, args);

    uselocale(own);
    return n;
}

int text_format(char *to, size_t room, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = text_vformat(to, room, format, args);
    va_end(args);
    return n;
}

double text_to_double(const char *text, char **end)
{
    return strtod_l(text, end, c_locale());
}

char *text_put_double(char *to, int digits, double value)
{
    int n;

    do
        n = text_format(to, TEXT_DOUBLE_BYTES, "%.*g", digits, value);
    while (text_to_double(to, NULL) != value && digits++ < 17);
    return to + n;
}

/*
 * The error of the product below is less than 1e-10. Where that could decide the rounding, and for
 * large numbers, which are rare, printf does it.
 */
char *text_put_fraction(char *to, double value)
{
    if (!(value >= 0 && value < 1e15))
        return to + text_format(to, TEXT_NUMBER_BYTES, "%.6f", value);
    uint64_t whole = (uint64_t)value;
    double scaled = (value - (double)whole) * 1e6;
    uint32_t millionths = (uint32_t)scaled;
    double rest = scaled - millionths;

    if ((rest > 0.5 - 1e-9 && rest < 0.5 + 1e-9) || signbit(value))
        return to + text_format(to, TEXT_NUMBER_BYTES, "%.6f", value);
    millionths += rest > 0.5;
    to = text_put_count(to, whole + millionths / 1000000);
    *to++ = '.';
    return put_six(to, millionths % 1000000);
}

char *text_put_text(char *to, const char *text)
{
    size_t n = strlen(text);

    memcpy(to, text, n);
    return to + n;
}

/* -- messages ------------------------------------------------------------------------------- */

static size_t utf8_length(const unsigned char *p);

/* How many bytes at `p` stand for themselves on a terminal; 0: none. U+0080 to U+009f do not. */
static size_t visible_bytes(const unsigned char *p, bool lines)
{
    if (*p < 0x80)
        return (*p >= 0x20 && *p != 0x7f) || (lines && *p == '\n');
    return *p == 0xc2 && p[1] < 0xa0 ? 0 : utf8_length(p);
}

/* Writes the first character, and moves past it. */
static char *put_visible(char *to, const unsigned char **p, bool lines)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = visible_bytes(*p, lines);

    if (n > 0) {
        to = (char *)memcpy(to, *p, n) + n;
        *p += n;
        return to;
    }
    memcpy(to, (char[]){'\\', 'x', digits[**p >> 4], digits[**p & 15]}, 4);
    ++*p;
    return to + 4;
}

const char *text_make_visible(const char *message, bool lines, char *text, size_t room)
{
    enum { LONGEST = 5 }; /* "\x1b" and the final 0 */
    const unsigned char *p = (const unsigned char *)message;
    char *to = text, *end = text + room;

    while (*p && end - to >= LONGEST)
        to = put_visible(to, &p, lines);
    *to = '\0';
    return text;
}

char *text_put_visible(char *to, const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;

    if (*p >= ' ' && *p < 127) { /* nearly all are */
        *to = (char)*p;
        ++*text;
        return to + 1;
    }
    to = put_visible(to, &p, false);
    *text = (const char *)p;
    return to;
}

size_t text_visible_length(const char *text)
{
    char one[4];
    size_t n = 0;

    while (*text)
        n += (size_t)(text_put_visible(one, &text) - one);
    return n;
}

/* -- JSON ----------------------------------------------------------------------------------- */

/* The length of the UTF-8 sequence at `p`; 0: it is not valid. Neither are overlong forms and
 * surrogates. */
static size_t utf8_length(const unsigned char *p)
{
    static const struct {
        unsigned char first, last, low, high; /* first byte, then range of the second */
        unsigned char length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = 2;

        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        if (p[1] < forms[i].low || p[1] > forms[i].high)
            return 0;
        while (n < forms[i].length && p[n] >= 0x80 && p[n] <= 0xbf)
            n++;
        return n == forms[i].length ? n : 0;
    }
    return 0;
}

/* Writes a control character in JSON. */
static char *put_control(char *to, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";

    if (c == '\n')
        return text_put_text(to, "\\n");
    to = text_put_text(to, "\\u00");
    *to++ = hex[c >> 4];
    *to++ = hex[c & 15];
    return to;
}

char *text_put_json(char *to, const char **from)
{
    const unsigned char *p = (const unsigned char *)*from;
    size_t n;

    if (*p < 0x80) {
        ++*from;
        if (*p < 0x20)
            return put_control(to, *p);
        if (*p == '"' || *p == '\\')
            *to++ = '\\';
        *to++ = (char)*p;
        return to;
    }
    n = utf8_length(p);
    if (n == 0) {
        ++*from;
        return text_put_text(to, "\\ufffd");
    }
    memcpy(to, p, n);
    *from += n;
    return to + n;
}

char *text_put_utf8(char *to, const char **from)
{
    const unsigned char *p = (const unsigned char *)*from;
    size_t n = *p < 0x80 ? 1 : utf8_length(p);

    *from += n > 0 ? n : 1;
    if (n == 0)
        return text_put_text(to, "\xef\xbf\xbd");
    memcpy(to, p, n);
    return to + n;
}
