#include "sim/study/traced/pass_times.h"

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

StepPart part_of(Phase phase)
{
    switch (phase) {
    case Phase::forward:
        return StepPart::forward;
    case Phase::backward:
    case Phase::recompute:
        return StepPart::backward;
    case Phase::optimizer:
    case Phase::gradient_sync:
    case Phase::parameter_sync:
        return StepPart::update;
    case Phase::data:
    case Phase::other:
        break;
    }
    return StepPart::other;
}

// In time; counts stretches; what counts as forward behind all of backward ends the step (norms of
// gradients, losses that are looked at).
void put_in_order(std::vector<StepKernel>& kernels)
{
    std::stable_sort(kernels.begin(), kernels.end(), [](const StepKernel& a, const StepKernel& b) {
        return std::pair(a.start, a.end) < std::pair(b.start, b.end);
    });
    const auto last_backward =
        std::find_if(kernels.rbegin(), kernels.rend(),
                     [](const StepKernel& kernel) { return kernel.part == StepPart::backward; });
    if (last_backward != kernels.rend())
        for (auto at = last_backward.base(); at != kernels.end(); ++at)
            if (at->part == StepPart::forward)
                at->part = StepPart::update;
    std::uint32_t stretch = 0;
    const StepKernel* before = nullptr;
    for (StepKernel& kernel : kernels) {
        if (kernel.beside)
            continue;
        if (before != nullptr && before->part != kernel.part)
            ++stretch;
        kernel.stretch = stretch;
        before = &kernel;
    }
}

std::uint32_t busiest_stream(const RankActivity& rank, const TraceStep& step)
{
    std::map<std::uint32_t, TraceTime> busy;
    for (const TraceOp& op : rank.ops)
        if (op.transfer == TraceOp::no_transfer && op.span.start >= step.span.start &&
            op.span.start < step.span.end)
            busy[op.stream] += op.span.length();
    const auto most = std::max_element(
        busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == busy.end() ? 0 : most->first;
}

// Places in `kernels` of a part's kernels on the stream that most run on.
std::vector<std::size_t> main_places(const std::vector<StepKernel>& kernels, StepPart part)
{
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        if (kernels[i].part == part && !kernels[i].beside)
            out.push_back(i);
    return out;
}

std::vector<PassKernel> pass_kernels(const std::vector<StepKernel>& kernels,
                                     const std::vector<std::size_t>& places)
{
    std::vector<PassKernel> out;
    for (const std::size_t i : places)
        out.push_back({kernels[i].kind, kernels[i].name, kernels[i].length(), kernels[i].stretch});
    return out;
}

struct PassSpan {
    double start = 0;
    double end = 0;
    std::uint32_t stretch = 0;
};

std::vector<PassSpan> spans_of(const std::vector<StepKernel>& kernels, StepPart part,
                               std::size_t passes)
{
    std::vector<PassSpan> spans(passes);
    std::vector<bool> any(passes, false);
    for (const StepKernel& kernel : kernels) {
        if (kernel.part != part || kernel.pass == StepKernel::no_pass)
            continue;
        PassSpan& span = spans[kernel.pass];
        if (!any[kernel.pass])
            span = {kernel.start, kernel.end, kernel.stretch};
        any[kernel.pass] = true;
        span.end = std::max(span.end, kernel.end);
        span.stretch = kernel.beside ? span.stretch : kernel.stretch;
    }
    return spans;
}

} // namespace

