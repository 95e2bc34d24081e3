#include "sim/api/saved_sweep.h"

#include "sim/api/saved_sweep_parts.h"
#include "sim/base/files.h"
#include "sim/study/inputs.h"
#include "sim/study/store/store_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_bytes = std::size_t{1} << 30;
// A million points of the window's, or of the command line with eight fields: two gigabytes.
constexpr JsonLimits sweep_limits{.max_bytes = most_bytes, .max_values = 30'000'000};

std::string head_of(const std::string& file)
{
    constexpr std::size_t enough = std::size_t{1} << 16;
    std::string text(enough, '\0');
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
        return {};
    std::ifstream in(file, std::ios::binary);
    in.read(text.data(), static_cast<std::streamsize>(enough));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return text;
}

// The format stands first in what is written here; a file that another program has put in another
// order is known once it is read whole.
bool begins_as_sweep_json(std::string_view text)
{
    constexpr std::size_t near_the_top = 4096;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{' &&
           text.substr(0, near_the_top).find(fmt::format("\"{}\"", sweep_format)) !=
               std::string_view::npos;
}

// "scenarios/mine.json" as it was named: from here, else from where the file lies.
std::optional<std::string> named_scenario(const SavedSweep& saved)
{
    const fs::path named(saved.title.scenario);
    if (named.empty())
        return {};
    std::error_code ignored;
    const fs::path folder = fs::absolute(fs::path(saved.file), ignored).parent_path();
    for (const fs::path& path : {named, folder / named, folder / named.filename()})
        if (fs::is_regular_file(path, ignored))
            return fs::absolute(path, ignored).string();
    return {};
}

} // namespace

PointRow unknown_row()
{
    PointRow row;
    row.step_time.value = row.step_time.low = row.step_time.high = Seconds(nan);
    row.mfu = row.communication_exposed_fraction = row.bubble_share = nan;
    return row;
}

void set_figure(PointRow& row, std::string_view key, double value)
{
    const auto bytes = [&] {
        return Bytes(value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0);
    };
    if (key == "gpus")
        row.gpus = value >= 0 && value < 1e9 ? static_cast<int>(value) : 0;
    else if (key == "step_time_s")
        row.step_time.value = Seconds(value);
    else if (key == "step_time_low_s")
        row.step_time.low = Seconds(value);
    else if (key == "step_time_high_s")
        row.step_time.high = Seconds(value);
    else if (key == "tokens_per_s")
        row.tokens_per_s = value;
    else if (key == "samples_per_s")
        row.samples_per_s = value;
    // Of devices that are known: `gpus` comes before them.
    else if (key == "tokens_per_s_per_gpu")
        row.tokens_per_s = value * row.gpus;
    else if (key == "samples_per_s_per_gpu")
        row.samples_per_s = value * row.gpus;
    else if (key == "mfu")
        row.mfu = value;
    else if (key == "communication_exposed_fraction")
        row.communication_exposed_fraction = value;
    else if (key == "bubble_share")
        row.bubble_share = value;
    else if (key == "peak_memory_bytes")
        row.peak_memory = bytes();
    else if (key == "device_memory_bytes")
        row.capacity = bytes();
}

GridOfValues::GridOfValues(std::vector<std::string> fields) : places_(fields.size())
{
    for (std::string& field : fields)
        axes_.push_back({std::move(field), {}});
}

void GridOfValues::add(const std::vector<std::string>& values)
{
    for (std::size_t axis = 0; axis < axes_.size(); ++axis)
        if (places_[axis].try_emplace(values[axis], axes_[axis].values.size()).second)
            axes_[axis].values.push_back(values[axis]);
}

std::optional<SweepGrid> GridOfValues::grid()
{
    std::size_t points = 1;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        std::vector<std::string>& values = axes_[axis].values;
        const auto number = [](const std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            return end != text.c_str() && *end == '\0' ? value : nan;
        };
        // Numbers in their order, words behind them as they came.
        std::ranges::stable_sort(values, {}, [&](const std::string& text) {
            const double value = number(text);
            return std::pair(std::isnan(value), std::isnan(value) ? 0.0 : value);
        });
        for (std::size_t place = 0; place < values.size(); ++place)
            places_[axis][values[place]] = place;
        if (values.empty() || points > std::numeric_limits<std::size_t>::max() / values.size() / 2)
            return {};
        points *= values.size();
    }
    return SweepGrid{axes_};
}

std::size_t GridOfValues::index_of(const std::vector<std::string>& values) const
{
    std::size_t index = 0;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis)
        index = index * axes_[axis].values.size() + places_[axis].at(values[axis]);
    return index;
}

bool is_saved_sweep(const std::string& file)
{
    if (is_plan_store(file))
        return true;
    const std::string head = head_of(file);
    return begins_as_sweep_json(head) || begins_as_sweep_csv(head);
}

Checked<SavedSweep> read_saved_sweep(const std::string& file, const WorkControl& work)
{
    if (is_plan_store(file))
        return sweep_from_store(file, work);
    const std::string text = read_file(file, most_bytes);
    work.check();
    if (begins_as_sweep_csv(text))
        return sweep_from_csv(text, file, work);
    Checked<Json> json = parse_json(text, file, sweep_limits);
    if (!json)
        return tl::unexpected(std::move(json.error()));
    work.check();
    return sweep_from_json(*json, file, work);
}

Checked<SweptScenario> swept_scenario(const SavedSweep& saved, const ScenarioFile& own)
{
    SweptScenario out{own, {}, {}};
    SweepGrid grid = saved.title.grid;
    if (Problems problems = grid_problems(grid, own); !problems.empty())
        return tl::unexpected(std::move(problems));
    out.following = following_fields(grid, own.scenario);
    Checked<ScenarioFile> base = let_follow(own, out.following, grid);
    if (!base)
        return tl::unexpected(std::move(base.error()));
    out.base = std::move(*base);
    return out;
}

std::optional<Checked<SweptScenario>> swept_scenario(const SavedSweep& saved)
{
    const std::optional<std::string> named = named_scenario(saved);
    if (!saved.title.asked.is_object() && !named)
        return {};
    const Checked<ScenarioFile> file =
        named ? read_scenario_file(*named) : tl::unexpected(Problems{});
    if (!saved.title.asked.is_object())
        return file ? swept_scenario(saved, *file) : tl::unexpected(file.error());
    const Checked<ScenarioFile> own =
        scenario_from(saved.title.asked, named.value_or(saved.title.scenario));
    if (!own)
        return Checked<SweptScenario>(tl::unexpected(own.error()));
    // The file itself, where it says the same: it has the layout and the comments.
    if (file && file->scenario == own->scenario)
        return swept_scenario(saved, *file);
    return swept_scenario(saved, *own);
}

} // namespace trainyard
