#include "sim/strategy/lower/exchanges.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// One message with the passes that make and use it (numbers on their devices).
struct Trip {
    Message message;
    std::size_t made_by = 0;
    std::size_t used_by = 0;
};

struct Channel {
    PassKind kind = PassKind::forward;
    int from = 0; // devices
    int to = 0;

    auto operator<=>(const Channel&) const = default;
};

using Channels = std::map<Channel, std::vector<Trip>>; // each in the sender's order
using Passes = std::vector<std::vector<Pass>>;         // by device

PassKind message_kind(PassKind pass)
{
    return hands_back(pass) ? PassKind::backward : PassKind::forward;
}

std::vector<std::vector<VirtualStage>> chunks_by_device(const StagePlacement& placement)
{
    std::vector<std::vector<VirtualStage>> chunks;
    for (int device = 0; device < placement.devices; ++device)
        chunks.push_back(chunks_of(placement, device));
    return chunks;
}

// By kind of message, micro-batch, pipe and virtual stage: the number of the pass on its device.
class PassNumbers {
public:
    PassNumbers(const StagePlacement& placement,
                const std::vector<std::vector<VirtualStage>>& chunks, const Passes& passes)
        : stages_(static_cast<std::size_t>(placement.virtual_stages())),
          pipes_(placement.pipes.size())
    {
        for (std::size_t device = 0; device < passes.size(); ++device)
            for (std::size_t i = 0; i < passes[device].size(); ++i) {
                const Pass& pass = passes[device][i];
                if (pass.kind == PassKind::backward_weight)
                    continue;
                const VirtualStage at = chunks[device][static_cast<std::size_t>(pass.chunk)];
                const std::size_t place = place_of(message_kind(pass.kind), pass.micro_batch, at);
                if (place >= numbers_.size())
                    numbers_.resize(std::max(place + 1, 2 * numbers_.size()));
                numbers_[place] = i;
            }
    }

    std::size_t at(PassKind kind, int micro_batch, VirtualStage stage) const
    {
        return numbers_.at(place_of(kind, micro_batch, stage));
    }

private:
    std::size_t place_of(PassKind kind, int micro_batch, VirtualStage at) const
    {
        const std::size_t pass =
            2 * static_cast<std::size_t>(micro_batch) + (kind == PassKind::forward ? 0 : 1);
        return (pass * pipes_ + static_cast<std::size_t>(at.pipe)) * stages_ +
               static_cast<std::size_t>(at.number);
    }

    std::size_t stages_;
    std::size_t pipes_;
    std::vector<std::size_t> numbers_;
};

Channels trips_of(const StagePlacement& placement, const Passes& passes)
{
    const std::vector<std::vector<VirtualStage>> chunks = chunks_by_device(placement);
    const PassNumbers numbers(placement, chunks, passes);
    Channels channels;
    for (std::size_t device = 0; device < passes.size(); ++device)
        for (std::size_t i = 0; i < passes[device].size(); ++i) {
            const Pass& pass = passes[device][i];
            const VirtualStage at = chunks[device][static_cast<std::size_t>(pass.chunk)];
            const bool forward = pass.kind == PassKind::forward;
            const VirtualStage next{at.pipe, forward ? at.number + 1 : at.number - 1};
            if (pass.kind == PassKind::backward_weight || next.number < 0 ||
                next.number == placement.virtual_stages())
                continue;
            const int from = static_cast<int>(device);
            const int to = placement.at(next).device;
            if (to == from)
                continue;
            const PassKind kind = message_kind(pass.kind);
            std::vector<Trip>& trips = channels[{kind, from, to}];
            trips.push_back(
                {{kind, pass.micro_batch, std::min(at.number, next.number), from, to, trips.size()},
                 i,
                 numbers.at(kind, pass.micro_batch, next)});
        }
    return channels;
}

// A pass with the one it takes turns with.
class Groups {
public:
    explicit Groups(const std::vector<Pass>& passes) : passes_(passes) {}

    std::size_t first(std::size_t pass) const
    {
        return pass > 0 && passes_[pass - 1].with_next ? pass - 1 : pass;
    }
    std::size_t after(std::size_t pass) const { return pass + (passes_[pass].with_next ? 2 : 1); }
    // The gap in which a pass's input is asked for.
    std::size_t gap_for(std::size_t pass, Posting posting) const
    {
        const std::size_t begin = first(pass);
        return posting == Posting::ahead && begin > 0 ? first(begin - 1) : begin;
    }

private:
    const std::vector<Pass>& passes_;
};

} // namespace

std::vector<StageExchanges> place_exchanges(const StagePlacement& placement, const Passes& passes,
                                            Posting posting)
{
    std::vector<StageExchanges> out;
    for (const std::vector<Pass>& order : passes) {
        out.push_back({std::vector<Gap>(order.size() + 1),
                       std::vector<std::optional<Message>>(order.size())});
        for (std::size_t i = 0; i < order.size(); ++i)
            out.back().gaps[i + 1].between = order[i].with_next;
    }
    for (const auto& [channel, trips] : trips_of(placement, passes)) {
        const auto from = static_cast<std::size_t>(channel.from);
        const auto to = static_cast<std::size_t>(channel.to);
        const Groups sender(passes[from]);
        const Groups receiver(passes[to]);
        std::size_t gap = out[to].gaps.size(); // of the message after
        for (auto trip = trips.rbegin(); trip != trips.rend(); ++trip) {
            gap = std::min(gap, receiver.gap_for(trip->used_by, posting));
            std::vector<Message>& receives = out[to].gaps[gap].receives;
            receives.insert(receives.begin(), trip->message);
            out[to].input_of[trip->used_by] = trip->message;
        }
        for (const Trip& trip : trips)
            out[from].gaps[sender.after(trip.made_by)].sends.push_back(trip.message);
    }
    return out;
}

} // namespace trainyard
