/* text.h -- reads and writes names, numbers and sizes, for the generator and the command line. */
#ifndef TEXT_H
#define TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_NS_MAX       9000000000000 /* the latest time in an input, in ns */
#define TEXT_NS_MAX_SHOWN TEXT_QUOTED(TEXT_NS_MAX)

#define TEXT_QUOTED(number)  TEXT_QUOTED_(number)
#define TEXT_QUOTED_(number) #number

enum { TEXT_NUMBER_BYTES = 328 }; /* room for the longest number of a text_put_ function */

/*
 * The one of `names` that `word` (`len` bytes) is probably a misspelling of: with the fewest edits
 * (insert, delete, change, swap neighbours), at most a third of the word; the first of several. If
 * none is that near, the first that begins with `word`, of three bytes or more; else NULL.
 */
const char *text_nearest(const char *word, size_t len, const char *const names[], size_t n_names);

/*
 * Copies `word` (`len` bytes) into a message: at most `room` - 1 bytes, with "..." for a rest that
 * does not fit, without cutting a UTF-8 character, and '?' for control characters. Returns `text`.
 */
const char *text_show(const char *word, size_t len, char *text, size_t room);

/*
 * Copies a message to be shown on a terminal, at most `room` - 1 bytes: control characters, and
 * bytes that are no UTF-8, as \x1b. With `lines` a newline stays. Returns `text`.
 */
const char *text_make_visible(const char *message, bool lines, char *text, size_t room);

/* The same of the first character of *text, for tables: writes at most 4 bytes, and moves *text
 * past it. And how many bytes all of a text becomes. */
char *text_put_visible(char *to, const char **text);
size_t text_visible_length(const char *text);

/* Joins `names`, each after `prefix`, to "a, b, c"; what does not fit into `room` is "...". */
void text_join(const char *const names[], size_t n_names, const char *prefix, char *text,
               size_t room);

/* Readers. They read all of the `len` bytes; else they return false and leave *out as it was. */
bool text_read_count(const char *text, size_t len, uint64_t *out); /* digits */
bool text_read_size(const char *text, size_t len, uint64_t *out);  /* digits, then K, M or G */

/* digits[.digits], at most six decimals, 0..TEXT_NS_MAX; exact. */
bool text_read_ns(const char *text, size_t len, int64_t *out_fs);

/* Writers. They return the end of the text, which has no final 0. */
char *text_put_count(char *to, uint64_t value);
char *text_put_ns(char *to, int64_t fs);         /* six decimals: exact */
char *text_put_ns_rounded(char *to, int64_t fs); /* two decimals, halves away from zero */
char *text_put_fraction(char *to, double value); /* as "%.6f" */
char *text_put_text(char *to, const char *text); /* a short text */

/*
 * Numbers with a fraction, with a point, whatever locale the program and its threads have chosen:
 * as snprintf(), vsnprintf() and strtod() in the locale "C".
 */
__attribute__((format(printf, 3, 4))) int text_format(char *to, size_t room, const char *format,
                                                      ...);
__attribute__((format(printf, 3, 0))) int text_vformat(char *to, size_t room, const char *format,
                                                       va_list args);
double text_to_double(const char *text, char **end);

/* As "%.*g": the fewest digits, `digits` or more, that read back as the same double; and a 0. */
enum { TEXT_DOUBLE_BYTES = 32 };
char *text_put_double(char *to, int digits, double value);

/* Writes the next character of `*from` for a JSON string; invalid UTF-8 as \ufffd. */
enum { TEXT_JSON_BYTES = 6 };
char *text_put_json(char *to, const char **from);

/* The same as UTF-8: up to three bytes for each byte of `*from`; invalid UTF-8 as U+FFFD. */
char *text_put_utf8(char *to, const char **from);

#endif
