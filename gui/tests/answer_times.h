#pragma once

// How long a window takes to answer, for tests and benchmarks.

#include <QByteArray>
#include <QEvent>
#include <QThread>
#include <chrono>

namespace trainyard::gui {

/// How long the window takes for single events: the longest is what a person waits for an answer.
class AnswerTimes {
public:
    /// Measures an event from here to its end. One that runs a loop of events of its own (a menu, a
    /// dialog) is answered by that loop, and not measured.
    class Event {
    public:
        Event(AnswerTimes& times, const QObject& receiver, QEvent::Type type);
        ~Event();
        Event(const Event&) = delete;
        Event& operator=(const Event&) = delete;

    private:
        AnswerTimes& times_;
        Event* outer_;
        QByteArray what_;
        int loops_;
        bool measured_ = true;
        std::chrono::steady_clock::time_point begin_;
        double cpu_begin_; // ms
    };

    double longest_ms() const { return longest_ms_; }
    const QByteArray& of() const { return of_; } // receiver and kind of that event
    // Likewise, of what the window's thread itself computes: the same on a machine that is busy.
    double longest_cpu_ms() const { return longest_cpu_ms_; }
    const QByteArray& of_cpu() const { return of_cpu_; }
    void forget() { longest_ms_ = longest_cpu_ms_ = 0; }

private:
    Event* now_ = nullptr;
    double longest_ms_ = 0;
    QByteArray of_;
    double longest_cpu_ms_ = 0;
    QByteArray of_cpu_;
};

/// An application whose events are measured.
template <typename Application>
class Timed : public Application {
public:
    using Application::Application;

    bool notify(QObject* receiver, QEvent* event) override
    {
        if (QThread::currentThread() != this->thread())
            return Application::notify(receiver, event);
        const AnswerTimes::Event measured(times_, *receiver, event->type());
        return Application::notify(receiver, event);
    }

    AnswerTimes& times() { return times_; }

private:
    AnswerTimes times_;
};

} // namespace trainyard::gui
