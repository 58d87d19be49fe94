/* bridge.h -- bridge: a plain delay.
 *
 * A bridge joins the crossbars of the two rows of a cube. It costs cube.bridge.overhead_ns and
 * holds nothing: network/node.h; its edges are links: network/link.h. Which of a cube's bridges a
 * route takes is decided at generation, gen/route.c. Golden number: docs/model.md "Routes".
 */
#include "network/node.h"
