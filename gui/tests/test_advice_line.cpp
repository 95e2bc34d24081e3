// The line below the figures: what would help, and the way out of what does not fit.

#include "gui/scenario/advice_line.h"
#include "gui/tests/window_test.h"
#include "gui/widgets/elided.h"

#include <QToolButton>
#include <filesystem>

using namespace trainyard;
using namespace trainyard::gui;

class TestAdviceLine : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void whatHelpsIsAppliedAsOneChange();
    void afterLongRunsItIsAskedFor();
    void whatDoesNotFitFindsItsWayOut();
    void whatCannotRunFindsItsWayOut();
    void whereNothingFitsThatIsSaid();
    void whereMoreNodesHoldItTheyAreOffered();
    void aWayOutIsCancelled();

private:
    QToolButton& button(const char* name)
    {
        return *line_->findChild<QToolButton*>(QString::fromLatin1(name));
    }
    QString text() { return line_->findChild<QLabel*>(QStringLiteral("advice/text"))->text(); }

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<AdviceLine> line_;
};

void TestAdviceLine::init()
{
    workspace_ = std::make_unique<Workspace>();
    line_ = std::make_unique<AdviceLine>(*workspace_);
    line_->set_quick(1e9);
    line_->resize(900, 30);
    line_->show();
    QVERIFY(QTest::qWaitForWindowExposed(line_.get()));
    QVERIFY(workspace_->document().open("scenarios/gpt2-xl-fsdp-4.json").empty());
}

void TestAdviceLine::cleanup()
{
    line_.reset();
    workspace_.reset();
}

void TestAdviceLine::whatHelpsIsAppliedAsOneChange()
{
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/apply").isVisible(), patience_ms);
    QVERIFY(text().startsWith(QStringLiteral("What would help: ")));
    const Json before = workspace_->document().json();
    const double step = workspace_->run()->summary.step_time.value.value();
    QTest::mouseClick(&button("advice/apply"), Qt::LeftButton);
    QVERIFY(!(workspace_->document().json() == before));
    QVERIFY(!button("advice/apply").isVisible()); // of the scenario before
    QVERIFY(text().isEmpty());
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    QVERIFY(workspace_->run()->summary.step_time.value.value() < step);
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().json() == before);
    QVERIFY(!workspace_->document().undo_stack().canUndo());
}

void TestAdviceLine::afterLongRunsItIsAskedFor()
{
    line_->set_quick(0);
    QVERIFY(!workspace_->document().set("training.sequence_length", "512"));
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/ask").isVisible(), patience_ms);
    QVERIFY(!line_->busy());
    QTest::mouseClick(&button("advice/ask"), Qt::LeftButton);
    QVERIFY(line_->busy());
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/apply").isVisible(), patience_ms);
}

void TestAdviceLine::whatDoesNotFitFindsItsWayOut()
{
    QVERIFY(!workspace_->document().set("training.micro_batch", "8"));
    QVERIFY(!workspace_->document().set("training.global_batch", "512"));
    QVERIFY(!workspace_->document().set("training.micro_batch", "128"));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    QVERIFY(has_errors(workspace_->problems()));
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/fit").isVisible(), patience_ms);
    const Json before = workspace_->document().json();
    QTest::mouseClick(&button("advice/fit"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!(workspace_->document().json() == before), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    QVERIFY(!has_errors(workspace_->problems()));
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().json() == before);
}

void TestAdviceLine::whatCannotRunFindsItsWayOut()
{
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    // The same files by other ways.
    for (const char* field : {"model", "topology"}) {
        const Json* const path = workspace_->document().find(field);
        if (path != nullptr && path->is_string() &&
            std::filesystem::exists("scenarios/" + path->as_string()))
            QVERIFY(!workspace_->document().set(field, "../scenarios/" + path->as_string()));
    }
    const Json model = *workspace_->document().find("model");
    const Json topology = *workspace_->document().find("topology");
    QVERIFY(!workspace_->document().set("strategy.tp", "3")); // of 4 GPUs
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/fit").isVisible(), patience_ms);
    QVERIFY(!workspace_->current());
    QTest::mouseClick(&button("advice/fit"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current() && !has_errors(workspace_->problems()),
                             patience_ms);
    QVERIFY(workspace_->run()->summary.fits);
    // What was changed is said, and files keep their names.
    QTRY_VERIFY_WITH_TIMEOUT(text().contains(QStringLiteral("strategy.tp = ")), patience_ms);
    QVERIFY(*workspace_->document().find("model") == model);
    QVERIFY(*workspace_->document().find("topology") == topology);
}

void TestAdviceLine::whereNothingFitsThatIsSaid()
{
    QVERIFY(!workspace_->document().set("model", "llama-3.1-405b"));
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/fit").isVisible(), patience_ms);
    const Json before = workspace_->document().json();
    QTest::mouseClick(&button("advice/fit"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(text().contains(QStringLiteral("No layout fits")), patience_ms);
    QVERIFY(workspace_->document().json() == before);
    QVERIFY(button("advice/fit").isVisible());
    QVERIFY(!button("advice/more").isVisible()); // nothing joins more such nodes
}

void TestAdviceLine::whereMoreNodesHoldItTheyAreOffered()
{
    Document& document = workspace_->document();
    QVERIFY(!document.set("model", "llama-3.1-70b"));
    QVERIFY(!document.set("topology", "pcie-l40s-2x8"));
    document.reset("strategy.dp");
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/fit").isVisible(), patience_ms);
    const Json before = document.json();
    QTest::mouseClick(&button("advice/fit"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/more").isVisible(), patience_ms);
    QVERIFY(button("advice/more").text().startsWith(QStringLiteral("Take ")));
    QTest::mouseClick(&button("advice/more"), Qt::LeftButton);
    QVERIFY(!button("advice/more").isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current() && !has_errors(workspace_->problems()),
                             patience_ms);
    QVERIFY(workspace_->run()->summary.fits);
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().json() == before);
}

void TestAdviceLine::aWayOutIsCancelled()
{
    QVERIFY(!workspace_->document().set("model", "llama-3.1-405b"));
    QTRY_VERIFY_WITH_TIMEOUT(button("advice/fit").isVisible(), patience_ms);
    QTest::mouseClick(&button("advice/fit"), Qt::LeftButton);
    QVERIFY(button("advice/cancel").isVisible());
    QTest::mouseClick(&button("advice/cancel"), Qt::LeftButton);
    QVERIFY(!line_->busy());
    QVERIFY(button("advice/fit").isVisible());
    QVERIFY(!button("advice/cancel").isVisible());
    QVERIFY(text().isEmpty());
}

TRAINYARD_WINDOW_TEST(TestAdviceLine, QApplication)
#include "test_advice_line.moc"
