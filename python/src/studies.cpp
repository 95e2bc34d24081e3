// Sweeps, plans, fits, validation.

#include "calibrate/fit/fit_input.h"
#include "calibrate/fit/fit_report.h"
#include "calibrate/fit/table_text.h"
#include "python/src/parts.h"
#include "python/src/raising.h"
#include "python/src/waiting.h"
#include "sim/base/field_values.h"
#include "sim/report/capacity/capacity_html.h"
#include "sim/report/fit/fit_html.h"
#include "sim/report/fit/fit_text.h"
#include "sim/report/plan/plan_html.h"
#include "sim/report/traces/side_by_side_text.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

std::string document(const Json& json)
{
    return to_text(json) + "\n";
}

SweepMeasure measure_named(const std::string& name)
{
    if (const std::optional<SweepMeasure> measure = from_name<SweepMeasure>(name))
        return *measure;
    throw InputError{{{"", 0, "", "\"" + name + "\" is nothing that points are best by",
                       suggestion(name, FieldValue<SweepMeasure>::names()), Severity::error}}};
}

// What was found, which the answer says when Ctrl-C cut it short. Nothing worth a word: Ctrl-C's
// own exception.
template <class T>
T kept_by(Found<Checked<T>> found, Answer& answer)
{
    answer.interrupted = found.interrupt != nullptr;
    if (answer.interrupted && !found.result)
        std::rethrow_exception(found.interrupt);
    return value_or_raise(std::move(found.result));
}

Answer sweep_answer(const ScenarioCore& core, const GridQuestion& question, std::size_t top,
                    int threads, const nb::object& progress)
{
    const auto shared = session();
    auto found = found_by(progress, [&](const WorkControl& work) {
        return sweep_grid(*core.file, core.file->file, question, top, threads, *shared, work);
    });
    Answer out;
    const auto answer = std::make_shared<const GridAnswer>(kept_by(std::move(found), out));
    out.json = [answer] { return sweep_json_text(*answer); };
    out.text = [answer](std::size_t width) { return report_text(*answer, width); };
    out.csv = [answer] {
        std::string text = sweep_csv_head(answer->task.title.grid);
        for (const PointRow& row : answer->rows)
            text += sweep_csv_line(answer->task.title.grid, row, answer->best.headroom());
        return text;
    };
    for (const PointRow& row : answer->best.best())
        out.scenarios.push_back(core_of(value_or_raise(
            changed_scenario(answer->task.base, changes_of(answer->task.title.grid, row)))));
    return out;
}

ScenarioCore planned_core(const PlannedScenario& planned)
{
    return core_of(scenario_in_memory(planned.scenario, planned.base,
                                      (planned.base / (planned.name + ".json")).string()));
}

// Of a scenario's own cluster; words that say nothing of it are problems.
WholeTrainingRequest training_of(const CapacityQuestion& question)
{
    if (Problems unused = unused_fields(question); !unused.empty())
        throw InputError{std::move(unused)};
    return value_or_raise(training_request(question));
}

Answer layouts_answer(const ScenarioCore& core, const LayoutQuestion& question,
                      const CapacityQuestion& training, const nb::object& progress)
{
    const WholeTrainingRequest asked = training_of(training);
    const auto shared = session();
    auto search = found_by(progress, [&](const WorkControl& work) {
        return plan_layouts(*core.file, question, *shared, work, asked);
    });
    Answer out;
    LayoutAnswer found = kept_by(std::move(search), out);
    for (const PlannedScenario& planned : found.planned)
        out.scenarios.push_back(planned_core(planned));
    const auto report = std::make_shared<const PlanReport>(std::move(found.report));
    out.json = [report] { return document(to_json(*report)); };
    out.text = [report](std::size_t width) {
        return plan_text(*report, Paint(Colour::none), width);
    };
    out.html = [report] { return plan_html(*report); };
    out.csv = [report] { return plan_csv(*report); };
    return out;
}

// The longest sequences, and the layouts for them.
Answer context_answer(const ScenarioCore& core, const LayoutQuestion& question,
                      const CapacityQuestion& training, const nb::object& progress)
{
    const WholeTrainingRequest asked = training_of(training);
    const auto shared = session();
    auto search = found_by(progress, [&](const WorkControl& work) {
        return plan_context(*core.file, question, *shared, work, asked);
    });
    Answer out;
    const auto plan = std::make_shared<const ContextPlan>(kept_by(std::move(search), out));
    out.json = [plan] { return document(to_json(*plan)); };
    out.text = [plan](std::size_t width) {
        return context_plan_text(*plan, Paint(Colour::none), width);
    };
    if (!plan->layouts)
        return out;
    for (const PlannedScenario& planned : plan->layouts->planned)
        out.scenarios.push_back(planned_core(planned));
    out.html = [plan] { return plan_html(plan->layouts->report, &plan->lengths); };
    out.csv = [plan] { return plan_csv(plan->layouts->report); };
    return out;
}

