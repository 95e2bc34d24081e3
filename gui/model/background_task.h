#pragma once

// Work in the background: the latest request wins, one that is overtaken is cancelled.

#include "sim/base/progress.h"

#include <QObject>
#include <QThreadPool>
#include <memory>

namespace trainyard::gui {

class BackgroundTask : public QObject {
    Q_OBJECT

public:
    // What to do with the result, in the owner's thread.
    using Answer = std::function<void()>;
    // Runs in the background; may throw Cancelled and WorldError.
    using Work = std::function<Answer(const WorkControl& control)>;

    using QObject::QObject;
    ~BackgroundTask() override; // cancels and waits

    void start(Work work);
    void cancel();
    bool busy() const { return busy_; }

signals:
    void busyChanged();
    void progressed(double done, double total); // at most every 50 ms
    void failed(const QString& message);

private:
    void finish(std::uint64_t serial, const Answer& answer, const QString& message);
    void set_busy(bool busy);

    QThreadPool pool_;
    std::shared_ptr<CancelFlag> cancel_;
    std::uint64_t serial_ = 0;
    bool busy_ = false;
};

} // namespace trainyard::gui
