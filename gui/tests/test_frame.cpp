// The window's frame: titles of docks, keys, cancel, drops, and what its files do when the world
// refuses.

#include "gui/app/main_window.h"
#include "gui/explore/explore_panel.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/scenario/stepper.h"
#include "gui/tests/window_test.h"
#include "gui/timeline/timeline_panel.h"
#include "gui/widgets/dock_title.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/problems_button.h"
#include "gui/widgets/problems_view.h"
#include "gui/widgets/table_dialog.h"
#include "sim/base/files.h"
#include "tests/support/file_size_limit.h"

#include <sys/stat.h>

#include <QDir>
#include <QDockWidget>
#include <QDropEvent>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <fstream>
#include <thread>

using namespace trainyard;
using namespace trainyard::gui;

class TestFrame : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void everyViewOffersItsTableAndExport();
    void keysReachEveryView();
    void problemsOpenWithTheFirstError();
    void warningsOnlyChangeTheButton();
    void theLayoutKeepsProblemsClosed();
    void theListOfKeysNamesThemAll();
    void escapeCancelsAndF5GoesOn();
    void escapeCancelsASweep();
    void aHiddenTimelineWaits();
    void escapeIsTheViewsOwnWhileNothingRuns();
    void droppedFilesAreOpened();
    void onlyModelsWithExpertsHaveTheirSlider();
    void aSliderSaysWhyItsValueCannotBe();
    void theHeadlineIsReachedByKeyboard();
    void aSessionKeepsWhatIsPinned();
    void aSelectionThatMakesNoSenseIsDropped();
    void aSessionMovedWithItsScenarioIsFound();
    void aBrokenSessionIsTold();
    void aFullDiskLeavesTheOldFiles();
    void theHeadlineComesWithAScenario();
    void aFileIsReadBesideTheWindow();
    void filesAreOpenedInTheirOrder();
    void whatACrashLeftIsOffered();
    void aLongLineEndsInAnEllipsis();
    void manyProblemsAreCutShort();

private:
    void open(const std::string& file)
    {
        QVERIFY(window_->open(file));
        QVERIFY(settled());
    }
    bool settled()
    {
        return QTest::qWaitFor([&] { return !window_->busy(); }, patience_ms);
    }
    TimelineCanvas& canvas() { return window_->findChild<TimelinePanel*>()->canvas(); }
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
    bool focus_in(const QString& dock)
    {
        return window_->findChild<QDockWidget*>(dock)->isAncestorOf(QApplication::focusWidget());
    }

    QTemporaryDir folder_;
    std::unique_ptr<MainWindow> window_;
};

void TestFrame::init()
{
    window_ = std::make_unique<MainWindow>(Places{path("autosave"), false});
    window_->resize(1280, 800);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
}

void TestFrame::cleanup()
{
    window_.reset();
}

void TestFrame::everyViewOffersItsTableAndExport()
{
    open(eight);
    for (Panel* const panel : window_->panels()) {
        auto* const dock = window_->findChild<QDockWidget*>(panel->key());
        const auto buttons = dock->titleBarWidget()->findChildren<QToolButton*>();
        QCOMPARE(buttons.size(), 4); // table, export, float, close
        for (const QToolButton* const button : buttons) {
            QVERIFY(button->toolTip().contains(panel->title()));
            QVERIFY(!button->accessibleName().isEmpty());
            QVERIFY((button->focusPolicy() & Qt::TabFocus) != 0);
        }
        if (panel->parts().size() != 1)
            continue; // asks which
        window_->show_panel(panel->key());
        buttons.front()->setFocus();
        QTest::keyClick(buttons.front(), Qt::Key_Space);
        auto* const table = window_->findChild<TableDialog*>();
        QVERIFY(table != nullptr && table->isVisible());
        QVERIFY(table->windowTitle().contains(panel->title()));
        QVERIFY(table->findChild<QTableView*>()->model()->rowCount() > 0);
        delete table;
    }
}

