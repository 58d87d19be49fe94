/* exported.h -- functions of the library that topologies call, and users do not. */
#ifndef EXPORTED_H
#define EXPORTED_H

/*
 * The few functions of the library that the engine of a topology calls. The calls go from one
 * shared library to another, so the linker must see them, by a name that no user has: kb_rt_push
 * for `push`. libkernbench.map gives them a version of their own, as both sides must be of one
 * release.
 */
#define EXPORTED(name) __asm__("kb_rt_" #name) __attribute__((visibility("default")))

#endif
