#include "gui/explore/sweep_job.h"

#include "sim/base/parallel.h"
#include "sim/study/session.h"
#include "sim/study/sweep.h"

#include <QTimer>
#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace trainyard::gui {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int batch_after_ms = 33;
// Taking in this many keeps the window below a few milliseconds.
constexpr std::size_t largest_batch = 4000;

} // namespace

// Of the window and the threads that simulate.
struct SweepJob::Shared {
    std::mutex mutex;
    std::condition_variable go_on;
    bool paused = false;
    std::vector<FoundPoint> waiting;
    std::size_t threads = 0; // 0: not begun
    std::size_t held = 0;    // of them, by the pause
    std::size_t to_come = 0; // points

    void begin(std::size_t points)
    {
        const std::lock_guard lock(mutex);
        threads = static_cast<std::size_t>(usable_threads());
        to_come = points;
    }

    // Called by several threads.
    void take(const SweepPoint& point)
    {
        FoundPoint found = found_point(row_of(point));
        std::unique_lock lock(mutex);
        waiting.push_back(std::move(found));
        --to_come;
        ++held;
        go_on.wait(lock, [this] { return !paused; });
        --held;
    }

    // A thread that is not held is at a point that is to come, or there are none.
    bool rests()
    {
        const std::lock_guard lock(mutex);
        return waiting.empty() && threads > 0 && (held == threads || to_come == 0);
    }

    void set_paused(bool pause)
    {
        {
            const std::lock_guard lock(mutex);
            paused = pause;
        }
        go_on.notify_all();
    }
};

SweepJob::SweepJob(QObject* parent) : QObject(parent), timer_(new QTimer(this))
{
    timer_->setInterval(batch_after_ms);
    connect(timer_, &QTimer::timeout, this, [this] {
        deliver();
        if (replaying() && done_ == total_)
            finish({});
    });
    connect(&task_, &BackgroundTask::failed, this, &SweepJob::finish);
}

SweepJob::~SweepJob()
{
    stop();
}

// Its threads notice even where they are paused.
void SweepJob::stop()
{
    task_.cancel();
    if (shared_)
        shared_->set_paused(false);
}

void SweepJob::begin(std::size_t total)
{
    stop();
    shared_ = std::make_shared<Shared>();
    total_ = total;
    done_ = 0;
    began_ = Clock::now();
    ran_ = {};
    running_ = true;
    paused_ = false;
    replaying_ = false;
    timer_->start();
}

void SweepJob::replay(std::vector<FoundPoint> found)
{
    begin(found.size());
    replaying_ = true;
    shared_->waiting = std::move(found);
}

void SweepJob::start(const SweepPlan& plan)
{
    begin(plan.points);
    task_.start([this, plan, shared = shared_](const WorkControl& work) -> BackgroundTask::Answer {
        step_back();
        Session session;
        SweepOptions options;
        options.work.cancel = work.cancel;
        options.points = SizeRule(plan.grid, *plan.base, plan.facts.devices).points();
        shared->begin(options.points->size());
        sweep(*plan.base, plan.grid, session, options,
              [&](SweepPoint&& point) { shared->take(point); });
        return [this] { finish({}); };
    });
}

void SweepJob::cancel()
{
    if (!running_)
        return;
    stop();
    if (replaying_)
        shared_->waiting.clear();
    finish({});
}

void SweepJob::finish(const QString& problem)
{
    const std::shared_ptr<Shared> ended_one = shared_;
    while (shared_ == ended_one) {
        const std::size_t before = done_;
        deliver();
        if (done_ == before)
            break;
    }
    if (shared_ != ended_one)
        return; // started anew by those who heard of points
    timer_->stop();
    running_ = false;
    ran_ += paused_ ? Clock::duration() : Clock::now() - began_;
    paused_ = false;
    shared_.reset();
    emit ended(problem);
}

void SweepJob::set_paused(bool paused)
{
    if (!running_ || replaying_ || paused == paused_)
        return;
    paused_ = paused;
    if (paused)
        ran_ += Clock::now() - began_;
    else
        began_ = Clock::now();
    shared_->set_paused(paused);
}

bool SweepJob::resting() const
{
    return paused_ && shared_->rests();
}

void SweepJob::deliver()
{
    std::vector<FoundPoint> batch;
    {
        const std::lock_guard lock(shared_->mutex);
        std::vector<FoundPoint>& waiting = shared_->waiting;
        if (waiting.size() <= largest_batch)
            batch.swap(waiting);
        else {
            const auto rest = waiting.begin() + static_cast<std::ptrdiff_t>(largest_batch);
            batch.assign(std::move_iterator(waiting.begin()), std::move_iterator(rest));
            waiting.erase(waiting.begin(), rest);
        }
    }
    if (batch.empty())
        return;
    done_ += batch.size();
    emit found(std::move(batch));
}

SweepProgress SweepJob::progress() const
{
    const Clock::duration time =
        ran_ + (running_ && !paused_ ? Clock::now() - began_ : Clock::duration());
    const double seconds = std::chrono::duration<double>(time).count();
    SweepProgress out{done_, total_, 0, 0};
    if (done_ > 0 && seconds > 0) {
        out.per_second = static_cast<double>(done_) / seconds;
        out.seconds_left = static_cast<double>(total_ - done_) / out.per_second;
    }
    return out;
}

} // namespace trainyard::gui
