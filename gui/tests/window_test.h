// All tests of the window are one program: Qt is read, compiled against and linked once.

#pragma once

#include "gui/tests/answer_times.h"

#include <QApplication>
#include <QTest>
#include <string>

namespace trainyard::gui {

/// How long a test waits for what a thread computes before it fails, in milliseconds.
inline constexpr int patience_ms = 120'000;

/// A small job that ships with the program.
inline const std::string eight = "scenarios/llama3-8b-h100-8.json";

/// Makes a class of tests known under the name of its file, without folders and ending.
struct WindowTest {
    using Run = int (*)(int argc, char** argv);
    WindowTest(const char* file, Run run);
};

/// Runs a class of tests in an application of its own; returns the count of failures.
template <typename Tests, typename Application>
int run_window_test(int argc, char** argv)
{
    Timed<Application> application(argc, argv);
    QCoreApplication::setAttribute(Qt::AA_Use96Dpi); // as QTEST_MAIN does
    Tests tests;
    const int failures = QTest::qExec(&tests, argc, argv);
    if (qEnvironmentVariableIsSet("TRAINYARD_ANSWER_TIMES"))
        qInfo("longest without an answer: %.1f ms (%s), at work %.1f ms (%s)",
              application.times().longest_ms(), application.times().of().constData(),
              application.times().longest_cpu_ms(), application.times().of_cpu().constData());
    return failures;
}

} // namespace trainyard::gui

#define TRAINYARD_WINDOW_TEST(Tests, Application)                                                  \
    static const trainyard::gui::WindowTest known_##Tests(                                         \
        __FILE__, trainyard::gui::run_window_test<Tests, Application>);
