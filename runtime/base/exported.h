/* exported.h -- functions of the library that topologies call and users do not. */
#ifndef LINKED_H
#define LINKED_H

/*
 * The few functions of the library that the engine of a topology calls. The calls pass the border
 * between two shared libraries, so the linker has to see them, under a name that is no user's:
 * kb_rt_push for `push`. libkernbench.map gives them a version of their own: both sides must be of
 * one release.
 */
#define LINKED(name) __asm__("kb_rt_" #name) __attribute__((visibility("default")))

#endif
