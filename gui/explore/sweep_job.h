#pragma once

// A sweep in the background. Points are reduced to a few figures where they are simulated, and
// handed over in batches at most thirty times a second.

#include "gui/explore/point_store.h"
#include "gui/explore/sweep_plan.h"
#include "gui/model/background_task.h"

#include <chrono>

class QTimer;

namespace trainyard::gui {

struct SweepProgress {
    std::size_t done = 0;
    std::size_t total = 0;
    double per_second = 0;   // 0: not known yet
    double seconds_left = 0; // likewise
};

class SweepJob : public QObject {
    Q_OBJECT

public:
    explicit SweepJob(QObject* parent = nullptr);
    ~SweepJob() override; // cancels and waits

    // What ran before is cancelled and forgotten.
    void start(const SweepPlan& plan);
    // Hands over points that were found before, in batches as if it found them.
    void replay(std::vector<FoundPoint> found);
    // Ends it; what was found is kept, and `ended` comes at once.
    void cancel();
    void set_paused(bool paused);

    bool running() const { return running_; }
    bool paused() const { return paused_; }
    bool replaying() const { return running_ && replaying_; }
    // Paused, what was under way has come to its end, and all points have been told.
    bool resting() const;
    SweepProgress progress() const;

signals:
    void found(std::vector<trainyard::gui::FoundPoint> points);
    // `problem` is empty where nothing went wrong. A cancelled sweep has fewer points than planned.
    void ended(const QString& problem);

private:
    struct Shared;
    void stop();
    void begin(std::size_t total);
    void deliver();
    void finish(const QString& problem);

    QTimer* timer_;
    std::shared_ptr<Shared> shared_;
    std::size_t total_ = 0;
    std::size_t done_ = 0;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::duration ran_{}; // before the latest pause
    bool running_ = false;
    bool paused_ = false;
    bool replaying_ = false;
    BackgroundTask task_; // a sweep has threads of its own
};

} // namespace trainyard::gui
