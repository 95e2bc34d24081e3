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
// work is cancelled, waited for, and the exception thrown on. Requires the GIL.
void wait_for(const nanobind::object& progress,
              const std::function<void(const WorkControl&)>& work);

// The same of work that returns something.
template <class Work>
auto result_of(const nanobind::object& progress, Work work)
{
    using Result = decltype(work(WorkControl{}));
    std::optional<Result> result;
    wait_for(progress, [&](const WorkControl& control) { result.emplace(work(control)); });
    return std::move(*result);
}

// Before the interpreter ends: waits until no other thread's call will ask for the GIL again.
void end_calls();

// In the child of a fork: threads that were at work are gone.
void forget_calls();

} // namespace trainyard::python
