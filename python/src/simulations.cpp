// Steps, memory, many steps at once.

#include "python/src/parts.h"
#include "python/src/raising.h"
#include "python/src/waiting.h"
#include "sim/report/html/html.h"
#include "sim/report/html/timeline_svg.h"
#include "sim/report/kernel_classes.h"
#include "sim/report/kinds.h"
#include "sim/report/stuck/stuck_summary.h"
#include "sim/report/text/memory_text.h"
#include "sim/report/text/summary_csv.h"
#include "sim/report/text/terminal.h"
#include "sim/report/timeline/kineto.h"
#include "sim/report/timeline/memory_curve.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

// A simulated step. What its job was, for what is asked of it later.
struct SimulationCore {
    std::shared_ptr<const ScenarioFile> file;
    std::shared_ptr<const Simulation> simulation;
};

// A step with its ops.
struct RecordedCore {
    std::shared_ptr<const Outcome> outcome;
    std::shared_ptr<const Summary> summary;
    TraceRanks ranks;
};

// The step; of a job that ranks stop (JSON, text).
nb::object simulated(const ScenarioCore& core, bool scaling, std::optional<int> advice,
                     bool what_if, int samples, const nb::object& progress)
{
    const auto shared = session();
    StepOrStuck answer = value_or_raise(result_of(progress, [&](const WorkControl& work) {
        return simulate_scenario(*core.file, {{}, {scaling, advice, what_if}, samples, work},
                                 *shared);
    }));
    if (const Stuck* const stuck = std::get_if<Stuck>(&answer)) {
        const StuckSummary summary = summarize(*stuck);
        return nb::make_tuple(python_text(to_text(stuck_json(summary)) + "\n"),
                              python_text(stuck_text(summary)));
    }
    return nb::cast(SimulationCore{
        core.file, std::make_shared<const Simulation>(std::move(std::get<Simulation>(answer)))});
}

nb::str simulation_json(const SimulationCore& core)
{
    const Simulation& simulation = *core.simulation;
    return python_text(result_text(simulation.outcome, simulation.summary, simulation.samples));
}

RecordedCore recorded(const SimulationCore& core, const std::vector<std::string>& words,
                      const nb::object& progress)
{
    for (const std::string& word : words)
        if (std::string flaw = TraceRanks::flaw_of(word); !flaw.empty())
            throw InputError{{{"", 0, "", std::move(flaw), "", Severity::error}}};
    const TraceRanks ranks(words);
    const auto shared = session();
    Outcome outcome = value_or_raise(result_of(progress, [&](const WorkControl& work) {
        return simulate_step(*core.file, &ranks, *shared, work);
    }));
    return {std::make_shared<const Outcome>(std::move(outcome)),
            {core.simulation, &core.simulation->summary},
            ranks};
}

// A column of a timeline, which keeps the timeline alive.
template <class T>
nb::object column(const TimelineColumns& columns, const std::vector<T>& values)
{
    // Of an empty vector there may be no address.
    static const T nothing{};
    const T* const data = values.empty() ? &nothing : values.data();
    return nb::cast(
        nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {values.size()}, nb::find(columns)));
}

template <class T>
auto column_of(std::vector<T> TimelineColumns::*member)
{
    return [member](const TimelineColumns& columns) { return column(columns, columns.*member); };
}

// (rank, times in ps, bytes held from then on) of each recorded lane.
nb::list memory_curves(const RecordedCore& core)
{
    nb::list out;
    for (const LaneMemory& lane : memory_of_lanes(*core.outcome)) {
        nb::list times;
        nb::list bytes;
        for (const HeldBytes& held : lane.points) {
            times.append(held.time.value());
            bytes.append(held.bytes);
        }
        out.append(
            nb::make_tuple(core.outcome->binding->lanes[lane.lane.value].rank.value, times, bytes));
    }
    return out;
}

Answer memory_answer(const ScenarioCore& core, const MemoryQuestion& question,
                     const nb::object& progress)
{
    const auto shared = session();
    const auto answer = std::make_shared<const MemoryAnswer>(value_or_raise(result_of(
        progress, [&](const WorkControl&) { return memory_of(*core.file, question, *shared); })));
    Answer out;
    out.json = [answer] { return to_text(memory_json(answer->memory, answer->peak)) + "\n"; };
    out.text = [answer, steps = question.steps](std::size_t width) {
        return memory_text(answer->memory, answer->peak, {{}, 20, steps, width},
                           Paint(Colour::none));
    };
    return out;
}

