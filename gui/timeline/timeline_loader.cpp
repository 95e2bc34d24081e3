#include "gui/timeline/timeline_loader.h"

#include "sim/report/timeline/recorded.h"

#include <QMetaObject>

namespace trainyard::gui {

namespace {

// The run with records.
std::shared_ptr<const Outcome> recorded(const RunView& run, Session& session,
                                        const CancelFlag& cancel)
{
    if (run.recorded)
        return run.outcome;
    SimulateRequest request;
    request.memory = AllocatorView::fullest_stage;
    request.record = default_trace_lanes(*run.outcome);
    request.work.cancel = &cancel;
    Checked<Outcome> outcome = session.simulate(*run.file, request);
    if (!outcome) // it was simulated before, without records
        throw WorldError{render(outcome.error(), "")};
    return std::make_shared<const Outcome>(std::move(*outcome));
}

} // namespace

TimelineLoader::~TimelineLoader()
{
    if (cancel_)
        cancel_->cancel();
    pool_.clear();
    pool_.waitForDone();
}

void TimelineLoader::load(std::shared_ptr<const RunView> run,
                          std::shared_ptr<const RunView> compared, Session& session)
{
    if (cancel_)
        cancel_->cancel();
    cancel_ = std::make_shared<CancelFlag>();
    busy_ = true;
    pool_.clear();
    pool_.setMaxThreadCount(1);
    pool_.start([this, serial = ++serial_, cancel = cancel_, run = std::move(run),
                 compared = std::move(compared), &session] {
        std::shared_ptr<const TimelineModel> model;
        QString message;
        try {
            std::vector outcomes{recorded(*run, session, *cancel)};
            if (compared)
                outcomes.push_back(recorded(*compared, session, *cancel));
            model = std::make_shared<const TimelineModel>(outcomes);
        } catch (const Cancelled&) {
            return;
        } catch (const WorldError& error) {
            message = QString::fromStdString(error.message);
        } catch (const std::bad_alloc&) {
            message = tr("There is not enough memory for a timeline of this run.");
        }
        QMetaObject::invokeMethod(this, [this, serial, model = std::move(model), message] {
            answer(serial, model, message);
        });
    });
}

void TimelineLoader::answer(std::uint64_t serial, std::shared_ptr<const TimelineModel> model,
                            const QString& message)
{
    if (serial != serial_)
        return;
    busy_ = false;
    if (model)
        emit loaded(model);
    else
        emit failed(message);
}

} // namespace trainyard::gui
