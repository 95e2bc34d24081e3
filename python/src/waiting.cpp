#include "python/src/waiting.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace trainyard::python {
namespace {

namespace nb = nanobind;

// How long Ctrl-C may take to be noticed.
constexpr std::chrono::milliseconds look_up(50);
// How often progress is told at most.
constexpr std::chrono::milliseconds breath(100);
// How long the interpreter's end waits for calls to stop.
constexpr std::chrono::seconds patience(10);

// The calls under way. A daemon thread that asks for the GIL while the interpreter ends would be
// unwound by force, through frames that do not allow it: it is parked before.
struct Calls {
    std::mutex mutex;
    std::condition_variable changed;
    int running = 0;
    int parked = 0;
    bool closing = false;
    std::thread::id closer;
};

// Never destroyed: parked threads are in it.
Calls*& calls()
{
    static Calls* all = new Calls;
    return all;
}

bool is_to_park()
{
    Calls& all = *calls();
    const std::lock_guard lock(all.mutex);
    return all.closing && all.closer != std::this_thread::get_id();
}

// To be called without the GIL.
[[noreturn]] void park()
{
    Calls& all = *calls();
    {
        const std::lock_guard lock(all.mutex);
        ++all.parked;
    }
    all.changed.notify_all();
    while (true)
        ::pause();
}

// A call under way. Requires the GIL.
class Call {
public:
    Call()
    {
        {
            const std::lock_guard lock(calls()->mutex);
            ++calls()->running;
        }
        if (is_to_park()) {
            PyEval_SaveThread();
            park();
        }
    }
    ~Call()
    {
        {
            const std::lock_guard lock(calls()->mutex);
            --calls()->running;
        }
        calls()->changed.notify_all();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
};

// The GIL, given up and taken back.
class Released {
public:
    Released() : state_(PyEval_SaveThread()) {}
    ~Released() { take(); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

    // Calls `look` with the GIL.
    template <class Look>
    void with_gil(Look look)
    {
        take();
        look();
        state_ = PyEval_SaveThread();
    }

private:
    void take()
    {
        if (is_to_park())
            park();
        PyEval_RestoreThread(state_);
    }

    PyThreadState* state_;
};

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

// What a signal's handler or the callable raises; else null. Requires the GIL.
std::exception_ptr look_after(Talk& talk, const nb::object& progress)
{
    try {
        if (PyErr_CheckSignals() != 0)
            throw nb::python_error();
        std::optional<Progress> told;
        {
            const std::lock_guard lock(talk.mutex);
            std::swap(told, talk.progress);
        }
        if (told)
            progress(nb::str(told->stage.data(), told->stage.size()), told->done, told->total);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

// Requires the GIL.
bool is_interrupt(const std::exception_ptr& raised)
{
    try {
        std::rethrow_exception(raised);
    } catch (const nb::python_error& error) {
        return error.matches(PyExc_KeyboardInterrupt);
    } catch (...) {
        return false;
    }
}

// Returns true once the work is over.
bool wait_a_little(Talk& talk, std::chrono::milliseconds time)
{
    std::unique_lock lock(talk.mutex);
    return talk.news.wait_for(lock, time, [&] { return talk.over; });
}

} // namespace

std::exception_ptr wait_for(const nb::object& progress,
                            const std::function<void(const WorkControl&)>& work)
{
    const Call call;
    const bool tells = !progress.is_none();
    const pid_t own = ::getpid();
    Talk talk;
    std::exception_ptr raised; // by Python
    {
        Released released;
        std::thread worker(run, std::ref(talk), tells, std::cref(work));
        while (!wait_a_little(talk, tells ? breath : look_up)) {
            if (is_to_park())
                talk.cancel.cancel();
            else if (!raised) // else it is only waited for
                released.with_gil([&] { raised = look_after(talk, progress); });
            if (::getpid() != own) { // a fork leaves the worker to the parent
                worker.detach();
                throw std::runtime_error("a process forked by progress has nobody at work");
            }
            if (raised)
                talk.cancel.cancel();
        }
        worker.join();
    }
    if (!raised && !talk.failure && tells)
        raised = look_after(talk, progress);
    if (raised && (talk.failure || !is_interrupt(raised)))
        std::rethrow_exception(raised);
    if (talk.failure)
        std::rethrow_exception(talk.failure);
    return raised;
}

void end_calls()
{
    Calls& all = *calls();
    {
        const std::lock_guard lock(all.mutex);
        all.closing = true;
        all.closer = std::this_thread::get_id();
    }
    PyThreadState* const state = PyEval_SaveThread();
    {
        std::unique_lock lock(all.mutex);
        all.changed.wait_for(lock, patience, [&] { return all.running == all.parked; });
    }
    PyEval_RestoreThread(state);
}

void forget_calls()
{
    calls() = new Calls;
}

} // namespace trainyard::python
