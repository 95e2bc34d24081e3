#include "sim/traces/recorded_times.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace trainyard {
namespace {

double seconds(TraceTime time)
{
    return to_seconds(time).value();
}

// A kernel's name, or what a transfer is.
std::string kernel_key(const JobTrace& job, const RankActivity& rank, const TraceOp& op)
{
    if (op.transfer == TraceOp::no_transfer)
        return rank.text(op.name);
    const TraceTransfer& transfer = rank.transfers[op.transfer];
    const std::optional<GroupKind> role = job.role_of(transfer);
    return fmt::format("{} {} {}", transfer.kind ? to_name(*transfer.kind) : rank.text(op.name),
                       role ? to_name(*role) : transfer.group, transfer.ranks);
}

std::string exact_key(const JobTrace& job, const RankActivity& rank, const TraceOp& op)
{
    const std::uint64_t bytes =
        op.transfer == TraceOp::no_transfer ? op.bytes : rank.transfers[op.transfer].bytes;
    return fmt::format("{}\n{}\n{} {}", kernel_key(job, rank, op), rank.text(op.shapes),
                       to_name(op.phase), bytes);
}

// Lengths of one kernel with and without a transfer beside it.
class Company {
public:
    void add(const OpNeeds& needs)
    {
        constexpr double hardly = 0.05;
        Lengths* const to = needs.beside < hardly       ? &without_
                            : needs.beside > 1 - hardly ? &with_
                                                        : nullptr;
        if (to == nullptr)
            return;
        to->sum += seconds(needs.length);
        to->count += 1;
    }

    // Adds what these took beside transfers, and what as many take without.
    void sum_up(double& with, double& without) const
    {
        if (with_.count == 0 || without_.count == 0)
            return;
        with += with_.sum;
        without += with_.count * without_.sum / without_.count;
    }

private:
    struct Lengths {
        double sum = 0;
        double count = 0;
    };
    Lengths with_;
    Lengths without_;
};

// Ops that count as one kind.
class LikeOps {
public:
    void add(const OpNeeds& needs, double slowdown)
    {
        sum_.host_before += seconds(needs.host_before);
        sum_.host += seconds(needs.host);
        sum_.idle += seconds(needs.idle);
        lengths_.push_back(seconds(needs.length) / (1 + (slowdown - 1) * needs.beside));
    }

    OpTimes mean()
    {
        // One name without shapes may be of many sizes: none of these is held up.
        constexpr double of_many_sizes = 1.5;
        std::sort(lengths_.begin(), lengths_.end());
        const std::size_t quarter = lengths_.size() / 4;
        const std::size_t last = lengths_.size() - 1;
        const bool many = lengths_[last - quarter] > of_many_sizes * lengths_[quarter];
        const std::size_t left_out = many ? 0 : quarter; // at each end
        double sum = 0;
        for (std::size_t i = left_out; i <= last - left_out; ++i)
            sum += lengths_[i];
        const auto count = static_cast<double>(lengths_.size());
        return {sum_.host_before / count, sum_.host / count, sum_.idle / count,
                sum / static_cast<double>(lengths_.size() - 2 * left_out)};
    }

private:
    OpTimes sum_;
    std::vector<double> lengths_;
};

// Keys as numbers: each is spelt once for a rank.
class KeyNumbers {
public:
    void of_rank(const JobTrace& job, const RankActivity& rank)
    {
        job_ = &job;
        rank_ = &rank;
        known_.clear();
    }

    std::size_t number(const TraceOp& op)
    {
        const bool transfer = op.transfer != TraceOp::no_transfer;
        const std::tuple spelt(op.name, op.shapes, op.phase, op.bytes);
        if (!transfer)
            if (const auto at = known_.find(spelt); at != known_.end())
                return at->second;
        const auto [at, fresh] =
            numbers_.try_emplace(exact_key(*job_, *rank_, op), numbers_.size());
        if (fresh) {
            texts_.push_back(at->first);
            kernels_.push_back(kernel_key(*job_, *rank_, op));
        }
        if (!transfer)
            known_.emplace(spelt, at->second);
        return at->second;
    }

    std::size_t size() const { return texts_.size(); }
    const std::string& text(std::size_t number) const { return texts_[number]; }
    const std::string& kernel(std::size_t number) const { return kernels_[number]; }

private:
    const JobTrace* job_ = nullptr;
    const RankActivity* rank_ = nullptr;
    std::map<std::tuple<TraceNameId, TraceNameId, Phase, std::uint64_t>, std::size_t> known_;
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::string> texts_;
    std::vector<std::string> kernels_;
};

template <class Key>
std::map<Key, OpTimes> means_of(std::map<Key, LikeOps>& ops)
{
    std::map<Key, OpTimes> out;
    for (auto& [key, alike] : ops)
        out.emplace(key, alike.mean());
    return out;
}

} // namespace

RecordedTimes::RecordedTimes(const JobTrace& job,
                             const std::vector<std::vector<TransferMoving>>& times,
                             const std::vector<std::size_t>& ranks)
{
    constexpr std::size_t most_steps = 64; // of a rank: the first ones
    struct RecordedOp {
        const RankActivity* rank;
        std::size_t exact;
        OpNeeds needs;
    };
    std::vector<RecordedOp> ops;
    KeyNumbers keys;
    std::vector<Company> companies;
    double steps = 0;
    for (const std::size_t r : ranks) {
        const RankActivity& rank = job.ranks[r];
        keys.of_rank(job, rank);
        for (std::size_t i = 0; i < std::min(rank.steps.size(), most_steps); ++i) {
            StepNeeds needs = step_needs(rank, times[r], rank.steps[i]);
            at_end_.host_before += seconds(needs.host_before_end);
            at_end_.host += seconds(needs.host_end);
            steps += 1;
            for (OpNeeds& of : needs.ops) {
                const std::size_t exact = keys.number(rank.ops[of.op]);
                companies.resize(keys.size());
                companies[exact].add(of);
                of.waits.clear();
                ops.push_back({&rank, exact, std::move(of)});
            }
        }
    }
    if (steps > 0) {
        at_end_.host_before /= steps;
        at_end_.host /= steps;
    }
    double with = 0;
    double without = 0;
    for (const Company& company : companies)
        company.sum_up(with, without);
    if (with > without)
        slowdown_ = with / without;
    std::vector<LikeOps> exact(keys.size());
    std::map<std::string, LikeOps> kernels;
    std::map<DeviceWork, LikeOps> works;
    for (const RecordedOp& of : ops) {
        exact[of.exact].add(of.needs, slowdown_);
        works[of.rank->ops[of.needs.op].work].add(of.needs, slowdown_);
    }
    for (const RecordedOp& of : ops)
        kernels[keys.kernel(of.exact)].add(of.needs, slowdown_);
    for (std::size_t i = 0; i < exact.size(); ++i)
        exact_.emplace(keys.text(i), exact[i].mean());
    kernels_ = means_of(kernels);
    works_ = means_of(works);
}

RecordedTimes::Found RecordedTimes::of(const JobTrace& job, const RankActivity& rank,
                                       const TraceOp& op) const
{
    if (const auto at = exact_.find(exact_key(job, rank, op)); at != exact_.end())
        return {at->second, true};
    if (const auto at = kernels_.find(kernel_key(job, rank, op)); at != kernels_.end())
        return {at->second, false};
    const auto at = works_.find(op.work);
    return {at != works_.end() ? at->second : OpTimes{}, false};
}

} // namespace trainyard
