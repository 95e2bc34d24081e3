// What runs in the background: who wins, what is told, what goes wrong.

#include "gui/model/background_task.h"
#include "gui/tests/window_test.h"
#include "sim/base/diagnostic.h"

#include <QSignalSpy>
#include <QThread>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <thread>
#include <vector>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

// Until it is cancelled.
BackgroundTask::Answer run_on(const WorkControl& control)
{
    while (true) {
        control.check();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

class TestBackgroundTask : public QObject {
    Q_OBJECT

private slots:
    void anAnswerComesInTheOwnersThread();
    void theLatestRequestWins();
    void whatIsCancelledIsNotAnswered();
    void anAnswerMayBeginTheNext();
    void stagesAreToldByName();
    void whatGoesWrongIsTold();
    void itsEndCancelsAndWaits();
};

void TestBackgroundTask::anAnswerComesInTheOwnersThread()
{
    BackgroundTask task;
    QSignalSpy busy(&task, &BackgroundTask::busyChanged);
    QThread* worked = nullptr;
    QThread* answered = nullptr;
    bool busy_then = true;
    task.start([&](const WorkControl&) -> BackgroundTask::Answer {
        worked = QThread::currentThread();
        return [&] {
            answered = QThread::currentThread();
            busy_then = task.busy();
        };
    });
    QVERIFY(task.busy());
    QCOMPARE(busy.count(), 1);
    QTRY_VERIFY(!task.busy());
    QCOMPARE(answered, thread());
    QVERIFY(worked != thread());
    QVERIFY(!busy_then);
    QCOMPARE(busy.count(), 2);
}

void TestBackgroundTask::theLatestRequestWins()
{
    BackgroundTask task;
    std::vector<int> answers;
    task.start(run_on);
    for (int request = 0; request < 100; ++request)
        task.start([&, request](const WorkControl&) -> BackgroundTask::Answer {
            return [&, request] { answers.push_back(request); };
        });
    QTRY_VERIFY(!task.busy());
    QCOMPARE(answers, std::vector<int>{99});
}

void TestBackgroundTask::whatIsCancelledIsNotAnswered()
{
    BackgroundTask task;
    QVERIFY(!task.cancel()); // nothing ran
    bool answered = false;
    std::atomic<bool> done = false;
    task.start([&](const WorkControl&) -> BackgroundTask::Answer {
        done = true;
        return [&] { answered = true; };
    });
    while (!done) // its answer is on its way
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    QVERIFY(task.cancel());
    QVERIFY(!task.busy());
    QTest::qWait(20);
    QVERIFY(!answered);
    task.start(run_on);
    QVERIFY(task.cancel());
    QVERIFY(!task.cancel());
}

void TestBackgroundTask::anAnswerMayBeginTheNext()
{
    BackgroundTask task;
    bool second = false;
    task.start([&](const WorkControl&) -> BackgroundTask::Answer {
        return [&] {
            task.start([&](const WorkControl&) -> BackgroundTask::Answer {
                return [&] { second = true; };
            });
        };
    });
    QTRY_VERIFY(!task.busy());
    QVERIFY(second);
}

void TestBackgroundTask::stagesAreToldByName()
{
    BackgroundTask task;
    QSignalSpy told(&task, &BackgroundTask::progressed);
    task.start([](const WorkControl& control) -> BackgroundTask::Answer {
        for (int i = 0; i < 10'000; ++i)
            control.report("first", i, 10'000);
        control.report("second", 1, 2);
        return {};
    });
    QTRY_VERIFY(!task.busy());
    QVERIFY(told.count() >= 2 && told.count() < 1000);
    QCOMPARE(told.front()[0].toString(), QStringLiteral("first"));
    QCOMPARE(told.back()[0].toString(), QStringLiteral("second")); // however soon after
    QCOMPARE(told.back()[1].toDouble(), 1.0);
    QCOMPARE(told.back()[2].toDouble(), 2.0);
}

void TestBackgroundTask::whatGoesWrongIsTold()
{
    BackgroundTask task;
    QSignalSpy failed(&task, &BackgroundTask::failed);
    task.start([](const WorkControl&) -> BackgroundTask::Answer {
        throw WorldError{"disk.json: no space left"};
    });
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(!task.busy());
    QCOMPARE(failed[0][0].toString(), QStringLiteral("disk.json: no space left"));
    task.start([](const WorkControl&) -> BackgroundTask::Answer { throw std::bad_alloc(); });
    QTRY_COMPARE(failed.count(), 2);
    QVERIFY(failed[1][0].toString().contains(QStringLiteral("memory")));
    task.start([](const WorkControl&) -> BackgroundTask::Answer {
        std::filesystem::directory_iterator gone("no/such/folder");
        return {};
    });
    QTRY_COMPARE(failed.count(), 3);
    QVERIFY(failed[2][0].toString().startsWith(QStringLiteral("no/such/folder: ")));
}

void TestBackgroundTask::itsEndCancelsAndWaits()
{
    std::atomic<bool> ended = false;
    {
        BackgroundTask task;
        std::atomic<bool> begun = false;
        task.start([&](const WorkControl& control) -> BackgroundTask::Answer {
            begun = true;
            try {
                return run_on(control);
            } catch (const Cancelled&) {
                ended = true;
                throw;
            }
        });
        while (!begun)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    QVERIFY(ended);
}

TRAINYARD_WINDOW_TEST(TestBackgroundTask, QCoreApplication)
#include "test_background_task.moc"
