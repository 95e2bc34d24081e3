#include "sim/base/freed_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace trainyard {

void keep_freed_memory()
{
#ifdef __GLIBC__
    constexpr int mebibyte = 1 << 20;
    mallopt(M_TRIM_THRESHOLD, 256 * mebibyte);
    mallopt(M_MMAP_THRESHOLD, 32 * mebibyte); // the most that it takes
    // A thread's arena gives whole heaps of 64 MiB back, whatever the threshold, unless it wants
    // as much left at its top.
    mallopt(M_TOP_PAD, 64 * mebibyte);
#endif
}

} // namespace trainyard