void TestFrame::keysReachEveryView()
{
    open(eight);
    int number = 0;
    for (const Panel* const panel : window_->panels()) {
        QTest::keyClick(window_.get(), static_cast<Qt::Key>(Qt::Key_1 + number++),
                        Qt::ControlModifier);
        QTRY_VERIFY(panel->in_sight());
        QVERIFY2(focus_in(panel->key()), qPrintable(panel->key()));
    }
    // F6 comes back to where it began, through all that is in sight; shift goes the other way.
    const QWidget* const start = QApplication::focusWidget();
    QList<const QWidget*> visited;
    do {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
        visited << QApplication::focusWidget();
    } while (visited.back() != start && visited.size() < 20);
    QCOMPARE(visited.back(), start);
    QVERIFY(visited.size() >= 4); // scenario, another view, problems, headline
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6, Qt::ShiftModifier);
    QCOMPARE(QApplication::focusWidget(), visited[visited.size() - 2]);
    QTest::keyClick(window_.get(), Qt::Key_1, Qt::ControlModifier);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_W, Qt::ControlModifier);
    QVERIFY(!window_->findChild<QDockWidget*>(QStringLiteral("scenario"))->isVisible());
}

void TestFrame::problemsOpenWithTheFirstError()
{
    open(eight);
    auto* const dock = window_->findChild<QDockWidget*>(QStringLiteral("problems"));
    auto* const button = window_->findChild<ProblemsButton*>();
    QVERIFY(!dock->isVisible());
    QVERIFY(button->text().endsWith(QStringLiteral("No problems")));
    Document& document = window_->workspace().document();
    document.set("strategy.tp", "3");
    QVERIFY(settled());
    QVERIFY(dock->isVisible());
    QVERIFY(button->text().contains(QStringLiteral("error")));
    QVERIFY(!button->text().contains(QStringLiteral("No problems")));
    // Closed by keyboard it stays closed while the same is wrong.
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
    QVERIFY(!dock->isVisible());
    document.set("strategy.tp", "5");
    QVERIFY(settled());
    QVERIFY(!dock->isVisible());
    QTest::keyClick(button, Qt::Key_Space);
    QVERIFY(dock->isVisible());
    QVERIFY(focus_in(QStringLiteral("problems")));
    document.undo_stack().undo();
    document.undo_stack().undo();
    QVERIFY(settled());
    QVERIFY(button->text().endsWith(QStringLiteral("No problems")));
}

void TestFrame::warningsOnlyChangeTheButton()
{
    ProblemsView view;
    QSignalSpy counted(&view, &ProblemsView::counted);
    ProblemsButton button;
    view.set_problems(
        {{"", 0, "", "a", "", Severity::warning}, {"", 0, "", "b", "", Severity::warning}});
    view.add({{"", 0, "", "c", "", Severity::error}});
    QCOMPARE(counted.count(), 2);
    QCOMPARE(view.count_of(Severity::warning), 2);
    QCOMPARE(view.count_of(Severity::error), 1);
    button.set_counts(1, 2);
    QCOMPARE(button.accessibleName(), QString("1 error, 2 warnings"));
    const QColor error = button.palette().color(QPalette::ButtonText);
    button.set_counts(0, 2);
    QCOMPARE(button.accessibleName(), QString("2 warnings"));
    QVERIFY(button.palette().color(QPalette::ButtonText) != error);
    // A session whose scenario has gone is a warning: nothing opens.
    open(eight);
    window_->workspace().document().save(path("job.json"));
    QVERIFY(window_->save_session(path("a.trainyard.json")));
    std::filesystem::remove(path("job.json"));
    init();
    QVERIFY(window_->open(path("a.trainyard.json")));
    QVERIFY(window_->findChild<ProblemsButton*>()->text().endsWith(QStringLiteral("1 warning")));
    QVERIFY(!window_->findChild<QDockWidget*>(QStringLiteral("problems"))->isVisible());
}

// Whatever was open when a session was saved.
void TestFrame::theLayoutKeepsProblemsClosed()
{
    open(eight);
    window_->show_panel(QStringLiteral("problems"));
    QVERIFY(window_->save_session(path("b.trainyard.json")));
    init();
    QVERIFY(window_->open(path("b.trainyard.json")));
    QVERIFY(!window_->findChild<QDockWidget*>(QStringLiteral("problems"))->isVisible());
}

