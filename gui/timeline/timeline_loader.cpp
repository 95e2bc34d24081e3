#include "gui/timeline/timeline_loader.h"

#include "sim/report/timeline/recorded.h"

#include <QMetaObject>

namespace trainyard::gui {

namespace {

// The run with records.
std::shared_ptr<const Outcome> recorded(const RunView& run, Session& session,
                                        const WorkControl& work)
{
    if (run.recorded)
        return run.outcome;
    SimulateRequest request;
    request.memory = AllocatorView::fullest_stage;
    request.record = picture_lanes(*run.outcome);
    request.work = work;
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
        const WorkControl work{cancel.get(), progress_of(serial)};
        try {
            std::vector outcomes{recorded(*run, session, work)};
            if (compared)
                outcomes.push_back(recorded(*compared, session, work));
            model = std::make_shared<const TimelineModel>(outcomes, work);
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

bool TimelineLoader::cancel()
{
    if (!busy_)
        return false;
    cancel_->cancel();
    ++serial_; // what is on its way is of no use any more
    busy_ = false;
    return true;
}

ProgressCall TimelineLoader::progress_of(std::uint64_t serial)
{
    return [this, serial](std::string_view stage, double done, double total) {
        const QString text = QString::fromUtf8(stage.data(), static_cast<qsizetype>(stage.size()));
        QMetaObject::invokeMethod(this, [this, serial, text, done, total] {
            if (serial == serial_ && busy_)
                emit progressed(text, done, total);
        });
    };
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
