#include "sim/study/environment.h"

#include "sim/base/words.h"
#include "sim/cost/algorithms/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace trainyard {
namespace {

// What setting a variable does to the time of a step.
enum class Effect : std::uint8_t {
    none,  // logging, choice of interface or file: same time when it is set right
    path,  // another algorithm, protocol or way: the prediction does not follow it
    unread // no library reads it
};

// What the library does with a value that it does not accept.
enum class Misfit : std::uint8_t {
    replaced, // goes on with its default or the nearest value it takes, with a warning at most
    refused   // ends the job
};

// Accepted values; from NCCL's environment variable reference (2.28), its sources where that says
// nothing of other values (graph/paths.cc, graph/tuning.cc, misc/param.cc), and the CUDA
// programming guide.
struct Variable {
    std::string_view name;
    Effect effect = Effect::none;
    std::string_view words =
        {}; // accepted words, separated by '|'; empty: any text, or a number in range
    std::optional<std::int64_t> min = {};
    std::optional<std::int64_t> max = {};
    std::string_view note = {};
    Misfit misfit = Misfit::replaced;
    bool by_collective = false; // also as "ring;allreduce:tree" (graph/tuning.cc since 2.24)
};

constexpr std::string_view switch_words = "0|1";

// Distances, and the numbers that stood for them in NCCL before 2.5, which it reads still.
constexpr std::string_view level_words = "LOC|NVL|NVB|C2C|PIX|PXB|P2C|PXN|PHB|SYS|0|1|2|3|4|5";

const std::string algorithm_words = [] {
    std::string words;
    for (const auto& [word, algorithm] : nccl_algorithm_words())
        words += (words.empty() ? "" : "|") + std::string(word);
    return words;
}();

constexpr Variable verbs_number(std::string_view name, std::int64_t min, std::int64_t max)
{
    return {.name = name, .min = min, .max = max, .misfit = Misfit::refused};
}

// PyTorch throws at other values.
constexpr Variable torch_words(std::string_view name, std::string_view words)
{
    return {.name = name, .words = words, .misfit = Misfit::refused};
}

const std::array known_variables{
    Variable{.name = "NCCL_ALGO",
             .effect = Effect::path,
             .words = algorithm_words,
             .misfit = Misfit::refused, // invalid usage since 2.24
             .by_collective = true},
    Variable{.name = "NCCL_PROTO",
             .effect = Effect::path,
             .words = "LL|LL128|Simple",
             .misfit = Misfit::refused,
             .by_collective = true},
    Variable{"NCCL_BUFFSIZE", Effect::path, "", 4096, std::int64_t{1} << 30},
    Variable{"NCCL_NTHREADS", Effect::path, "64|128|256|512"},
    Variable{"NCCL_MIN_NCHANNELS", Effect::path, "", 1, 64},
    Variable{"NCCL_MAX_NCHANNELS", Effect::path, "", 1, 64},
    Variable{"NCCL_MIN_CTAS", Effect::path, "", 1, 64},
    Variable{"NCCL_MAX_CTAS", Effect::path, "", 1, 64},
    Variable{"NCCL_P2P_DISABLE", Effect::path, switch_words},
    Variable{"NCCL_P2P_LEVEL", Effect::path, level_words},
    Variable{"NCCL_SHM_DISABLE", Effect::path, switch_words},
    Variable{"NCCL_IB_DISABLE", Effect::path, switch_words},
    Variable{"NCCL_NET_GDR_LEVEL", Effect::path, level_words},
    Variable{"NCCL_NVLS_ENABLE", Effect::path, "0|1|2"},
    Variable{"NCCL_COLLNET_ENABLE", Effect::path, switch_words},
    Variable{"NCCL_CROSS_NIC", Effect::path, "0|1|2"},
    Variable{"NCCL_SOCKET_NTHREADS", Effect::path, "", 1, 16},
    Variable{"NCCL_NSOCKS_PERTHREAD", Effect::path, "", 1, 16},
    Variable{"NCCL_SOCKET_IFNAME"},
    Variable{"NCCL_IB_HCA"},
    // These go to the verbs as they are, which refuse a queue pair with others.
    verbs_number("NCCL_IB_GID_INDEX", -1, 255),
    verbs_number("NCCL_IB_TC", 0, 255),
    verbs_number("NCCL_IB_TIMEOUT", 1, 31),
    verbs_number("NCCL_IB_RETRY_CNT", 0, 7),
    Variable{"NCCL_DEBUG", Effect::none, "VERSION|WARN|INFO|TRACE|ABORT"},
    Variable{"NCCL_DEBUG_FILE"},
    Variable{"NCCL_DEBUG_SUBSYS"},
    Variable{"NCCL_TOPO_FILE"},
    Variable{"NCCL_TOPO_DUMP_FILE"},
    Variable{"NCCL_TUNER_PLUGIN", Effect::path},
    Variable{"NCCL_NET_PLUGIN", Effect::path},
    Variable{.name = "NCCL_TIMEOUT",
             .effect = Effect::unread,
             .note = "NCCL has no such variable; set the timeout of init_process_group"},
    Variable{"CUDA_DEVICE_MAX_CONNECTIONS", Effect::path, "", 1, 32},
    Variable{"CUDA_VISIBLE_DEVICES"},
    Variable{"CUDA_LAUNCH_BLOCKING", Effect::path, switch_words},
    Variable{"OMP_NUM_THREADS", Effect::none, "", 1, 4096},
    torch_words("TORCH_NCCL_AVOID_RECORD_STREAMS", switch_words),
    torch_words("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0|1|2|3"),
    Variable{"PYTORCH_CUDA_ALLOC_CONF"},
    Variable{"NVTE_FLASH_ATTN", Effect::path, switch_words},
    Variable{"NVTE_FUSED_ATTN", Effect::path, switch_words},
};

// Lists are allowed ("Ring,Tree"), and so is "^" for all but these.
bool accepts_list(const Variable& variable, std::string_view list)
{
    if (list.starts_with('^'))
        list = list.substr(1);
    const std::vector<std::string_view> words = split(variable.words, '|');
    return std::ranges::all_of(split(list, ','), [&](std::string_view word) {
        return std::ranges::any_of(words,
                                   [&](std::string_view w) { return same_letters(w, word); });
    });
}

bool accepts_words(const Variable& variable, std::string_view value)
{
    if (!variable.by_collective)
        return accepts_list(variable, value);
    constexpr std::string_view collectives = "broadcast|reduce|allgather|reducescatter|allreduce";
    return std::ranges::all_of(split(value, ';'), [&](std::string_view part) {
        const std::size_t colon = part.find(':');
        const bool known =
            colon == std::string_view::npos ||
            std::ranges::any_of(split(collectives, '|'), [&](std::string_view collective) {
                return same_letters(collective, part.substr(0, colon));
            });
        return known && accepts_list(variable, part.substr(colon + 1));
    });
}

// What the variable takes, of a value that is not that; else empty.
std::string misfit_of(const Variable& variable, std::string_view value)
{
    if (!variable.words.empty())
        return accepts_words(variable, value)
                   ? ""
                   : fmt::format("it takes {}", fmt::join(split(variable.words, '|'), ", "));
    if (!variable.min && !variable.max)
        return {};
    const auto number = to_number<std::int64_t>(value);
    if (number && *number >= *variable.min && *number <= *variable.max)
        return {};
    return fmt::format("it takes a whole number from {} to {}", *variable.min, *variable.max);
}

const Variable* find_variable(std::string_view name)
{
    const auto* const found = std::ranges::find(known_variables, name, &Variable::name);
    return found == known_variables.end() ? nullptr : found;
}

Diagnostic about(const std::string& name, std::string message, std::string hint, Severity severity)
{
    return {"", 0, "/environment/" + name, std::move(message), std::move(hint), severity};
}

Diagnostic about_misfit(const Variable& variable, std::string_view value, std::string why)
{
    const bool refused = variable.misfit == Misfit::refused;
    return about(std::string(variable.name),
                 fmt::format("{}={} is {}", variable.name, value,
                             refused ? "refused" : "not accepted; the prediction leaves it out"),
                 std::move(why), refused ? Severity::error : Severity::warning);
}

} // namespace

