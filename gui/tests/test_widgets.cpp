// What views are made of: lines, tables and fills, each alone.

#include "gui/model/qt_text.h"
#include "gui/tests/contrast.h"
#include "gui/tests/window_test.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/panel.h"
#include "gui/widgets/table_dialog.h"
#include "gui/widgets/theme.h"

#include <QToolBar>
#include <QToolButton>
#include <array>
#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

// In CIELAB (1976): about 2 can just be seen.
std::array<double, 3> lab(const QColor& colour)
{
    const auto linear = [](double x) {
        return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
    };
    const auto root = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double r = linear(colour.redF());
    const double g = linear(colour.greenF());
    const double b = linear(colour.blueF());
    const double x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
    const double y = root(0.2126 * r + 0.7152 * g + 0.0722 * b);
    const double z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double difference(const QColor& one, const QColor& other)
{
    const auto a = lab(one);
    const auto b = lab(other);
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

} // namespace

class TestWidgets : public QObject {
    Q_OBJECT

private slots:
    void aLongLineEndsInAnEllipsis();
    void tablesAreQuotedAsCsvWantsIt();
    void numbersEndAtTheRight();
    void inkCanBeReadOnEveryFill();
    void plainFillsStandOutInTheDark();
    void kindsAreToldApartByTheirColours();
    void theArrowOfALongToolbarCanBeSeen();
};

void TestWidgets::aLongLineEndsInAnEllipsis()
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

void TestWidgets::tablesAreQuotedAsCsvWantsIt()
{
    const TableData table{{"a", "b"}, {{"1,5", "say \"x\""}, {"two\nlines", ""}}};
    QCOMPARE(to_csv(table), QString("a,b\n\"1,5\",\"say \"\"x\"\"\"\n\"two\nlines\",\n"));
}

void TestWidgets::numbersEndAtTheRight()
{
    // A number that is not known leaves its column one of numbers; the dialog's table and the
    // picture agree, headings as their numbers.
    const TableData table{{"kind", "time [ms]", "share"},
                          {{"forward", "12.5", "all"}, {"backward", "–", "5"}, {"", "7", ""}}};
    const std::vector<bool> right{false, true, false};
    TableModel model(table);
    for (int column = 0; column < model.columnCount(); ++column) {
        const bool expected = right[static_cast<std::size_t>(column)];
        const QVariant cell = model.data(model.index(0, column), Qt::TextAlignmentRole);
        QCOMPARE((cell.toInt() & Qt::AlignRight) != 0, expected);
        QCOMPARE(model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole), cell);
    }
    const QSize size(600, 200);
    // How far to the right its heading and its row go.
    const auto inked = [&](const QString& cell) {
        QImage image(size, QImage::Format_RGB32);
        QPainter painter(&image);
        paint_table(painter, size, {{"a long heading"}, {{cell}}}, palette_of(Theme::light));
        const int heading = 12 + painter.fontMetrics().height() + 6;
        painter.end();
        std::array<int, 2> last{};
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                if (qGray(image.pixel(x, y)) < 200)
                    last[y < heading ? 0 : 1] = std::max(last[y < heading ? 0 : 1], x);
        return last;
    };
    const auto [heading, number] = inked("8");
    QVERIFY(std::abs(heading - number) < 6);
    QVERIFY(inked("8 or 9")[1] < heading - 6);
}

void TestWidgets::inkCanBeReadOnEveryFill()
{
    // WCAG 2 asks for 3:1 of large text and marks; what black or white gives on each colour.
    for (const Theme theme : {Theme::light, Theme::dark})
        for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
            const QColor fill = colour_of(fill_of(static_cast<TimeKind>(kind)), palette_of(theme));
            QVERIFY(contrast(fill, ink_on(fill)) >= 4.5);
        }
}

void TestWidgets::plainFillsStandOutInTheDark()
{
    // What has no hatch is told from what lies behind it by its colour alone.
    const QPalette palette = palette_of(Theme::dark);
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
        const Fill& fill = fill_of(static_cast<TimeKind>(kind));
        for (const QPalette::ColorRole behind : {QPalette::Window, QPalette::Base})
            QVERIFY(fill.hatch != Hatch::none ||
                    contrast(colour_of(fill, palette), palette.color(behind)) >= 2);
    }
}

void TestWidgets::kindsAreToldApartByTheirColours()
{
    for (std::size_t one = 0; one < time_kind_count; ++one)
        for (std::size_t other = 0; other < one; ++other) {
            const QColor a(text_of(fill_of(static_cast<TimeKind>(one)).colour));
            const QColor b(text_of(fill_of(static_cast<TimeKind>(other)).colour));
            const bool grey = a.hsvSaturation() <= 0 || b.hsvSaturation() <= 0; // no work
            QVERIFY2(grey || difference(a, b) > 24,
                     qPrintable(QStringLiteral("%1 %2").arg(one).arg(other)));
        }
}

void TestWidgets::theArrowOfALongToolbarCanBeSeen()
{
    for (const Theme theme : {Theme::light, Theme::dark}) {
        apply_theme(*qApp, theme);
        QToolBar bar;
        for (int i = 0; i < 20; ++i)
            bar.addAction(QStringLiteral("an action"));
        bar.resize(200, 40);
        bar.show();
        QVERIFY(QTest::qWaitForWindowExposed(&bar));
        auto* const more = bar.findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"));
        QVERIFY(more != nullptr && more->isVisible());
        const QColor ground = bar.palette().color(QPalette::Button);
        const QImage picture = more->icon().pixmap(32).toImage();
        double most = 0;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x)
                if (picture.pixelColor(x, y).alpha() == 255)
                    most = std::max(most, contrast(picture.pixelColor(x, y), ground));
        QVERIFY2(most > 4.5, qPrintable(QString::number(most)));
    }
}

TRAINYARD_WINDOW_TEST(TestWidgets, QApplication)
#include "test_widgets.moc"
