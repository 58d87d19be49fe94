/* study_yaml.h -- the file of a study as a tree of YAML. */
#ifndef STUDY_YAML_H
#define STUDY_YAML_H
#include "cli/exit.h"
#include <yaml.h>

/*
 * Loads `file` as one document, for yaml_document_delete() whatever is returned; complaints about
 * the system begin with `program`.
 *
 * returns  EXIT_OK; EXIT_INPUT or EXIT_SYSTEM after a message
 */
enum exit_code study_load(const char *program, const char *file, yaml_document_t *out);

#endif
