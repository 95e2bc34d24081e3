#include "calibrate/measure/output/result_rows.h"

#include "calibrate/measure/output/measured_values.h"
#include "sim/base/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace trainyard {
namespace {

// What a kernel reaches: FLOP/s of products, bytes per second of what moves bytes.
std::string reached(const LocalWork& local, double seconds)
{
    if (local.kind == LocalKind::gemm)
        return to_display(FlopRate(2.0 * static_cast<double>(local.m) *
                                   static_cast<double>(local.n) * static_cast<double>(local.k) *
                                   static_cast<double>(local.batch) / seconds));
    if (local.size > Bytes(0))
        return to_display(Bandwidth(static_cast<double>(local.size.value()) / seconds));
    return "";
}

// "one to all", "all to one", "shifted by 2"; empty: another pattern.
std::string pattern_of(const std::vector<PairMessage>& messages)
{
    const PairMessage& first = messages.front();
    const auto all = [&](auto has) { return std::all_of(messages.begin(), messages.end(), has); };
    if (all([&](const PairMessage& message) { return message.from == first.from; }))
        return "one to all";
    if (all([&](const PairMessage& message) { return message.to == first.to; }))
        return "all to one";
    const int ranks = static_cast<int>(messages.size());
    const int shift = first.to - first.from;
    if (all([&](const PairMessage& message) {
            return message.to == (message.from + shift) % ranks;
        }))
        return fmt::format("all at once to the rank {} further", shift);
    return "";
}

bool is_pair(const ExchangeWork& exchange)
{
    const std::vector<PairMessage>& all = exchange.messages;
    return all.size() == 1 || (all.size() == 2 && all[0] == PairMessage{all[1].to, all[1].from});
}

std::optional<ResultRow> row_of(const WorkTime& time)
{
    const double seconds = time.seconds.value;
    ResultRow out{describe(time.work), Seconds(seconds), ""};
    const auto ranks = time.group.members.size();
    if (const auto* const local = std::get_if<LocalWork>(&time.work)) {
        out.reached = reached(*local, seconds);
        return out;
    }
    if (std::holds_alternative<BesideWork>(time.work))
        return out;
    if (const auto* const collective = std::get_if<CollectiveWork>(&time.work);
        collective != nullptr && collective->collective == CollectiveKind::barrier)
    {
        out.what = fmt::format("barrier among {} ranks ({})", ranks, time.group.name);
        return out;
    }
    if (const auto* const exchange = std::get_if<ExchangeWork>(&time.work);
        exchange != nullptr && !is_pair(*exchange))
    {
        if (const std::string pattern = pattern_of(exchange->messages); !pattern.empty())
            out.what = fmt::format("{}, {}", out.what, pattern);
        const double bytes =
            static_cast<double>(exchange->messages.size() * exchange->size.value());
        out.reached = to_display(Bandwidth(bytes / seconds));
        return out;
    }
    return std::nullopt;
}

// Kernels, what was timed beside something, the rest.
int section_of(const TimedWork& work)
{
    return std::holds_alternative<LocalWork>(work)    ? 0
           : std::holds_alternative<BesideWork>(work) ? 1
                                                      : 2;
}

bool comes_before(const WorkTime& a, const WorkTime& b)
{
    const auto* const one = std::get_if<LocalWork>(&a.work);
    const auto* const other = std::get_if<LocalWork>(&b.work);
    if (one == nullptr || other == nullptr)
        return section_of(a.work) < section_of(b.work);
    return std::tie(one->kind, one->type, one->m, one->n, one->k, one->size) <
           std::tie(other->kind, other->type, other->m, other->n, other->k, other->size);
}

} // namespace

std::vector<ResultRow> result_rows(const MeasuredRun& run)
{
    std::vector<WorkTime> times = work_times(run);
    std::stable_sort(times.begin(), times.end(), comes_before);
    std::vector<ResultRow> out;
    for (const WorkTime& time : times)
        if (std::optional<ResultRow> row = row_of(time))
            out.push_back(std::move(*row));
    return out;
}

std::string text_of(const std::vector<ResultRow>& rows)
{
    std::size_t width = 0;
    for (const ResultRow& row : rows)
        width = std::max(width, row.what.size());
    std::string out;
    for (const ResultRow& row : rows)
        out += fmt::format("{:<{}}  {:>9}{}\n", row.what, width, to_display(row.time),
                           row.reached.empty() ? "" : fmt::format("  {:>13}", row.reached));
    return out;
}

std::string text_of(const PairMatrix& matrix)
{
    constexpr std::size_t most = 16;
    if (matrix.values.size() > most)
        return describe(matrix) + "\n";
    const bool rates = matrix.quantity == PairQuantity::bandwidth;
    std::string out = fmt::format("{}, {}\nfrom \\ to", matrix.title, rates ? "GB/s" : "us");
    for (std::size_t to = 0; to < matrix.values.size(); ++to)
        out += fmt::format("{:>9}", to);
    out += "\n";
    for (std::size_t from = 0; from < matrix.values.size(); ++from) {
        out += fmt::format("{:>9}", from);
        for (const std::optional<double>& value : matrix.values[from])
            out += value ? fmt::format("{:>9.4g}", rates ? *value / 1e9 : *value * 1e6)
                         : fmt::format("{:>9}", "-");
        out += "\n";
    }
    return out;
}

} // namespace trainyard
