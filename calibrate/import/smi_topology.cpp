#include "calibrate/import/smi_topology.h"

#include "calibrate/import/device_facts.h"
#include "calibrate/import/log_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace trainyard {
namespace {

// Sets that are merged as distances grow; each has the switch that stands for it.
struct Clusters {
    std::vector<int> parent;
    explicit Clusters(std::size_t count) : parent(count)
    {
        std::iota(parent.begin(), parent.end(), 0);
    }
    int find(int i)
    {
        while (parent[static_cast<std::size_t>(i)] != i)
            i = parent[static_cast<std::size_t>(i)];
        return i;
    }
    void join(int a, int b)
    {
        a = find(a);
        b = find(b);
        parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
};

// Builds the PCIe tree: parts at distance d or less share a switch of that level.
class Tree {
public:
    Tree(const SmiMatrix& matrix, NodeMap& map, Bandwidth pcie)
        : matrix_(matrix), map_(map), pcie_(pcie), count_(matrix.links.size()), above_(count_, -1)
    {}

    // The switch above each part.
    std::vector<int> build()
    {
        Clusters clusters(count_);
        std::vector<int> top(count_, -1); // switch that stands for a cluster, by its first part
        for (int level = 1; level <= 3; ++level)
            merge(clusters, top, level, level == 1 ? "pcie" : level == 2 ? "bridge" : "host");
        join_numa(clusters);
        make_cpus(clusters, top);
        return above_;
    }

private:
    void merge(Clusters& clusters, std::vector<int>& top, int level, const char* name)
    {
        const Clusters before = clusters;
        for (std::size_t a = 0; a < count_; ++a)
            for (std::size_t b = 0; b < count_; ++b)
                if (const int d = distance_of(matrix_.links[a][b]); d > 0 && d <= level)
                    clusters.join(static_cast<int>(a), static_cast<int>(b));
        add_switches(before, clusters, top, name);
    }

    // One switch for each cluster that has grown; what it was made of hangs below.
    void add_switches(Clusters before, Clusters& after, std::vector<int>& top, const char* name)
    {
        std::map<int, std::vector<int>> parts; // cluster now -> clusters before
        for (std::size_t i = 0; i < count_; ++i)
            if (const int old = before.find(static_cast<int>(i)); old == static_cast<int>(i))
                parts[after.find(old)].push_back(old);
        for (const auto& [cluster, olds] : parts) {
            if (olds.size() < 2)
                continue;
            const int made = add_switch(fmt::format("{}{}", name, counts_[name]++), -1);
            for (const int old : olds)
                hang(old, top, made);
            top[static_cast<std::size_t>(cluster)] = made;
        }
    }

    void hang(int cluster, const std::vector<int>& top, int below)
    {
        const int own = top[static_cast<std::size_t>(cluster)];
        if (own >= 0)
            map_.switches[static_cast<std::size_t>(own)].parent = below;
        else
            above_[static_cast<std::size_t>(cluster)] = below;
    }

    int add_switch(std::string name, int parent)
    {
        map_.switches.push_back({std::move(name), parent, pcie_});
        return static_cast<int>(map_.switches.size()) - 1;
    }

    // Parts of one NUMA node, and those at distance NODE, belong to one CPU.
    void join_numa(Clusters& clusters)
    {
        std::map<int, int> first;
        for (std::size_t a = 0; a < count_; ++a) {
            const auto part = static_cast<int>(a);
            if (const int numa = matrix_.numa[a]; numa >= 0)
                clusters.join(first.emplace(numa, part).first->second, part);
            for (std::size_t b = 0; b < count_; ++b)
                if (distance_of(matrix_.links[a][b]) == 4)
                    clusters.join(part, static_cast<int>(b));
        }
        // A part that only NVLink joins to the rest, NUMA node not said: the first CPU.
        for (std::size_t a = 0; a < count_; ++a) {
            const bool far = std::any_of(matrix_.links[a].begin(), matrix_.links[a].end(),
                                         [](const auto& word) { return distance_of(word) == 5; });
            if (matrix_.numa[a] < 0 && !far)
                clusters.join(0, static_cast<int>(a));
        }
    }

    void make_cpus(Clusters& clusters, std::vector<int>& top)
    {
        std::map<int, int> cpu_of;
        for (std::size_t i = 0; i < count_; ++i) {
            const int cluster = clusters.find(static_cast<int>(i));
            if (!cpu_of.contains(cluster))
                cpu_of[cluster] = add_switch(fmt::format("cpu{}", cpu_of.size()), -1);
            const int cpu = cpu_of[cluster];
            if (above_[i] < 0 && top[i] < 0)
                above_[i] = cpu;
        }
        for (std::size_t i = 0; i < count_; ++i)
            if (int root = above_[i]; root >= 0) {
                while (map_.switches[static_cast<std::size_t>(root)].parent >= 0)
                    root = map_.switches[static_cast<std::size_t>(root)].parent;
                const int cpu = cpu_of[clusters.find(static_cast<int>(i))];
                if (root != cpu && !is_cpu(root, cpu_of))
                    map_.switches[static_cast<std::size_t>(root)].parent = cpu;
            }
    }