// With whether Ctrl-C cut it short; then those alone are worth something that were done.
std::pair<std::vector<Evaluated>, bool> evaluated(const std::vector<ScenarioCore>& cores,
                                                  int threads, bool simulate_unfit,
                                                  const nb::object& progress)
{
    std::vector<ScenarioFile> files;
    files.reserve(cores.size());
    for (const ScenarioCore& core : cores)
        files.push_back(*core.file);
    const auto shared = session();
    auto found = found_by(progress, [&](const WorkControl& work) {
        return evaluate_scenarios(
            files, *shared, {threads, simulate_unfit ? Unfit::simulate : Unfit::refuse, work});
    });
    return {std::move(found.result), found.interrupt != nullptr};
}

// Of the rank that sets the pace: (part, phase, count, FLOPs, bytes, seconds, what limits it).
nb::list kernel_tuples(const SimulationCore& core)
{
    const Outcome& outcome = core.simulation->outcome;
    nb::list out;
    for (const KernelClass& one : kernel_classes(outcome, outcome.result->critical_lane))
        out.append(nb::make_tuple(std::string(title_of(one.part)), std::string(title_of(one.phase)),
                                  one.count, one.flops.value(), one.bytes, one.time.value(),
                                  std::string(title_of(one.limit()))));
    return out;
}

// (number format, FLOP/s of the peak) of each format that kernels compute in; ("memory", bytes/s).
nb::list roof_tuples(const SimulationCore& core)
{
    const Outcome& outcome = core.simulation->outcome;
    nb::list out;
    out.append(
        nb::make_tuple("memory", outcome.cost->profile().hardware.device.hbm_bandwidth.value()));
    for (const Roof& roof :
         roofs_of(outcome, kernel_classes(outcome, outcome.result->critical_lane)))
        out.append(nb::make_tuple(std::string(to_name(roof.precision)), roof.peak.value()));
    return out;
}

std::string hatch_name(Hatch hatch)
{
    switch (hatch) {
    case Hatch::none:
        return "none";
    case Hatch::slash:
        return "slash";
    case Hatch::backslash:
        return "backslash";
    case Hatch::vertical:
        return "vertical";
    case Hatch::horizontal:
        return "horizontal";
    case Hatch::cross:
        return "cross";
    case Hatch::dots:
        break;
    }
    return "dots";
}

// (name, title, title in a timeline, colour, hatch, ink) of each kind of time.
nb::list time_kind_tuples()
{
    nb::list out;
    for (const EnumName<TimeKind>& kind : enum_names<TimeKind>()) {
        const TimeKindWords& words = words_of(kind.value);
        out.append(nb::make_tuple(std::string(kind.name), std::string(words.title),
                                  std::string(words.slice), std::string(words.fill.colour),
                                  hatch_name(words.fill.hatch), std::string(words.fill.ink)));
    }
    return out;
}

Answer comparison_answer(const std::vector<ScenarioCore>& cores, const nb::object& progress)
{
    std::vector<ScenarioFile> files;
    for (const ScenarioCore& core : cores)
        files.push_back(*core.file);
    const auto shared = session();
    const auto compared = std::make_shared<const ScenarioComparison>(
        value_or_raise(result_of(progress, [&](const WorkControl& work) {
            return compare_scenarios(files, *shared, work);
        })));
    Answer out;
    out.warnings = compared->warnings;
    out.json = [compared] { return to_text(comparison_json(compared->runs)) + "\n"; };
    out.text = [compared](std::size_t width) {
        return comparison_text(compared->runs, {Colour::none, width});
    };
    return out;
}

void add_timeline(nb::module_& module)
{
    nb::class_<TimelineColumns>(module, "Timeline")
        .def("__len__", &TimelineColumns::size)
        .def_prop_ro("rank", column_of(&TimelineColumns::rank))
        .def_prop_ro("stage", column_of(&TimelineColumns::stage))
        .def_prop_ro("stream", column_of(&TimelineColumns::stream))
        .def_prop_ro("name", column_of(&TimelineColumns::name))
        .def_prop_ro("kind", column_of(&TimelineColumns::kind))
        .def_prop_ro("micro_batch", column_of(&TimelineColumns::micro_batch))
        .def_prop_ro("layer", column_of(&TimelineColumns::layer))
        .def_prop_ro("issued_ps", column_of(&TimelineColumns::issued))
        .def_prop_ro("start_ps", column_of(&TimelineColumns::start))
        .def_prop_ro("transfer_start_ps", column_of(&TimelineColumns::transfer_start))
        .def_prop_ro("end_ps", column_of(&TimelineColumns::end))
        .def_prop_ro("bytes", column_of(&TimelineColumns::bytes))
        .def_prop_ro("last_arriver", column_of(&TimelineColumns::last_arriver))
        .def_ro("streams", &TimelineColumns::streams)
        .def_ro("names", &TimelineColumns::names)
        .def_ro("kinds", &TimelineColumns::kinds)
        .def_ro("step_ps", &TimelineColumns::step);
    nb::class_<RecordedCore>(module, "Recorded")
        .def("timeline", [](const RecordedCore& core) { return timeline_columns(*core.outcome); })
        .def("memory_curves", &memory_curves)
        .def("html",
             [](const RecordedCore& core) {
                 return python_text(html_report(*core.outcome, *core.summary));
             })
        .def("svg",
             [](const RecordedCore& core) { return python_text(timeline_svg(*core.outcome)); })
        .def(
            "write_trace",
            [](const RecordedCore& core, const std::string& path) {
                result_of(nb::none(), [&](const WorkControl&) {
                    write_kineto_trace(path, *core.outcome, {core.ranks.of_trace(*core.outcome)});
                    return true;
                });
            },
            nb::arg("path"));
}

} // namespace

