#include "sim/strategy/pipeline/placement.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

// Virtual stages of a device, whatever their pipe, ascending.
std::vector<int> stages_of(const StagePlacement& placement, int device)
{
    std::vector<int> stages;
    for (const VirtualStage& stage : chunks_of(placement, device))
        stages.push_back(stage.number);
    std::ranges::sort(stages);
    return stages;
}

} // namespace

StagePlacement looped_placement(int devices, int chunks)
{
    StagePlacement placement{devices, {{}}};
    for (int k = 0; k < devices * chunks; ++k)
        placement.pipes.front().push_back({k % devices, k / devices});
    return placement;
}

StagePlacement folded_placement(int devices)
{
    StagePlacement placement{devices, {{}}};
    for (int device = 0; device < devices; ++device)
        placement.pipes.front().push_back({device, 0});
    for (int device = devices - 1; device >= 0; --device)
        placement.pipes.front().push_back({device, 1});
    return placement;
}

StagePlacement opposed_placement(int devices)
{
    StagePlacement placement{devices, {{}, {}}};
    for (int k = 0; k < devices; ++k) {
        placement.pipes[0].push_back({k, 0});
        placement.pipes[1].push_back({devices - 1 - k, 1});
    }
    return placement;
}

std::vector<VirtualStage> chunks_of(const StagePlacement& placement, int device)
{
    std::vector<VirtualStage> chunks;
    for (std::size_t pipe = 0; pipe < placement.pipes.size(); ++pipe)
        for (std::size_t k = 0; k < placement.pipes[pipe].size(); ++k) {
            const StagePosition& position = placement.pipes[pipe][k];
            if (position.device != device)
                continue;
            const auto chunk = static_cast<std::size_t>(position.chunk);
            chunks.resize(std::max(chunks.size(), chunk + 1));
            chunks[chunk] = {static_cast<int>(pipe), static_cast<int>(k)};
        }
    return chunks;
}

std::vector<std::vector<int>> neighbours(const StagePlacement& placement)
{
    const int p = placement.devices;
    std::vector<std::vector<int>> out;
    for (int device = 0; device < p; ++device)
        out.push_back({(device + p - 1) % p, (device + 1) % p});
    const auto meet = [&](int from, int to) {
        std::vector<int>& known = out[static_cast<std::size_t>(from)];
        if (from != to && std::ranges::find(known, to) == known.end())
            known.push_back(to);
    };
    for (const std::vector<StagePosition>& pipe : placement.pipes)
        for (std::size_t k = 0; k + 1 < pipe.size(); ++k) {
            meet(pipe[k].device, pipe[k + 1].device);
            meet(pipe[k + 1].device, pipe[k].device);
        }
    const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const std::size_t most = std::ranges::max_element(out, fewer)->size();
    for (std::vector<int>& known : out)
        known.resize(most, known[1]);
    return out;
}

std::vector<int> apart_ends(const StagePlacement& placement)
{
    std::set<int> first;
    std::set<int> last;
    for (const std::vector<StagePosition>& pipe : placement.pipes) {
        first.insert(pipe.front().device);
        last.insert(pipe.back().device);
    }
    if (first == last)
        return {};
    std::set<int> ends = first;
    ends.insert(last.begin(), last.end());
    return {ends.begin(), ends.end()};
}

std::vector<std::vector<int>> twins(const StagePlacement& placement)
{
    std::map<std::vector<int>, std::vector<int>> holders; // of the virtual stages
    for (int device = 0; device < placement.devices; ++device)
        holders[stages_of(placement, device)].push_back(device);
    std::vector<std::vector<int>> out;
    for (int device = 0; device < placement.devices; ++device)
        out.push_back(holders.at(stages_of(placement, device)));
    return out;
}

} // namespace trainyard
