#include "calibrate/measure/discover/pair_table.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::string class_word(const PairStudy& study, std::size_t from, std::size_t to)
{
    return from < study.classes.size() && to < study.classes[from].size() ? study.classes[from][to]
                                                                          : std::string("unknown");
}

} // namespace

std::string name_of(const PairStudy& study, int rank)
{
    const auto i = static_cast<std::size_t>(rank);
    return i < study.names.size() ? study.names[i] : fmt::format("rank {}", rank);
}

std::string arrow(const PairStudy& study, const OrderedPair& pair)
{
    return fmt::format("{} -> {}", name_of(study, pair.from), name_of(study, pair.to));
}

std::string in_gigabytes(double rate)
{
    return fmt::format("{:.3g}", rate / 1e9);
}

PairTable table_of(const PairStudy& study)
{
    PairTable out;
    std::map<std::string, std::size_t> numbers;
    std::vector<std::vector<double>> values;
    for (std::size_t from = 0; from < study.rates.size(); ++from)
        for (std::size_t to = 0; to < study.rates[from].size(); ++to) {
            const std::optional<double>& rate = study.rates[from][to];
            if (from == to || !rate || !(*rate > 0))
                continue;
            const std::string word = class_word(study, from, to);
            const std::size_t cls = numbers.emplace(word, numbers.size()).first->second;
            if (cls == values.size()) {
                values.emplace_back();
                out.classes.push_back({word, {}});
            }
            values[cls].push_back(*rate);
            const OrderedPair pair{static_cast<int>(from), static_cast<int>(to)};
            out.by_pair[pair] = out.cells.size();
            out.cells.push_back({pair, cls, *rate, {}, false});
        }
    for (std::size_t i = 0; i < values.size(); ++i)
        out.classes[i].level = level_of(values[i], study.rule);
    for (const MeasuredAgain& again : study.again)
        if (const auto found = out.by_pair.find(again.pair); found != out.by_pair.end())
            for (const double value : again.values)
                out.cells[found->second].again.push_back(value);
    for (PairCell& cell : out.cells) {
        const ClassLevel& level = out.classes[cell.cls].level;
        if (!is_slow(cell.value, level, study.rule))
            continue;
        cell.slow = std::all_of(cell.again.begin(), cell.again.end(),
                                [&](double value) { return is_slow(value, level, study.rule); });
        if (!cell.slow)
            out.recovered.push_back(
                fmt::format("{} reached {} GB/s once, {} when measured again",
                            arrow(study, cell.pair), in_gigabytes(cell.value),
                            in_gigabytes(*std::max_element(cell.again.begin(), cell.again.end()))));
    }
    return out;
}

} // namespace trainyard
