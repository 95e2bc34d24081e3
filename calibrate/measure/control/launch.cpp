#include "calibrate/measure/control/launch.h"

#include "sim/base/files.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace trainyard {
namespace {

// Names of a launcher's variables.
struct LauncherWords {
    const char* style;
    const char* rank;
    const char* ranks;
    const char* local_rank;
    const char* local_ranks;
    const char* job; // the same for all ranks of one job, different for others
};

constexpr LauncherWords launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE",
     "SLURM_JOB_ID"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_ID"},
};

constexpr int first_port = 20'000;
constexpr int ports = 10'000;

class LaunchReader {
public:
    LaunchReader(const EnvironmentVariables& variable, const LauncherWords& words)
        : variable_(variable), words_(words)
    {}

    Checked<std::optional<Launch>> read()
    {
        Launch out;
        out.style = words_.style;
        out.place.rank = number(words_.rank, 0);
        out.place.ranks = number(words_.ranks, 1);
        out.place.local_rank = number(words_.local_rank, out.place.rank);
        out.place.local_ranks = number(words_.local_ranks, out.place.ranks);
        const LaunchPlace& p = out.place;
        if (problems_.empty() && (p.ranks < 1 || p.rank < 0 || p.rank >= p.ranks ||
                                  p.local_rank < 0 || p.local_rank >= p.local_ranks))
            add(fmt::format("{}={} and {}={} contradict each other", words_.rank, p.rank,
                            words_.ranks, p.ranks),
                "");
        out.coordinator = address(p);
        if (!problems_.empty())
            return tl::unexpected(problems_);
        return out;
    }

private:
    void add(std::string message, std::string hint)
    {
        problems_.push_back({"", 0, "", std::move(message), std::move(hint), Severity::error});
    }

    // Slurm writes "4(x18)" or "4" for tasks per node.
    int number(const char* name, int otherwise)
    {
        const auto text = variable_(name);
        if (!text)
            return otherwise;
        int out = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
        if (error != std::errc{} || (end != text->data() + text->size() && *end != '('))
            add(fmt::format("{}=\"{}\" is no number", name, *text), "the launcher should set it");
        return out;
    }

    CoordinatorAddress address(const LaunchPlace& place)
    {
        CoordinatorAddress out;
        const std::string job = variable_(words_.job).value_or("");
        out.token = fmt::format("{:016x}", content_hash(fmt::format("{}/{}", job, place.ranks)));
        out.port = first_port + static_cast<int>(content_hash(out.token) % ports);
        if (variable_("MASTER_PORT"))
            out.port = number("MASTER_PORT", 0) + 1;
        if (const auto host = variable_("MASTER_ADDR"))
            out.host = *host;
        else if (place.local_ranks == place.ranks)
            out.host = "localhost";
        else
            out.host = first_host(variable_("SLURM_STEP_NODELIST")
                                      .value_or(variable_("SLURM_NODELIST").value_or("")));
        if (out.host.empty())
            add("the ranks are on several hosts and nothing says where rank 0 is",
                "set MASTER_ADDR to its host for all ranks (mpirun -x MASTER_ADDR=...)");
        return out;
    }

    const EnvironmentVariables& variable_;
    const LauncherWords& words_;
    Problems problems_;
};

} // namespace

EnvironmentVariables process_environment()
{
    return [](const std::string& name) -> std::optional<std::string> {
        const char* const value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

std::string first_host(const std::string& slurm_list)
{
    const std::size_t open = slurm_list.find_first_of("[,");
    if (open == std::string::npos || slurm_list[open] == ',')
        return slurm_list.substr(0, open);
    const std::size_t end = slurm_list.find_first_of(",-]", open + 1);
    const std::size_t close = slurm_list.find(']', open);
    std::string rest;
    if (close != std::string::npos)
        rest = slurm_list.substr(close + 1, slurm_list.find(',', close) - close - 1);
    return slurm_list.substr(0, open) + slurm_list.substr(open + 1, end - open - 1) + rest;
}

Checked<std::optional<Launch>> launch_of(const EnvironmentVariables& variable)
{
    for (const LauncherWords& words : launchers) {
        const auto ranks = variable(words.ranks);
        if (!ranks || !variable(words.rank))
            continue;
        if (*ranks == "1" && !variable("MASTER_ADDR"))
            continue; // an interactive allocation: the program starts its own ranks
        return LaunchReader(variable, words).read();
    }
    return std::optional<Launch>();
}

} // namespace trainyard
