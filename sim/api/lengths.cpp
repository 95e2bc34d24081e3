#include "sim/api/lengths.h"

#include "sim/base/words.h"

#include <fmt/core.h>

#include <optional>
#include <random>
#include <string>

namespace trainyard {
namespace {

// As many as a job's micro-batches, or more: after those they come again.
constexpr std::size_t lengths_drawn = 4096;

std::optional<std::int64_t> positive(std::string_view text)
{
    const auto value = to_number<std::int64_t>(text);
    return value && *value >= 1 ? value : std::nullopt;
}

tl::unexpected<Problems> refused(std::string_view text)
{
    return rejected("", fmt::format("\"{}\" gives no lengths", text),
                    "tokens per sequence as in 2048,512,4096, or uniform:512:4096:7 with a seed");
}

// Numbers of std::mt19937 are the same everywhere; those of distributions are not.
Checked<std::vector<double>> uniform(std::string_view text, double whole)
{
    const auto parts = split(text, ':');
    if (parts.size() != 4)
        return refused(text);
    const auto least = positive(parts[1]);
    const auto most = positive(parts[2]);
    const auto seed = positive(parts[3]);
    if (!least || !most || !seed || *most < *least)
        return refused(text);
    std::mt19937 random(static_cast<std::uint32_t>(*seed));
    std::vector<double> lengths;
    for (std::size_t i = 0; i < lengths_drawn; ++i) {
        const double share = static_cast<double>(random()) / 4294967296.0; // 2^32
        const auto tokens =
            *least + static_cast<std::int64_t>(share * static_cast<double>(*most - *least + 1));
        lengths.push_back(static_cast<double>(tokens) / whole);
    }
    return lengths;
}

} // namespace

Checked<std::vector<double>> parse_lengths(std::string_view text, std::int64_t whole)
{
    if (text.starts_with("uniform:"))
        return uniform(text, static_cast<double>(whole));
    std::vector<double> lengths;
    for (const std::string_view part : split(text, ',')) {
        const auto tokens = positive(part);
        if (!tokens)
            return refused(text);
        lengths.push_back(static_cast<double>(*tokens) / static_cast<double>(whole));
    }
    return lengths;
}

} // namespace trainyard
