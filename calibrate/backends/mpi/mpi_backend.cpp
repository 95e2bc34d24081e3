#include "calibrate/backends/host/host_facts.h"
#include "calibrate/backends/mpi/mpi_communicator.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// MPI from its start to its end, once per process.
class MpiRun {
public:
    MpiRun()
    {
        int begun = 0;
        MPI_Initialized(&begun);
        if (begun != 0)
            throw MeasureFailure{FailureKind::refused,
                                 "MPI has already been started in this process",
                                 "open the back end once"};
        int provided = MPI_THREAD_SINGLE;
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
                  "MPI_Init_thread");
        threads_ = provided;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    MpiRun(const MpiRun&) = delete;
    MpiRun& operator=(const MpiRun&) = delete;
    ~MpiRun() { MPI_Finalize(); }

    int threads() const { return threads_; }

private:
    int threads_ = MPI_THREAD_SINGLE;
};

// All ranks, in the order of the launcher's numbers.
MPI_Comm everyone(const LaunchPlace& place)
{
    int size = 0;
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    if (size != place.ranks)
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("MPI sees {} of {} processes", size, place.ranks),
                             "start them with this MPI's own mpirun, or with srun --mpi=pmix"};
    MPI_Comm all = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(MPI_COMM_WORLD, 0, place.rank, &all), "MPI_Comm_split");
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    return all;
}

// "Open MPI v4.1.4, package: ...": the first of it.
std::string library_version()
{
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string whole = text.data();
    return whole.substr(0, whole.find_first_of(",\n"));
}

std::string cannot_collect(const CollectiveWork& work)
{
    if (work.collective == CollectiveKind::send_receive)
        return "send and receive is an exchange, not a collective";
    return work.type == ElementType::float8_e4m3 ? "MPI does not know float8_e4m3" : "";
}

class MpiBackend final : public RankBackend {
public:
    explicit MpiBackend(const LaunchPlace& place)
        : place_(place),
          cpu_(read_cpu_facts()),
          types_(std::make_shared<MpiTypes>()),
          all_(everyone(place))
    {}

    ~MpiBackend() override { MPI_Comm_free(&all_); }

    BackendFacts facts() const override
    {
        BackendFacts facts = host_facts(cpu_, place_);
        facts.name = "mpi";
        facts.version = library_version();
        return facts;
    }

    std::string cannot(const TimedWork& work) const override
    {
        if (const auto* collective = std::get_if<CollectiveWork>(&work))
            return cannot_collect(*collective);
        if (const auto* local = std::get_if<LocalWork>(&work))
            return cannot_run_on_cpu(*local);
        if (const auto* beside = std::get_if<BesideWork>(&work)) {
            if (run_.threads() < MPI_THREAD_FUNNELED)
                return "this MPI does not bear a second thread beside it";
            const std::string why = cannot_collect(beside->collective);
            return why.empty() ? cannot_run_on_cpu(beside->local) : why;
        }
        return "";
    }

    std::unique_ptr<Communicator> join(const GroupSpec& group, Rendezvous& /*rendezvous*/) override
    {
        if (group.algorithm != "auto" || group.protocol != "auto")
            throw MeasureFailure{FailureKind::refused,
                                 "MPI chooses algorithms for a whole run, not for a group",
                                 "set them where it is started (Open MPI: --mca coll_tuned_...)"};
        if (std::ranges::find(group.members, place_.rank) == group.members.end())
            throw MeasureFailure{FailureKind::refused, "this rank is no member of the group", ""};
        MPI_Group everybody = MPI_GROUP_NULL;
        MPI_Group members = MPI_GROUP_NULL;
        MPI_Comm joined = MPI_COMM_NULL;
        check_mpi(MPI_Comm_group(all_, &everybody), "MPI_Comm_group");
        check_mpi(MPI_Group_incl(everybody, static_cast<int>(group.members.size()),
                                 group.members.data(), &members),
                  "MPI_Group_incl");
        check_mpi(MPI_Comm_create_group(all_, members, 0, &joined), "MPI_Comm_create_group");
        MPI_Group_free(&members);
        MPI_Group_free(&everybody);
        return std::make_unique<MpiCommunicator>(
            joined, types_,
            MemoryLimits{.last_cache = cpu_.last_cache, .sharers = place_.local_ranks});
    }

private:
    MpiRun run_; // first: the others need MPI
    LaunchPlace place_;
    CpuFacts cpu_;
    std::shared_ptr<const MpiTypes> types_;
    MPI_Comm all_ = MPI_COMM_NULL;
};

} // namespace
} // namespace trainyard

extern "C" [[gnu::visibility("default")]] std::unique_ptr<trainyard::RankBackend>
trainyard_open_backend(const trainyard::LaunchPlace& place)
{
    return std::make_unique<trainyard::MpiBackend>(place);
}
