#pragma once

// What a module gives that lets processes talk to each other. The program itself is linked to no
// library of communication: it opens the module where it was started as several ranks. C only: no
// exceptions, nothing that two compilers see differently.

#ifdef __cplusplus
#include <cstddef>
extern "C" {
#else
#include <stddef.h>
#endif

// One thread at a time may call. Errors end all ranks.
struct trainyard_ranks {
    // Once, first. 0, or 1 where the library bears no threads.
    int (*start)(int* rank, int* ranks, int* ranks_of_this_host);
    void (*send)(int to, int tag, const void* bytes, size_t size);
    // Bytes of the message that waits; -1: there is none.
    long long (*waiting)(int from, int tag);
    void (*receive)(int from, int tag, void* bytes, size_t size); // that is there
    void (*finish)(void);                                         // all ranks, last
    void (*abort)(int exit_code);                                 // ends all ranks
};

#define TRAINYARD_RANKS_SYMBOL "trainyard_ranks_1" // with the version of this interface

#ifdef __cplusplus
}
#endif
