#include "calibrate/measure/discover/launch.h"

#include "calibrate/import/log_text.h"
#include "calibrate/import/nccl_context.h"
#include "calibrate/import/notes.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace trainyard {
namespace {

// The names under which a launcher tells the place.
struct Names {
    LaunchStyle style;
    const char* rank;
    const char* ranks;
    const char* local_rank;
    const char* local_ranks;
    const char* also; // has to be set too; empty: nothing
};

constexpr std::array<Names, 5> launchers{{
    {LaunchStyle::torchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", ""},
    {LaunchStyle::open_mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", ""},
    {LaunchStyle::pmi, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", ""},
    {LaunchStyle::pmi, "PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE", "PMIX_SIZE"},
    // SLURM_STEP_ID is set by srun only, the others in batch scripts too.
    {LaunchStyle::slurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", "SLURM_STEP_ID"},
}};

class PlaceReader {
public:
    PlaceReader(const Variables& variables, const Names& names)
        : variables_(variables), names_(names)
    {}

    Checked<RankLaunch> read()
    {
        RankLaunch out{names_.style, {}};
        out.place.rank = number(names_.rank, true);
        out.place.ranks = number(names_.ranks, true);
        out.place.local_rank = number(names_.local_rank, false);
        out.place.local_ranks = local_ranks(out.place);
        if (problems_.empty()) {
            require_below(names_.rank, out.place.rank, names_.ranks, out.place.ranks);
            require_below(names_.local_rank, out.place.local_rank,
                          "the number of ranks of this host", out.place.local_ranks);
        }
        if (has_errors(problems_))
            return tl::make_unexpected(std::move(problems_));
        return out;
    }

private:
    void problem(std::string message)
    {
        problems_.push_back({"environment", 0, "", std::move(message),
                             "unset it, or start through the launcher that sets all of them",
                             Severity::error});
    }

    int number(const std::string& name, bool required)
    {
        const auto text = value_of(variables_, name);
        if (!text) {
            if (required)
                problem(fmt::format("{} is set, {} is not",
                                    name == names_.rank ? names_.ranks : names_.rank, name));
            return 0;
        }
        const auto value = integer_in(*text);
        if (!value || *value < 0 || *value > 10'000'000) {
            problem(fmt::format("{} is \"{}\": no number of ranks", name, printable(*text, 30)));
            return 0;
        }
        return static_cast<int>(*value);
    }

    int local_ranks(const LaunchPlace& place)
    {
        if (const std::string name = names_.local_ranks; !name.empty() && variables_.contains(name))
            return number(name, false);
        // "4(x2)" of SLURM_STEP_TASKS_PER_NODE: this host's where all have as many.
        const auto tasks = names_.style == LaunchStyle::slurm
                               ? value_of(variables_, "SLURM_STEP_TASKS_PER_NODE")
                               : std::nullopt;
        const auto each = tasks && tasks->find(',') == std::string::npos ? integer_after(*tasks, "")
                                                                         : std::nullopt;
        return each && *each > 0 && *each <= place.ranks ? static_cast<int>(*each)
                                                         : place.local_rank + 1;
    }

    void require_below(const char* name, int value, const char* limit_name, int limit)
    {
        if (value >= limit)
            problem(fmt::format("{} is {}, but {} is {}", name, value, limit_name, limit));
    }

    const Variables& variables_;
    const Names& names_;
    Problems problems_;
};

bool is_secret(std::string_view name)
{
    static constexpr std::array<std::string_view, 7> words{
        "KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "COMM_ID", "AUTH"};
    return std::any_of(words.begin(), words.end(),
                       [name](std::string_view word) { return name.find(word) != name.npos; });
}

bool changes_ways(std::string_view name)
{
    static constexpr std::array<std::string_view, 9> open_mpi{"btl",
                                                              "pml",
                                                              "mtl",
                                                              "coll",
                                                              "osc",
                                                              "mpi_leave_pinned",
                                                              "opal_cuda",
                                                              "hwloc_base_binding",
                                                              "rmaps_base_mapping"};
    static constexpr std::array<std::string_view, 6> cuda{
        "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
        "CUDA_LAUNCH_BLOCKING",        "CUDA_MODULE_LOADING",  "NVIDIA_TF32_OVERRIDE"};
    if (changes_paths(name) || name.starts_with("GLOO_"))
        return true;
    if (std::find(cuda.begin(), cuda.end(), name) != cuda.end())
        return true;
    constexpr std::string_view prefix = "OMPI_MCA_";
    return name.starts_with(prefix) &&
           std::any_of(open_mpi.begin(), open_mpi.end(), [&](std::string_view word) {
               return name.substr(prefix.size()).starts_with(word);
           });
}

// Addresses ("10.0.0.1", "fe80::1"), URLs, files of a user, and lists of hosts.
bool is_private(const std::string& name, const std::string& value)
{
    if (name.find("HOST") != std::string::npos || name.find("ADDR") != std::string::npos ||
        value.find("://") != std::string::npos || value.find('@') != std::string::npos ||
        value.find('/') != std::string::npos || value.size() > 200)
        return true;
    const auto digit = [](char letter) {
        return std::isdigit(static_cast<unsigned char>(letter)) != 0;
    };
    int dots = 0;
    int colons = 0;
    for (std::size_t i = 1; i + 1 < value.size(); ++i) {
        dots += value[i] == '.' && digit(value[i - 1]) && digit(value[i + 1]) ? 1 : 0;
        colons += value[i] == ':' && value[i + 1] == ':' ? 1 : 0;
    }
    return dots >= 3 || colons > 0;
}

} // namespace

template <>
std::vector<EnumName<LaunchStyle>> enum_names<LaunchStyle>()
{
    return {{LaunchStyle::none, "none"},
            {LaunchStyle::torchrun, "torchrun"},
            {LaunchStyle::open_mpi, "Open MPI"},
            {LaunchStyle::pmi, "PMI"},
            {LaunchStyle::slurm, "Slurm"}};
}

Variables own_variables()
{
    Variables out;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        const std::string_view entry = *at;
        const std::size_t equals = entry.find('=');
        if (equals != entry.npos)
            out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return out;
}

std::optional<std::string> value_of(const Variables& variables, const std::string& name)
{
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
}

Checked<RankLaunch> launch_of(const Variables& variables)
{
    for (const Names& names : launchers) {
        const std::string also = names.also;
        if (!also.empty() && !variables.contains(also))
            continue;
        const bool rank = variables.contains(names.rank);
        const bool ranks = variables.contains(names.ranks);
        // RANK or WORLD_SIZE alone are words that others use too.
        if (names.style == LaunchStyle::torchrun ? rank && ranks : rank || (ranks && also.empty()))
            return PlaceReader(variables, names).read();
    }
    return RankLaunch{};
}

Variables path_variables(const Variables& variables)
{
    Variables out;
    for (const auto& [name, value] : variables)
        if (name.size() <= 100 && changes_ways(name) && !is_secret(name))
            out[printable(name, 100)] =
                is_private(name, value) ? std::string(value_left_out) : printable(value, 200);
    return out;
}

} // namespace trainyard
