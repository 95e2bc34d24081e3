// What views and runs leave as files, with a window and without a display.

#include "gui/app/headless.h"
#include "gui/tests/window_fixture.h"
#include "gui/widgets/export.h"
#include "sim/base/files.h"
#include "sim/cli/exit_codes.h"

#include <QPainter>
#include <QSvgRenderer>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

// A table as other programs read it (RFC 4180).
class CsvFile {
public:
    explicit CsvFile(const QString& file)
    {
        const QString text = QString::fromStdString(read_file(file.toStdString()));
        QStringList row{QString()};
        bool quoted = false;
        for (const QChar letter : text) {
            if (letter == '"')
                quoted = !quoted;
            else if (quoted || (letter != ',' && letter != '\n'))
                row.last() += letter;
            else if (letter == ',')
                row << QString();
            else
                rows_ << std::exchange(row, {QString()});
        }
        heads_ = rows_.takeFirst();
    }

    const QStringList& heads() const { return heads_; }
    const QList<QStringList>& rows() const { return rows_; }
    QString cell(int row, const char* head) const
    {
        return rows_.value(row).value(heads_.indexOf(QLatin1String(head)));
    }
    double number(int row, const char* head) const { return cell(row, head).toDouble(); }
    // -1: there is none.
    int row_of(const char* head, const char* value) const
    {
        for (int row = 0; row < rows_.size(); ++row)
            if (cell(row, head) == QLatin1String(value))
                return row;
        return -1;
    }

private:
    QStringList heads_;
    QList<QStringList> rows_;
};

} // namespace

class TestExports : public test::WindowFixture {
    Q_OBJECT

private slots:
    void viewsAreExported();
    void exportedTablesHoldTheRunsFigures();
    void aFullDiskIsTold();
    void picturesWithoutADisplay();
    void anImportanceIsAViewOfItsOwn();
    void whatIsClippedIsSoInSvg();
};

void TestExports::viewsAreExported()
{
    open(eight);
    for (Panel* const panel : window_->panels())
        for (Panel* const part : panel->parts()) {
            const auto exported = [&](const char* ending) {
                const QString file = folder_.filePath(part->key() + ending);
                export_view(*part, {800, 500}, file.toStdString());
                return file;
            };
            QCOMPARE(QImage(exported(".png")).size(), QSize(800, 500));
            const QString svg = exported(".svg");
            QCOMPARE(QSvgRenderer(svg).viewBox(), QRect(0, 0, 800, 500));
            // As large as on a screen (96 pixels an inch), and drawn in all of it.
            const QByteArray text = QByteArray::fromStdString(read_file(svg.toStdString()));
            QVERIFY(text.contains("width=\"211.667mm\""));
            QVERIFY2(!text.contains("matrix(0.75"), qPrintable(part->key()));
            const CsvFile csv(exported(".csv"));
            QVERIFY2(!csv.heads().isEmpty(), qPrintable(part->key()));
            for (const QStringList& row : csv.rows())
                QCOMPARE(row.size(), csv.heads().size());
        }
    // Patterns are a second channel beside colours, in every format.
    const std::string bars = read_file(folder_.filePath("breakdown-time.svg").toStdString());
    QVERIFY(bars.find("<pattern id=\"tile0\"") != std::string::npos);
    QVERIFY(bars.find("fill=\"url(#tile0)\"") != std::string::npos);
    QVERIFY_EXCEPTION_THROWN(export_view(*window_->panels().front(), {800, 500}, "a.bmp"),
                             WorldError);
}

// Against the run, not against the view.
void TestExports::exportedTablesHoldTheRunsFigures()
{
    open(eight);
    const auto table = [&](const char* view, const char* part) {
        window_->show_panel(QLatin1String(view));
        (void)settled();
        const QString file = folder_.filePath(QLatin1String(part) + ".csv");
        for (Panel* const one : window_->panel(QLatin1String(view))->parts())
            if (one->key() == QLatin1String(part))
                export_view(*one, {800, 500}, file.toStdString());
        return CsvFile(file);
    };
    const RunFigures& summary = window_->workspace().run()->summary;
    const double step_ms = summary.step_time.value.value() * 1e3;
    const auto share_ms = [&](TimeKind kind) {
        return 1e3 * summary.critical[static_cast<std::size_t>(kind)].value();
    };
    const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); };

    const CsvFile time = table("breakdown", "breakdown-time");
    QVERIFY(close(time.number(0, "Step [ms]"), step_ms));
    QVERIFY(close(time.number(0, "backward [ms]"), share_ms(TimeKind::backward)));
    QVERIFY(close(time.number(0, "exposed DP [ms]"), share_ms(TimeKind::exposed_dp)));
    const CsvFile memory = table("breakdown", "breakdown-memory");
    double most = 0;
    for (int row = 0; row < memory.rows().size(); ++row)
        most = std::max(most, memory.number(row, "In use [GB]"));
    const double peak = static_cast<double>(summary.peak_memory.value()) / 1e9;
    QVERIFY2(most <= peak && most > 0.8 * peak, qPrintable(QString::number(most)));
    const CsvFile ops = table("timeline", "timeline");
    const int optimizer = ops.row_of("name", "optimizer");
    QVERIFY(close(ops.number(optimizer, "total [us]"), 1e3 * share_ms(TimeKind::optimizer)));
    // NVLink of an H100, each way: 450 GB/s.
    const CsvFile links = table("topology", "topology");
    QCOMPARE(links.number(links.row_of("Busiest link", "node0/gpu0/nvlink up"), "Capacity [GB/s]"),
             450.0);
    const CsvFile fields = table("scenario", "scenario");
    QCOMPARE(fields.cell(fields.row_of("Field", "training.global_batch"), "Value"), QString("8"));
}

