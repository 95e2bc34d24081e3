#pragma once

// Independent pieces of work on several threads.

#include <cstddef>
#include <functional>

namespace trainyard {

// Threads that the machine runs at once, at least 1.
int usable_threads();

// Calls work(0), work(1), ... work(count - 1), each once, in this order of starting, on at most
// `threads` threads (the caller's is one of them). When a call throws, no further one starts, and
// the first exception comes out once all have ended.
void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

} // namespace trainyard
