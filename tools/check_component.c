/*
 * check_component.c -- asks a component a thousand times, by itself, and looks at its answers.
 *
 * tools/check_component.sh compiles it with sanitizers, behind the constants of the component:
 * COMPONENT_FILE its file, COMPONENT its name, NODE if it is a node. (One that queues is asked by
 * check_queueing.c.) A state is exactly as large as
 * its struct, so whatever reaches beyond it is found. Exit 1 and a line for what is wrong.
 */
#include "check_draw.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include COMPONENT_FILE

/* Its answer for a request whose turn is at `now`. */
static struct kb_served ask(void *state, const struct kb_request *r, int64_t now)
{
#ifdef NODE
    int64_t delay = CALL(COMPONENT, _delay)(state, r, now);

    return (struct kb_served){delay, now + delay};
#else
    return CALL(COMPONENT, _serve)(state, r, now);
#endif
}

static int wrong(const char *what, uint64_t id, int64_t now, struct kb_served a)
{
    printf("request %llu at %lld fs, hold %lld fs, done at %lld fs: %s\n", (unsigned long long)id,
           (long long)now, (long long)a.hold_fs, (long long)a.done_fs, what);
    return 1;
}

int main(void)
{
    size_t bytes = sizeof(struct COMPONENT);
    void *states[2] = {malloc(bytes), malloc(bytes)};
    int64_t now = 0;
    int failed = 0;

    for (int i = 0; i < 2; i++) {
        memset(states[i], 0, bytes);
        CALL(COMPONENT, _init)(states[i]);
    }
    for (uint64_t id = 0; id < REQUESTS && !failed; id++) {
        struct kb_request r = draw_request(id), same = r;
        struct kb_served a = ask(states[0], &r, now), b = ask(states[1], &same, now);

        if (a.done_fs == INT64_MAX)
            failed = wrong("it is never done", id, now, a);
        else if (a.hold_fs < 0 || a.done_fs < now || a.hold_fs > a.done_fs - now)
            failed = wrong("0 <= hold <= done - now does not hold", id, now, a);
        else if (a.hold_fs != b.hold_fs || a.done_fs != b.done_fs)
            failed = wrong("two equal states answer differently", id, now, b);
        else
            now += a.hold_fs + (int64_t)draw(2) * (int64_t)draw(100000000);
    }
    free(states[0]);
    free(states[1]);
    return failed;
}
