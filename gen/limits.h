/* limits.h -- what kbgen may take: --limit-s and --limit-mb; and a word about what takes long. */
#ifndef GEN_LIMITS_H
#define GEN_LIMITS_H
#include "options.h"

/* From now on. Beyond a limit the program ends; all of its output is one whole, so none counts. */
void limits_of_kbgen(const struct options *o);
void limits_end_of_kbgen(void);

#endif
