#include "gui/model/way_out.h"

#include "gui/model/qt_text.h"
#include "sim/api/scenarios.h"
#include "sim/report/plan/plan_report.h"
#include "sim/study/sensitivity/advice.h"

#include <QCoreApplication>

namespace trainyard::gui {

namespace {

// A file that stays the same is named as before.
void keep_names(Json& now, const Json& before, const std::filesystem::path& folder)
{
    std::error_code ignored;
    const auto file = [&](const Json& name) {
        return std::filesystem::weakly_canonical(folder / name.as_string(), ignored);
    };
    // As {"hf_config": "config.json"} is written, too.
    const bool wrapped = before.is_object() && before.members().size() == 1;
    const Json& name = wrapped ? before.members().begin()->second : before;
    if (now.is_string() && name.is_string() && file(now) == file(name))
        now = before;
    if (now.is_object() && before.is_object())
        for (const auto& [key, value] : before.members())
            if (now.find(key) != nullptr)
                keep_names(now[key], value, folder);
}

} // namespace

WayOut nearest_that_fits(const RunView& run, const ScenarioFile& file, Session& session,
                         const WorkControl& work)
{
    WayOut out;
    if (run.outcome != nullptr && !run.summary.fits && run.file->json == file.json) {
        AdviceOptions options;
        options.work = work;
        options.most = 8;
        const AdviceReport report = advise(*run.outcome, file, session, options);
        if (!report.best.empty()) {
            out.set = report.best.front().set;
            return out;
        }
    }
    LayoutQuestion question;
    question.top = 1;
    question.headroom = 0;
    const Checked<LayoutAnswer> found = plan_layouts(file, question, session, work);
    work.check(); // what is found on the way is not the nearest
    if (!found)
        out.why_none = found.error().front().message;
    else if (found->planned.empty()) {
        out.why_none = nothing_fits(found->report);
        out.smallest = found->smallest;
        out.smallest_gpus = found->report.smallest ? found->report.smallest->gpus : 0;
    } else
        out.layout = found->planned.front();
    return out;
}

Json scenario_beside(const PlannedScenario& planned, const Document& document)
{
    const std::string& file = document.file();
    Json json = *parse_json(scenario_text(planned.scenario, planned.base, file), file);
    keep_names(json, document.json(), std::filesystem::path(file).parent_path());
    return json;
}

QString take_way_out(Document& document, const WayOut& found)
{
    if (found.layout) {
        document.replace(scenario_beside(*found.layout, document),
                         QCoreApplication::translate("way out", "the nearest that fits"));
        return {};
    }
    std::vector<Edit> edits;
    for (const Override& change : found.set)
        edits.push_back({change.field, change.value});
    const auto refused = document.edit(edits);
    return refused ? text_of(refused->message) : QString();
}

QString smallest_offer(int gpus)
{
    return gpus == 1 ? QCoreApplication::translate("way out", "Take 1 GPU")
                     : QCoreApplication::translate("way out", "Take %1 GPUs").arg(gpus);
}

} // namespace trainyard::gui
