// The explorer at work: what is paused, cancelled, refused, compared and kept.

#include "gui/explore/ranges_view.h"
#include "gui/tests/explore_fixture.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QToolButton>

using namespace trainyard;
using namespace trainyard::gui;

class TestExploreWork : public test::ExploreFixture {
    Q_OBJECT

private slots:
    void anotherScenarioMakesPointsStale();
    void aSweepIsPausedAndCancelled();
    void nothingFitsIsSaidPlainly();
    void aWrongScenarioIsSaidPlainly();
    void rangesAreChosenByBoxesAndSliders();
    void whatCannotBeSweptIsSaidBesideWhatWasFound();
    void pinsAreCompared();
    void whatRunsIsToldAndCancelled();
    void pinsAreComparedOnlyInSight();
    void aSessionKeepsRangesAxesAndPins();
};

void TestExploreWork::anotherScenarioMakesPointsStale()
{
    choose({{"training.micro_batch", {"1", "2"}}});
    sweep();
    QVERIFY(!panel_->stale());
    QVERIFY(!workspace_->document().set("training.micro_batch", "4")); // what is swept
    QVERIFY(!panel_->stale());
    QVERIFY(!workspace_->document().set("training.sequence_length", "512"));
    QVERIFY(panel_->stale());
    const auto* const state = panel_->findChild<QLabel*>(QStringLiteral("state"));
    QTRY_VERIFY(state->text().contains(QStringLiteral("earlier scenario")));
    const std::uint32_t size = panel_->store().size(); // nothing is mixed
    QTest::qWait(200);
    QCOMPARE(panel_->store().size(), size);
    workspace_->document().undo_stack().undo();
    QVERIFY(!panel_->stale());
}

void TestExploreWork::aSweepIsPausedAndCancelled()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}},
            {"strategy.zero", {"0", "1", "2", "3"}},
            {"training.recompute", {"none", "selective", "full"}},
            {"strategy.bucket_cap", {"1 MiB", "5 MiB", "25 MiB", "100 MiB", "400 MiB"}},
            {"strategy.cp", {"1", "2", "4"}},
            {"training.sequence_length", {"256", "512", "1024"}}});
    QSignalSpy swept(panel_.get(), &ExplorePanel::swept);
    panel_->start();
    QTRY_VERIFY_WITH_TIMEOUT(panel_->store().size() > 0, patience_ms);
    QToolButton* pause = nullptr;
    QToolButton* cancel = nullptr;
    for (QToolButton* const button : panel_->findChildren<QToolButton*>()) {
        if (button->text() == QStringLiteral("Pause"))
            pause = button;
        if (button->isVisible() && button->text() == QStringLiteral("Cancel"))
            cancel = button;
    }
    QVERIFY(pause != nullptr && cancel != nullptr);
    QTest::mouseClick(pause, Qt::LeftButton);
    QVERIFY(panel_->job().paused());
    QTRY_VERIFY_WITH_TIMEOUT(panel_->job().resting(), patience_ms);
    const std::uint32_t paused = panel_->store().size();
    QTest::qWait(300);
    QCOMPARE(panel_->store().size(), paused);
    QTest::mouseClick(pause, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(panel_->store().size() > paused, patience_ms);
    QTest::mouseClick(cancel, Qt::LeftButton);
    QCOMPARE(swept.count(), 1);
    QVERIFY(!panel_->busy());
    const std::uint32_t kept = panel_->store().size();
    QVERIFY(kept > 0);
    QTest::qWait(200);
    QCOMPARE(panel_->store().size(), kept);
    // Cancelled while paused, and begun again.
    panel_->start();
    panel_->job().set_paused(true);
    panel_->job().cancel();
    panel_->start();
    panel_->start();
    panel_->job().cancel();
    QVERIFY(!panel_->busy());
}

void TestExploreWork::nothingFitsIsSaidPlainly()
{
    QVERIFY(!workspace_->document().set("training.global_batch", "512"));
    QVERIFY(!workspace_->document().set("training.sequence_length", "1024"));
    QVERIFY(!workspace_->document().set("training.micro_batch", "128"));
    choose({{"strategy.zero", {"0", "1"}}, {"strategy.bucket_cap", {"5 MiB", "25 MiB"}}});
    sweep();
    QCOMPARE(panel_->store().feasible_count(), std::size_t{0});
    QString said;
    for (const QLabel* const label : panel_->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(QStringLiteral("Nothing fits")))
            said = label->text();
    QVERIFY(said.contains(QStringLiteral("Nearest")));
    QVERIFY(said.contains(QStringLiteral("What would help")));
    QCOMPARE(rows().shown_count(), std::size_t{panel_->store().size()});
    QVERIFY(panel_->store().size() > 0);
}

