/* resolve.h -- the resolved YAML: every key of a spec with its value, and the hash of that text. */
#ifndef RESOLVE_H
#define RESOLVE_H
#include "spec.h"

enum { HASH_CHARS = 16 };

/*
 * Every key in the order of keys.def, but of the new ones (NEW_KEY) only those that are not at the
 * default of the file's version. Loading this text again gives the same spec, same text.
 */
const char *resolve(const struct spec *spec);

/* Every key, new ones too, as lines KEY=VALUE, which --set would take. */
const char *resolve_keys(const struct spec *spec);

/* XXH64, seed 0, of the resolved YAML and the files of components, as HASH_CHARS hex digits. */
const char *resolve_hash(const struct spec *spec, const char *text);

/* Keeps the text of every value, for specs that are copied from this one. */
void resolve_keep_texts(struct spec *spec);

#endif
