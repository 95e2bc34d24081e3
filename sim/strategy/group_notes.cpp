// What the options of groups make of a job that its user should know.

#include "sim/strategy/misfits.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

Diagnostic note(std::string pointer, std::string message, std::string hint)
{
    Diagnostic out = refusal(std::move(pointer), std::move(message), std::move(hint));
    out.severity = Severity::warning;
    return out;
}

// With contiguous parts of a causal sequence the last of c ranks sees 2 - 1/c times the mean.
void add_contiguous(const Job& job, Problems& notes)
{
    const ContextParallel& context = job.strategy.context;
    const int heads = context.kind == ContextKind::hybrid ? context.a2a : 1;
    const int ranks = job.strategy.cp / heads;
    const auto* model = std::get_if<Transformer>(&job.model.architecture);
    if (context.balance != ContextBalance::contiguous || ranks == 1 || model == nullptr ||
        !model->causal)
        return;
    notes.push_back(note("/strategy/context/balance",
                         fmt::format("the last of {} ranks attends to {:.2f} times the mean; all "
                                     "are timed as that one, which sets the pace",
                                     ranks, 2.0 - 1.0 / ranks),
                         "zig_zag gives all ranks the same work"));
}

void add_dropped(const Job& job, Problems& notes)
{
    const double kept = kept_share(job.strategy.experts, job.strategy.ep);
    if (kept < 1 - 1e-9)
        notes.push_back(
            note("/strategy/experts/capacity_factor",
                 fmt::format("{:.1f} % of the copies of tokens are dropped", 100 * (1 - kept)),
                 "a larger factor drops fewer"));
}

} // namespace

Problems group_notes(const Job& job)
{
    Problems notes;
    add_contiguous(job, notes);
    add_dropped(job, notes);
    return notes;
}

} // namespace trainyard
