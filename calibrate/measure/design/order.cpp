#include "calibrate/measure/design/order.h"

#include "sim/base/random.h"

#include <algorithm>
#include <map>
#include <utility>

namespace trainyard {
namespace {

template <class T>
void shuffle(std::vector<T>& values, Random& random)
{
    for (std::size_t left = values.size(); left > 1; --left) {
        const auto chosen = random.integer(0, static_cast<std::int64_t>(left) - 1);
        std::swap(values[static_cast<std::size_t>(chosen)], values[left - 1]);
    }
}

using Block = std::vector<Point>; // of one communicator

std::vector<Block> blocks_of(std::vector<Point> points)
{
    std::vector<Block> out;
    for (Point& point : points) {
        const auto same = std::find_if(out.begin(), out.end(), [&](const Block& block) {
            return block.front().group == point.group;
        });
        if (same == out.end())
            out.push_back({std::move(point)});
        else
            same->push_back(std::move(point));
    }
    return out;
}

} // namespace

std::vector<Point> in_measuring_order(std::vector<Point> points, std::uint64_t seed)
{
    std::map<int, std::vector<Point>> launches;
    for (Point& point : points)
        launches[point.launch].push_back(std::move(point));
    std::vector<Point> out;
    for (auto& [launch, of_launch] : launches) {
        Random random(hash_key(seed, static_cast<std::uint64_t>(launch)));
        std::vector<Block> blocks = blocks_of(std::move(of_launch));
        shuffle(blocks, random);
        for (Block& block : blocks) {
            shuffle(block, random);
            out.insert(out.end(), block.begin(), block.end());
        }
    }
    return out;
}

} // namespace trainyard
