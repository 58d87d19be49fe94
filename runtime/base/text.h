/* text.h -- what the generator and the command line read and write: names, numbers, sizes. */
#ifndef TEXT_H
#define TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_NS_MAX       9000000000000 /* the latest time that may be written down, in ns */
#define TEXT_NS_MAX_SHOWN TEXT_QUOTED(TEXT_NS_MAX)

#define TEXT_QUOTED(number)  TEXT_QUOTED_(number)
#define TEXT_QUOTED_(number) #number

enum { TEXT_NUMBER_BYTES = 328 }; /* room for what any text_put_ function writes */

/*
 * The one of `names` that `word` (`len` bytes) was probably meant to be: fewest edits
 * (insert, delete, change, swap neighbours), at most a third of the word; ties to the first.
 * If none is that near, the first that begins with `word`, of three bytes or more; else NULL.
 */
const char *text_nearest(const char *word, size_t len, const char *const names[], size_t n_names);

/*
 * A copy of `word` (`len` bytes) fit for a message: at most `room` - 1 bytes, what is cut off
 * shown as "...", but never half of a UTF-8 character; control characters as '?'. Returns `text`.
 */
const char *text_show(const char *word, size_t len, char *text, size_t room);

/* Each of `names` after `prefix`, "a, b, c", as far as it fits into `room`. */
void text_join(const char *const names[], size_t n_names, const char *prefix, char *text,
               size_t room);

/* Readers: all of the `len` bytes or nothing. False leaves *out as it was. */
bool text_read_count(const char *text, size_t len, uint64_t *out); /* digits */
bool text_read_size(const char *text, size_t len, uint64_t *out);  /* digits, then K, M or G */

/* digits[.digits], at most six decimals, 0..TEXT_NS_MAX; exact. */
bool text_read_ns(const char *text, size_t len, int64_t *out_fs);

/* Writers: return the end of what they wrote, which has no final 0. */
char *text_put_count(char *to, uint64_t value);
char *text_put_ns(char *to, int64_t fs);         /* six decimals: exact */
char *text_put_ns_rounded(char *to, int64_t fs); /* two decimals, halves away from zero */
char *text_put_fraction(char *to, double value); /* what "%.6f" prints */
char *text_put_text(char *to, const char *text); /* short texts of our own */

/* The next character of `*from` as it stands in a JSON string; what is no UTF-8 as \ufffd. */
enum { TEXT_JSON_BYTES = 6 };
char *text_put_json(char *to, const char **from);

/* The same as UTF-8: up to three bytes for each one of `*from`, what is no UTF-8 as U+FFFD. */
char *text_put_utf8(char *to, const char **from);

#endif
