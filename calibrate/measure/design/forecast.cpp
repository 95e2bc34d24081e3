#include "calibrate/measure/design/forecast.h"

#include "calibrate/fit/order_statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {
namespace {

constexpr double typical_batches = 1.5; // times the least number
constexpr double settling = 0.01;       // seconds of warm-up, or this many batches:
constexpr double settling_batches = 9;
constexpr Seconds first_creation{0.2};

// What one op of some work is made of.
struct Amount {
    std::string kind;
    double work = 0; // bytes or floating-point operations
    Seconds guess;
};

Amount amount_of(const CollectiveWork& work)
{
    const auto bytes = static_cast<double>(work.size.value());
    return {std::string(to_name(work.collective)), bytes, Seconds(20e-6 + bytes * 1e-9)};
}

Amount amount_of(const ExchangeWork& work)
{
    const auto bytes = static_cast<double>(work.size.value());
    return {"exchange of " + std::to_string(work.messages.size()), bytes,
            Seconds(20e-6 + bytes * 1e-9)};
}

Amount amount_of(const PingPongWork& work)
{
    const auto bytes = static_cast<double>(work.size.value());
    return {"ping-pong", bytes, Seconds(20e-6 + bytes * 1e-9)};
}

Amount amount_of(const LocalWork& work)
{
    const std::string kind(to_name(work.kind));
    const auto product = [](auto... factors) { return (1.0 * ... * static_cast<double>(factors)); };
    switch (work.kind) {
    case LocalKind::gemm: {
        const double flops = product(2, work.batch, work.m, work.n, work.k);
        return {kind, flops, Seconds(5e-6 + flops * 1e-12)};
    }
    case LocalKind::attention_forward:
    case LocalKind::attention_backward: {
        // Causal: half of two products of m x m x k per head; backward five products for two.
        const double products = work.kind == LocalKind::attention_forward ? 2 : 5;
        const double flops = product(products, work.batch, work.n, work.m, work.m, work.k);
        return {kind, flops, Seconds(5e-6 + flops * 1e-12)};
    }
    case LocalKind::memory_read:
    case LocalKind::memory_write:
    case LocalKind::memory_copy:
    case LocalKind::memory_add:
    case LocalKind::host_to_device:
    case LocalKind::device_to_host: {
        const auto bytes = static_cast<double>(work.size.value());
        return {kind, bytes, Seconds(5e-6 + bytes * 1e-10)};
    }
    case LocalKind::launch:
    case LocalKind::launch_queued:
    case LocalKind::launch_graph:
    case LocalKind::issue:
        break;
    }
    return {kind, 0, Seconds(5e-6)};
}

Amount amount_of(const BesideWork& work)
{
    Amount out = work.times_collective ? amount_of(work.collective) : amount_of(work.local);
    out.kind += " beside";
    return out;
}

Amount amount_of(const TimedWork& work)
{
    return std::visit([](const auto& one) { return amount_of(one); }, work);
}

} // namespace

Seconds expected_sampling(const Limits& limits, Seconds per_op)
{
    const double op = per_op.value();
    const double ops =
        std::clamp(std::ceil(limits.batch.value() / op), 1.0, static_cast<double>(limits.most_ops));
    const double batch = ops * op;
    const double warm_up = std::clamp(std::max(settling, settling_batches * batch), 2 * op,
                                      std::max(limits.warm_up.value(), 2 * op));
    const double timed =
        std::clamp(typical_batches * limits.least_batches * batch, fewest_batches * batch,
                   std::max(limits.timed.value(), fewest_batches * batch));
    return Seconds(warm_up + timed + (ops > 1 ? limits.isolated * op : 0));
}

void Forecast::learn(const Point& point, Seconds per_op, Seconds took)
{
    const Amount amount = amount_of(point.work);
    longer_.push_back(took / sampling(point, per_op));
    usual_ = median(longer_);
    std::vector<Learned>& known = ops_[amount.kind];
    const auto same = std::find_if(known.begin(), known.end(), [&](const Learned& learned) {
        return learned.amount == amount.work && learned.group == point.group;
    });
    if (same != known.end()) // in another launch
        same->slower = per_op / amount.guess;
    else
        known.push_back({point.group, amount.work, per_op / amount.guess});
}

void Forecast::learn(const CreationTime& creation)
{
    creations_.push_back(creation);
}

Seconds Forecast::of(const Point& point) const
{
    return sampling(point, per_op(point)) * usual_;
}

Seconds Forecast::of(std::span<const Point> points) const
{
    Seconds out;
    const Point* before = nullptr;
    for (const Point& point : points) {
        if (before == nullptr || before->launch != point.launch || !(before->group == point.group))
            out += creation(point.group);
        out += of(point);
        before = &point;
    }
    return out;
}

Seconds Forecast::per_op(const Point& point) const
{
    const Amount amount = amount_of(point.work);
    const auto unlike = [&](const Learned& learned) {
        return std::pair(!(learned.group == point.group),
                         std::abs(std::log2((learned.amount + 1) / (amount.work + 1))));
    };
    const Learned* nearest = nullptr;
    const auto look_at = [&](const std::vector<Learned>& known) {
        for (const Learned& learned : known)
            if (nearest == nullptr || unlike(learned) < unlike(*nearest))
                nearest = &learned;
    };
    if (const auto same_kind = ops_.find(amount.kind); same_kind != ops_.end())
        look_at(same_kind->second);
    else
        for (const auto& [kind, known] : ops_)
            look_at(known);
    return amount.guess * (nearest == nullptr ? 1 : nearest->slower);
}

Seconds Forecast::sampling(const Point& point, Seconds per_op) const
{
    return expected_sampling(limits_of(effort_, message_size(point.work), trials_), per_op);
}

// The median of groups as large, else of all.
Seconds Forecast::creation(const GroupSpec& group) const
{
    std::vector<double> as_large;
    std::vector<double> all;
    for (const CreationTime& creation : creations_) {
        all.push_back(creation.time.value());
        if (creation.group.members.size() == group.members.size())
            as_large.push_back(all.back());
    }
    if (all.empty())
        return first_creation;
    return Seconds(median(as_large.empty() ? all : as_large));
}

} // namespace trainyard
