// How the window's files are opened, and what becomes of them when the world refuses.

#include "gui/tests/window_fixture.h"
#include "sim/base/files.h"
#include "tests/support/file_size_limit.h"

#include <sys/stat.h>

#include <QAbstractButton>
#include <QDir>
#include <QMessageBox>
#include <QStatusBar>
#include <QTimer>
#include <fstream>
#include <thread>

using namespace trainyard;
using namespace trainyard::gui;

class TestWindowFiles : public test::WindowFixture {
    Q_OBJECT

private slots:
    void droppedFilesAreOpened();
    void aFileIsReadBesideTheWindow();
    void filesAreOpenedInTheirOrder();
    void aFullDiskLeavesTheOldFiles();
    void savingAsksBeforeItLosesWhatOthersWrote();
};

void TestWindowFiles::droppedFilesAreOpened()
{
    drop(eight);
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 8);
    window_->workspace().document().reset("strategy.dp");
    drop("topologies/h100-1x4.json");
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 4);
    drop("README.md");
    QVERIFY(has_errors(window_->refused()));
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 4);
}

// A pipe gives nothing until somebody writes: the window answers, and Escape lets go of it.
void TestWindowFiles::aFileIsReadBesideTheWindow()
{
    const std::string pipe = path("pipe");
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    window_->open_later(pipe);
    QVERIFY(window_->busy());
    int ticks = 0;
    QTimer ticking;
    connect(&ticking, &QTimer::timeout, this, [&] { ++ticks; });
    ticking.start(10);
    QTRY_VERIFY(ticks > 10);
    QVERIFY(window_->busy());
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!window_->busy());
    open(eight); // the thread is free again
    // What comes out of a pipe is opened as any file.
    Json json = window_->workspace().document().json();
    json["description"] = "from a pipe";
    json["topology"] = std::filesystem::absolute("topologies/h100-1x8.json").string();
    window_->open_later(pipe);
    std::thread writer([&] { std::ofstream(pipe) << to_text(json); });
    QVERIFY(settled());
    writer.join();
    QVERIFY(window_->workspace().current());
    QCOMPARE(window_->workspace().document().find("description")->as_string(),
             std::string("from a pipe"));
}

void TestWindowFiles::filesAreOpenedInTheirOrder()
{
    window_->open_later(eight);
    window_->open_later(path("missing.json"));
    window_->open_later("topologies/h100-1x4.json"); // a part: of the scenario before it
    QVERIFY(settled());
    QCOMPARE(QFileInfo(QString::fromStdString(window_->workspace().document().file())).fileName(),
             QStringLiteral("llama3-8b-h100-8.json"));
    QVERIFY(
        window_->workspace().document().find("topology")->as_string().ends_with("h100-1x4.json"));
    QVERIFY(!window_->open(path("missing.json")));
    QVERIFY(window_->world_refused());
    QVERIFY(!window_->open("README.md"));
    QVERIFY(!window_->world_refused());
}

void TestWindowFiles::aFullDiskLeavesTheOldFiles()
{
    open(eight);
    Panel& timeline = *window_->panel(QStringLiteral("timeline"));
    const std::vector<std::string> files{path("view.png"), path("view.svg"), path("view.csv"),
                                         path("disk.json")};
    for (const std::string& file : files)
        write_file(file, "old");
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled());
    const auto entries = [&] { return QDir(folder_.path()).entryList(QDir::Files | QDir::Hidden); };
    const QStringList before = entries();
    {
        const testing::FileSizeLimit full(16);
        for (const std::string& file : files) {
            const bool session = file.ends_with(".json");
            QVERIFY(!(session ? window_->save_session(file) : window_->export_to(timeline, file)));
            QVERIFY(window_->refused().front().message.find(file) != std::string::npos);
        }
        QTRY_VERIFY_WITH_TIMEOUT(
            window_->statusBar()->currentMessage().contains(QStringLiteral("not saved")), 10'000);
    }
    for (const std::string& file : files)
        QCOMPARE(read_file(file), std::string("old"));
    QCOMPARE(entries(), before); // nothing half-written beside them
}

void TestWindowFiles::savingAsksBeforeItLosesWhatOthersWrote()
{
    open(eight);
    Document& document = window_->workspace().document();
    const std::string file = path("mine.json");
    document.save(file);
    QVERIFY(!document.set("training.global_batch", "64"));
    QVERIFY(settled());
    int asked = 0;
    const auto save = [&](QMessageBox::StandardButton answer) {
        QTimer answering;
        connect(&answering, &QTimer::timeout, this, [&asked, answer] {
            if (auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
                ++asked;
                box->button(answer)->click();
            }
        });
        answering.start(20);
        window_->activateWindow(); // again, after a question
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));
        QTest::keyClick(window_.get(), Qt::Key_S, Qt::ControlModifier);
    };
    save(QMessageBox::Cancel); // nobody else wrote it: it is not asked
    QCOMPARE(asked, 0);
    QVERIFY(!document.modified());
    write_file(file, "{\"of\": \"another\"}");
    QVERIFY(!document.set("training.global_batch", "32"));
    QVERIFY(settled());
    save(QMessageBox::Cancel);
    QCOMPARE(asked, 1);
    QCOMPARE(read_file(file), std::string("{\"of\": \"another\"}"));
    QVERIFY(document.modified());
    save(QMessageBox::Save);
    QCOMPARE(asked, 2);
    QVERIFY(!document.modified());
    QVERIFY(*read_json_file(file) == document.json());
}

TRAINYARD_WINDOW_TEST(TestWindowFiles, QApplication)
#include "test_window_files.moc"
