#include "python/src/waiting.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

// How long Ctrl-C may take to be noticed.
constexpr std::chrono::milliseconds look_up(50);
// How often progress is told at most.
constexpr std::chrono::milliseconds breath(100);

struct Progress {
    std::string stage;
    double done = 0;
    double total = 0;
};

// What the two threads tell each other.
struct Talk {
    std::mutex mutex;
    std::condition_variable news;
    bool over = false;
    std::optional<Progress> progress; // that nobody was told yet
    std::exception_ptr failure;
    CancelFlag cancel;
};

void run(Talk& talk, bool tells, const std::function<void(const WorkControl&)>& work)
{
    WorkControl control;
    control.cancel = &talk.cancel;
    if (tells)
        control.progress = [&](std::string_view stage, double done, double total) {
            const std::lock_guard lock(talk.mutex);
            talk.progress = Progress{std::string(stage), done, total};
        };
    std::exception_ptr failure;
    try {
        work(control);
    } catch (...) {
        failure = std::current_exception();
    }
    const std::lock_guard lock(talk.mutex);
    talk.failure = failure;
    talk.over = true;
    talk.news.notify_one();
}

// Requires the GIL. Throws what a signal's handler or the callable raises.
void look_after(Talk& talk, const nb::object& progress)
{
    if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
    std::optional<Progress> told;
    {
        const std::lock_guard lock(talk.mutex);
        std::swap(told, talk.progress);
    }
    if (told)
        progress(nb::str(told->stage.data(), told->stage.size()), told->done, told->total);
}

// Returns true once the work is over.
bool wait_a_little(Talk& talk, std::chrono::milliseconds time)
{
    std::unique_lock lock(talk.mutex);
    return talk.news.wait_for(lock, time, [&] { return talk.over; });
}

} // namespace

void wait_for(const nb::object& progress, const std::function<void(const WorkControl&)>& work)
{
    const bool tells = !progress.is_none();
    Talk talk;
    std::exception_ptr raised; // by Python
    {
        const nb::gil_scoped_release released;
        std::thread worker(run, std::ref(talk), tells, std::cref(work));
        while (!wait_a_little(talk, tells ? breath : look_up)) {
            if (raised)
                continue; // it is only waited for now
            const nb::gil_scoped_acquire acquired;
            try {
                look_after(talk, progress);
            } catch (...) {
                raised = std::current_exception();
                talk.cancel.cancel();
            }
        }
        worker.join();
    }
    if (raised)
        std::rethrow_exception(raised);
    if (talk.failure)
        std::rethrow_exception(talk.failure);
    if (tells && talk.progress)
        look_after(talk, progress); // the last of it
}

} // namespace trainyard::python