void add_simulations(nb::module_& module)
{
    nb::class_<SimulationCore>(module, "Simulation")
        .def("json", &simulation_json)
        .def(
            "text",
            [](const SimulationCore& core, std::size_t width) {
                return python_text(report_text(*core.simulation, width));
            },
            nb::arg("width"))
        .def("csv",
             [](const SimulationCore& core) {
                 return python_text(
                     summary_csv(core.simulation->outcome, core.simulation->summary));
             })
        .def("warnings",
             [](const SimulationCore& core) {
                 return problem_tuples(core.simulation->outcome.warnings);
             })
        .def("kernels", &kernel_tuples)
        .def("roofs", &roof_tuples)
        .def("recorded", &recorded, nb::arg("ranks"), nb::arg("progress").none());
    add_timeline(module);
    nb::class_<Evaluated>(module, "Evaluated")
        .def_prop_ro("feasible", &Evaluated::feasible)
        .def_prop_ro("step_time", [](const Evaluated& one) { return one.step_time.value.value(); })
        .def_prop_ro("problems", [](const Evaluated& one) { return problem_tuples(one.problems); })
        .def_prop_ro("warnings", [](const Evaluated& one) { return problem_tuples(one.warnings); })
        .def_ro("cut_short", &Evaluated::cut_short)
        .def("json", [](const Evaluated& one) { return python_text(to_text(to_json(one))); });
    nb::class_<Answer>(module, "Answer")
        .def("json", [](const Answer& answer) { return python_text(answer.json()); })
        .def(
            "text",
            [](const Answer& answer, std::size_t width) { return python_text(answer.text(width)); },
            nb::arg("width"))
        .def("html",
             [](const Answer& answer) -> nb::object {
                 return answer.html ? nb::object(python_text(answer.html())) : nb::none();
             })
        .def("csv",
             [](const Answer& answer) -> nb::object {
                 return answer.csv ? nb::object(python_text(answer.csv())) : nb::none();
             })
        .def("notes",
             [](const Answer& answer) -> nb::object {
                 return answer.notes ? nb::object(python_text(answer.notes())) : nb::none();
             })
        .def("warnings", [](const Answer& answer) { return problem_tuples(answer.warnings); })
        .def_ro("scenarios", &Answer::scenarios)
        .def_ro("profile", &Answer::profile)
        .def_ro("interrupted", &Answer::interrupted);
    module.def("simulate", &simulated, nb::arg("scenario"), nb::arg("scaling"),
               nb::arg("advice").none(), nb::arg("what_if"), nb::arg("samples"),
               nb::arg("progress").none());
    module.def(
        "memory",
        [](const ScenarioCore& core, int steps, const std::string& lengths, bool expandable,
           const std::string& max_split, const nb::object& progress) {
            return memory_answer(core, {{}, steps, lengths, expandable, max_split}, progress);
        },
        nb::arg("scenario"), nb::arg("steps"), nb::arg("lengths"), nb::arg("expandable_segments"),
        nb::arg("max_split_size"), nb::arg("progress").none());
    module.def("time_kinds", &time_kind_tuples);
    module.def("series_colours", [] {
        return std::vector<std::string>(series_colours.begin(), series_colours.end());
    });
    module.def("compare", &comparison_answer, nb::arg("scenarios"), nb::arg("progress").none());
    module.def("evaluate", &evaluated, nb::arg("scenarios"), nb::arg("threads"),
               nb::arg("simulate_unfit"), nb::arg("progress").none());
}

} // namespace trainyard::python
