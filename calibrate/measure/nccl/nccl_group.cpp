#include "calibrate/measure/nccl/nccl_group.h"

#include "calibrate/measure/nccl/process_variable.h"
#include "sim/base/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

// Set unless it is NCCL's to choose. NCCL reads both anew for each communicator.
void force(std::optional<ProcessVariable>& variable, const NcclApi& api, const char* name,
           const std::string& value)
{
    if (value != "auto")
        variable.emplace(api, name, value);
}

} // namespace

NcclGroup::NcclGroup(std::shared_ptr<DeviceLibraries> libraries, const GroupSpec& spec, int rank)
    : libraries_(std::move(libraries)),
      spec_(spec),
      rank_(rank),
      who_(fmt::format("rank {} of {}", rank, spec.name))
{}

NcclGroup::~NcclGroup()
{
    if (const NcclComm comm = comm_.exchange(nullptr))
        api().comm_destroy(comm);
}

void NcclGroup::connect(const NcclId& id)
{
    if (alone())
        return;
    std::optional<ProcessVariable> algorithm;
    std::optional<ProcessVariable> protocol;
    force(algorithm, api(), "NCCL_ALGO", spec_.algorithm);
    force(protocol, api(), "NCCL_PROTO", spec_.protocol);
    NcclConfig config;
    NcclComm comm = nullptr;
    const NcclResult result = api().comm_init_rank_config(&comm, ranks(), id, rank_, &config);
    comm_ = comm;
    if (result == NcclResult::success)
        return;
    const MeasureFailure failure =
        nccl_failure(api(), comm, result, who_, "making the communicator");
    abort();
    throw failure;
}

NcclComm NcclGroup::comm() const
{
    if (const NcclComm comm = comm_.load())
        return comm;
    throw MeasureFailure{FailureKind::aborted, fmt::format("{}: the communicator is aborted", who_),
                         ""};
}

void NcclGroup::require(NcclResult result, const std::string& doing) const
{
    if (result != NcclResult::success)
        throw nccl_failure(api(), comm_.load(), result, who_, doing);
}

void NcclGroup::check(const std::string& doing) const
{
    if (alone())
        return;
    NcclResult error = NcclResult::success;
    require(api().comm_get_async_error(comm(), &error), doing);
    require(error, doing);
}

void NcclGroup::abort() noexcept
{
    if (const NcclComm comm = comm_.exchange(nullptr))
        api().comm_abort(comm);
}

std::string not_with_forced(const GroupSpec& spec, const TimedWork& work)
{
    const auto* collective = std::get_if<CollectiveWork>(&work);
    if (const auto* beside = std::get_if<BesideWork>(&work))
        collective = &beside->collective;
    if (!collective || spec.algorithm == "auto")
        return {};
    using enum CollectiveKind;
    const std::string algorithm = lower_case(spec.algorithm);
    const CollectiveKind kind = collective->collective;
    const bool gathers = kind == all_gather || kind == reduce_scatter;
    bool does = kind == all_reduce;
    if (algorithm == "ring")
        does = kind != all_to_all;
    else if (algorithm == "nvls" || algorithm == "collnetdirect")
        does = kind == all_reduce || gathers;
    else if (algorithm == "pat")
        does = gathers;
    return does ? "" : fmt::format("NCCL has no {} for {}", spec.algorithm, to_name(kind));
}

} // namespace trainyard
