/* map.h -- pointers by numbers: a hash table. */
#ifndef MAP_H
#define MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty map. Values are not NULL; the map does not own them. */
struct map {
    struct map_entry {
        uint64_t key;
        void *value; /* NULL: free */
    } * entry;       /* owned */
    size_t room, n;  /* room is a power of two, or 0 */
};

void map_free(struct map *m);

/* The value of `key`, or NULL. */
void *map_get(const struct map *m, uint64_t key);

/* Adds a key that is not in the map. */
void map_put(struct map *m, uint64_t key, void *value);

/* Removes a key that is in the map. */
void map_remove(struct map *m, uint64_t key);

#endif
