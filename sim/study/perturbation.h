#pragma once

// What is wrong in a scenario: conditions of devices and links. README.md of this folder explains
// them.

#include "sim/strategy/conditions.h"
#include "sim/strategy/job.h"

#include <memory>
#include <optional>

namespace trainyard {

class Topology;

// Devices by number: 17, [3, 4] or "all".
struct DeviceChoice {
    std::vector<int> numbers;
    bool all = false;

    DeviceChoice() = default;
    DeviceChoice(int number) : numbers{number} {}

    bool given() const { return all || !numbers.empty(); }
    bool operator==(const DeviceChoice&) const = default;
};

template <>
struct FieldValue<DeviceChoice> {
    static std::string type_name();
    static bool read(const Reader& reader, DeviceChoice& out);
    static Json write(const DeviceChoice& value);
    static Json schema();
};

// A step of a rank is late by `time`, always or with a chance.
struct LateArrival {
    Seconds time{};
    double chance = 1.0;
    LatePart part = LatePart::step;

    bool operator==(const LateArrival&) const = default;
};

struct Perturbation {
    DeviceChoice device{};
    double slowdown = 1.0; // 1.08: compute takes 1.08 times as long
    std::optional<int> node{};
    std::optional<Seconds> from{}; // of the slowdown or the link's state, since the measured step
                                   // began
    std::optional<Seconds> until{};
    std::optional<KernelJitter> jitter{};
    std::optional<LateArrival> late{};
    std::optional<Seconds> start{}; // when the first step begins
    std::optional<Seconds> hangs{}; // then its host stops, counted as `from`
    std::optional<Seconds> dies{};  // then its process is gone, likewise
    std::string link{};             // a name or pattern, as `trainyard topo` shows them
    double bandwidth = 1.0;         // share of its line rate that a link has left
    Seconds latency{};              // more per traversal
    double background = 0.0;        // share of it that other jobs take
    bool dead = false;
    bool ecmp = false; // flows keep to one of equal uplinks, drawn from the seed

    bool operator==(const Perturbation&) const = default;

    bool has_window() const { return from || until; }
    bool stops() const { return hangs || dies; }
    bool of_network() const { return !link.empty() || ecmp; }
    bool of_devices() const
    {
        return device.given() || node || slowdown != 1.0 || jitter || late || start || stops();
    }
    bool changes_links() const
    {
        return bandwidth != 1.0 || latency.value() > 0 || background > 0 || dead;
    }
    bool changes_links_for_a_time() const { return !link.empty() && has_window(); }
    double share_left() const { return dead ? 0.0 : bandwidth * (1.0 - background); }
};

template <>
const FieldTable<KernelJitter>& fields_of<KernelJitter>();
template <>
const FieldTable<LateArrival>& fields_of<LateArrival>();
template <>
const FieldTable<Perturbation>& fields_of<Perturbation>();

// What of the run decides how perturbations apply.
struct PerturbedRun {
    std::uint64_t seed = 1;
    int steps = 2;
    SimTime measured_from{}; // when the measured step begins; windows count from there
};

// More entries are refused: every simulation of a study goes through all of them.
inline constexpr std::size_t most_perturbations = 10'000;

// Contradictions and what has no effect, each at its pointer.
Problems perturbation_problems(const std::vector<Perturbation>& perturbations, const Job& job,
                               const Topology& topology, int steps);

// Of the entries that name devices. Requires no problems of severity error.
Conditions conditions_of(const std::vector<Perturbation>& perturbations, const Topology& topology,
                         int world, const PerturbedRun& run);

// The cluster with its links in the state that the entries say; itself when none names links.
std::shared_ptr<const Topology> perturbed_topology(const std::shared_ptr<const Topology>& sound,
                                                   const std::vector<Perturbation>& perturbations,
                                                   std::uint64_t seed);

// Pairs of ranks that no way joins any more, at the entry of the first dead link.
Problems partition_problems(const std::vector<Perturbation>& perturbations,
                            const Topology& perturbed, int world);

// Whether results depend on the seed.
bool is_random(const std::vector<Perturbation>& perturbations);

// Whether times count from the beginning of the measured step.
bool has_windows(const std::vector<Perturbation>& perturbations);

// Whether some link changes within the run.
bool has_link_windows(const std::vector<Perturbation>& perturbations);

// Whether a rank hangs or dies.
bool has_stops(const std::vector<Perturbation>& perturbations);

} // namespace trainyard
