#include "sim/study/training/training_values.h"

#include "sim/base/words.h"
#include "sim/study/record_words.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::string_view thousands = "kMBT"; // a factor of 1,000 each

auto wrong(std::string message, std::string hint)
{
    return tl::unexpected(UnitError{std::move(message), std::move(hint)});
}

// The number that `text` begins with, and what follows.
struct Leading {
    double number = 0;
    std::string_view rest;
};

std::optional<Leading> leading_number(std::string_view text)
{
    Leading out;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out.number);
    if (error != std::errc() || !std::isfinite(out.number))
        return std::nullopt;
    out.rest = trimmed(text.substr(static_cast<std::size_t>(rest - text.data())));
    return out;
}

// Takes "/gpu", "/node" or the like off the end; nothing when another word stands there.
std::optional<bool> of_node(std::string_view owner)
{
    const std::string word = lower_case(trimmed(owner));
    if (word == "node" || word == "host")
        return true;
    if (word == "gpu" || word == "device")
        return false;
    return std::nullopt;
}

} // namespace

Parsed<double> parse_count(std::string_view text)
{
    const auto leading = leading_number(trimmed(text));
    const std::string example = "write a number and k, M, B or T, as in \"2T\" or \"500B\"";
    if (!leading)
        return wrong(fmt::format("\"{}\" is not a number of tokens", text), example);
    if (leading->number <= 0)
        return wrong(fmt::format("\"{}\" is not more than zero", text), example);
    if (leading->rest.empty())
        return leading->number;
    const std::size_t at = thousands.find(leading->rest == "G" ? 'B' : leading->rest.front());
    if (leading->rest.size() > 1 || at == std::string_view::npos)
        return wrong(fmt::format("\"{}\" is not a unit of numbers of tokens", leading->rest),
                     example);
    return leading->number * std::pow(1000.0, static_cast<double>(at + 1));
}

Parsed<FailureInterval> parse_failure_interval(std::string_view text)
{
    const std::string example = "as in \"50000h/gpu\" or \"2000h/node\"";
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos)
        return wrong(fmt::format("\"{}\" does not say of what: of a GPU or of a node", text),
                     example);
    const std::optional<bool> node = of_node(text.substr(slash + 1));
    if (!node)
        return wrong(fmt::format("\"{}\" fails neither as a GPU nor as a node",
                                 trimmed(text.substr(slash + 1))),
                     example);
    const Parsed<Seconds> mean = parse_seconds(text.substr(0, slash));
    if (!mean)
        return tl::unexpected(mean.error());
    if (mean->value() < 1)
        return wrong(fmt::format("\"{}\": nothing fails every second", text), example);
    return FailureInterval{*mean, *node};
}

Parsed<HourlyPrice> parse_hourly_price(std::string_view text)
{
    const std::string example = "as in \"h100=2.5/h\", \"2.5/h\" or \"20/h/node\"";
    HourlyPrice out;
    std::string_view rest = trimmed(text);
    if (const std::size_t equals = rest.find('='); equals != std::string_view::npos) {
        out.device = trimmed(rest.substr(0, equals));
        rest = trimmed(rest.substr(equals + 1));
    }
    if (!rest.empty() && rest.front() == '$')
        rest.remove_prefix(1);
    const auto leading = leading_number(rest);
    if (!leading || leading->number < 0)
        return wrong(fmt::format("\"{}\" is not a price", text), example);
    out.price = leading->number;
    std::string_view per = leading->rest;
    bool of_hour = false;
    while (!per.empty()) {
        if (per.front() != '/')
            return wrong(fmt::format("\"{}\" is not what a price is for", per), example);
        const std::string_view word = trimmed(per.substr(1, per.find('/', 1) - 1));
        per.remove_prefix(std::min(per.size(), per.find('/', 1)));
        if (word == "h" || word == "hour") {
            of_hour = true;
            continue;
        }
        const std::optional<bool> node = of_node(word);
        if (!node)
            return wrong(fmt::format("a price per \"{}\" is not known", word), example);
        out.of_node = *node;
    }
    if (!of_hour)
        return wrong(fmt::format("\"{}\" does not say that it is of an hour", text), example);
    return out;
}

void set(FailureModel& failures, const FailureInterval& interval)
{
    failures.mtbf_per_node.reset();
    failures.mtbf_per_gpu.reset();
    (interval.of_node ? failures.mtbf_per_node : failures.mtbf_per_gpu) = interval.mean;
}

void set(PriceModel& prices, const HourlyPrice& price)
{
    prices.node_hour.reset();
    prices.gpu_hour.reset();
    (price.of_node ? prices.node_hour : prices.gpu_hour) = price.price;
}

} // namespace trainyard