void TestExports::aFullDiskIsTold()
{
    open(eight);
    if (!std::filesystem::exists("/dev/full"))
        QSKIP("no /dev/full here");
    QVERIFY(!window_->save_session("/dev/full"));
    QVERIFY(!window_->refused().empty());
}

void TestExports::picturesWithoutADisplay()
{
    HeadlessOptions options;
    options.files = {eight};
    options.screenshot = folder_.filePath("shot.png").toStdString();
    options.export_dir = folder_.filePath("views").toStdString();
    options.size = "1280x800";
    QCOMPARE(run_headless(options), int{exit_ok});
    const QImage image(QString::fromStdString(options.screenshot));
    QCOMPARE(image.size(), QSize(1280, 800));
    const CsvFile gains(folder_.filePath("views/breakdown-whatif.csv"));
    QVERIFY(gains.rows().size() > 3); // simulated for the picture
    for (const char* size : {"12", "0x0", "1e9x1", "99999x200"}) {
        options.size = size;
        QCOMPARE(run_headless(options), int{exit_usage});
    }
    options.size = "1280x800";
    const std::string png = std::exchange(options.screenshot, "shot.jpg"); // would be no JPEG
    QCOMPARE(run_headless(options), int{exit_usage});
    options.screenshot = png;
    options.files = {"no/such.json"};
    QCOMPARE(run_headless(options), int{exit_input_output}); // as the command line
    options.files = {"README.md"};
    QCOMPARE(run_headless(options), int{exit_invalid_input});
    options.files = {eight};
    options.export_dir = "/proc/self/views";
    QCOMPARE(run_headless(options), int{exit_input_output});
    options.screenshot = "/no/such/folder/a.png";
    QCOMPARE(run_headless(options), int{exit_input_output});
}

void TestExports::anImportanceIsAViewOfItsOwn()
{
    const auto picture = [&](const char* view) {
        HeadlessOptions options;
        options.files = {eight};
        options.view = view;
        options.screenshot = folder_.filePath(QLatin1String(view)).toStdString() + ".png";
        options.size = "1280x800";
        [&] { QCOMPARE(run_headless(options), int{exit_ok}); }();
        return QImage(QString::fromStdString(options.screenshot));
    };
    const QImage importance = picture("explore-importance");
    QVERIFY(!importance.isNull());
    QVERIFY(importance != picture("explore"));
}

namespace {

// A line through the picture, clipped to its middle.
class ClippedPanel : public Panel {
public:
    QString key() const override { return QStringLiteral("clipped"); }
    QString title() const override { return key(); }
    TableData table() const override { return {}; }
    void paint_to(QPainter& painter, const QSize& size) override
    {
        painter.save();
        painter.setClipRect(QRect(100, 100, 200, 100));
        painter.setPen(QPen(Qt::black, 8));
        painter.drawLine(QPointF(0, 0), QPointF(400, 300));
        painter.drawPolyline(QPolygonF{{{50, 160}, {350, 160}, {350, 290}}});
        painter.fillRect(QRect(150, 0, 20, 300), Qt::red);
        painter.restore();
        painter.fillRect(QRect(size.width() - 10, 0, 10, 10), Qt::blue); // no longer
    }
};

} // namespace

void TestExports::whatIsClippedIsSoInSvg()
{
    ClippedPanel panel;
    const std::string file = folder_.filePath("clipped.svg").toStdString();
    export_view(panel, {400, 300}, file);
    QImage image(400, 300, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    QSvgRenderer(QString::fromStdString(file)).render(&painter);
    painter.end();
    const auto white = [&](int x, int y) { return image.pixelColor(x, y) == Qt::white; };
    for (const QPoint& outside :
         {QPoint(40, 30), QPoint(380, 285), QPoint(60, 160), QPoint(340, 160), QPoint(350, 250),
          QPoint(160, 50), QPoint(160, 250)})
        QVERIFY2(white(outside.x(), outside.y()), qPrintable(QString::number(outside.x())));
    for (const QPoint& inside : {QPoint(200, 150), QPoint(110, 160), QPoint(160, 110)})
        QVERIFY2(!white(inside.x(), inside.y()), qPrintable(QString::number(inside.x())));
    QCOMPARE(image.pixelColor(395, 5), QColor(Qt::blue));
}

TRAINYARD_WINDOW_TEST(TestExports, QApplication)
#include "test_exports.moc"
