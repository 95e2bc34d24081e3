#include "gui/model/live_run.h"

#include "sim/report/timeline/recorded.h"

#include <QMetaObject>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace trainyard::gui {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Problems problem(std::string message, std::string hint = {})
{
    return {{"", 0, "", std::move(message), std::move(hint), Severity::error}};
}

struct Request {
    std::uint64_t serial = 0;
    std::shared_ptr<const ScenarioFile> file;
    Detail detail = Detail::headline;
    std::shared_ptr<CancelFlag> cancel = std::make_shared<CancelFlag>();
};

} // namespace

struct LiveRun::Worker {
    explicit Worker(LiveRun& of) : owner(of), thread([this] { work(); }) {}

    ~Worker()
    {
        {
            const std::lock_guard lock(mutex);
            ending = true;
            if (running)
                running->cancel();
        }
        wake.notify_one();
        thread.join();
    }

    void ask(std::unique_ptr<const Request> request)
    {
        {
            const std::lock_guard lock(mutex);
            if (running)
                running->cancel();
            waiting = std::move(request);
        }
        wake.notify_one();
    }

    void cancel()
    {
        const std::lock_guard lock(mutex);
        waiting.reset();
        if (running)
            running->cancel();
    }

    void work()
    {
        while (const std::unique_ptr<const Request> request = next()) {
            try {
                answer(*request);
            } catch (const Cancelled&) {
            }
            const std::lock_guard lock(mutex);
            running.reset();
        }
    }

    // Null: it ends.
    std::unique_ptr<const Request> next()
    {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return ending || waiting; });
        if (ending)
            return nullptr;
        running = waiting->cancel;
        return std::move(waiting);
    }

    // The headline first, then the same with records.
    void answer(const Request& request)
    {
        const Clock::time_point start = Clock::now();
        std::shared_ptr<RunView> headline = simulate(request, nullptr);
        headline->wall_ms = milliseconds_since(start);
        const bool more = request.detail == Detail::ops && headline->outcome != nullptr;
        deliver(request, headline, more);
        if (!more)
            return;
        std::shared_ptr<RunView> recorded = simulate(request, headline->outcome.get());
        recorded->wall_ms = milliseconds_since(start);
        deliver(request, recorded, false);
    }

    std::shared_ptr<RunView> simulate(const Request& request, const Outcome* headline)
    {
        auto view = std::make_shared<RunView>();
        view->serial = request.serial;
        view->file = request.file;
        SimulateRequest ask;
        ask.memory = AllocatorView::fullest_stage;
        ask.work = {request.cancel.get(), progress_of(request)};
        if (headline != nullptr)
            ask.record = picture_lanes(*headline);
        try {
            Checked<Outcome> outcome = session.simulate(*request.file, ask);
            if (outcome) {
                view->problems = outcome->warnings;
                view->recorded = headline != nullptr;
                view->summary = summarize(*outcome);
                view->outcome = std::make_shared<const Outcome>(std::move(*outcome));
            } else
                view->problems = std::move(outcome.error());
        } catch (const WorldError& error) {
            view->problems = problem(error.message);
        } catch (const std::bad_alloc&) {
            view->problems = problem("there is not enough memory for this simulation",
                                     "fewer steps, or run.fold = true");
        }
        return view;
    }

    // At most every 50 ms, so that a quick simulation is not slowed by telling of itself.
    ProgressCall progress_of(const Request& request)
    {
        return [this, serial = request.serial,
                last = Clock::now()](std::string_view stage, double done, double total) mutable {
            if (milliseconds_since(last) < 50)
                return;
            last = Clock::now();
            const QString text = QString::fromUtf8(stage.data(), static_cast<int>(stage.size()));
            QMetaObject::invokeMethod(&owner, [this, serial, text, done, total] {
                if (serial == owner.serial_ && owner.busy_)
                    emit owner.progressed(text, done, total);
            });
        };
    }

    void deliver(const Request& request, std::shared_ptr<const RunView> view, bool more)
    {
        QMetaObject::invokeMethod(&owner,
                                  [this, cancel = request.cancel, view = std::move(view), more] {
                                      if (cancel->cancelled() || view->serial != owner.serial_)
                                          return;
                                      owner.busy_ = more;
                                      emit owner.finished(view);
                                  });
    }

    LiveRun& owner;
    Session session;
    std::mutex mutex;
    std::condition_variable wake;
    std::unique_ptr<const Request> waiting;
    std::shared_ptr<CancelFlag> running;
    bool ending = false;
    std::thread thread; // last: it uses all others
};

LiveRun::LiveRun(QObject* parent) : QObject(parent), worker_(std::make_unique<Worker>(*this)) {}

LiveRun::~LiveRun() = default;

std::uint64_t LiveRun::request(ScenarioFile file, Detail detail)
{
    auto request = std::make_unique<Request>();
    request->serial = ++serial_;
    request->file = std::make_shared<const ScenarioFile>(std::move(file));
    request->detail = detail;
    busy_ = true;
    emit started(serial_);
    worker_->ask(std::move(request));
    return serial_;
}

void LiveRun::cancel()
{
    if (!busy_)
        return;
    worker_->cancel();
    busy_ = false;
    ++serial_; // what is on its way is of no use any more
    emit stopped();
}

Session& LiveRun::session()
{
    return worker_->session;
}

} // namespace trainyard::gui