Problems check_environment(const std::map<std::string, std::string>& environment,
                           const std::set<std::string>& followed)
{
    std::vector<std::string> names;
    for (const Variable& variable : known_variables)
        names.emplace_back(variable.name);
    Problems problems;
    for (const auto& [name, value] : environment) {
        const Variable* const variable = find_variable(name);
        if (variable == nullptr) {
            const std::string near = did_you_mean(name, names);
            problems.push_back(about(
                name, fmt::format("{} is not a variable known here; it has no effect", name),
                near.empty() ? "" : fmt::format("did you mean \"{}\"?", near), Severity::warning));
            continue;
        }
        if (std::string why = misfit_of(*variable, value); !why.empty())
            problems.push_back(about_misfit(*variable, value, std::move(why)));
        else if (variable->effect == Effect::unread)
            problems.push_back(about(name, fmt::format("nothing reads {}", name),
                                     std::string(variable->note), Severity::warning));
        else if (variable->effect == Effect::path && !followed.contains(name))
            problems.push_back(about(
                name,
                fmt::format(
                    "{} changes how data move on a real cluster; the prediction does not follow it",
                    name),
                "", Severity::warning));
    }
    return problems;
}

bool is_read(std::string_view name)
{
    const Variable* const variable = find_variable(name);
    return variable != nullptr && variable->effect != Effect::unread;
}

bool is_accepted(std::string_view name, std::string_view value)
{
    const Variable* const variable = find_variable(name);
    return variable != nullptr && misfit_of(*variable, value).empty();
}

} // namespace trainyard
