// Measured files as people judge them: seen, a point excluded, taken back.

#include "gui/tests/calibration_fixture.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QPainter>
#include <QSignalSpy>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const std::string pairs_log = "tests/golden/data/topology_files/nvbandwidth_6xA6000_issue50.txt";

} // namespace

class TestCalibration : public test::CalibrationFixture {
    Q_OBJECT

private slots:
    void aLogIsOpenedWithoutAScenario();
    void theListIsAModel();
    void aPointIsExcludedByKeyboardAndTakenBack();
    void aClickExcludesAndARubberBandTakesSeveral();
    void excludingIsNoChangeOfTheScenario();
    void aScenarioShowsItsProfile();
    void aMatrixIsWalkedCellByCell();
    void aMatrixOfManyFitsWhereOneOfFewDoes();
};

void TestCalibration::aLogIsOpenedWithoutAScenario()
{
    open(test::reduce_log);
    QVERIFY(panel().isVisible());
    QVERIFY(panel().in_sight());
    const CurveSeries& series = plot().series();
    QCOMPARE(series.points.size(), std::size_t{32});
    QCOMPARE(series.replaced.size(), std::size_t{1}); // the first use of 32 B
    QVERIFY(!series.switches.empty());
    QVERIFY(panel().table().rows.size() == 33);
    QVERIFY(!window_->workspace().document().modified());
}