SimulatedStep simulated_step(const Outcome& outcome, LaneId lane, const std::vector<bool>& layers)
{
    SimulatedStep out;
    std::vector<std::pair<StepKernel, std::optional<SimulatedPass>>> kernels;
    std::array<std::map<SimulatedPass, std::pair<double, double>>, step_part_count> spans;
    for (const OpRecord& record : outcome.result->records) {
        if (record.lane != lane || record.kind != OpKind::compute || record.stream == host_stream)
            continue;
        StepKernel kernel;
        kernel.start = to_seconds(record.start).value();
        kernel.end = to_seconds(record.end).value();
        kernel.part = part_of(outcome.plan->program.labels[record.label.value].phase);
        std::optional<SimulatedPass> pass;
        if (kernel.part < StepPart::update && record.micro_batch != BlockUse::no_index &&
            record.layer < layers.size() && layers[record.layer])
            pass = SimulatedPass{record.micro_batch, record.layer};
        kernels.emplace_back(kernel, pass);
        if (!pass)
            continue;
        const auto [at, fresh] = spans[static_cast<std::size_t>(kernel.part)].try_emplace(
            *pass, kernel.start, kernel.end);
        at->second = {std::min(at->second.first, kernel.start),
                      std::max(at->second.second, kernel.end)};
    }
    std::array<std::map<SimulatedPass, std::size_t>, step_part_count> numbers;
    for (std::size_t part = 0; part < step_part_count; ++part) {
        std::vector<std::pair<std::pair<double, double>, SimulatedPass>> order;
        for (const auto& [pass, span] : spans[part])
            order.emplace_back(span, pass);
        std::sort(order.begin(), order.end());
        out.in_turn[part] = true;
        for (std::size_t j = 0; j < order.size(); ++j) {
            numbers[part].emplace(order[j].second, j);
            out.passes[part].push_back(order[j].second);
            if (j > 0 && order[j - 1].first.second > order[j].first.first)
                out.in_turn[part] = false;
        }
    }
    for (auto& [kernel, pass] : kernels) {
        if (pass)
            kernel.pass = numbers[static_cast<std::size_t>(kernel.part)].at(*pass);
        out.kernels.push_back(kernel);
    }
    put_in_order(out.kernels);
    return out;
}

std::vector<StepKernel> recorded_kernels(const RankActivity& rank, const TraceStep& step)
{
    const std::uint32_t stream = busiest_stream(rank, step);
    std::vector<StepKernel> out;
    std::map<std::pair<TraceNameId, TraceNameId>, std::uint32_t> kinds;
    for (const TraceOp& op : rank.ops) {
        if (op.span.start >= step.span.end)
            break;
        if (op.transfer != TraceOp::no_transfer || op.crosses_host ||
            op.span.start < step.span.start)
            continue;
        const auto kind =
            kinds.try_emplace({op.name, op.shapes}, static_cast<std::uint32_t>(kinds.size()));
        out.push_back({to_seconds(op.span.start - step.span.start).value(),
                       to_seconds(op.span.end - step.span.start).value(), part_of(op.phase),
                       kind.first->second, op.name.value, op.stream != stream, StepKernel::no_pass,
                       0});
    }
    put_in_order(out);
    return out;
}

PassesFound set_passes(std::vector<StepKernel>& kernels, StepPart part,
                       const std::vector<bool>& ends)
{
    const std::vector<std::size_t> places = main_places(kernels, part);
    const FoundPasses found = find_passes(pass_kernels(kernels, places), ends);
    if (found.passes.empty())
        return {};
    for (std::size_t j = 0; j < found.passes.size(); ++j)
        for (std::size_t i = found.passes[j].first; i < found.passes[j].behind; ++i)
            kernels[places[i]].pass = j;
    // What runs beside is of the pass that runs then.
    const std::vector<PassSpan> spans = spans_of(kernels, part, found.passes.size());
    for (StepKernel& kernel : kernels)
        if (kernel.part == part && kernel.beside)
            for (std::size_t j = 0; j < spans.size(); ++j)
                if (kernel.start >= spans[j].start && kernel.start < spans[j].end)
                    kernel.pass = j;
    return {true, found.alike};
}

std::size_t repetitions(const std::vector<StepKernel>& kernels, StepPart part)
{
    return likely_passes(pass_kernels(kernels, main_places(kernels, part)));
}

PartTimes part_times(const std::vector<StepKernel>& kernels, StepPart part, std::size_t passes,
                     bool early)
{
    PartTimes out;
    out.compute.resize(passes);
    const std::vector<PassSpan> spans = spans_of(kernels, part, passes);
    for (const PassSpan& span : spans)
        out.elapsed.push_back(span.end - span.start);
    for (const StepKernel& kernel : kernels) {
        if (kernel.part != part)
            continue;
        out.all += kernel.length();
        if (kernel.pass != StepKernel::no_pass) {
            out.compute[kernel.pass] += kernel.length();
            continue;
        }
        const auto next = std::find_if(spans.begin(), spans.end(), [&](const PassSpan& span) {
            return span.start >= kernel.start;
        });
        const bool of_next = next != spans.end() && next->stretch == kernel.stretch;
        const bool of_last = next != spans.begin() && (next - 1)->stretch == kernel.stretch;
        const bool before =
            of_next && of_last ? early : of_next || (!of_last && next == spans.begin());
        (before ? out.before : out.behind) += kernel.length();
    }
    return out;
}

} // namespace trainyard
