// Sliders and the form of all fields by keyboard and mouse, without a display.

#include "gui/scenario/scenario_panel.h"
#include "gui/scenario/stepper.h"
#include "gui/widgets/elided.h"

#include <QLineEdit>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

constexpr int patience_ms = 60'000;

} // namespace

class TestForm : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void aSizeThatWasGivenUpComesBack();

private:
    bool settled()
    {
        return QTest::qWaitFor([&] { return !workspace_->live().busy(); }, patience_ms);
    }
    Stepper& stepper(const char* field)
    {
        return *panel_->findChild<Stepper*>(QLatin1String(field));
    }
    void choose(const char* field, int steps)
    {
        auto* const slider = stepper(field).findChild<QSlider*>();
        slider->setFocus();
        for (int i = 0; i < std::abs(steps); ++i)
            QTest::keyClick(slider, steps > 0 ? Qt::Key_Right : Qt::Key_Left);
        QVERIFY(settled());
    }
    QTreeView& tree() { return *panel_->findChild<QTreeView*>(); }
    QString blocked() { return panel_->findChild<ElidedLabel*>()->text(); }

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<ScenarioPanel> panel_;
};

void TestForm::init()
{
    workspace_ = std::make_unique<Workspace>();
    QVERIFY(workspace_->document().open("scenarios/llama3-8b-h100-8.json").empty());
    panel_ = std::make_unique<ScenarioPanel>(*workspace_);
    panel_->resize(900, 800);
    panel_->show();
    panel_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(panel_.get()));
    QVERIFY(settled());
    QVERIFY(workspace_->run() != nullptr);
}

void TestForm::cleanup()
{
    panel_->close(); // ends an editor that is open
    panel_.reset();
    workspace_.reset();
}

void TestForm::aSizeThatWasGivenUpComesBack()
{
    QCOMPARE(stepper("strategy.dp").value(), QString("8"));
    choose("strategy.dp", -3);
    QCOMPARE(workspace_->run()->outcome->engine.ranks, 1); // the others are idle
    choose("strategy.dp", +3);
    QCOMPARE(stepper("strategy.dp").value(), QString("8"));
    QCOMPARE(workspace_->run()->outcome->engine.ranks, 8);
    choose("strategy.dp", -3);
    choose("strategy.tp", +2);
    QCOMPARE(workspace_->run()->outcome->job.strategy.tp, 4);
}

QTEST_MAIN(TestForm)
#include "test_form.moc"
