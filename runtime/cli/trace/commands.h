/* commands.h -- commands and kernels in a timeline. Times are those in their argument. */
#ifndef COMMANDS_H
#define COMMANDS_H
#include "cli/trace/timeline.h"

/* A command is issued: its slice begins. Its kernel and its dispatch began before. */
void command_issue(struct trace *t, const kb_command *command);

/* The kernel that called a send continues. */
void command_go_on(struct trace *t, const kb_command *send);

/* A command begins and ends to wait for another PE: at a queue, at a barrier. */
void command_open_wait(struct trace *t, const kb_span *span);
void command_close_wait(struct trace *t, const kb_span *span);

void command_start_kernel(struct trace *t, const kb_kernel_run *run);

#endif