void TestCalibration::theListIsAModel()
{
    CurveList list;
    const QAbstractItemModelTester tester(&list,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    open(test::reduce_log);
    list.set_fitted(panel().calibration().fitted());
    QCOMPARE(list.rowCount(), 1); // measured
    const QModelIndex measured = list.index(0, 0);
    QCOMPARE(list.rowCount(measured), 2); // out of place, in place
    const auto error = [&](int row) {
        return *median_error(list.at(list.index(row, 0, measured)).curve->study);
    };
    QVERIFY(error(0) >= error(1)); // the worst first
    QCOMPARE(list.index_of(list.at(list.index(1, 0, measured))), list.index(1, 0, measured));
    list.set_fitted(std::make_shared<const Fitted>());
    QCOMPARE(list.rowCount(), 0);
    QVERIFY(!list.index_of({}).isValid());
}

void TestCalibration::aPointIsExcludedByKeyboardAndTakenBack()
{
    open(test::reduce_log);
    const auto before = panel().curve().curve();
    const CurveSeries drawn = plot().series();
    std::size_t worst = 0;
    for (std::size_t i = 0; i < drawn.points.size(); ++i)
        if (std::abs(drawn.points[i].residual.value_or(0)) >
            std::abs(drawn.points[worst].residual.value_or(0)))
            worst = i;
    plot().setFocus();
    for (std::size_t i = 0; i <= worst; ++i)
        QTest::keyClick(&plot(), Qt::Key_Right);
    QCOMPARE(plot().mark(), std::optional(worst));
    QSignalSpy said(&panel().calibration(), &Calibration::refitted);
    QTest::keyClick(&plot(), Qt::Key_X);
    QVERIFY(settled());
    QVERIFY(plot().series().points[worst].excluded);
    QCOMPARE(plot().mark(), std::optional(worst)); // where one was
    QVERIFY(panel().curve().curve()->study.left_out.mean() < before->study.left_out.mean());
    QCOMPARE(said.size(), 1);
    const QString change = said.front().front().toString();
    for (const char* word : {"alpha", "1/beta", "median error"})
        QVERIFY2(change.contains(QLatin1String(word)), qPrintable(change));
    QVERIFY(undo().undoText().startsWith("exclude 4 KiB of all_reduce"));

    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(settled());
    QVERIFY(!plot().series().points[worst].excluded);
    QVERIFY(panel().curve().curve()->study.table == before->study.table);
    undo().redo();
    QVERIFY(settled());
    QVERIFY(plot().series().points[worst].excluded);
    QTest::keyClick(&plot(), Qt::Key_X); // takes it back, one more step
    QVERIFY(settled());
    QVERIFY(!plot().series().points[worst].excluded);
    QTest::keyClick(&plot(), Qt::Key_Escape);
    QVERIFY(!plot().mark());
}

void TestCalibration::aClickExcludesAndARubberBandTakesSeveral()
{
    open(test::reduce_log);
    const QPoint point = plot().position_of(20).toPoint();
    QTest::mouseClick(&plot(), Qt::LeftButton, {}, point);
    QVERIFY(settled());
    QVERIFY(plot().series().points[20].excluded);

    const QPoint from = plot().position_of(24).toPoint() + QPoint(-5, 25);
    const QPoint to = plot().position_of(26).toPoint() + QPoint(5, -25);
    QTest::mousePress(&plot(), Qt::LeftButton, Qt::ShiftModifier, from);
    QTest::mouseMove(&plot(), (from + to) / 2);
    QTest::mouseMove(&plot(), to);
    QTest::mouseRelease(&plot(), Qt::LeftButton, Qt::ShiftModifier, to);
    QVERIFY(settled());
    for (const std::size_t i : {24, 25, 26})
        QVERIFY(plot().series().points[i].excluded);
    QVERIFY(undo().undoText().startsWith("exclude 3 sizes"));
    undo().undo();
    undo().undo();
    QVERIFY(settled());
    QVERIFY(panel().calibration().excluded().empty());
}

void TestCalibration::excludingIsNoChangeOfTheScenario()
{
    open(eight);
    open(test::reduce_log);
    QCOMPARE(plot().series().points.size(), std::size_t{32}); // what was opened is in front
    plot().set_mark(5);
    panel().curve().toggle_mark();
    QVERIFY(settled());
    Document& document = window_->workspace().document();
    QVERIFY(!document.modified());
    document.set("strategy.tp", "2");
    QVERIFY(document.modified());
    undo().undo();
    QVERIFY(!document.modified());
    QVERIFY(!panel().calibration().excluded().empty());
    undo().undo();
    QVERIFY(settled());
    QVERIFY(panel().calibration().excluded().empty());
}

void TestCalibration::aScenarioShowsItsProfile()
{
    open(eight);
    window_->show_panel("calibration");
    QVERIFY(settled());
    QVERIFY(panel().curve().curve() != nullptr);
    QVERIFY(plot().series().points.empty());
    QVERIFY(!plot().series().fitted.empty());
    QVERIFY(!plot().series().note.isEmpty());
    QVERIFY(!panel().table().rows.empty());
    QVERIFY(!panel().calibration().can_save());
}

void TestCalibration::aMatrixIsWalkedCellByCell()
{
    open(pairs_log);
    HeatMapView& view = panel().matrix().view();
    QVERIFY(view.isVisible());
    QVERIFY(view.map());
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Right); // marks the first
    QCOMPARE(view.mark(), std::optional(MatrixCell{0, 0}));
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    QCOMPARE(view.mark(), std::optional(MatrixCell{2, 1}));
    bool told = false;
    for (const QLabel* const label : panel().matrix().findChildren<QLabel*>())
        told = told || label->text().startsWith("GPU 2 → GPU 1: 26.35 GB/s");
    QVERIFY(told);
    QTest::keyClick(&view, Qt::Key_Escape);
    QVERIFY(!view.mark());
    QCOMPARE(panel().parts().front()->key(), QStringLiteral("calibration-matrix"));
    QCOMPARE(panel().table().rows.size(), std::size_t{30});
}

void TestCalibration::aMatrixOfManyFitsWhereOneOfFewDoes()
{
    for (const int count : {2, 8, 96}) {
        auto matrix = std::make_shared<JudgedMatrix>();
        const auto columns = static_cast<std::size_t>(count);
        for (int i = 0; i < count; ++i)
            matrix->matrix.values.emplace_back(columns, 380e9);
        matrix->matrix.values[1][0] = 100e9;
        matrix->judged = judge(matrix->matrix);
        const HeatMap map(matrix);
        const QRectF area = map.area({700, 420}, panel().font());
        QVERIFY(area.width() > 150);
        QVERIFY(QRectF(0, 0, 700, 420).contains(area));
        panel().matrix().set_matrix(matrix);
        QImage picture(700, 420, QImage::Format_ARGB32_Premultiplied);
        QPainter painter(&picture);
        panel().matrix().paint_to(painter, picture.size());
        painter.end();
        QVERIFY(!picture.isNull());
    }
}

TRAINYARD_WINDOW_TEST(TestCalibration, QApplication)
#include "test_calibration.moc"
