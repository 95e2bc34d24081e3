#include "gui/tests/found_points.h"

#include "sim/base/random.h"

namespace trainyard::gui::test {

SweepGrid some_grid(std::size_t seeds)
{
    SweepGrid grid{{{"strategy.tp", {"1", "2", "4", "8"}},
                    {"strategy.pp", {"1", "2", "4", "8"}},
                    {"training.recompute", {"none", "selective", "full"}},
                    {"run.seed", {}}}};
    for (std::size_t seed = 0; seed < seeds; ++seed)
        grid.axes.back().values.push_back(std::to_string(seed));
    return grid;
}

FoundPoint some_point(std::size_t index)
{
    const std::uint64_t word = hash_key(7, index);
    const auto part = [&](std::uint64_t salt) { return to_unit_interval(hash_key(word, salt)); };
    PointRow row;
    row.index = index;
    row.capacity = Bytes(80'000'000'000);
    if (word % 8 == 0) {
        row.capacity = Bytes(0);
        row.reason = std::to_string(word % 97) + " does not divide the 32 heads";
        row.hint = "1, 2 or 4 do";
        row.hindrance = {Hindrance::Kind::input, "/strategy/tp"};
        return found_point(row);
    }
    const bool fits = word % 4 != 1;
    row.peak_memory = Bytes(static_cast<std::uint64_t>((fits ? 79e9 : 90e9) * (0.9 + part(1) / 9)));
    if (!fits) {
        row.peak_memory = row.capacity + Bytes(1 + word % 1'000'000'000);
        row.reason = "does not fit: needs more";
        row.hindrance = {Hindrance::Kind::memory, {}};
        return found_point(row);
    }
    row.gpus = 64;
    // Few different ones, so that there are equals.
    row.step_time.value = Seconds(1 + static_cast<double>(word % 50) / 10);
    row.step_time.low = row.step_time.value * 0.8;
    row.step_time.high = row.step_time.value * 1.3;
    row.tokens_per_s = 1e6 * (1 + part(2));
    row.mfu = part(3);
    row.communication_exposed_fraction = part(4);
    row.bubble_share = part(5);
    return found_point(row);
}

std::vector<FoundPoint> some_points(const SweepGrid& grid)
{
    std::vector<FoundPoint> out;
    for (std::size_t index = 0; index < grid.points(); ++index)
        out.push_back(some_point(index));
    return out;
}

PointStore store_of_some_points(const SweepGrid& grid)
{
    PointStore store;
    store.reset(grid);
    store.add(some_points(grid));
    return store;
}

} // namespace trainyard::gui::test
