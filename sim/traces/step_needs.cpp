#include "sim/traces/step_needs.h"

#include <algorithm>
#include <tuple>

namespace trainyard {
namespace {

// Clocks of device and host, and what is rounded: an op that ended so much later may still be what
// the other one waited for.
constexpr TraceTime tolerance{2000};
// An op that begins so much after its stream was free and it was issued waits for something.
constexpr TraceTime unexplained{5000};

TraceTime at_least_nothing(TraceTime time)
{
    return std::max(time, TraceTime());
}

class NeedsOfStep {
public:
    NeedsOfStep(const RankActivity& rank, const std::vector<TransferMoving>& times,
                const TraceStep& step)
        : rank_(rank), times_(times), step_(step)
    {
        take_ops();
        for (std::uint32_t i = 0; i < order_.size(); ++i)
            by_end_.push_back(i);
        std::stable_sort(by_end_.begin(), by_end_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return at(a).span.end < at(b).span.end;
        });
    }

    StepNeeds take() &&
    {
        find_device_side();
        find_company();
        if (rank_.host_recorded)
            find_host_side();
        return std::move(out_);
    }

private:
    const TraceOp& at(std::uint32_t index) const { return rank_.ops[order_[index]]; }
    bool is_transfer(std::uint32_t index) const
    {
        return at(index).transfer != TraceOp::no_transfer;
    }
    TraceTime issued(std::uint32_t index) const { return at(index).latest_issue(); }

