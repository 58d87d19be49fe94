/* presets.h -- cube.hbm.preset: values of a DRAM for the keys of banks that are not given. */
#ifndef PRESETS_H
#define PRESETS_H
#include "spec.h"

/*
 * The default that `k` has by the preset of `spec`, in the type of its field. NULL: the preset says
 * nothing of it.
 */
const void *presets_default(const struct spec *spec, enum key k);

/*
 * Gives the keys that are not given the values of the preset. `before`: the machine without what
 * was set, or without a row of `cubes`. If the preset is not that of `before`, a key that has its
 * default there counts as not given, unless it is given again beside the preset.
 */
void presets_take(struct spec *spec, const struct spec *before);

/*
 * Banks were chosen for a machine that was written with a server: its `hold` means nothing to them.
 * `beside`: it was written where they were chosen, which is a mistake and stays one.
 */
void presets_leave_server(struct spec *spec, bool beside);

#endif
