/* ucie.h -- ucie: a plain delay.
 *
 * The four ports of a cube, ucie-N, -E, -S and -W, cost cube.ucie.overhead_ns each and hold
 * nothing: network/node.h. The edge from port to port (sip.d2d) is a link, and queues where links
 * are fifo: network/link.h. A host's response pays one ucie for each cube it passes:
 * cost_response_fs(). Golden number: docs/model.md "Worked: a host, its engine and its response",
 * response_ns 1.28125.
 */
#include "network/node.h"