void TestExploreWork::aWrongScenarioIsSaidPlainly()
{
    QVERIFY(!workspace_->document().set("topology", "no-such-cluster"));
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms);
    bool said = false;
    for (const QLabel* const label : panel_->findChildren<QLabel*>())
        said = said || (label->isVisible() && label->text().contains("no-such-cluster"));
    QVERIFY(said);
    panel_->start(); // nothing to begin
    QVERIFY(!panel_->job().running());
}

void TestExploreWork::rangesAreChosenByBoxesAndSliders()
{
    choose({{"strategy.cp", {"1", "2", "4"}}});
    auto* const ranges = panel_->findChild<RangesView*>();
    QSignalSpy changed(ranges, &RangesView::changed);
    auto* const zero = ranges->findChild<QCheckBox*>(QStringLiteral("strategy.zero"));
    QVERIFY(zero != nullptr && !zero->isChecked());
    zero->setFocus();
    QTest::keyClick(zero, Qt::Key_Space);
    QCOMPARE(changed.count(), 1);
    const auto at = [&]() -> const AxisRange& {
        return *std::ranges::find(panel_->ranges(), "strategy.zero", &AxisRange::field);
    };
    QVERIFY(at().swept);
    QWidget* slider = nullptr;
    for (QWidget* const widget : ranges->findChildren<QWidget*>())
        if (widget->accessibleName() == QStringLiteral("range of zero"))
            slider = widget;
    QVERIFY(slider != nullptr && slider->isVisible());
    QTest::keyClick(slider, Qt::Key_End);
    QTest::keyClick(slider, Qt::Key_Left);
    QTest::keyClick(slider, Qt::Key_Space);
    QTest::keyClick(slider, Qt::Key_Home);
    QTest::keyClick(slider, Qt::Key_Right);
    QCOMPARE(at().chosen_values(), (std::vector<std::string>{"1", "2"}));
    auto* const preset = panel_->findChild<QComboBox*>();
    preset->setFocus();
    QTest::keyClick(preset, Qt::Key_Down);
    QVERIFY(at().swept); // memory savers
    QCOMPARE(at().chosen_values().size(), std::size_t{4});
}

void TestExploreWork::whatCannotBeSweptIsSaidBesideWhatWasFound()
{
    choose({{"training.micro_batch", {"1", "2"}}});
    sweep();
    const auto* const state = panel_->findChild<QLabel*>(QStringLiteral("state"));
    std::vector<AxisRange> ranges = panel_->ranges();
    for (AxisRange& range : ranges) {
        range.swept = true;
        range.chosen.assign(range.values.size(), true);
    }
    panel_->set_ranges(ranges);
    QVERIFY(state->text().contains(QStringLiteral("Cannot be swept")));
    QVERIFY(state->text().contains(QStringLiteral("take fewer fields")));
    QVERIFY(state->text().contains(QStringLiteral("points can be"))); // what was found stays
    auto* const preset = panel_->findChild<QComboBox*>();
    preset->setFocus();
    QTest::keyClick(preset, Qt::Key_End);
    QCOMPARE(preset->currentText(), title_of(Preset::everything));
    QVERIFY(!state->text().contains(QStringLiteral("Cannot be swept")));
    QVERIFY(state->text().contains(QStringLiteral("left as they are")));
    choose({{"training.micro_batch", {"1", "2"}}});
    QVERIFY(!state->text().contains(QStringLiteral("left as they are")));
}

void TestExploreWork::pinsAreCompared()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.zero", {"1", "2", "3"}}});
    sweep();
    for (std::uint32_t row = 0; row < 5; ++row)
        panel_->pin(rows().point(static_cast<int>(row)));
    ComparePanel& compare = panel_->compare();
    QCOMPARE(compare.pins().size(), most_pins); // the first gave way
    QTRY_VERIFY_WITH_TIMEOUT(compare.table().rows.size() > 3, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!compare.busy(), patience_ms);
    const TableData table = compare.table();
    QCOMPARE(table.columns.size(), 6);                 // what, the scenario as it is, four pins
    QVERIFY(table.rows.front().front().contains('.')); // a field that differs comes first
    workspace_->pin_baseline();
    QTRY_COMPARE_WITH_TIMEOUT(compare.table().columns.size(), 7, patience_ms);
    QToolButton* out = nullptr;
    for (QToolButton* const button : compare.findChildren<QToolButton*>())
        if (button->text().startsWith(QStringLiteral("1:")))
            out = button;
    QVERIFY(out != nullptr);
    QTest::mouseClick(out, Qt::LeftButton);
    QTRY_COMPARE(compare.pins().size(), most_pins - 1);
    // Pins stay when another sweep begins.
    sweep();
    QCOMPARE(compare.pins().size(), most_pins - 1);
}