void TestFrame::theListOfKeysNamesThemAll()
{
    QTest::keyClick(window_.get(), Qt::Key_F1);
    const auto* const dialog = window_->findChild<TableDialog*>();
    QVERIFY(dialog != nullptr);
    const QAbstractItemModel& list = *dialog->findChild<QTableView*>()->model();
    QString all;
    for (int row = 0; row < list.rowCount(); ++row)
        all += list.index(row, 1).data().toString() + '|' + list.index(row, 2).data().toString() +
               '\n';
    for (const char* entry : {"F5|Simulate again", "Esc|Cancel", "Ctrl+2|Timeline", "F6|Next place",
                              "Ctrl+T|Show as table", "M|measure", "P|pin the point",
                              "H|where the time goes", "X, Space, Return|keep the point"})
        QVERIFY2(all.contains(QLatin1String(entry)), entry);
}

void TestFrame::escapeCancelsAndF5GoesOn()
{
    open(eight);
    const auto first = window_->workspace().run();
    Document& document = window_->workspace().document();
    document.edit({{"run.engine", "reference"}, {"run.fold", "false"}, {"run.steps", "400"}});
    QTest::qWait(20);
    QVERIFY(window_->workspace().live().busy());
    QTest::keyClick(&canvas(), Qt::Key_Escape); // in the timeline too
    QVERIFY(!window_->busy());
    QVERIFY(window_->workspace().cancelled());
    QVERIFY(window_->workspace().run() == first);
    bool told = false;
    for (const QLabel* const label : window_->findChild<HeadlineBar*>()->findChildren<QLabel*>())
        told = told || label->text().contains(QStringLiteral("F5"));
    QVERIFY(told);
    document.edit({{"run.steps", "2"}});
    QVERIFY(settled());
    const auto second = window_->workspace().run();
    QVERIFY(second != first);
    QTest::keyClick(window_.get(), Qt::Key_F5);
    QVERIFY(window_->workspace().live().busy());
    QVERIFY(settled());
    QVERIFY(window_->workspace().run() != second);
    QVERIFY(window_->workspace().current() && !window_->workspace().cancelled());
    QVERIFY(canvas().model() != nullptr);
}

void TestFrame::escapeCancelsASweep()
{
    open(eight);
    window_->show_panel(QStringLiteral("explore"));
    QVERIFY(settled());
    auto* const explore = window_->findChild<ExplorePanel*>();
    explore->start();
    QVERIFY(explore->job().running());
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!explore->job().running());
    QVERIFY(!window_->busy());
}

void TestFrame::aHiddenTimelineWaits()
{
    open(eight);
    const auto before = canvas().model();
    window_->show_panel(QStringLiteral("topology"));
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled());
    QVERIFY(window_->workspace().recorded()->file == window_->workspace().run()->file);
    QVERIFY(canvas().model() == before);
    window_->show_panel(QStringLiteral("timeline"));
    QVERIFY(settled());
    QVERIFY(canvas().model()->runs.front()->outcome == window_->workspace().recorded()->outcome);
}

void TestFrame::escapeIsTheViewsOwnWhileNothingRuns()
{
    open(eight);
    canvas().setFocus();
    QTest::keyClick(&canvas(), Qt::Key_Down);
    QVERIFY(canvas().pinned() != nothing);
    QTest::keyClick(&canvas(), Qt::Key_Escape);
    QCOMPARE(canvas().pinned(), nothing);
}

void TestFrame::droppedFilesAreOpened()
{
    const auto drop = [&](const QString& file) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(QFileInfo(file).absoluteFilePath())});
        QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(window_.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent dropped(QPointF(20, 20), Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(window_.get(), &dropped);
        QVERIFY(settled());
    };
    drop(QString::fromStdString(eight));
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 8);
    window_->workspace().document().reset("strategy.dp");
    drop(QStringLiteral("topologies/h100-1x4.json"));
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 4);
    drop(QStringLiteral("README.md"));
    QVERIFY(has_errors(window_->refused()));
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 4);
}

void TestFrame::onlyModelsWithExpertsHaveTheirSlider()
{
    open(eight);
    const auto* const ep = window_->findChild<QWidget*>(QStringLiteral("strategy.ep"));
    QVERIFY(!ep->isVisible());
    open("scenarios/mixtral-8x7b-ep8-h100-64.json");
    window_->workspace().document().reset("strategy.ep");
    QVERIFY(settled());
    QVERIFY(window_->workspace().current());
    QVERIFY(ep->isVisible());
}

