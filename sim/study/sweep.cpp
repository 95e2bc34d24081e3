#include "sim/study/sweep.h"

#include "sim/base/parallel.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

namespace trainyard {
namespace {

SweepPoint simulate_point(const ScenarioFile& base, const SweepGrid& grid, std::size_t index,
                          Session& session, const CancelFlag* cancel)
{
    SweepPoint point{index, grid.point(index), {}, tl::unexpected(Problems{})};
    const Checked<ScenarioFile> file = scenario_at(grid, index, base);
    if (!file) {
        point.outcome = tl::unexpected(file.error());
        return point;
    }
    SimulateRequest request;
    request.work.cancel = cancel;
    request.unfit = Unfit::refuse;
    request.weighed = [&](const MemoryEstimate& memory) {
        point.memory = MemoryNeed{memory.peak(), memory.capacity};
    };
    point.outcome = session.simulate(*file, request);
    return point;
}

const Diagnostic* first_error(const Problems& problems)
{
    const auto error = std::ranges::find(problems, Severity::error, &Diagnostic::severity);
    return error == problems.end() ? nullptr : &*error;
}

} // namespace

std::string SweepPoint::reason() const
{
    const Diagnostic* error = first_error(outcome.error());
    if (error == nullptr)
        return "the scenario could not be built";
    return error->pointer.empty() ? error->message
                                  : fmt::format("{} at {}", error->message, error->pointer);
}

std::string SweepPoint::hint() const
{
    const Diagnostic* error = first_error(outcome.error());
    return error == nullptr ? "" : error->hint;
}

SweepEnd sweep(const ScenarioFile& base, const SweepGrid& grid, Session& session,
               const SweepOptions& options, const SweepCall& done)
{
    SweepEnd end;
    end.points = options.points ? options.points->size() : grid.points();
    std::mutex mutex;
    const int threads = options.threads > 0 ? options.threads : usable_threads();
    const auto one = [&](std::size_t i) {
        options.work.check();
        const std::size_t index = options.points ? (*options.points)[i] : i;
        done(simulate_point(base, grid, index, session, options.work.cancel));
        const std::lock_guard lock(mutex);
        ++end.done;
        options.work.report("sweep", static_cast<double>(end.done),
                            static_cast<double>(end.points));
    };
    try {
        for_each_index(end.points, threads, one);
    } catch (const Cancelled&) {
        end.cancelled = true;
    }
    return end;
}

} // namespace trainyard
