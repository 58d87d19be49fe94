/* impl_code.h -- the crash of a component, told as a mistake of its own. */
#ifndef IMPL_CODE_H
#define IMPL_CODE_H
#include "machine/tables.h"

/*
 * Does `code` lie in the object that was loaded with the components of `t`? Then `text` names
 * them: "component 'gate'", "one of the components 'gate', 'tags'". Those that are compiled into a
 * machine cannot be told from the code around them.
 */
bool impl_code_is_of(const struct kb_topology *t, const void *code, char *text, size_t size);

/*
 * Calls call(arg), in which components of `t` run. False: one crashed, and `why` names it. Only
 * where the thread has called kb_catch_crashes(): else the process ends.
 */
bool impl_guarded(const struct kb_topology *t, void (*call)(void *arg), void *arg, kb_error *why);

#endif
