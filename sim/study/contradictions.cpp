#include "sim/study/contradictions.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

namespace trainyard {
namespace {

constexpr std::size_t most_told = 12; // as text
constexpr std::size_t fewest_neighbours = 3;
constexpr double least_distance = 0.15; // of logarithms: 16 %
constexpr double most_spreads = 3;
constexpr double normal_spread = 1.4826; // standard deviation / median absolute deviation

struct Known {
    const MeasuredRecord* record;
    std::optional<double> residual; // ln(predicted / measured)
};

auto kin_of(const MeasuredRecord& record)
{
    return std::tie(record.source.key, record.task, record.model.name, record.hardware.gpu_family);
}

auto job_of(const MeasuredRecord& record)
{
    return std::tie(record.gpus, record.precision, record.sequence_length, record.global_batch);
}

// Sizes that a table states one by one.
struct Setting {
    std::string_view name;
    std::optional<std::int64_t> value;

    bool operator==(const Setting&) const = default;
};

std::vector<Setting> settings_of(const MeasuredRecord& record)
{
    const RecordParallel& parallel = record.parallel;
    return {{"tp", parallel.tp.value_or(1)},   {"pp", parallel.pp.value_or(1)},
            {"vpp", parallel.vpp.value_or(1)}, {"cp", parallel.cp.value_or(1)},
            {"ep", parallel.ep.value_or(1)},   {"micro-batch", record.micro_batch}};
}

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// "26.02.01" as its numbers; what is no number ends it.
std::vector<int> numbers_of(std::string_view release)
{
    std::vector<int> numbers;
    while (!release.empty()) {
        int number = 0;
        const char* const last = release.data() + release.size();
        const auto [end, error] = std::from_chars(release.data(), last, number);
        if (error != std::errc())
            break;
        numbers.push_back(number);
        release.remove_prefix(static_cast<std::size_t>(end - release.data()));
        release.remove_prefix(release.starts_with('.') ? 1 : 0);
    }
    return numbers;
}

std::string error_out_of_line(const Known& one, std::span<const Known> all)
{
    if (!one.residual)
        return {};
    std::vector<double> others;
    for (const Known& other : all)
        if (other.record != one.record && other.residual &&
            kin_of(*other.record) == kin_of(*one.record))
            others.push_back(*other.residual);
    if (others.size() < fewest_neighbours)
        return {};
    const double middle = median(others);
    std::vector<double> distances;
    for (const double other : others)
        distances.push_back(std::abs(other - middle));
    const double bound = std::max(least_distance, most_spreads * normal_spread * median(distances));
    if (std::abs(*one.residual - middle) <= bound)
        return {};
    return fmt::format("its error is {:+.1f}%, that of {} others of its source, model and GPU "
                       "{:+.1f}% (median)",
                       100 * std::expm1(*one.residual), others.size(), 100 * std::expm1(middle));
}

// The records of the same job in the releases just before and after.
struct Between {
    const MeasuredRecord* before = nullptr;
    const MeasuredRecord* after = nullptr;
};

Between releases_around(const MeasuredRecord& one, std::span<const Known> all)
{
    const std::vector<int> release = numbers_of(one.source.release);
    Between out;
    for (const Known& known : all) {
        const MeasuredRecord& other = *known.record;
        if (kin_of(other) != kin_of(one) || job_of(other) != job_of(one))
            continue;
        const std::vector<int> its = numbers_of(other.source.release);
        if (its < release &&
            (out.before == nullptr || numbers_of(out.before->source.release) < its))
            out.before = &other;
        if (release < its && (out.after == nullptr || its < numbers_of(out.after->source.release)))
            out.after = &other;
    }
    return out;
}

std::string settings_out_of_line(const Known& one, std::span<const Known> all)
{
    const auto [before, after] = releases_around(*one.record, all);
    if (before == nullptr || after == nullptr)
        return {};
    const std::vector<Setting> usual = settings_of(*before);
    const std::vector<Setting> own = settings_of(*one.record);
    if (usual != settings_of(*after) || own == usual)
        return {};
    const auto text = [](const Setting& setting) {
        return setting.value ? fmt::format("{}", *setting.value) : std::string("not stated");
    };
    std::string differs;
    for (std::size_t i = 0; i < own.size(); ++i)
        if (!(own[i] == usual[i]))
            differs += fmt::format("{}{} {} (there {})", differs.empty() ? "" : ", ", own[i].name,
                                   text(own[i]), text(usual[i]));
    return fmt::format("releases {} and {} of the same job agree on its settings, this one has {}",
                       before->source.release, after->source.release, differs);
}

} // namespace

std::vector<Contradiction> contradictions(std::span<const RecordFile> files,
                                          std::span<const RecordVerdict> verdicts)
{
    std::vector<Known> all;
    for (const RecordVerdict& verdict : verdicts)
        for (const RecordFile& file : files) {
            const auto found = std::ranges::find(file.records, verdict.id, &MeasuredRecord::id);
            if (found == file.records.end())
                continue;
            const bool scored = verdict.measured && verdict.predicted;
            all.push_back(
                {&*found, scored ? std::optional(std::log1p(verdict.error())) : std::nullopt});
            break;
        }
    std::vector<Contradiction> out;
    for (const Known& one : all)
        for (std::string why : {error_out_of_line(one, all), settings_out_of_line(one, all)})
            if (!why.empty())
                out.push_back({one.record->id, std::move(why)});
    return out;
}

std::string contradictions_text(std::span<const Contradiction> found)
{
    if (found.empty())
        return "";
    std::string out =
        "\ncontradict their neighbours: look at their source (none is left out for it)\n";
    for (const Contradiction& one : found.first(std::min(found.size(), most_told)))
        out += fmt::format("    {}: {}\n", one.id, one.why);
    if (found.size() > most_told)
        out += fmt::format("    and {} more: --json has all\n", found.size() - most_told);
    return out;
}

Json to_json(std::span<const Contradiction> found)
{
    Json out = Json::array();
    for (const Contradiction& one : found)
        out.push_back(Json::Object{{"id", one.id}, {"why", one.why}});
    return out;
}

} // namespace trainyard