    static bool is_cpu(int vertex, const std::map<int, int>& cpu_of)
    {
        return std::any_of(cpu_of.begin(), cpu_of.end(),
                           [vertex](const auto& entry) { return entry.second == vertex; });
    }

    const SmiMatrix& matrix_;
    NodeMap& map_;
    Bandwidth pcie_;
    std::size_t count_;
    std::vector<int> above_; // the switch above each part
    std::map<std::string, int> counts_;
};

// The model that so many NVLinks suggest; said as assumption.
std::string assumed_model(const SmiMatrix& matrix, ImportNotes& notes)
{
    int most = 0;
    for (const auto& row : matrix.links)
        for (const std::string& word : row)
            most = std::max(most, nvlinks_in(word));
    // Fewer than any has: some of a GPU's links, which tell nothing.
    const bool told = shipped_devices().oldest_typical([most](const Device& device) {
        return device.nvlinks > 0 && device.nvlinks <= most;
    }) != nullptr;
    const std::string model =
        oldest_model([&](const Device& device) { return told && device.nvlinks >= most; });
    add_note(notes.assumed,
             fmt::format("the GPUs are {}: the matrix does not name them (--device does)", model));
    return model;
}

void add_nvlinks(const SmiMatrix& matrix, NodeMap& map, Bandwidth each)
{
    int slots = 0; // NVLinks of the GPU that has the most
    for (const KnownDevice& known : shipped_devices().all())
        slots = std::max(slots, known.device.nvlinks);
    const std::size_t gpus = map.gpus.size();
    for (std::size_t a = 0; a < gpus; ++a) {
        int sum = 0;
        int most = 0;
        for (std::size_t b = 0; b < gpus; ++b) {
            const int links = a == b ? 0 : nvlinks_in(matrix.links[a][b]);
            sum += links;
            most = std::max(most, links);
        }
        // More links than a GPU has: they end in switches, each pair may use them all.
        const auto from = static_cast<int>(a);
        if (sum > slots) {
            map.nvlinks.push_back({from, -1, each * most});
            continue;
        }
        for (std::size_t b = a + 1; b < gpus; ++b)
            if (const int links = nvlinks_in(matrix.links[a][b]); links > 0)
                map.nvlinks.push_back({from, static_cast<int>(b), each * links});
    }
}

// By how the operating system calls them: mlx5_0 InfiniBand, rdmap0s6 EFA, eth0 or ens5 TCP.
std::string network_of(const std::vector<NodeMap::Nic>& nics, Bandwidth usual)
{
    const std::string name = lower_case(nics.front().name);
    if (name.starts_with("rdmap") || name.starts_with("efa"))
        return "efa_v2";
    if (name.starts_with("eth") || name.starts_with("ens") || name.starts_with("eno"))
        return "tcp";
    return infiniband_of(usual);
}

// Whether the matrix is whole and the same both ways.
bool is_consistent(const SmiMatrix& matrix, ImportNotes& notes)
{
    const std::size_t rows = matrix.links.size();
    const auto gpus = static_cast<std::size_t>(
        std::count_if(matrix.names.begin(), matrix.names.end(),
                      [](const std::string& name) { return is_gpu_name(name); }));
    for (std::size_t a = 0; a < rows; ++a)
        for (std::size_t b = 0; b < rows; ++b)
            if ((matrix.links[a][b] == "X") != (a == b) || matrix.links[a][b] != matrix.links[b][a])
            {
                add_note(notes.flagged,
                         fmt::format("{} and {} are not joined alike both ways: refused",
                                     matrix.names[a], matrix.names[b]));
                return false;
            }
    if (rows < gpus) {
        add_note(notes.flagged, fmt::format("cut: {} of {} rows", rows, matrix.names.size()));
        return false;
    }
    return gpus > 0;
}

} // namespace

std::optional<NodeMap> node_of_matrix(const SmiMatrix& matrix, std::string model,
                                      ImportNotes& notes)
{
    if (!is_consistent(matrix, notes))
        return std::nullopt;
    NodeMap map;
    map.guessed_model = model.empty();
    if (map.guessed_model)
        model = assumed_model(matrix, notes);
    const LinkFacts facts = link_facts(model);
    map.name = "imported-node";
    const std::vector<int> above = Tree(matrix, map, facts.pcie).build();
    for (std::size_t i = 0; i < matrix.links.size(); ++i) {
        if (is_gpu_name(matrix.names[i]))
            map.gpus.push_back({lower_case(matrix.names[i]), model, above[i], facts.pcie});
        else
            map.nics.push_back({matrix.nic_names[i], above[i], facts.pcie, Bandwidth(0)});
    }
    add_nvlinks(matrix, map, facts.nvlink);
    add_note(notes.assumed, fmt::format("PCIe {:g} GB/s and latencies: usual for the device",
                                        facts.pcie.value() / 1e9));
    if (!map.nics.empty()) {
        map.network = network_of(map.nics, facts.nic);
        add_note(notes.assumed,
                 fmt::format("the NICs speak {}: the matrix gives only their names", map.network));
    }
    if (matrix.links.size() < matrix.names.size())
        add_note(notes.ignored, fmt::format("{} columns without a row",
                                            matrix.names.size() - matrix.links.size()));
    return map;
}

} // namespace trainyard
