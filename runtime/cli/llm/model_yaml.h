/* model_yaml.h -- the keys of a config.json, written as YAML. */
#ifndef MODEL_YAML_H
#define MODEL_YAML_H
#include "cli/exit.h"
#ifndef KB_NO_JANSSON
#include <jansson.h>

/*
 * The file's text as JSON, for json_decref(); NULL if it is not EXIT_OK that is returned.
 *
 * returns  EXIT_OK; EXIT_INPUT or EXIT_SYSTEM after a message
 */
enum exit_code model_of_yaml(const char *program, const char *file, json_t **out);

#endif
#endif
