#pragma once

// How long work is done for Python: on a thread of its own, which never touches Python, while the
// thread that asked waits without the GIL and looks after Ctrl-C and progress.

#include "sim/base/progress.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <functional>
#include <optional>

namespace trainyard::python {

// Runs `work` to its end. Signals that come meanwhile and `progress` (a callable of the stage, what
// is done and the total, or None) are handled by the caller's thread; where one of them raises, the
// work is cancelled and waited for. Returns the KeyboardInterrupt of work that came to its end all
// the same, else null; all other exceptions are thrown on. Requires the GIL.
[[nodiscard]] std::exception_ptr wait_for(const nanobind::object& progress,
                                          const std::function<void(const WorkControl&)>& work);

// What work returned, and the KeyboardInterrupt that cut it short.
template <class Result>
struct Found {
    Result result;
    std::exception_ptr interrupt;
};

// The same of work that returns what it found when it is cancelled.
template <class Work>
auto found_by(const nanobind::object& progress, Work work)
{
    using Result = decltype(work(WorkControl{}));
    std::optional<Result> result;
    const std::exception_ptr interrupt =
        wait_for(progress, [&](const WorkControl& control) { result.emplace(work(control)); });
    return Found<Result>{std::move(*result), interrupt};
}

// The same of work whose result is worth nothing when it is cut short.
template <class Work>
auto result_of(const nanobind::object& progress, Work work)
{
    auto found = found_by(progress, std::move(work));
    if (found.interrupt)
        std::rethrow_exception(found.interrupt);
    return std::move(found.result);
}

// Before the interpreter ends: waits until no other thread's call will ask for the GIL again.
void end_calls();

// In the child of a fork: threads that were at work are gone.
void forget_calls();

} // namespace trainyard::python
