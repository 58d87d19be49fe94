/* speed.h -- the closing line: how fast the simulator was. */
#ifndef SPEED_H
#define SPEED_H
#include <stdbool.h>
#include <stdint.h>

/* The time that simulating takes, without reading and printing. */
struct speed {
    double begin_s, host_s;
};

void speed_begin(struct speed *s);
void speed_end(struct speed *s);

/*
 * "1000000 transactions in 0.41 s: 2.4 million transactions/s, ...", with the time that passed in
 * the simulations together. Not if `quiet`, nor if stderr is no terminal: what is kept or compared
 * does not depend on the machine.
 */
void speed_say(const struct speed *s, bool quiet, uint64_t count, const char *things,
               double simulated_fs);

#endif
