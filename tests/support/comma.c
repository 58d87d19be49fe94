/* comma.c -- preloaded: the program runs in the locale of its environment, which has a comma. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void choose(void)
{
    char text[8];

    if (!setlocale(LC_ALL, "") || snprintf(text, sizeof text, "%.1f", 1.5) != 3 || text[1] != ',') {
        fprintf(stderr, "comma.so: the locale has no comma\n");
        exit(99);
    }
}
