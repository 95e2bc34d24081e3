#include "gui/explore/compare_job.h"

#include "sim/base/files.h"
#include "sim/study/inputs.h"

#include <QMetaObject>

namespace trainyard::gui {

namespace {

Checked<Outcome> outcome_of(const Compared& one, Session& session, const CancelFlag& cancel)
{
    if (one.run)
        return *one.run->outcome;
    const Checked<ScenarioFile> file = scenario_from(one.scenario, one.file);
    if (!file)
        return tl::unexpected(file.error());
    SimulateRequest request;
    request.memory = AllocatorView::fullest_stage;
    request.work.cancel = &cancel;
    return session.simulate(*file, request);
}

std::shared_ptr<const ComparedResult> compared(const std::vector<Compared>& wanted,
                                               Session& session, const CancelFlag& cancel)
{
    auto out = std::make_shared<ComparedResult>();
    std::vector<ComparedRun> runs;
    for (const Compared& one : wanted) {
        Checked<Outcome> outcome = outcome_of(one, session, cancel);
        if (!outcome) {
            out->problem +=
                QStringLiteral("%1: %2\n")
                    .arg(one.name, QString::fromStdString(outcome.error().front().message));
            continue;
        }
        Summary summary = summarize(*outcome);
        out->names.push_back(one.name);
        out->summaries.push_back(summary);
        runs.push_back({one.name.toStdString(), std::move(*outcome), std::move(summary)});
    }
    if (!runs.empty())
        out->comparison = compare(runs);
    return out;
}

} // namespace

CompareJob::CompareJob(QObject* parent) : QObject(parent)
{
    pool_.setMaxThreadCount(1);
}

CompareJob::~CompareJob()
{
    cancel();
    pool_.waitForDone();
}

void CompareJob::cancel()
{
    if (cancel_)
        cancel_->cancel();
    pool_.clear();
    ++serial_;
    busy_ = false;
}

void CompareJob::start(std::vector<Compared> wanted)
{
    cancel();
    cancel_ = std::make_shared<CancelFlag>();
    busy_ = true;
    pool_.start([this, serial = serial_, flag = cancel_, wanted = std::move(wanted)] {
        std::shared_ptr<const ComparedResult> result;
        try {
            result = compared(wanted, session_, *flag);
        } catch (const Cancelled&) {
            return;
        } catch (const WorldError& error) {
            auto failed = std::make_shared<ComparedResult>();
            failed->problem = QString::fromStdString(error.message);
            result = failed;
        }
        QMetaObject::invokeMethod(this, [this, serial, result] {
            if (serial != serial_)
                return;
            busy_ = false;
            emit ready(result);
        });
    });
}

} // namespace trainyard::gui
