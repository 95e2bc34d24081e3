// The planner at work: what is wrong, cancelled, out of date and kept.

#include "gui/tests/plan_fixture.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSignalSpy>
#include <QToolButton>

using namespace trainyard;
using namespace trainyard::gui;

class TestPlanWork : public test::PlanFixture {
    Q_OBJECT

private slots:
    void wrongTextsAreSaidBesideThem();
    void whatNeedsTokensWaitsForThem();
    void aCancelledPlanKeepsWhatItFound();
    void aPlanCancelledAtOnceAnswers();
    void anotherScenarioMakesTheAnswerOld();
    void anotherQuestionMakesTheAnswerOld();
    void nothingFitsIsSaid();
    void whereNothingFitsMoreNodesAreAClick();
    void whereTheScenarioDoesNotFitTheNearestIsAClick();
    void aWrongScenarioIsSaid();
    void nothingIsLookedAtOutOfSight();
    void clustersAreAddedAndTakenOut();
    void aSessionKeepsTheQuestion();

private:
    QString said(const char* text);
};

// The label in sight that says it.
QString TestPlanWork::said(const char* text)
{
    for (const QLabel* const label : panel_->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(QString::fromLatin1(text)))
            return label->text();
    return {};
}

void TestPlanWork::wrongTextsAreSaidBesideThem()
{
    ask_for_clusters();
    type("plan/tokens", "20X");
    type("plan/cluster/1", "h999");
    settle();
    const QLabel* place = nullptr;
    for (const QLabel* const label : panel_->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(QStringLiteral("not a unit")))
            place = label;
    QVERIFY(place != nullptr);
    const auto& tokens = part<QLineEdit>("plan/tokens");
    QCOMPARE(place->parentWidget(), tokens.parentWidget());
    QVERIFY(!place->text().contains(QStringLiteral("--")));
    QVERIFY(!said("no known GPU").isEmpty());
    QVERIFY(!part<QPushButton>("plan/start").isEnabled());
    QTest::keyClick(&part<QLineEdit>("plan/tokens"), Qt::Key_Return); // begins nothing
    QVERIFY(!panel_->job().running());
    type("plan/tokens", "20B");
    type("plan/cluster/1", "16xa100");
    settle();
    QVERIFY(said("not a unit").isEmpty());
    QVERIFY(said("no known GPU").isEmpty());
    QVERIFY(part<QPushButton>("plan/start").isEnabled());
}

void TestPlanWork::whatNeedsTokensWaitsForThem()
{
    QVERIFY(!part<QLineEdit>("plan/within").isEnabled());
    type("plan/tokens", "1B");
    QVERIFY(part<QLineEdit>("plan/within").isEnabled());
    type("plan/price", "h100=2/h");
    settle();
    QVERIFY(!said("beside which it stands").isEmpty());
    type("plan/price", "2/h");
    type("plan/within", "30d");
    plan();
    QVERIFY(part<QLabel>("plan/headline").text().contains(QStringLiteral("in time with")));
    QVERIFY(cell(0, "cost [$]").toDouble() > 0);
}

void TestPlanWork::aCancelledPlanKeepsWhatItFound()
{
    // No size is through in a minute: all are looked at, which takes long.
    ask_for_clusters();
    type("plan/batch", "1M..16M");
    type("plan/cluster/0", "h100");
    type("plan/cluster/1", "a100");
    type("plan/tokens", "2T");
    type("plan/within", "1min");
    settle();
    QSignalSpy answered(panel_.get(), &PlanPanel::answered);
    QTest::mouseClick(&part<QPushButton>("plan/start"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(panel_->job().progress().sizes > 0 || answered.count() > 0,
                             patience_ms);
    QCOMPARE(answered.count(), 0);
    auto& cancel = part<QToolButton>("plan/cancel");
    QVERIFY(cancel.isVisible());
    QTest::mouseClick(&cancel, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 1, patience_ms);
    QVERIFY(panel_->plan()->interrupted);
    QVERIFY(!panel_->plan()->entries.empty());
    QVERIFY(!panel_->busy());
    QVERIFY(part<QLabel>("plan/state").text().contains(QStringLiteral("Ended early")));
}

void TestPlanWork::aPlanCancelledAtOnceAnswers()
{
    QSignalSpy answered(panel_.get(), &PlanPanel::answered);
    panel_->start();
    panel_->cancel();
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 1, patience_ms);
    QVERIFY(panel_->plan()->interrupted);
    // Begun anew while it runs: one answer, of the latest.
    answered.clear();
    panel_->start();
    panel_->start();
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 1, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms);
    QCOMPARE(answered.count(), 1);
    QVERIFY(!panel_->plan()->interrupted);
}

void TestPlanWork::anotherScenarioMakesTheAnswerOld()
{
    plan();
    QVERIFY(!panel_->stale());
    QVERIFY(!workspace_->document().set("training.sequence_length", "512"));
    QVERIFY(panel_->stale());
    QVERIFY(part<QLabel>("plan/state").text().contains(QStringLiteral("plan again")));
    workspace_->document().undo_stack().undo();
    QVERIFY(!panel_->stale());
    // Of clusters for another model the scenario is no part.
    PlanQuestion question;
    question.kind = PlanKind::clusters;
    question.model = "gpt2-xl";
    question.tokens = "20B";
    question.clusters = {{"8xh100", ""}};
    panel_->set_question(question);
    plan();
    QVERIFY(!workspace_->document().set("training.sequence_length", "512"));
    QVERIFY(!panel_->stale());
}

