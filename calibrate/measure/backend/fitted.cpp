#include "calibrate/measure/backend/fitted.h"

#include <algorithm>

namespace trainyard {
namespace {

CollectiveWork fitted_collective(CollectiveWork work, int ranks)
{
    using enum CollectiveKind;
    if (work.collective == barrier) {
        work.size = Bytes(0);
        return work;
    }
    const bool shared = work.collective == all_gather || work.collective == reduce_scatter ||
                        work.collective == all_to_all;
    const auto unit = static_cast<std::uint64_t>(element_bytes(work.type) * (shared ? ranks : 1));
    work.size = Bytes(std::max(work.size.value() / unit, std::uint64_t{1}) * unit);
    return work;
}

} // namespace

TimedWork fitted(const TimedWork& work, int ranks)
{
    if (const auto* collective = std::get_if<CollectiveWork>(&work))
        return fitted_collective(*collective, ranks);
    TimedWork result = work;
    if (auto* beside = std::get_if<BesideWork>(&result))
        beside->collective = fitted_collective(beside->collective, ranks);
    if (auto* exchange = std::get_if<ExchangeWork>(&result))
        exchange->size = std::max(exchange->size, Bytes(1));
    if (auto* ping_pong = std::get_if<PingPongWork>(&result))
        ping_pong->size = std::max(ping_pong->size, Bytes(1));
    return result;
}

} // namespace trainyard
