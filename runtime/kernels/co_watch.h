/* co_watch.h -- tells AddressSanitizer, ThreadSanitizer and valgrind of co.c's stacks. */
#ifndef CO_WATCH_H
#define CO_WATCH_H
#include <stdbool.h>
#include <stddef.h>

#ifdef __has_feature /* clang's way to ask */
#if __has_feature(address_sanitizer)
#define CO_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define CO_TSAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define CO_ASAN
#endif
#ifdef __SANITIZE_THREAD__
#define CO_TSAN
#endif

#ifdef CO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CO_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if __has_include(<valgrind/memcheck.h>) && !defined(CO_ASAN) && !defined(CO_TSAN)
#include <valgrind/memcheck.h>
#define CO_VALGRIND
#endif

/* Whether they are told of each switch; valgrind sees for itself. */
#if defined(CO_ASAN) || defined(CO_TSAN)
#define CO_WATCHED true
#else
#define CO_WATCHED false
#endif

/* What they know of one coroutine. All zero is nothing. */
struct co_watch {
#ifdef CO_ASAN
    void *fake, *resumer_fake; /* ASan keeps locals elsewhere, to see them used after return */
    const void *resumer_bottom;
    size_t resumer_bytes;
#endif
#ifdef CO_TSAN
    void *fiber, *resumer_fiber;
#endif
#ifdef CO_VALGRIND
    unsigned stack;
#endif
    char unused; /* a struct has a member */
};

/* A stack from `bottom` on comes into use. */
static inline void co_watch_new(struct co_watch *w, void *bottom, size_t bytes)
{
    *w = (struct co_watch){.unused = 0};
#ifdef CO_TSAN
    w->fiber = __tsan_create_fiber(0);
#endif
#ifdef CO_VALGRIND
    w->stack = VALGRIND_STACK_REGISTER(bottom, (char *)bottom + bytes - 1);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(bottom, bytes);
#endif
    (void)bottom;
    (void)bytes;
}

/* The resumer is about to switch to the coroutine. */
static inline void co_watch_resume(struct co_watch *w, const void *bottom, size_t bytes)
{
#ifdef CO_ASAN
    __sanitizer_start_switch_fiber(&w->resumer_fake, bottom, bytes);
#endif
#ifdef CO_TSAN
    w->resumer_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(w->fiber, 0);
#endif
    (void)w;
    (void)bottom;
    (void)bytes;
}

/* The coroutine is there. */
static inline void co_watch_resumed(struct co_watch *w)
{
#ifdef CO_ASAN
    __sanitizer_finish_switch_fiber(w->fake, &w->resumer_bottom, &w->resumer_bytes);
#endif
    (void)w;
}

/* The coroutine is about to switch back to its resumer; `last`: never to be resumed again. */
static inline void co_watch_yield(struct co_watch *w, bool last)
{
#ifdef CO_ASAN
    w->fake = NULL;
    __sanitizer_start_switch_fiber(last ? NULL : &w->fake, w->resumer_bottom, w->resumer_bytes);
#endif
#ifdef CO_TSAN
    __tsan_switch_to_fiber(w->resumer_fiber, 0);
#endif
    (void)w;
    (void)last;
}

/* The resumer is there. */
static inline void co_watch_yielded(struct co_watch *w)
{
#ifdef CO_ASAN
    __sanitizer_finish_switch_fiber(w->resumer_fake, NULL, NULL);
#endif
    (void)w;
}

/* The stack goes out of use; ASan learns of the end of one that has not ended by seeming to go. */
static inline void co_watch_drop(struct co_watch *w, void *bottom, size_t bytes)
{
#ifdef CO_ASAN
    if (w->fake) {
        co_watch_resume(w, bottom, bytes);
        co_watch_resumed(w);
        co_watch_yield(w, true);
        co_watch_yielded(w);
    }
    ASAN_UNPOISON_MEMORY_REGION(bottom, bytes);
#endif
#ifdef CO_TSAN
    __tsan_destroy_fiber(w->fiber);
#endif
#ifdef CO_VALGRIND
    VALGRIND_STACK_DEREGISTER(w->stack);
#endif
    (void)w;
    (void)bottom;
    (void)bytes;
}

/* Bytes that a stack has popped may be read for once. */
static inline void co_watch_peek(const void *p, size_t bytes)
{
#ifdef CO_VALGRIND
    (void)VALGRIND_MAKE_MEM_DEFINED(p, bytes);
#endif
    (void)p;
    (void)bytes;
}

#endif
