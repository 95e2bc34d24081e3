#include "calibrate/measure/control/launch.h"

#include "calibrate/import/log_text.h"
#include "sim/base/files.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr int first_port = 20'000;
constexpr int ports = 10'000;

std::string text_of_variable(const Variables& variables, const std::string& name)
{
    return value_of(variables, name).value_or("");
}

// The same for all ranks of one job, different for others of this host where a launcher says it.
std::string job_of(const Variables& variables)
{
    for (const char* name : {"TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "PMI_JOBID"})
        if (const std::string job = text_of_variable(variables, name); !job.empty())
            return job;
    return text_of_variable(variables, "SLURM_JOB_ID") + "." +
           text_of_variable(variables, "SLURM_STEP_ID");
}

std::string host_of_rank_0(const Variables& variables, const LaunchPlace& place)
{
    if (const std::string host = text_of_variable(variables, "MASTER_ADDR"); !host.empty())
        return host;
    if (place.local_ranks == place.ranks)
        return "localhost";
    const std::string step = text_of_variable(variables, "SLURM_STEP_NODELIST");
    return first_host(step.empty() ? text_of_variable(variables, "SLURM_NODELIST") : step);
}

Problems problem(std::string message, std::string hint)
{
    return {{"environment", 0, "", std::move(message), std::move(hint), Severity::error}};
}

} // namespace

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

Checked<std::optional<JobLaunch>> job_launch(const Variables& variables)
{
    const Checked<RankLaunch> launch = launch_of(variables);
    if (!launch)
        return tl::unexpected(launch.error());
    const std::string given_port = text_of_variable(variables, "MASTER_PORT");
    const bool alone =
        launch->place.ranks == 1 && text_of_variable(variables, "MASTER_ADDR").empty();
    if (launch->style == LaunchStyle::none || alone)
        return std::optional<JobLaunch>(); // it starts its own ranks
    JobLaunch out;
    out.launch = *launch;
    out.coordinator.host = host_of_rank_0(variables, launch->place);
    if (out.coordinator.host.empty())
        return tl::unexpected(
            problem("the ranks are on several hosts and nothing says where rank 0 is",
                    "set MASTER_ADDR to its host for all ranks (mpirun -x MASTER_ADDR=...)"));
    out.coordinator.token = fmt::format(
        "{:016x}", content_hash(fmt::format("{}/{}", job_of(variables), launch->place.ranks)));
    out.coordinator.port =
        first_port + static_cast<int>(content_hash(out.coordinator.token) % ports);
    if (!given_port.empty()) {
        const auto port = integer_in(given_port);
        if (!port || *port < 1 || *port >= 65535)
            return tl::unexpected(problem(fmt::format("MASTER_PORT is \"{}\": no port", given_port),
                                          "unset it, or let the launcher set it"));
        out.coordinator.port = static_cast<int>(*port) + 1;
        out.port_is_given = true;
    }
    return std::optional(out);
}

} // namespace trainyard