struct ClusterArguments {
    const std::optional<ScenarioCore>& core;
    const CapacityQuestion& question;
    const std::vector<std::string>& axes;
    double headroom;
    int threads;
};

Answer clusters_answer(const ClusterArguments& asked, const nb::object& progress)
{
    std::optional<ScenarioFile> scenario;
    if (asked.core)
        scenario = *asked.core->file;
    CapacityRequest request = value_or_raise(capacity_request(asked.question, std::move(scenario)));
    request.axes = value_or_raise(search_axes(asked.axes));
    request.headroom = asked.headroom;
    request.threads = asked.threads;
    const auto shared = session();
    auto search = found_by(progress, [&](const WorkControl& work) {
        request.work = work;
        return plan_clusters(request, *shared);
    });
    Answer out;
    CapacityAnswer found = kept_by(std::move(search), out);
    for (const PlannedScenario& planned : planned_clusters(request, found.plan))
        out.scenarios.push_back(planned_core(planned));
    const auto report = std::make_shared<const CapacityReport>(std::move(found.report));
    out.json = [report] { return document(to_json(*report)); };
    out.text = [report](std::size_t width) {
        return capacity_text(*report, Paint(Colour::none), width);
    };
    out.html = [report] { return capacity_html(*report); };
    out.csv = [report] { return capacity_csv(*report); };
    return out;
}

Answer validation_answer(const std::vector<std::string>& files, const std::string& only,
                         const nb::object& progress)
{
    const auto validation = std::make_shared<const Validation>(
        value_or_raise(result_of(progress, [&](const WorkControl& work) -> Checked<Validation> {
            const Checked<MeasuredInput> input = read_measured(files);
            if (!input)
                return tl::unexpected(input.error());
            ValidateOptions options;
            options.only = only;
            options.work = work;
            return validate_measured(*input, options);
        })));
    Answer out;
    out.json = [validation] { return document(to_json(*validation)); };
    out.text = [validation](std::size_t) { return report_text(*validation, ScoreDetail::summary); };
    if (validation->steps)
        out.csv = [validation] { return to_csv(*validation->steps); };
    return out;
}

// The lists of notes that fits have in common with imports; what is empty stays empty.
Json notes_of_fit(ImportNotes notes, const std::vector<std::string>& found)
{
    Json out = to_json(notes);
    Json list = Json::array();
    for (const std::string& one : found)
        list.push_back(one);
    out["found"] = std::move(list);
    return out;
}

Answer logs_fit(const std::vector<std::string>& files, const FitRequest& asked,
                const nb::object& progress)
{
    struct Fitted {
        FitReport report;
        FittedProfile profile;
        ImportNotes notes;
    };
    Fitted fitted =
        value_or_raise(result_of(progress, [&](const WorkControl& work) -> Checked<Fitted> {
            const Checked<FitInput> input = read_fit_input(files, work);
            if (!input)
                return tl::unexpected(input.error());
            Checked<FittedProfile> profile =
                fit_profile(input->sweeps, completed(asked, *input, asked.name));
            if (!profile)
                return tl::unexpected(std::move(profile.error()));
            work.check();
            ImportNotes notes = input->notes;
            for (const std::string& text : further_flags(*input))
                notes.flagged.push_back(text);
            for (const std::string& text : profile->assumed)
                notes.assumed.push_back(text);
            return Fitted{report_on(input->sweeps), std::move(*profile), std::move(notes)};
        }));
    Answer out;
    out.profile = table_text(fitted.profile.profile);
    const auto report = std::make_shared<const FitReport>(std::move(fitted.report));
    out.json = [report] { return document(to_json(*report)); };
    out.text = [report](std::size_t) { return fit_text(*report); };
    out.html = [report] { return fit_html(*report); };
    const auto notes =
        std::make_shared<const Json>(notes_of_fit(std::move(fitted.notes), fitted.profile.found));
    out.notes = [notes] { return to_text(*notes); };
    return out;
}

Answer steps_fit(const OwnStepsQuestion& question, const std::string& name,
                 const nb::object& progress)
{
    const auto shared = session();
    const auto report = std::make_shared<const OwnStepsReport>(
        value_or_raise(result_of(progress, [&](const WorkControl& work) {
            return fit_own_steps(question, *shared, work);
        })));
    Answer out;
    out.profile = table_text(profile_of(*report, name));
    out.json = [report] { return document(to_json(*report)); };
    out.text = [report](std::size_t) { return own_steps_text(*report); };
    out.notes = [report] {
        ImportNotes notes;
        notes.assumed = report->steps.notes;
        return to_text(notes_of_fit(std::move(notes), {}));
    };
    return out;
}

