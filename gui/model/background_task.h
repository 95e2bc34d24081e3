#pragma once

// Work in the background: the latest request wins, one that is overtaken is cancelled.

#include "sim/base/progress.h"

#include <QObject>
#include <QThreadPool>
#include <memory>

namespace trainyard::gui {

// Work that takes long lets the window and what its sliders ask for go first: called by the thread
// that does it, before it starts others.
void step_back();

class BackgroundTask : public QObject {
    Q_OBJECT

public:
    // What to do with the result, in the owner's thread: it is no longer busy by then.
    using Answer = std::function<void()>;
    // Runs in the background; may throw Cancelled, WorldError, std::bad_alloc, and what the
    // standard library throws of files.
    using Work = std::function<Answer(const WorkControl& control)>;

    using QObject::QObject;
    ~BackgroundTask() override; // cancels and waits

    // Answers or has `failed`, unless it is overtaken or cancelled.
    void start(Work work);
    // Ends what runs and waits for nothing; true where something did.
    bool cancel();
    bool busy() const { return busy_; }

signals:
    void busyChanged();
    // Of each stage its beginning, then at most every 50 ms. `total` 0: not known.
    void progressed(const QString& stage, double done, double total);
    void failed(const QString& message);

private:
    ProgressCall progress_of(std::uint64_t serial);
    void finish(std::uint64_t serial, const Answer& answer, const QString& message);
    void set_busy(bool busy);

    QThreadPool pool_;
    std::shared_ptr<CancelFlag> cancel_;
    std::uint64_t serial_ = 0;
    bool busy_ = false;
};

} // namespace trainyard::gui
