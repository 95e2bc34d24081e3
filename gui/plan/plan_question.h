#pragma once

// What the planner is asked, in the texts of its form: they are what the command line takes.

#include "sim/api/cluster_plan.h"

#include <variant>

namespace trainyard::gui {

enum class PlanKind : std::uint8_t {
    layouts, // the best of the scenario's cluster
    clusters // which cluster for a training
};

struct AskedCluster {
    std::string cluster; // "h100", "256xh100", a topology's file, "this" (the scenario's)
    std::string price;   // of a GPU and hour, "2.5/h", or of a node, "20/h/node"; empty: none

    bool operator==(const AskedCluster&) const = default;
};

struct PlanQuestion {
    PlanKind kind = PlanKind::layouts;
    double headroom = 5;                // per cent of a device's memory that stay free
    bool front = false;                 // of layouts also all that none is quicker and smaller than
    std::string tokens;                 // empty: steps alone; of clusters as many as can be
    std::string within;                 // a deadline
    std::string price;                  // of the scenario's devices
    std::string mtbf;                   // mean time between failures
    std::string checkpoint;             // what writing one takes
    std::string model;                  // of the training; empty: the scenario's
    std::string batch;                  // tokens of a step
    std::string budget;                 // what the training may cost
    std::vector<AskedCluster> clusters; // in the order of the form

    bool operator==(const PlanQuestion&) const = default;
};

// What the window says of the open scenario, as texts of a question; empty: nothing.
struct PlanDefaults {
    std::string tokens;
    std::string price; // of its devices

    bool operator==(const PlanDefaults&) const = default;
};

// Whether the answer hangs on the open scenario.
bool asks_for_scenario(const PlanQuestion& question);

using PlanTask = std::variant<LayoutTask, CapacityRequest>;

// Reads the files that the question names. Problems of a text point to its field: "/tokens",
// "/clusters/1", "/prices/1" (of that cluster; of layouts "/price"); all others are of the
// scenario.
// `scenario`: the open one; its problems count where it is asked for.
Checked<PlanTask> plan_task(const PlanQuestion& question, const Checked<ScenarioFile>& scenario);

// What keeps it from being asked.
Problems problems_of(const PlanQuestion& question, const Checked<ScenarioFile>& scenario);

// What comes along to be asked for. Reads files.
struct PlanChoices {
    std::vector<std::string> models;
    std::vector<std::string> clusters; // "this", then GPUs by their shortest names
};
PlanChoices plan_choices();

// For sessions. What is not known is left out.
Json to_json(const PlanQuestion& question);
PlanQuestion plan_question_from(const Json& json);

} // namespace trainyard::gui