void TestPlanWork::anotherQuestionMakesTheAnswerOld()
{
    plan();
    type("plan/tokens", "1B");
    QVERIFY(panel_->stale());
    type("plan/tokens", "");
    QVERIFY(!panel_->stale());
}

void TestPlanWork::nothingFitsIsSaid()
{
    QVERIFY(!workspace_->document().set("model", "llama-3.1-405b"));
    plan();
    QVERIFY(panel_->plan()->entries.empty());
    QVERIFY(part<QLabel>("plan/headline").text().contains(QStringLiteral("No layout fits")));
    panel_->open(0); // there is none
    QVERIFY(!panel_->stale());
    QVERIFY(part<QPushButton>("plan/nearest").isVisible());
    QVERIFY(!part<QPushButton>("plan/smallest").isVisible()); // nothing joins more such nodes
}

void TestPlanWork::whereNothingFitsMoreNodesAreAClick()
{
    Document& document = workspace_->document();
    QVERIFY(!document.set("model", "llama-3.1-70b"));
    QVERIFY(!document.set("topology", "pcie-l40s-2x8"));
    document.reset("strategy.dp");
    plan();
    QVERIFY(panel_->plan()->entries.empty());
    auto& more = part<QPushButton>("plan/smallest");
    QVERIFY(more.isVisible());
    QCOMPARE(more.text(), QStringLiteral("Take %1 GPUs").arg(panel_->plan()->smallest_gpus));
    const Json before = workspace_->document().json();
    const int gpus = panel_->plan()->smallest_gpus;
    QTest::mouseClick(&more, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    QVERIFY(workspace_->run()->summary.fits);
    QCOMPARE(workspace_->run()->summary.gpus + workspace_->run()->summary.idle_gpus, gpus);
    QVERIFY(!more.isVisible()); // of the scenario before
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().json() == before);
}

void TestPlanWork::whereTheScenarioDoesNotFitTheNearestIsAClick()
{
    QVERIFY(!workspace_->document().set("training.global_batch", "512"));
    QVERIFY(!workspace_->document().set("training.micro_batch", "128"));
    QTRY_VERIFY_WITH_TIMEOUT(has_errors(workspace_->problems()), patience_ms);
    part<QDoubleSpinBox>("plan/headroom").setValue(99); // no layout leaves so much
    plan();
    QVERIFY(panel_->plan()->entries.empty());
    QVERIFY(part<QPushButton>("plan/nearest").isVisible());
    QTest::mouseClick(&part<QPushButton>("plan/nearest"), Qt::LeftButton);
    QVERIFY(panel_->busy()); // so that Escape ends it
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current() && !has_errors(workspace_->problems()),
                             patience_ms);
    QVERIFY(workspace_->run()->summary.fits);
}

void TestPlanWork::aWrongScenarioIsSaid()
{
    QVERIFY(!workspace_->document().set("topology", "no-such-cluster"));
    settle();
    QVERIFY(!said("no-such-cluster").isEmpty());
    QVERIFY(!part<QPushButton>("plan/start").isEnabled());
    QSignalSpy answered(panel_.get(), &PlanPanel::answered);
    panel_->start(); // asked all the same, it is refused
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 1, patience_ms);
    QVERIFY(panel_->plan() == nullptr);
    QVERIFY(!said("cannot be planned").isEmpty());
}

void TestPlanWork::nothingIsLookedAtOutOfSight()
{
    panel_->set_in_sight(false);
    QVERIFY(!workspace_->document().set("topology", "no-such-cluster"));
    QTest::qWait(400);
    QVERIFY(!panel_->busy());
    QVERIFY(said("no-such-cluster").isEmpty());
    panel_->set_in_sight(true);
    settle();
    QVERIFY(!said("no-such-cluster").isEmpty());
}

void TestPlanWork::clustersAreAddedAndTakenOut()
{
    ask_for_clusters();
    QCOMPARE(panel_->question().clusters.size(), std::size_t{2});
    QToolButton* away = nullptr;
    for (QToolButton* const button : panel_->findChildren<QToolButton*>())
        if (button->isVisible() && button->text() == QStringLiteral("×") && away == nullptr)
            away = button;
    QVERIFY(away != nullptr);
    QTest::mouseClick(away, Qt::LeftButton);
    const PlanQuestion question = panel_->question();
    QCOMPARE(question.clusters.size(), std::size_t{1});
    QCOMPARE(question.clusters.front().cluster, std::string("16xa100"));
    QCOMPARE(question.clusters.front().price, std::string("1.5/h"));
}

void TestPlanWork::aSessionKeepsTheQuestion()
{
    ask_for_clusters();
    type("plan/within", "30d");
    const PlanQuestion question = panel_->question();
    PlanPanel other(*workspace_);
    other.set_question(plan_question_from(to_json(question)));
    QVERIFY(other.question() == question);
}

TRAINYARD_WINDOW_TEST(TestPlanWork, QApplication)
#include "test_plan_work.moc"
