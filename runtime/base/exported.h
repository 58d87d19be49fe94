/* exported.h -- what topologies use of the library, and users do not. */
#ifndef EXPORTED_H
#define EXPORTED_H

/*
 * The linker must see it from another shared library, by a name that no user has: kb_rt_release for
 * `release`. libkernbench.map gives it a version of its own, as both sides must be of one release.
 */
#define EXPORTED(name) __asm__("kb_rt_" #name) __attribute__((visibility("default")))

#endif
