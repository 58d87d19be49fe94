/* place_text.h -- names of places as people say them: "c1 > c2" for a link between cubes. */
#ifndef PLACE_TEXT_H
#define PLACE_TEXT_H
#include "kernbench.h"

enum { PLACE_TEXT_BYTES = KB_PLACE_BYTES + 8 };

/* "sip0.cube1.ucie-E -> sip0.cube2.ucie-W" as "c1 > c2"; returns `text`. */
const char *place_text(const char *name, char text[PLACE_TEXT_BYTES]);

#endif
