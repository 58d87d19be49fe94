/* frame.h -- transactions in memory as the rows of an input file. */
#ifndef FRAME_H
#define FRAME_H
#include "cli/in/in_fields.h"
#include "cli/query/query.h"

/* A text in memory may be as long as a line of a file. */
enum { FRAME_FIELD_BYTES = LINE_BYTES_MAX };

/*
 * Adds the rows of `frame` to `sim`, in which row i becomes transaction i. Those that
 * kb_sim_add_many() does not take go to in->row(), field by field; their mistakes are told as "row
 * 3, column 'src'". Fields stand in the order of transactions.c:
 * issue_ns,op,src,dst,offset,nbytes,after,think_ns, plane.
 *
 * returns  as fields_read()
 */
enum exit_code frame_read(struct fields *in, const kb_frame *frame, const kb_topology *topo,
                          kb_sim *sim);

#endif
