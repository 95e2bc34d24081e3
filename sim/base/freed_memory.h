#pragma once

namespace trainyard {

// Keeps what is freed for what comes next, up to 256 MiB: every point of a sweep and every move of
// a slider takes and frees the same megabytes, and a fifth to a third of a small simulation's time
// went into taking them back from the system, page by page. Before any thread begins; elsewhere
// than with glibc it does nothing.
void keep_freed_memory();

} // namespace trainyard
