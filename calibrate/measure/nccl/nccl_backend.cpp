#include "calibrate/measure/nccl/nccl_backend.h"

#include "calibrate/measure/backend/host_name.h"
#include "calibrate/measure/nccl/cuda_facts.h"
#include "calibrate/measure/nccl/meeting.h"
#include "calibrate/measure/nccl/warm_up.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace trainyard {

namespace {

bool may_share()
{
    const char* value = std::getenv("TRAINYARD_SHARE_GPU");
    return value && std::string_view(value) == "1";
}

} // namespace

NcclBackend::NcclBackend(std::shared_ptr<DeviceLibraries> libraries,
                         const NcclBackendSettings& settings)
    : libraries_(std::move(libraries)),
      settings_(settings),
      thread_(std::make_shared<DeviceThread>())
{
    struct Opened {
        int devices = 0;
        CudaDevice device;
    };
    const auto opened = std::make_shared<Opened>();
    const int local_rank = settings_.place.local_rank;
    on_device("opening the GPU", [opened, local_rank](CudaApi& cuda) {
        opened->devices = require(cuda, cuda.device_count(), "counting GPUs");
        require(cuda, opened->devices > 0 ? CudaCode::success : CudaCode::no_device,
                "counting GPUs");
        const int index = local_rank % opened->devices;
        require(cuda, cuda.use_device(index), fmt::format("taking GPU {}", index));
        opened->device = require(cuda, cuda.device(), fmt::format("reading GPU {}", index));
    });
    devices_ = opened->devices;
    device_ = opened->device;
    if (!libraries_->nccl && settings_.place.ranks > 1)
        throw MeasureFailure{FailureKind::missing, libraries_->nccl_missing, ""};
}

void NcclBackend::on_device(const std::string& doing, std::function<void(CudaApi&)> action)
{
    const std::atomic<bool> never{false};
    const std::shared_ptr<DeviceLibraries> libraries = libraries_;
    run_bounded(
        *thread_,
        {fmt::format("rank {}, {}", settings_.place.rank, doing), settings_.limits.create,
         settings_.limits.grace},
        [libraries, action = std::move(action)] { action(*libraries->cuda); }, never, [] {});
}

BackendFacts NcclBackend::facts() const
{
    BackendFacts facts = facts_of(device_);
    facts.name = "nccl";
    if (libraries_->nccl) {
        facts.version = nccl_version_text(libraries_->nccl->version);
        facts.properties["nccl_library"] = libraries_->nccl->path;
    } else {
        facts.warnings.push_back("without NCCL, one GPU alone can be timed: " +
                                 libraries_->nccl_missing);
    }
    if (devices_ > 1 && settings_.place.local_ranks > devices_)
        facts.warnings.push_back(fmt::format("{} ranks of this host share {} GPUs",
                                             settings_.place.local_ranks, devices_));
    return facts;
}

std::string NcclBackend::cannot_communicate(const CollectiveWork& work) const
{
    if (!libraries_->nccl)
        return libraries_->nccl_missing;
    if (work.collective == CollectiveKind::send_receive)
        return "send_receive is no collective: time an exchange";
    if (work.type == ElementType::float8_e4m3)
        return "collectives of float8_e4m3 are not timed: bytes of uint8 move alike";
    if (work.collective == CollectiveKind::all_to_all && work.buffers == Buffers::in_place)
        return "NCCL has no all_to_all in place";
    return {};
}

std::string NcclBackend::cannot(const TimedWork& work) const
{
    if (const auto* collective = std::get_if<CollectiveWork>(&work))
        return cannot_communicate(*collective);
    if (const auto* local = std::get_if<LocalWork>(&work))
        return libraries_->cuda->cannot(*local);
    if (const auto* beside = std::get_if<BesideWork>(&work)) {
        using enum LocalKind;
        for (const LocalKind by_host : {launch, launch_graph, issue})
            if (beside->local.kind == by_host)
                return fmt::format("{} keeps the host busy, not the device: it has no place beside "
                                   "a collective",
                                   to_name(by_host));
        if (beside->repeats < 1)
            return "nothing runs beside it: repeats is below 1";
        const std::string why = cannot_communicate(beside->collective);
        return why.empty() ? libraries_->cuda->cannot(beside->local) : why;
    }
    return libraries_->nccl ? "" : libraries_->nccl_missing;
}

std::unique_ptr<Communicator> NcclBackend::join(const GroupSpec& group, Rendezvous& rendezvous)
{
    const LaunchPlace& place = settings_.place;
    const auto member = std::find(group.members.begin(), group.members.end(), place.rank);
    if (member == group.members.end())
        throw MeasureFailure{FailureKind::refused,
                             fmt::format("rank {} is no member of {}", place.rank, group.name), ""};
    const int rank = static_cast<int>(member - group.members.begin());
    if (!warm_) {
        const Seconds time = settings_.warm_up;
        on_device("warming up", [time](CudaApi& cuda) { warm_up(cuda, time); });
        warm_ = true;
    }
    const auto session =
        std::make_shared<MeasureSession>(libraries_, group, rank, settings_.limits);
    auto communicator = std::make_unique<NcclCommunicator>(thread_, session, settings_.limits);
    const MeetingResult met =
        meet(session->group(), {rank, facts_of(device_).device_id, may_share()}, rendezvous,
             settings_.limits.meet);
    if (met.shared)
        let_ranks_share(*libraries_->nccl, host_name(), place.rank);
    const bool of_all = static_cast<int>(group.members.size()) == place.ranks;
    if (of_all && place.local_rank == 0 && topology_.empty())
        topology_ = communicator->connect_and_dump(met.id);
    else
        communicator->connect(met.id);
    return communicator;
}

} // namespace trainyard
