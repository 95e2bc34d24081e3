#include "sim/study/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
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

// Accepted values; from NCCL's environment variable reference (2.28) and the CUDA programming
// guide.
struct Variable {
    std::string_view name;
    Effect effect = Effect::none;
    std::string_view words =
        {}; // accepted words, separated by '|'; empty: any text, or a number in range
    std::optional<std::int64_t> min = {};
    std::optional<std::int64_t> max = {};
    std::string_view note = {};
};

constexpr std::string_view switch_words = "0|1";

constexpr std::array known_variables{
    Variable{"NCCL_ALGO", Effect::path, "Ring|Tree|CollnetDirect|CollnetChain|NVLS|NVLSTree|PAT"},
    Variable{"NCCL_PROTO", Effect::path, "LL|LL128|Simple"},
    Variable{"NCCL_BUFFSIZE", Effect::path, "", 4096, std::int64_t{1} << 30},
    Variable{"NCCL_NTHREADS", Effect::path, "64|128|256|512"},
    Variable{"NCCL_MIN_NCHANNELS", Effect::path, "", 1, 64},
    Variable{"NCCL_MAX_NCHANNELS", Effect::path, "", 1, 64},
    Variable{"NCCL_MIN_CTAS", Effect::path, "", 1, 64},
    Variable{"NCCL_MAX_CTAS", Effect::path, "", 1, 64},
    Variable{"NCCL_P2P_DISABLE", Effect::path, switch_words},
    Variable{"NCCL_P2P_LEVEL", Effect::path, "LOC|NVL|PIX|PXB|PHB|SYS"},
    Variable{"NCCL_SHM_DISABLE", Effect::path, switch_words},
    Variable{"NCCL_IB_DISABLE", Effect::path, switch_words},
    Variable{"NCCL_NET_GDR_LEVEL", Effect::path, "LOC|PIX|PXB|PHB|SYS"},
    Variable{"NCCL_NVLS_ENABLE", Effect::path, "0|1|2"},
    Variable{"NCCL_COLLNET_ENABLE", Effect::path, switch_words},
    Variable{"NCCL_CROSS_NIC", Effect::path, "0|1|2"},
    Variable{"NCCL_SOCKET_NTHREADS", Effect::path, "", 1, 16},
    Variable{"NCCL_NSOCKS_PERTHREAD", Effect::path, "", 1, 16},
    Variable{"NCCL_SOCKET_IFNAME"},
    Variable{"NCCL_IB_HCA"},
    Variable{"NCCL_IB_GID_INDEX", Effect::none, "", -1, 255},
    Variable{"NCCL_IB_TC", Effect::none, "", 0, 255},
    Variable{"NCCL_IB_TIMEOUT", Effect::none, "", 1, 31},
    Variable{"NCCL_IB_RETRY_CNT", Effect::none, "", 0, 7},
    Variable{"NCCL_DEBUG", Effect::none, "VERSION|WARN|INFO|TRACE|ABORT"},
    Variable{"NCCL_DEBUG_FILE"},
    Variable{"NCCL_DEBUG_SUBSYS"},
    Variable{"NCCL_TOPO_FILE"},
    Variable{"NCCL_TOPO_DUMP_FILE"},
    Variable{"NCCL_TUNER_PLUGIN", Effect::path},
    Variable{"NCCL_NET_PLUGIN", Effect::path},
    Variable{"NCCL_TIMEOUT",
             Effect::unread,
             "",
             {},
             {},
             "NCCL has no such variable; set the timeout of init_process_group"},
    Variable{"CUDA_DEVICE_MAX_CONNECTIONS", Effect::path, "", 1, 32},
    Variable{"CUDA_VISIBLE_DEVICES"},
    Variable{"CUDA_LAUNCH_BLOCKING", Effect::path, switch_words},
    Variable{"OMP_NUM_THREADS", Effect::none, "", 1, 4096},
    Variable{"TORCH_NCCL_AVOID_RECORD_STREAMS", Effect::none, switch_words},
    Variable{"TORCH_NCCL_ASYNC_ERROR_HANDLING", Effect::none, "0|1|2|3"},
    Variable{"PYTORCH_CUDA_ALLOC_CONF"},
    Variable{"NVTE_FLASH_ATTN", Effect::path, switch_words},
    Variable{"NVTE_FUSED_ATTN", Effect::path, switch_words},
};

bool same_word(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) ==
               std::tolower(static_cast<unsigned char>(y));
    });
}

// The parts of "a|b" or "a,b".
std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos)
            return parts;
        text = text.substr(at + 1);
    }
}

// Lists are allowed ("Ring,Tree"), and so is "^" for all but these.
bool accepts_words(const Variable& variable, std::string_view value)
{
    if (value.starts_with('^'))
        value = value.substr(1);
    const std::vector<std::string_view> words = split(variable.words, '|');
    const std::vector<std::string_view> given = split(value, ',');
    return std::all_of(given.begin(), given.end(), [&](std::string_view word) {
        return std::any_of(words.begin(), words.end(),
                           [&](std::string_view w) { return same_word(w, word); });
    });
}

std::string refusal(const Variable& variable, std::string_view value)
{
    if (!variable.words.empty())
        return accepts_words(variable, value)
                   ? ""
                   : fmt::format("it takes {}", fmt::join(split(variable.words, '|'), ", "));
    if (!variable.min && !variable.max)
        return {};
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = error == std::errc() && end == value.data() + value.size();
    if (whole && number >= *variable.min && number <= *variable.max)
        return {};
    return fmt::format("it takes a whole number from {} to {}", *variable.min, *variable.max);
}

Diagnostic about(const std::string& name, std::string message, std::string hint, Severity severity)
{
    return {"", 0, "/environment/" + name, std::move(message), std::move(hint), severity};
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
        const auto* const variable =
            std::find_if(known_variables.begin(), known_variables.end(),
                         [&wanted = name](const Variable& v) { return v.name == wanted; });
        if (variable == known_variables.end()) {
            const std::string near = did_you_mean(name, names);
            problems.push_back(about(
                name, fmt::format("{} is not a variable known here; it has no effect", name),
                near.empty() ? "" : fmt::format("did you mean \"{}\"?", near), Severity::warning));
            continue;
        }
        if (std::string why = refusal(*variable, value); !why.empty())
            problems.push_back(about(name, fmt::format("{}={} is refused", name, value),
                                     std::move(why), Severity::error));
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

} // namespace trainyard
