/* check_draw.h -- requests by chance, and the names of a component's functions, for its checks. */
#ifndef CHECK_DRAW_H
#define CHECK_DRAW_H
#include "component.h"

#define JOINED(a, b) a##b
#define CALL(a, b)   JOINED(a, b)

enum { REQUESTS = 2000, SIZES = 5 };

static uint64_t drawn = 88172645463325252u;

static uint64_t draw(uint64_t n)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return drawn % n;
}

/* A request like those of a machine. */
static struct kb_request draw_request(uint64_t id)
{
    static const uint64_t sizes[SIZES] = {1, 64, 4096, 65536, 1 << 20};
    uint64_t bytes = sizes[draw(SIZES)];
    uint32_t m = 1 + (uint32_t)draw(256), k = 1 + (uint32_t)draw(256), n = 1 + (uint32_t)draw(256);
    uint64_t cycles = ((m + 15) / 16) * ((k + 15) / 16) * ((n + 15) / 16);

    return (struct kb_request){.id = id,
                               .op = (uint8_t)draw(4),
                               .source = (uint32_t)draw(64),
                               .bytes = bytes,
                               .offset = draw(1 << 20) * 64,
                               .drain_fs = (int64_t)(bytes * 7812),
                               .own_fs = (int64_t)(bytes * 3906),
                               .overhead_fs = (int64_t)draw(3) * 1000000,
                               .m = m,
                               .k = k,
                               .n = n,
                               .cycles = cycles,
                               .cycles_fs = (int64_t)cycles * 1000000};
}

#endif
