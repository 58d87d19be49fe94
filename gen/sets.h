/* sets.h -- what --set says: a key and its value, or a file of many. */
#ifndef SETS_H
#define SETS_H
#include "spec.h"

/* "KEY=VALUE", or "@FILE": all keys of that YAML. False after a message. */
bool sets_load(struct spec *spec, const char *word);

#endif
