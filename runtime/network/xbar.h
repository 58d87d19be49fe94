/* xbar.h -- xbar: a plain delay.
 *
 * Each PE's crossbar costs cube.xbar.overhead_ns and has no port that is taken: network/node.h. Its
 * edges (to its PE's DMA, its slice, its neighbours and the noc) are links: network/link.h.
 * Golden number: docs/model.md "Worked: one shared link", where the edge between two crossbars
 * makes a write wait 29.990 ns with fifo links, and not at all with ideal ones.
 */
#include "network/node.h"
