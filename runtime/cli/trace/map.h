/* map.h -- pointers by numbers. */
#ifndef MAP_H
#define MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty map. Values are not NULL, and stay their owner's. */
struct map {
    struct map_entry {
        uint64_t key;
        void *value; /* NULL: free */
    } * entry;       /* owned */
    size_t room, n;  /* room is a power of two, or 0 */
};

void map_free(struct map *m);

/* NULL: there is none. */
void *map_get(const struct map *m, uint64_t key);

/* A key that is not there yet. False without memory. */
bool map_put(struct map *m, uint64_t key, void *value);

/* A key that is there. */
void map_remove(struct map *m, uint64_t key);

#endif
