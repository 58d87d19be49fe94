/* impl_code.h -- whose code has crashed: that of components that were loaded? */
#ifndef IMPL_CODE_H
#define IMPL_CODE_H
#include "machine/tables.h"

/*
 * Does `code` lie in the object that was loaded with the components of `t`? Then `text` names
 * them: "component 'gate'", "one of the components 'gate', 'tags'". Those that are compiled into a
 * machine cannot be told from the code around them.
 */
bool impl_code_is_of(const struct kb_topology *t, const void *code, char *text, size_t size);

#endif
