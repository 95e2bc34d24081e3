#include "sim/study/sweep.h"

#include "sim/base/parallel.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

namespace trainyard {
namespace {

SweepPoint simulate_point(PointSettler& points, const SweepGrid& grid, std::size_t index,
                          Session& session, const CancelFlag* cancel)
{
    SweepPoint point{index, grid.point(index), {}, {}, {}, tl::unexpected(Problems{})};
    const Checked<SettledPoint> settled = points.at(index);
    if (!settled) {
        point.outcome = tl::unexpected(settled.error());
        return point;
    }
    point.changes = settled->changes;
    point.beside = settled->beside;
    point.moved = settled->moved;
    SimulateRequest request;
    request.work.cancel = cancel;
    request.unfit = Unfit::refuse;
    request.weighed = [&](const MemoryEstimate& memory) {
        point.memory = MemoryNeed{memory.peak(), memory.capacity};
    };
    point.outcome = session.simulate(settled->file, request);
    return point;
}

const Diagnostic* first_error(const Problems& problems)
{
    const auto error = std::ranges::find(problems, Severity::error, &Diagnostic::severity);
    return error == problems.end() ? nullptr : &*error;
}

// "/perturbations/3/device" is "/perturbations/device": entries of one list have one field.
std::string without_positions(std::string_view pointer)
{
    std::string out;
    while (!pointer.empty()) {
        const std::string_view name = pointer.substr(0, pointer.find('/', 1));
        pointer.remove_prefix(name.size());
        if (name.find_first_not_of("/0123456789") != std::string_view::npos)
            out += name;
    }
    return out;
}

} // namespace

template <>
std::vector<EnumName<Hindrance::Kind>> enum_names<Hindrance::Kind>()
{
    return {{Hindrance::Kind::memory, "memory"}, {Hindrance::Kind::input, "input"}};
}

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

Hindrance SweepPoint::hindrance() const
{
    if (memory && memory->peak > memory->capacity)
        return {Hindrance::Kind::memory, {}};
    const Diagnostic* error = first_error(outcome.error());
    return {Hindrance::Kind::input, error == nullptr ? "" : without_positions(error->pointer)};
}

SweepEnd sweep(const ScenarioFile& base, const SweepGrid& grid, Session& session,
               const SweepOptions& options, const SweepCall& done)
{
    SweepEnd end;
    end.points = options.points ? options.points->size() : grid.points();
    std::mutex mutex;
    const ScenarioFile comparable =
        base.scenario.run.fidelity ? base : in_fidelity(base, Fidelity::alpha_beta);
    PointSettler points(comparable, grid);
    const int threads = options.threads > 0 ? options.threads : usable_threads();
    const auto one = [&](std::size_t i) {
        options.work.check();
        const std::size_t index = options.points ? (*options.points)[i] : i;
        done(simulate_point(points, grid, index, session, options.work.cancel));
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
