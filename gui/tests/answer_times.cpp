#include "gui/tests/answer_times.h"

#include <ctime>
#include <utility>

namespace trainyard::gui {

namespace {

double cpu_ms()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

} // namespace

// Of events inside others only the outermost counts.
AnswerTimes::Event::Event(AnswerTimes& times, const QObject& receiver, QEvent::Type type)
    : times_(times),
      outer_(std::exchange(times.now_, this)),
      loops_(QThread::currentThread()->loopLevel())
{
    for (Event* one = outer_; one != nullptr; one = one->outer_)
        if (one->loops_ < loops_)
            one->measured_ = false;
        else
            measured_ = false;
    what_ = QByteArray(receiver.metaObject()->className()) + ", event " + QByteArray::number(type);
    begin_ = std::chrono::steady_clock::now();
    cpu_begin_ = cpu_ms();
}

AnswerTimes::Event::~Event()
{
    times_.now_ = outer_;
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin_;
    const double cpu = cpu_ms() - cpu_begin_;
    if (measured_ && took.count() > times_.longest_ms_) {
        times_.longest_ms_ = took.count();
        times_.of_ = what_;
    }
    if (measured_ && cpu > times_.longest_cpu_ms_) {
        times_.longest_cpu_ms_ = cpu;
        times_.of_cpu_ = what_;
    }
}

} // namespace trainyard::gui
