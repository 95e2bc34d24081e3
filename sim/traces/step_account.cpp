#include "sim/traces/step_account.h"

#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard {
namespace {

bool joins_stages(std::optional<GroupKind> role)
{
    return role && engine::exposed_kind(*role) == TimeKind::exposed_pp;
}

// Goes through the moments at which something begins or ends.
class StepWalk {
public:
    StepWalk(const JobTrace& job, const std::vector<TransferMoving>& times, std::size_t rank,
             const TraceSpan& step)
        : job_(job), times_(times), rank_(job.ranks[rank]), step_(step)
    {
        for (const JobTraceGroup& group : job.groups)
            roles_[group.name] = group.role;
    }

    std::vector<StepPiece> pieces()
    {
        account();
        return std::move(pieces_);
    }

    StepAccount account()
    {
        account_.step = step_.length();
        gather();
        std::size_t next = 0;
        TraceTime now = step_.start;
        while (now < step_.end) {
            while (next < ops_.size() && rank_.ops[ops_[next]].span.start <= now)
                running_.push_back(ops_[next++]);
            std::erase_if(running_, [&](std::size_t op) { return rank_.ops[op].span.end <= now; });
            while (next_computing_ < computing_.size() &&
                   rank_.ops[computing_[next_computing_]].span.start <= now)
                ++next_computing_;
            const TraceTime until = next_moment(now, next);
            if (running_.empty())
                idle({now, until}, next);
            else
                busy({now, until});
            now = until;
        }
        return account_;
    }

private:
    void gather()
    {
        for (std::size_t i = 0; i < rank_.ops.size(); ++i) {
            const TraceOp& op = rank_.ops[i];
            if (op.span.start >= step_.end)
                break;
            const TraceTime from = std::max(op.span.start, step_.start);
            const TraceTime to = std::min(op.span.end, step_.end);
            if (op.span.start >= step_.start && op.span.length() <= TraceTime())
                ++account_.ops[static_cast<std::size_t>(op.work)]; // no length was recorded
            if (to <= from)
                continue;
            ops_.push_back(i);
            if (computes(op))
                computing_.push_back(i);
            const auto work = static_cast<std::size_t>(op.work);
            account_.work[work] += to - from;
            ++account_.ops[work];
        }
    }

    TraceTime next_moment(TraceTime now, std::size_t next) const
    {
        TraceTime until = step_.end;
        if (next < ops_.size())
            until = std::min(until, rank_.ops[ops_[next]].span.start);
        if (const TraceTime issued = next_issued(); issued > now)
            until = std::min(until, issued);
        for (const std::size_t i : running_) {
            const TraceOp& op = rank_.ops[i];
            until = std::min(until, op.span.end);
            if (op.transfer != TraceOp::no_transfer && times_[op.transfer].moving_from > now)
                until = std::min(until, times_[op.transfer].moving_from);
        }
        return until;
    }

    std::optional<GroupKind> role_of(const TraceOp& op) const
    {
        const TraceTransfer& transfer = rank_.transfers[op.transfer];
        if (transfer.group.empty())
            return job_.role_of(transfer);
        const auto at = roles_.find(transfer.group);
        return at == roles_.end() ? std::nullopt : at->second;
    }

    static bool computes(const TraceOp& op)
    {
        return op.transfer == TraceOp::no_transfer && !op.crosses_host;
    }

    // When the host issued what computes next; the step's beginning where that is not known.
    TraceTime next_issued() const
    {
        return next_computing_ < computing_.size()
                   ? rank_.ops[computing_[next_computing_]].issued.value_or(step_.start)
                   : step_.start;
    }

    // What computes next begins before this has ended, so it does not wait for it but for the host.
    bool holds_nothing_up(const TraceOp& op, TraceTime now) const
    {
        return next_issued() > now &&
               op.span.end > rank_.ops[computing_[next_computing_]].span.start;
    }

    // What the time counts as: the lowest order of all that runs.
    struct Claim {
        int order = 0;
        TimeKind kind = TimeKind::host;
    };
    Claim claim_of(const TraceOp& op, TraceTime now) const
    {
        if (computes(op))
            return {0, engine::computing_kind(op.phase)};
        if (holds_nothing_up(op, now))
            return {4, TimeKind::host};
        if (op.crosses_host)
            return {3, TimeKind::data};
        const std::optional<GroupKind> role = role_of(op);
        if (times_[op.transfer].moving_from <= now)
            return {1, engine::exposed_kind(role.value_or(GroupKind::world))};
        return {2, joins_stages(role) ? TimeKind::bubble : TimeKind::waiting};
    }

    void busy(const TraceSpan& span)
    {
        Claim best{5, TimeKind::host};
        bool transfers = false;
        for (const std::size_t i : running_) {
            const Claim claim = claim_of(rank_.ops[i], span.start);
            transfers = transfers || rank_.ops[i].transfer != TraceOp::no_transfer;
            if (claim.order < best.order)
                best = claim;
        }
        put(span, best.kind);
        if (best.order == 0)
            account_.compute_busy += span.length();
        if (transfers)
            account_.communication_busy += span.length();
    }

    void idle(const TraceSpan& span, std::size_t next)
    {
        if (!rank_.host_recorded) {
            put_idle(span, account_.untold);
            return;
        }
        if (next == ops_.size()) { // nothing more: the host ends the step
            put(span, TimeKind::host);
            return;
        }
        const TraceOp& op = rank_.ops[ops_[next]];
        const TraceTime issued = op.left_over ? span.start : op.latest_issue();
        const TraceTime until = std::clamp(issued, span.start, span.end);
        if (op.issued)
            put({span.start, until}, TimeKind::host);
        else
            put_idle({span.start, until}, account_.untold);
        put_idle({until, span.end}, account_.gaps);
    }

    void put(const TraceSpan& span, TimeKind kind)
    {
        account_.of(kind) += span.length();
        add_piece(span, kind);
    }

    void put_idle(const TraceSpan& span, TraceTime& sum)
    {
        sum += span.length();
        add_piece(span, std::nullopt);
    }

    void add_piece(const TraceSpan& span, std::optional<TimeKind> kind)
    {
        if (span.length() <= TraceTime())
            return;
        if (!pieces_.empty() && pieces_.back().kind == kind)
            pieces_.back().span.end = span.end;
        else
            pieces_.push_back({span, kind});
    }

    const JobTrace& job_;
    const std::vector<TransferMoving>& times_;
    const RankActivity& rank_;
    TraceSpan step_;
    std::map<std::string, std::optional<GroupKind>> roles_;
    std::vector<std::size_t> ops_;       // of the step, by start
    std::vector<std::size_t> computing_; // of these
    std::size_t next_computing_ = 0;
    std::vector<std::size_t> running_;
    StepAccount account_;
    std::vector<StepPiece> pieces_;
};

} // namespace

StepAccount step_account(const JobTrace& job, const std::vector<TransferMoving>& times,
                         std::size_t rank, const TraceSpan& step)
{
    return StepWalk(job, times, rank, step).account();
}

std::vector<StepPiece> step_pieces(const JobTrace& job, const std::vector<TransferMoving>& times,
                                   std::size_t rank, const TraceSpan& step)
{
    return StepWalk(job, times, rank, step).pieces();
}

} // namespace trainyard