void TestExploreWork::whatRunsIsToldAndCancelled()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}},
            {"strategy.zero", {"0", "1", "2", "3"}},
            {"training.recompute", {"none", "selective", "full"}},
            {"strategy.bucket_cap", {"1 MiB", "5 MiB", "25 MiB", "100 MiB", "400 MiB"}},
            {"training.sequence_length", {"256", "512", "1024"}}});
    QSignalSpy told(panel_.get(), &Panel::busyChanged);
    const auto cancel = [&] {
        QVERIFY(panel_->busy());
        QVERIFY(told.count() > 0);
        told.clear();
        panel_->cancel();
        QVERIFY(!panel_->busy());
        QVERIFY(told.count() > 0);
        told.clear();
    };
    panel_->start();
    QTRY_VERIFY_WITH_TIMEOUT(panel_->store().feasible_count() > 0, patience_ms);
    cancel();
    QVERIFY(panel_->store().size() < 720); // what was found is kept
    // The comparison.
    ComparePanel& compare = panel_->compare();
    panel_->pin(first_point());
    cancel();
    QTest::qWait(200);
    QVERIFY(compare.table().rows.empty());
    bool said = false;
    for (const QLabel* const label : compare.findChildren<QLabel*>())
        said = said || label->text().startsWith(QStringLiteral("Cancelled"));
    QVERIFY(said);
    workspace_->simulate_again();
    QTRY_VERIFY_WITH_TIMEOUT(compare.table().rows.size() > 3 && !panel_->busy(), patience_ms);
    // What there is to sweep.
    QVERIFY(!workspace_->document().set("training.sequence_length", "512"));
    workspace_->live().cancel();
    cancel();
    QTest::qWait(200);
    panel_->start(); // of what?
    QVERIFY(!panel_->job().running());
    workspace_->simulate_again();
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current() && !panel_->busy(), patience_ms);
    panel_->start();
    QVERIFY(panel_->job().running());
    panel_->cancel();
}

void TestExploreWork::pinsAreComparedOnlyInSight()
{
    choose({{"training.micro_batch", {"1", "2"}}});
    sweep();
    panel_->set_in_sight(false);
    panel_->pin(first_point());
    QVERIFY(!panel_->busy());
    panel_->set_in_sight(true);
    QVERIFY(panel_->compare().busy());
    QTRY_VERIFY_WITH_TIMEOUT(panel_->compare().table().rows.size() > 3, patience_ms);
}

void TestExploreWork::aSessionKeepsRangesAxesAndPins()
{
    choose({{"training.micro_batch", {"2", "4"}}, {"strategy.cp", {"1", "4"}}});
    sweep();
    panel_->pin(first_point());
    ScatterChoice axes;
    axes.x = QStringLiteral("bubble");
    axes.log_y = true;
    panel_->scatter().set_choice(axes);
    const ExploreState state = panel_->state();
    QCOMPARE(state.swept.size(), std::size_t{2});
    QCOMPARE(state.pins.size(), std::size_t{1});
    const Json json = to_json(state);
    QVERIFY(explore_state_from(json) == state);
    // Another window, which does not know yet what there is to sweep.
    ExplorePanel other(*workspace_);
    other.restore(explore_state_from(json));
    QVERIFY(other.state() == state);
    QTRY_VERIFY_WITH_TIMEOUT(!other.ranges().empty(), patience_ms);
    QVERIFY(other.state() == state);
    // What is no such thing is left out.
    QVERIFY(explore_state_from(Json("nonsense")) == ExploreState{});
    QVERIFY(explore_state_from(Json::Object{{"pins", 3}, {"swept", "x"}}).pins.empty());
}

TRAINYARD_WINDOW_TEST(TestExploreWork, QApplication)
#include "gui/tests/window_test.h"
#include "test_explore_work.moc"