void TestFrame::aSliderSaysWhyItsValueCannotBe()
{
    open(eight);
    // The reader points to dp: more devices than there are.
    auto* const dp = window_->findChild<Stepper*>(QStringLiteral("strategy.dp"));
    auto* const pp = window_->findChild<Stepper*>(QStringLiteral("strategy.pp"));
    const auto* const line = window_->findChild<ScenarioPanel*>()->findChild<ElidedLabel*>();
    const QString help = dp->toolTip();
    const QString other_help = pp->toolTip();
    QVERIFY(!window_->workspace().document().set("strategy.tp", "3"));
    QVERIFY(settled());
    QVERIFY(line->isVisible());
    const QString reason = line->text();
    QVERIFY2(reason.startsWith(QStringLiteral("dp: ")) && reason.contains('3'), qPrintable(reason));
    QVERIFY2(dp->toolTip().startsWith(reason.mid(4)), qPrintable(dp->toolTip()));
    QCOMPARE(pp->toolTip(), other_help);
    window_->workspace().document().undo_stack().undo();
    QVERIFY(settled());
    QVERIFY(line->text().isEmpty());
    QCOMPARE(dp->toolTip(), help);
}

void TestFrame::theHeadlineIsReachedByKeyboard()
{
    open(eight);
    window_->workspace().set_price({2.0, "USD"});
    int cards = 0;
    for (QWidget* const card : window_->findChild<HeadlineBar*>()->findChildren<QWidget*>()) {
        if ((card->focusPolicy() & Qt::TabFocus) == 0)
            continue;
        ++cards;
        card->setFocus(Qt::TabFocusReason);
        QVERIFY(card->hasFocus());
        QVERIFY(!card->accessibleName().isEmpty());
        QVERIFY(!card->accessibleDescription().isEmpty());
    }
    QCOMPARE(cards, 5);
}

void TestFrame::aSessionKeepsWhatIsPinned()
{
    open("scenarios/llama2-7b-tp2-pp2-dp2.json");
    canvas().setFocus();
    ViewState& view = window_->workspace().view();
    while (!view.selection().record) // a rank's own line shows no ops
        QTest::keyClick(&canvas(), Qt::Key_Down);
    for (int step = 0; step < 5; ++step)
        QTest::keyClick(&canvas(), Qt::Key_Right);
    Selection selection = view.selection();
    QVERIFY(selection.record.has_value());
    const TimeRange whole = view.whole();
    selection.range = TimeRange{whole.from + whole.length() / 4, whole.from + whole.length() / 2};
    view.select(selection);
    view.show({whole.from, whole.from + whole.length() / 2});
    const TimeRange range = view.range();
    const std::uint32_t pinned = canvas().pinned();
    QVERIFY(window_->save_session(path("pinned.json")));

    init();
    open(path("pinned.json"));
    QTRY_COMPARE_WITH_TIMEOUT(canvas().pinned(), pinned, patience_ms);
    QVERIFY(window_->workspace().view().selection() == selection);
    QVERIFY(window_->workspace().view().range() == range);
}

void TestFrame::aSelectionThatMakesNoSenseIsDropped()
{
    open(eight);
    QVERIFY(window_->save_session(path("a.json")));
    Json json = *read_json_file(path("a.json"));
    json["selected_rank"] = Json(4000);
    json["selected_link"] = Json(1'000'000);
    json["selected_record"] = Json(3);
    write_file(path("a.json"), to_text(json));
    init();
    open(path("a.json"));
    QVERIFY(window_->workspace().view().selection() == Selection{});
    QCOMPARE(canvas().pinned(), nothing);
}

