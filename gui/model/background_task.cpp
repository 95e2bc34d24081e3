#include "gui/model/background_task.h"

#include "sim/base/diagnostic.h"

#include <QMetaObject>
#include <chrono>

namespace trainyard::gui {

BackgroundTask::~BackgroundTask()
{
    if (cancel_)
        cancel_->cancel();
    pool_.clear();
    pool_.waitForDone();
}

void BackgroundTask::start(Work work)
{
    if (cancel_)
        cancel_->cancel();
    cancel_ = std::make_shared<CancelFlag>();
    pool_.clear();
    pool_.setMaxThreadCount(1);
    pool_.start([this, serial = ++serial_, cancel = cancel_, work = std::move(work)] {
        using Clock = std::chrono::steady_clock;
        const auto tell = [this, serial, last = Clock::now()](std::string_view, double done,
                                                              double total) mutable {
            if (Clock::now() - last < std::chrono::milliseconds(50))
                return;
            last = Clock::now();
            QMetaObject::invokeMethod(this, [this, serial, done, total] {
                if (serial == serial_ && busy_)
                    emit progressed(done, total);
            });
        };
        Answer answer;
        QString message;
        try {
            answer = work({cancel.get(), tell});
        } catch (const Cancelled&) {
            return;
        } catch (const WorldError& error) {
            message = QString::fromStdString(error.message);
        } catch (const std::bad_alloc&) {
            message = tr("There is not enough memory for this.");
        }
        QMetaObject::invokeMethod(this, [this, serial, answer = std::move(answer), message] {
            finish(serial, answer, message);
        });
    });
    set_busy(true);
}

void BackgroundTask::cancel()
{
    if (!busy_)
        return;
    cancel_->cancel();
    ++serial_;
    set_busy(false);
}

void BackgroundTask::finish(std::uint64_t serial, const Answer& answer, const QString& message)
{
    if (serial != serial_)
        return;
    if (answer)
        answer();
    set_busy(false);
    if (!message.isEmpty())
        emit failed(message);
}

void BackgroundTask::set_busy(bool busy)
{
    if (busy == busy_)
        return;
    busy_ = busy;
    emit busyChanged();
}

} // namespace trainyard::gui
