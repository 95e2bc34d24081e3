#include "calibrate/measure/nccl/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace trainyard {

namespace {

constexpr const char* result_key = "nccl";
constexpr char alone_mark = 'a';
constexpr char shared_mark = 's';
constexpr char failed_mark = 'x';
constexpr const char* own_gpus =
    "give every rank a GPU of its own (CUDA_VISIBLE_DEVICES, --gpus-per-task); "
    "TRAINYARD_SHARE_GPU=1 lets ranks share one, for tests of function only";

std::string device_key(int rank)
{
    return fmt::format("device.{}", rank);
}

// Device -> the ranks on it.
std::map<std::string, std::vector<int>> gather_devices(const NcclGroup& group,
                                                       const MeetingPlace& place,
                                                       Rendezvous& rendezvous,
                                                       std::chrono::milliseconds limit)
{
    using clock = std::chrono::steady_clock;
    const auto deadline = clock::now() + limit;
    std::map<std::string, std::vector<int>> devices;
    std::vector<int> absent;
    devices[place.device_id].push_back(place.rank);
    for (int rank = 0; rank < group.ranks(); ++rank) {
        if (rank == place.rank)
            continue;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now());
        try {
            devices[rendezvous.get(device_key(rank), std::max(left, std::chrono::milliseconds(1)))]
                .push_back(rank);
        } catch (const MeasureFailure& failure) {
            if (failure.kind != FailureKind::timed_out)
                throw;
            absent.push_back(rank);
        }
    }
    if (!absent.empty())
        throw MeasureFailure{FailureKind::timed_out,
                             fmt::format("rank {} of {} did not come within {}",
                                         fmt::join(absent, ", "), group.spec().name,
                                         seconds_text(limit)),
                             "look at that process: it may have ended, or hang in its driver"};
    return devices;
}

// The value of `result_key`.
std::string make_result(const NcclGroup& group, const MeetingPlace& place, Rendezvous& rendezvous,
                        std::chrono::milliseconds limit)
{
    char mark = alone_mark;
    for (const auto& [device, ranks] : gather_devices(group, place, rendezvous, limit)) {
        if (ranks.size() == 1)
            continue;
        if (!place.share)
            throw MeasureFailure{FailureKind::refused,
                                 fmt::format("ranks {} of {} are on one GPU, {}",
                                             fmt::join(ranks, ", "), group.spec().name, device),
                                 own_gpus};
        mark = shared_mark;
    }
    NcclId id{};
    if (!group.alone())
        group.require(group.api().get_unique_id(&id), "making an id");
    return std::string(1, mark) + std::string(id.bytes, sizeof(id.bytes));
}

} // namespace

MeetingResult meet(const NcclGroup& group, const MeetingPlace& place, Rendezvous& rendezvous,
                   std::chrono::milliseconds limit)
{
    std::string result;
    if (place.rank == 0) {
        try {
            result = make_result(group, place, rendezvous, limit);
            rendezvous.put(result_key, result);
        } catch (const MeasureFailure& failure) {
            rendezvous.put(result_key,
                           fmt::format("{}{}\n{}\n{}", failed_mark, static_cast<int>(failure.kind),
                                       failure.fix, failure.message));
            throw;
        }
    } else {
        rendezvous.put(device_key(place.rank), place.device_id);
        // The first rank may take all of `limit` to see who is missing.
        result = rendezvous.get(result_key, 2 * limit);
    }
    if (result.empty() || result[0] == failed_mark) {
        const std::size_t kind_end = result.find('\n');
        const std::size_t fix_end =
            kind_end == std::string::npos ? kind_end : result.find('\n', kind_end + 1);
        if (fix_end == std::string::npos)
            throw MeasureFailure{FailureKind::broken, "the first rank's answer is cut off", ""};
        throw MeasureFailure{static_cast<FailureKind>(std::atoi(result.c_str() + 1)),
                             result.substr(fix_end + 1),
                             result.substr(kind_end + 1, fix_end - kind_end - 1)};
    }
    MeetingResult met;
    met.shared = result[0] == shared_mark;
    std::memcpy(met.id.bytes, result.data() + 1, std::min(sizeof(met.id.bytes), result.size() - 1));
    return met;
}

void let_ranks_share(const NcclLibrary& nccl, const std::string& host, int rank)
{
    constexpr int knows_sharing = 23003; // 2.30.3
    const auto set = [&](const char* name, const std::string& value) {
        if (!std::getenv(name))
            nccl.api.set_variable(name, value.c_str());
    };
    if (nccl.version >= knows_sharing) {
        set("NCCL_MULTI_RANK_GPU_ENABLE", "1");
        return;
    }
    // Ranks that pass for different hosts are not compared, and talk over sockets.
    set("NCCL_HOSTID", fmt::format("{}-{}", host, rank));
    set("NCCL_NET", "Socket");
}

} // namespace trainyard