void TestFrame::aSessionMovedWithItsScenarioIsFound()
{
    const std::filesystem::path old_folder = path("old");
    const std::filesystem::path new_folder = path("new");
    std::filesystem::create_directories(old_folder);
    open(eight);
    window_->workspace().document().save((old_folder / "job.json").string());
    QVERIFY(window_->save_session((old_folder / "session.json").string()));
    std::filesystem::rename(old_folder, new_folder);
    init();
    open((new_folder / "session.json").string());
    QVERIFY(window_->workspace().current());
    QCOMPARE(window_->workspace().document().file(), (new_folder / "job.json").string());
    QVERIFY(window_->refused().empty());
    // Its scenario gone, it is told; what was edited is there all the same.
    std::filesystem::remove(new_folder / "job.json");
    init();
    QVERIFY(window_->open((new_folder / "session.json").string()));
    QVERIFY(settled());
    QVERIFY(window_->refused().front().message.find("job.json") != std::string::npos);
    QVERIFY(window_->workspace().document().find("training") != nullptr);
}

void TestFrame::aBrokenSessionIsTold()
{
    open(eight);
    QVERIFY(window_->save_session(path("whole.json")));
    const std::string text = read_file(path("whole.json"));
    const Json before = window_->workspace().document().json();
    write_file(path("truncated.json"), std::string_view(text).substr(0, text.size() / 2));
    QVERIFY(!window_->open(path("truncated.json")));
    QVERIFY(window_->refused().front().line > 0);
    Json newer = *read_json_file(path("whole.json"));
    newer["format"] = "trainyard.session/2";
    write_file(path("newer.json"), to_text(newer));
    QVERIFY(!window_->open(path("newer.json")));
    QVERIFY(window_->refused().front().message.find("another version") != std::string::npos);
    QVERIFY(window_->workspace().document().json() == before);
}

void TestFrame::aFullDiskLeavesTheOldFiles()
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

void TestFrame::theHeadlineComesWithAScenario()
{
    QVERIFY(!window_->findChild<HeadlineBar*>()->isVisible());
    for (int place = 0; place < 3; ++place)
        QTest::keyClick(window_.get(), Qt::Key_F6); // nor is it a place
    QVERIFY(!window_->findChild<HeadlineBar*>()->isAncestorOf(QApplication::focusWidget()));
    open(eight);
    QVERIFY(window_->findChild<HeadlineBar*>()->isVisible());
}

// A pipe gives nothing until somebody writes: the window answers, and Escape lets go of it.
void TestFrame::aFileIsReadBesideTheWindow()
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

void TestFrame::filesAreOpenedInTheirOrder()
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

void TestFrame::whatACrashLeftIsOffered()
{
    open(eight);
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled());
    std::filesystem::create_directories(path("autosave"));
    const std::string left = path("autosave/session-999999999.json"); // of no process
    QVERIFY(window_->save_session(left));
    init();
    QTimer answering;
    connect(&answering, &QTimer::timeout, this, [] {
        if (auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
            box->button(QMessageBox::Yes)->click();
    });
    answering.start(20);
    window_->offer_recovery();
    QVERIFY(settled());
    const Json* const batch = window_->workspace().document().find("training.global_batch");
    QVERIFY(batch != nullptr && *batch == Json(64));
    QVERIFY(window_->workspace().document().modified()); // it was never written
    QVERIFY(!std::filesystem::exists(left));
    QVERIFY(!std::filesystem::is_empty(path("autosave"))); // kept under the new name
}

void TestFrame::aLongLineEndsInAnEllipsis()
{
    const QString text = QStringLiteral("224 were planned: 6 of 124 points can be").repeated(4);
    const auto picture_of = [](const QString& shown) {
        ElidedLabel label;
        label.resize(180, 24);
        label.set_text(shown);
        return label.grab().toImage();
    };
    const ElidedLabel label;
    QCOMPARE(picture_of(text),
             picture_of(label.fontMetrics().elidedText(text, Qt::ElideRight, 180)));
    QCOMPARE(label.minimumSizeHint().width(), 0); // it asks for no room
}

void TestFrame::manyProblemsAreCutShort()
{
    ProblemsView view;
    view.set_problems(Problems(200'000, {"job.json", 0, "/x", "unknown", "", Severity::error}));
    QCOMPARE(view.count_of(Severity::error), 200'000); // they are counted all the same
    QVERIFY(view.count() < 100);
    QVERIFY(view.item(view.count() - 1)->text().contains(QStringLiteral("more")));
}

TRAINYARD_WINDOW_TEST(TestFrame, QApplication)
#include "test_frame.moc"
