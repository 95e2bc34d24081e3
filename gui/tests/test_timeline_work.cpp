// Of which run the timeline is, and when it is made.

#include "gui/tests/timeline_fixture.h"

#include <QCheckBox>
#include <QLabel>

using namespace trainyard;
using namespace trainyard::gui;

class TestTimelineWork : public test::TimelineFixture {
    Q_OBJECT

private slots:
    void aChangedScenarioKeepsWhatIsPinned();
    void makingItCanBeCancelled();
    void onlyWhatIsInSightIsMade();
    void theBaselineLiesBeside();
};

void TestTimelineWork::aChangedScenarioKeepsWhatIsPinned()
{
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    const std::uint32_t slice = canvas().pinned();
    const std::string name = model().data.names[model().data.slices.name[slice]];
    const auto before = canvas().model();
    // The same operations, each at another time.
    QVERIFY(!workspace_->document().set("training.sequence_length", "2048"));
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != before, patience_ms);
    QVERIFY(model().data.slices.end[slice] != before->data.slices.end[slice]);
    QVERIFY(canvas().pinned() != nothing);
    QCOMPARE(model().data.names[model().data.slices.name[canvas().pinned()]], name);
    QCOMPARE(view().selection().record.value(), model().data.slices.record[canvas().pinned()]);
    // Another pipeline has other tracks.
    QVERIFY(!workspace_->document().set("strategy.pp", "1"));
    QTRY_VERIFY_WITH_TIMEOUT(model().data.tracks != before->data.tracks, patience_ms);
    QCOMPARE(canvas().pinned(), nothing);
    QVERIFY(!view().selection().record);
}

void TestTimelineWork::makingItCanBeCancelled()
{
    // As soon as the records are there, their timeline is being made.
    const auto cancelled =
        connect(workspace_.get(), &Workspace::recordedChanged, panel_.get(), [this] {
            QVERIFY(panel_->busy());
            panel_->cancel();
            QVERIFY(!panel_->busy());
        });
    const auto before = workspace_->recorded();
    QVERIFY(!workspace_->document().set("training.sequence_length", "2048"));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->recorded() != before, patience_ms);
    QTest::qWait(50);
    QVERIFY(canvas().model() == nullptr); // not that of an older run
    disconnect(cancelled);
    workspace_->simulate_again();
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != nullptr, patience_ms);
    QVERIFY(model().runs.front()->outcome == workspace_->recorded()->outcome);
}

void TestTimelineWork::onlyWhatIsInSightIsMade()
{
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    const auto before = canvas().model();
    const auto recorded = workspace_->recorded();
    panel_->set_in_sight(false);
    QVERIFY(!workspace_->document().set("strategy.pp", "1"));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->recorded() != recorded, patience_ms);
    QVERIFY(!panel_->busy());
    QVERIFY(!view().selection().record); // it was the earlier run's
    // What another view selects meanwhile is of the new run.
    const std::vector<OpRecord>& records = workspace_->recorded()->outcome->result->records;
    Selection selection;
    selection.record = records.size() / 3;
    while (records[*selection.record].end == records[*selection.record].start)
        ++*selection.record;
    view().select(selection);
    QTest::qWait(50);
    QVERIFY(canvas().model() == before);
    panel_->set_in_sight(true);
    QVERIFY(panel_->busy());
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != before, patience_ms);
    QVERIFY(model().runs.front()->outcome == workspace_->recorded()->outcome);
    QVERIFY(canvas().pinned() != nothing);
    QCOMPARE(std::size_t{model().data.slices.record[canvas().pinned()]}, *selection.record);
    QCOMPARE(view().selection().record, selection.record);
    // The same is not made twice.
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms); // nor counted
    panel_->set_in_sight(false);
    panel_->set_in_sight(true);
    workspace_->pin_baseline();
    QVERIFY(!panel_->busy());
}

void TestTimelineWork::theBaselineLiesBeside()
{
    QCheckBox* beside = nullptr;
    for (QCheckBox* box : panel_->findChildren<QCheckBox*>())
        if (box->text().contains(QStringLiteral("baseline")))
            beside = box;
    QVERIFY(beside != nullptr && !beside->isEnabled());
    workspace_->pin_baseline();
    QVERIFY(beside->isEnabled());
    beside->setChecked(true);
    QTRY_VERIFY_WITH_TIMEOUT(model().runs.size() == 2, patience_ms);
    QCOMPARE(model().data.tracks[track_of("rank 0", 1)].run, std::uint8_t{1});
    // The same scenario: the same ops at the same times.
    const auto& data = model().data;
    const SliceRow& a = data.rows[data.tracks[track_of("rank 0", 0)].row];
    const SliceRow& b = data.rows[data.tracks[track_of("rank 0", 1)].row];
    QCOMPARE(a.count, b.count);
    QCOMPARE(data.slices.start[a.first], data.slices.start[b.first]);
    // The table keeps them apart: every figure of A is there once more for B.
    const TableData table = panel_->table();
    QCOMPARE(table.columns.last(), QStringLiteral("run"));
    const auto of = [&](const QString& run) {
        QList<QStringList> rows;
        for (const QStringList& row : table.rows)
            if (row.last() == run)
                rows << row.mid(0, row.size() - 1);
        std::sort(rows.begin(), rows.end());
        return rows;
    };
    QVERIFY(!of(QStringLiteral("run A")).isEmpty());
    QCOMPARE(of(QStringLiteral("run A")), of(QStringLiteral("run B")));
    bool told = false;
    for (const QLabel* label : panel_->findChildren<QLabel*>())
        told = told || label->text().contains(QStringLiteral("A: this run, B: the baseline"));
    QVERIFY(told);
}

TRAINYARD_WINDOW_TEST(TestTimelineWork, QApplication)
#include "test_timeline_work.moc"