    void take_ops()
    {
        const auto first =
            std::lower_bound(rank_.ops.begin(), rank_.ops.end(), step_.span.start,
                             [](const TraceOp& op, TraceTime t) { return op.span.start < t; });
        for (auto op = first; op != rank_.ops.end() && op->span.start < step_.span.end; ++op)
            order_.push_back(static_cast<std::size_t>(op - rank_.ops.begin()));
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return rank_.ops[a].latest_issue() < rank_.ops[b].latest_issue();
        });
    }

    // The op that ended last of those that had ended by `time` and stand before `before`; on
    // another stream than `stream`, if one is given.
    std::optional<std::uint32_t> last_ended(TraceTime time, std::uint32_t before,
                                            std::optional<std::uint32_t> stream) const
    {
        constexpr int looked_at = 256; // ops that end together are few
        auto end = std::upper_bound(
            by_end_.begin(), by_end_.end(), time + tolerance,
            [&](TraceTime t, std::uint32_t index) { return t < at(index).span.end; });
        for (int i = 0; i < looked_at && end != by_end_.begin(); ++i) {
            --end;
            if (*end < before && (!stream || at(*end).stream != *stream))
                return *end;
        }
        return std::nullopt;
    }

    // How soon a device begins what is issued to an idle stream: quicker than nine in ten.
    TraceTime usual_latency() const
    {
        std::map<std::uint32_t, TraceTime> free;
        std::vector<TraceTime> latencies;
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            TraceTime& until = free[at(i).stream];
            if (at(i).issued && *at(i).issued > until)
                latencies.push_back(at(i).span.start - *at(i).issued);
            until = std::max(until, at(i).span.end);
        }
        if (latencies.empty())
            return TraceTime();
        const auto quick = latencies.begin() + static_cast<std::ptrdiff_t>(latencies.size() / 10);
        std::nth_element(latencies.begin(), quick, latencies.end());
        return *quick;
    }

    void find_device_side()
    {
        const TraceTime latency = usual_latency();
        std::map<std::uint32_t, TraceTime> free; // by stream
        std::optional<std::uint32_t> current;    // issued last, no transfer
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            const TraceOp& op = at(i);
            OpNeeds needs;
            needs.op = order_[i];
            TraceTime ready = free.try_emplace(op.stream, step_.span.start).first->second;
            const bool by_host = op.issued && *op.issued > ready;
            if (by_host)
                ready = *op.issued + latency;
            const auto wait_for = [&](std::optional<std::uint32_t> other) {
                if (!other || at(*other).span.end > op.span.start + tolerance ||
                    at(*other).stream == op.stream ||
                    std::find(needs.waits.begin(), needs.waits.end(), *other) != needs.waits.end())
                    return;
                needs.waits.push_back(*other);
                ready = std::max(ready, at(*other).span.end);
            };
            if (is_transfer(i))
                wait_for(current); // its stream waits for the one that was current
            else if (waits_before(i))
                wait_for(last_ended(op.span.start, i, op.stream));
            if (op.span.start - ready > unexplained) {
                const auto other = last_ended(op.span.start, i, op.stream);
                if (other && at(*other).span.end > ready)
                    wait_for(other);
            }
            needs.idle = at_least_nothing(op.span.start - ready);
            needs.length =
                is_transfer(i) ? op.span.end - times_[op.transfer].moving_from : op.span.length();
            free[op.stream] = std::max(free[op.stream], op.span.end);
            if (!is_transfer(i))
                current = i;
            out_.ops.push_back(std::move(needs));
        }
    }

    // Spans of transfers, those that overlap joined, beside each op that is none.
    void find_company()
    {
        std::vector<TraceSpan> transfers;
        for (std::uint32_t i = 0; i < order_.size(); ++i)
            if (is_transfer(i))
                transfers.push_back(at(i).span);
        std::sort(transfers.begin(), transfers.end(),
                  [](const TraceSpan& a, const TraceSpan& b) { return a.start < b.start; });
        std::vector<TraceSpan> joined;
        for (const TraceSpan& span : transfers)
            if (!joined.empty() && span.start <= joined.back().end)
                joined.back().end = std::max(joined.back().end, span.end);
            else
                joined.push_back(span);
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            const TraceSpan& span = at(i).span;
            if (is_transfer(i) || span.length() <= TraceTime())
                continue;
            TraceTime beside;
            auto other = std::lower_bound(
                joined.begin(), joined.end(), span.start,
                [](const TraceSpan& joint, TraceTime t) { return joint.end <= t; });
            for (; other != joined.end() && other->start < span.end; ++other)
                beside += std::min(other->end, span.end) - std::max(other->start, span.start);
            out_.ops[i].beside = beside / span.length();
        }
    }

    // Whether the host made some stream wait for an event between the op before and this one.
    bool waits_before(std::uint32_t index) const
    {
        if (index == 0)
            return false;
        const auto wait = std::upper_bound(rank_.stream_waits.begin(), rank_.stream_waits.end(),
                                           issued(index - 1));
        return wait != rank_.stream_waits.end() && *wait <= issued(index);
    }

    void find_host_side()
    {
        TraceTime before = host_start();
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            OpNeeds& needs = out_.ops[i];
            const TraceTime time = at(i).issued ? std::max(issued(i), before) : before;
            const HostTime busy = busy_between(before, time, i);
            std::tie(needs.host_before, needs.host, needs.host_waits) =
                std::tie(busy.before, busy.after, busy.waits);
            before = time;
            if (at(i).blocks_host) {
                needs.blocks_host = true;
                before = std::max(before, at(i).span.end);
            }
        }
        const bool annotated = rank_.step_source == StepSource::annotations;
        const TraceTime end = annotated ? std::max(step_.host.end, before) : before;
        const HostTime busy = busy_between(before, end, static_cast<std::uint32_t>(order_.size()));
        std::tie(out_.host_before_end, out_.host_end, out_.host_waits_at_end) =
            std::tie(busy.before, busy.after, busy.waits);
    }

    // When the host began with the step: where no annotation says it, with what it did after the
    // last op of the step before, and after what it waited for then. What it did while the device
    // drained what was issued before the first step is of no step.
    TraceTime host_start() const
    {
        if (rank_.step_source == StepSource::annotations)
            return step_ == rank_.steps.front() ? step_.span.start : step_.host.start;
        TraceTime last;
        for (auto op = rank_.ops.begin();
             op != rank_.ops.end() && op->span.start < step_.span.start; ++op)
            last = std::max(last, op->issued.value_or(TraceTime()));
        const TraceTime first = order_.empty() ? step_.span.start : issued(0);
        for (const TraceSpan& wait : rank_.host_waits)
            if (wait.end <= first)
                last = std::max(last, wait.end);
        return last > TraceTime() ? std::min(last, first) : first;
    }

    // The host's time without what it waits for the device: before the last of these waits and
    // behind it.
    struct HostTime {
        TraceTime before;
        TraceTime after;
        std::optional<std::uint32_t> waits; // for this op
    };
    HostTime busy_between(TraceTime from, TraceTime to, std::uint32_t next) const
    {
        HostTime out;
        TraceTime busy_from = from;
        auto wait =
            std::upper_bound(rank_.host_waits.begin(), rank_.host_waits.end(), from,
                             [](TraceTime t, const TraceSpan& span) { return t < span.end; });
        for (; wait != rank_.host_waits.end() && wait->start < to; ++wait) {
            const TraceTime begin = std::max(wait->start, busy_from);
            const TraceTime end = std::min(wait->end, to);
            const auto other = last_ended(end, next, std::nullopt);
            if (!other || end <= begin)
                continue;
            out.waits = other;
            out.before += begin - busy_from;
            busy_from = std::clamp(at(*other).span.end, begin, end);
        }
        out.after = at_least_nothing(to - busy_from);
        return out;
    }

    const RankActivity& rank_;
    const std::vector<TransferMoving>& times_;
    const TraceStep& step_;
    std::vector<std::size_t> order_;    // ops of the step as issued
    std::vector<std::uint32_t> by_end_; // places in it
    StepNeeds out_;
};

} // namespace

StepNeeds step_needs(const RankActivity& rank, const std::vector<TransferMoving>& times,
                     const TraceStep& step)
{
    return NeedsOfStep(rank, times, step).take();
}

} // namespace trainyard
