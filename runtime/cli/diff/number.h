/* number.h -- numbers of result files, read without losing a digit. */
#ifndef NUMBER_H
#define NUMBER_H
#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_CHARS_MAX = 300 };

/* Six decimals, and 20 digits before them: times in fs, counts, and all else that commands print.
 */
struct number {
    bool exact;          /* `millionths` counts, else `value` */
    __int128 millionths; /* |millionths| < 10^26 */
    double value;        /* may be infinite, or NaN */
};

/* Reads a number of JSON, or inf and nan as "%f" prints them; false if the text is anything else.
 */
bool number_read(const char *text, struct number *out);

/* The length of the JSON number at the begin of `text`; 0: there is none. */
size_t number_span(const char *text);

/* Writes millionths with six decimals, or none if they need none and `decimals` is false; returns
 * the end. */
char *number_put(char *to, __int128 millionths, bool decimals);

/* The same with as many decimals as it needs: "0.25", "3". */
char *number_put_short(char *to, __int128 millionths);

#endif
