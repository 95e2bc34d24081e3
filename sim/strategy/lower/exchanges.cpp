#include "sim/strategy/lower/exchanges.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

// One message with the passes that make and use it (numbers on their stages).
struct Trip {
    Message message;
    std::size_t made_by = 0;
    std::size_t used_by = 0;
};

struct Channel {
    PassKind kind = PassKind::forward;
    int from = 0; // stages
    int to = 0;

    auto operator<=>(const Channel&) const = default;
};

using Channels = std::map<Channel, std::vector<Trip>>; // each in the sender's order
using PassNumbers = std::map<std::tuple<PassKind, int, int>, std::size_t>;

// By kind, micro-batch and virtual stage: the number of the pass on its device.
PassNumbers pass_numbers(const PipelineShape& shape, const std::vector<std::vector<Pass>>& passes)
{
    PassNumbers numbers;
    for (std::size_t stage = 0; stage < passes.size(); ++stage)
        for (std::size_t i = 0; i < passes[stage].size(); ++i) {
            const Pass& pass = passes[stage][i];
            numbers[{pass.kind, pass.micro_batch,
                     pass.chunk * shape.stages + static_cast<int>(stage)}] = i;
        }
    return numbers;
}

Channels trips_of(const PipelineShape& shape, const std::vector<std::vector<Pass>>& passes)
{
    const PassNumbers numbers = pass_numbers(shape, passes);
    const int virtual_stages = shape.stages * shape.chunks;
    Channels channels;
    for (int stage = 0; stage < shape.stages; ++stage) {
        const std::vector<Pass>& order = passes[static_cast<std::size_t>(stage)];
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Pass& pass = order[i];
            const int at = pass.chunk * shape.stages + stage;
            const int next = pass.kind == PassKind::forward ? at + 1 : at - 1;
            if (next < 0 || next == virtual_stages || next % shape.stages == stage)
                continue;
            std::vector<Trip>& trips = channels[{pass.kind, stage, next % shape.stages}];
            trips.push_back({{pass.kind, pass.micro_batch, std::min(at, next), trips.size()},
                             i,
                             numbers.at({pass.kind, pass.micro_batch, next})});
        }
    }
    return channels;
}

} // namespace

std::vector<StageExchanges> place_exchanges(const PipelineShape& shape,
                                            const std::vector<std::vector<Pass>>& passes,
                                            Posting posting)
{
    std::vector<StageExchanges> out;
    for (const std::vector<Pass>& order : passes)
        out.push_back({std::vector<Gap>(order.size() + 1),
                       std::vector<std::optional<Message>>(order.size())});
    for (const auto& [channel, trips] : trips_of(shape, passes)) {
        StageExchanges& sender = out[static_cast<std::size_t>(channel.from)];
        StageExchanges& receiver = out[static_cast<std::size_t>(channel.to)];
        std::size_t gap = receiver.gaps.size(); // of the message after
        for (auto trip = trips.rbegin(); trip != trips.rend(); ++trip) {
            const bool ahead = posting == Posting::ahead && trip->used_by > 0;
            gap = std::min(gap, trip->used_by - (ahead ? 1 : 0));
            sender.gaps[trip->made_by + 1].send = trip->message;
            std::vector<Message>& receives = receiver.gaps[gap].receives;
            receives.insert(receives.begin(), trip->message);
            receiver.input_of[trip->used_by] = trip->message;
        }
    }
    return out;
}

} // namespace trainyard
