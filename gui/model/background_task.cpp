#include "gui/model/background_task.h"

#include "gui/model/qt_text.h"
#include "sim/base/diagnostic.h"

#include <sys/resource.h>
#include <unistd.h>

#include <QMetaObject>
#include <chrono>
#include <filesystem>
#include <new>
#include <string>

namespace trainyard::gui {

// On Linux a thread has a niceness of its own, which the threads that it starts inherit.
void step_back()
{
    constexpr int behind = 10;
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), behind);
}

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
        Answer answer;
        QString message;
        try {
            answer = work({cancel.get(), progress_of(serial)});
        } catch (const Cancelled&) {
            return;
        } catch (const WorldError& error) {
            message = QString::fromStdString(error.message);
        } catch (const std::filesystem::filesystem_error& error) {
            message = QStringLiteral("%1: %2").arg(QString::fromStdString(error.path1().string()),
                                                   QString::fromStdString(error.code().message()));
        } catch (const std::bad_alloc&) {
            message = tr("There is not enough memory for this.");
        }
        QMetaObject::invokeMethod(this, [this, serial, answer = std::move(answer), message] {
            finish(serial, answer, message);
        });
    });
    set_busy(true);
}

bool BackgroundTask::cancel()
{
    if (!busy_)
        return false;
    cancel_->cancel();
    ++serial_; // what is on its way is of no use any more
    set_busy(false);
    return true;
}

ProgressCall BackgroundTask::progress_of(std::uint64_t serial)
{
    using Clock = std::chrono::steady_clock;
    return [this, serial, told = std::string(),
            last = Clock::time_point()](std::string_view stage, double done, double total) mutable {
        const Clock::time_point now = Clock::now();
        if (stage == told && now - last < std::chrono::milliseconds(50))
            return;
        told = stage;
        last = now;
        const QString text = text_of(stage);
        QMetaObject::invokeMethod(this, [this, serial, text, done, total] {
            if (serial == serial_ && busy_)
                emit progressed(text, done, total);
        });
    };
}

void BackgroundTask::finish(std::uint64_t serial, const Answer& answer, const QString& message)
{
    if (serial != serial_)
        return;
    busy_ = false;
    if (answer)
        answer(); // may begin the next
    emit busyChanged();
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