Answer trace_answer(const TraceFitQuestion& question, const nb::object& progress)
{
    const auto shared = session();
    const auto fit = std::make_shared<const TraceFit>(
        value_or_raise(result_of(progress, [&](const WorkControl& work) {
            return fit_recorded_step(question, *shared, work);
        })));
    Answer out;
    out.profile = table_text(fit->profile);
    out.json = [fit] { return document(to_json(*fit)); };
    out.text = [fit](std::size_t width) { return trace_fit_text(*fit, width); };
    out.notes = [fit] {
        ImportNotes notes;
        notes.flagged = fit->doubts;
        return to_text(notes_of_fit(std::move(notes), {}));
    };
    return out;
}

// The words of a goal, by the names that the command line has for them.
CapacityQuestion capacity_question(const nb::dict& words)
{
    CapacityQuestion out;
    const auto take = [&](const char* key, auto& to) {
        if (words.contains(key) && !nb::try_cast(words[key], to))
            throw nb::type_error(key);
    };
    take("model", out.model);
    take("on", out.clusters);
    take("tokens", out.tokens);
    take("within", out.within);
    take("budget", out.budget);
    take("price", out.prices);
    take("mtbf", out.mtbf);
    take("checkpoint", out.checkpoint);
    take("batch", out.batch);
    take("sequence_length", out.sequence_length);
    take("assume", out.assumptions);
    take("objectives", out.objectives);
    take("scaling", out.scaling);
    take("guide", out.guide);
    return out;
}

} // namespace

void add_studies(nb::module_& module)
{
    module.def(
        "sweep",
        [](const ScenarioCore& core, const std::vector<std::string>& axes, bool nearest_batch,
           const std::string& best_by, double headroom, std::size_t top, int threads,
           const nb::object& progress) {
            return sweep_answer(core, {axes, nearest_batch, measure_named(best_by), headroom}, top,
                                threads, progress);
        },
        nb::arg("scenario"), nb::arg("axes"), nb::arg("nearest_batch"), nb::arg("best_by"),
        nb::arg("headroom"), nb::arg("top"), nb::arg("threads"), nb::arg("progress").none());
    module.def(
        "plan_layouts",
        [](const ScenarioCore& core, const std::vector<std::string>& axes, std::size_t top,
           bool front, double headroom, int threads, const nb::dict& training, bool longest_context,
           const nb::object& progress) {
            return (longest_context ? context_answer : layouts_answer)(
                core, {axes, top, front, headroom, threads}, capacity_question(training), progress);
        },
        nb::arg("scenario"), nb::arg("axes"), nb::arg("top"), nb::arg("front"), nb::arg("headroom"),
        nb::arg("threads"), nb::arg("training"), nb::arg("longest_context"),
        nb::arg("progress").none());
    module.def(
        "plan_clusters",
        [](const std::optional<ScenarioCore>& core, const nb::dict& words,
           const std::vector<std::string>& axes, double headroom, int threads,
           const nb::object& progress) {
            return clusters_answer({core, capacity_question(words), axes, headroom, threads},
                                   progress);
        },
        nb::arg("scenario").none(), nb::arg("goal"), nb::arg("axes"), nb::arg("headroom"),
        nb::arg("threads"), nb::arg("progress").none());
    module.def("validate", &validation_answer, nb::arg("files"), nb::arg("only"),
               nb::arg("progress").none());
    module.def(
        "fit_logs",
        [](const std::vector<std::string>& files, const std::string& name,
           const std::string& device, const std::string& network, const nb::object& progress) {
            FitRequest asked;
            asked.name = name;
            asked.device = device;
            asked.network = network;
            return logs_fit(files, asked, progress);
        },
        nb::arg("files"), nb::arg("name"), nb::arg("device"), nb::arg("network"),
        nb::arg("progress").none());
    module.def(
        "fit_steps",
        [](const std::vector<std::string>& files, const std::string& base,
           const std::string& target, const std::string& name, const nb::object& progress) {
            return steps_fit({files, base, target}, name, progress);
        },
        nb::arg("files"), nb::arg("base"), nb::arg("target"), nb::arg("name"),
        nb::arg("progress").none());
    module.def(
        "fit_trace",
        [](const std::vector<std::string>& files, const std::string& scenario,
           const std::string& base, const std::string& name, const nb::object& progress) {
            return trace_answer({files, scenario, base, name}, progress);
        },
        nb::arg("files"), nb::arg("scenario"), nb::arg("base"), nb::arg("name"),
        nb::arg("progress").none());
}

} // namespace trainyard::python
