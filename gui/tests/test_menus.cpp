// The window's menus, and what its charts and tables have in common.

#include "gui/app/start_page.h"
#include "gui/scenario/headline_bar.h"
#include "gui/tests/window_fixture.h"
#include "gui/topology/topology_canvas.h"
#include "gui/widgets/chart.h"
#include "gui/widgets/problems_button.h"
#include "sim/base/units.h"

#include <QComboBox>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QTimer>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <algorithm>
#include <array>

using namespace trainyard;
using namespace trainyard::gui;

class TestMenus : public test::WindowFixture {
    Q_OBJECT

private slots:
    void examplesAndRecentFilesAreOpened();
    void theBaselineIsForgottenOnlyWhereThereIsOne();
    void theThemeIsTicked();
    void aboutSaysVersionAndLicence();
    void keysOfViewsGoToTheirPictures();
    void whatDoesNotFitIsColoured();
    void whatCannotBeIsNeitherBetterNorWorse_data();
    void whatCannotBeIsNeitherBetterNorWorse();
    void theWheelChangesNoValueThatNobodyWentTo();
    void aClickOnASliderGoesThere();
    void numbersOfAnAxisHaveRoom_data();
    void numbersOfAnAxisHaveRoom();

private:
    QMenu* menu(const QString& title) const
    {
        for (QAction* const action : window_->menuBar()->actions())
            if (action->text().remove('&') == title)
                return action->menu();
        return nullptr;
    }
    static QAction* item(const QMenu* menu, const QString& text)
    {
        for (QAction* const action : menu->actions())
            if (action->text().remove('&') == text)
                return action;
        return nullptr;
    }
};

void TestMenus::examplesAndRecentFilesAreOpened()
{
    QMenu* const file = menu(QStringLiteral("File"));
    QMenu* const recent = item(file, QStringLiteral("Open recent"))->menu();
    emit file->aboutToShow();
    QVERIFY(!recent->isEnabled());
    QMenu* const shown = item(file, QStringLiteral("Open example"))->menu();
    QCOMPARE(shown->actions().size(), static_cast<qsizetype>(examples().size()));
    shown->actions().front()->trigger();
    QVERIFY(settled());
    QCOMPARE(window_->workspace().document().file(), examples().front().file.toStdString());
    emit file->aboutToShow();
    QVERIFY(recent->isEnabled());
    QCOMPARE(recent->actions().front()->text(), examples().front().file);
    window_->workspace().document().load(Json::object(), {});
    recent->actions().front()->trigger();
    QVERIFY(settled());
    QCOMPARE(window_->workspace().document().file(), examples().front().file.toStdString());
}

void TestMenus::theBaselineIsForgottenOnlyWhereThereIsOne()
{
    QAction* const pin = item(menu(QStringLiteral("Run")), QStringLiteral("Pin as baseline"));
    QAction* const forget =
        item(menu(QStringLiteral("Run")), QStringLiteral("Forget the baseline"));
    QVERIFY(!pin->isEnabled() && !forget->isEnabled());
    QVERIFY(window_->open(examples().front().file.toStdString()));
    QVERIFY(settled());
    QVERIFY(pin->isEnabled() && !forget->isEnabled());
    pin->trigger();
    QVERIFY(forget->isEnabled());
    forget->trigger();
    QVERIFY(!forget->isEnabled());
    QVERIFY(!window_->workspace().baseline());
}

void TestMenus::theThemeIsTicked()
{
    QMenu* const view = menu(QStringLiteral("View"));
    for (const QString& name : {QStringLiteral("Dark"), QStringLiteral("Light")}) {
        item(view, name)->trigger();
        emit view->aboutToShow();
        QVERIFY(item(view, name)->isChecked());
        const QString other =
            name == QStringLiteral("Dark") ? QStringLiteral("Light") : QStringLiteral("Dark");
        QVERIFY(!item(view, other)->isChecked());
    }
}

void TestMenus::aboutSaysVersionAndLicence()
{
    QString said;
    QTimer::singleShot(0, [&] {
        auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        said = box->text();
        box->accept();
    });
    item(menu(QStringLiteral("Help")), QStringLiteral("About Trainyard"))->trigger();
    QVERIFY(said.contains(QStringLiteral("GPL, version 3")));
    QVERIFY(said.contains(QString::fromUtf8(qVersion())));
}

void TestMenus::keysOfViewsGoToTheirPictures()
{
    QVERIFY(window_->open(examples().front().file.toStdString()));
    QVERIFY(settled());
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    QTest::keyClick(window_.get(), Qt::Key_2, Qt::ControlModifier);
    QVERIFY(qobject_cast<TimelineCanvas*>(QApplication::focusWidget()) != nullptr);
    QTest::keyClick(window_.get(), Qt::Key_3, Qt::ControlModifier);
    QVERIFY(qobject_cast<TopologyCanvas*>(QApplication::focusWidget()) != nullptr);
}

void TestMenus::whatDoesNotFitIsColoured()
{
    const auto coloured = [&] {
        const HeadlineBar& bar = *window_->findChild<HeadlineBar*>();
        const QImage picture = const_cast<HeadlineBar&>(bar).grab().toImage();
        const QColor wrong = sign_colours(bar.palette()).error;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x)
                if (picture.pixelColor(x, y) == wrong)
                    return true;
        return false;
    };
    QVERIFY(window_->open(examples().front().file.toStdString()));
    QVERIFY(settled());
    QVERIFY(!coloured());
    QVERIFY(!window_->workspace().document().set("training.sequence_length", "1048576"));
    QVERIFY(settled());
    QVERIFY(!window_->workspace().run()->summary.fits);
    QVERIFY(coloured());
}

void TestMenus::whatCannotBeIsNeitherBetterNorWorse_data()
{
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("reason");
    QTest::newRow("no room") << "1048576"
                             << "does not fit";
    QTest::newRow("no such value") << "-1"
                                   << "sequence_length";
}

void TestMenus::whatCannotBeIsNeitherBetterNorWorse()
{
    QFETCH(const QString, value);
    QFETCH(const QString, reason);
    const HeadlineBar& bar = *window_->findChild<HeadlineBar*>();
    const QColor quiet = sign_colours(bar.palette()).quiet;
    const QColor wrong = sign_colours(bar.palette()).error;
    const auto said = [&](const QString& words) {
        const QList<QLabel*> labels = bar.findChildren<QLabel*>();
        const auto found = std::ranges::find_if(
            labels, [&](const QLabel* label) { return label->text().contains(words); });
        return found == labels.end() ? nullptr : *found;
    };
    const auto colour = [](const QLabel* label) {
        return label->palette().color(label->foregroundRole());
    };
    const auto& problems = *window_->findChild<ProblemsButton*>();
    Workspace& workspace = window_->workspace();
    QVERIFY(window_->open(examples().front().file.toStdString()));
    QVERIFY(settled());
    workspace.pin_baseline();
    QVERIFY(!workspace.document().set("training.sequence_length", "4096"));
    QVERIFY(settled());
    QVERIFY(said(QStringLiteral("better")) != nullptr);
    QVERIFY(problems.text().contains(QStringLiteral("No problems")));

    QVERIFY(!workspace.document().set("training.sequence_length", value.toStdString()));
    QVERIFY(settled());
    QVERIFY(said(QStringLiteral("better")) == nullptr);
    QVERIFY(said(QStringLiteral("worse")) == nullptr);
    const QString time =
        QString::fromStdString(to_display(workspace.run()->summary.step_time.value));
    QVERIFY(said(time) != nullptr);
    QCOMPARE(colour(said(time)), quiet);
    const QLabel* const why = said(QStringLiteral("(the figures are"));
    QVERIFY(why != nullptr && why->text().contains(reason));
    QCOMPARE(colour(why), wrong);
    QVERIFY(why->mapTo(&bar, QPoint()).y() < said(time)->mapTo(&bar, QPoint()).y());
    QVERIFY(problems.text().contains(QStringLiteral("1 error")));

    workspace.document().undo_stack().undo();
    QVERIFY(settled());
    QVERIFY(said(QStringLiteral("better")) != nullptr);
    QVERIFY(problems.text().contains(QStringLiteral("No problems")));
    QVERIFY(said(QStringLiteral("(the figures are")) == nullptr);
}

void TestMenus::theWheelChangesNoValueThatNobodyWentTo()
{
    apply_theme(*qApp, Theme::light);
    QScrollArea area;
    auto* const inside = new QWidget;
    auto* const column = new QVBoxLayout(inside);
    auto* const slider = new QSlider(Qt::Horizontal);
    auto* const number = new QSpinBox;
    auto* const list = new QComboBox;
    list->addItems({QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")});
    for (QWidget* const widget : {static_cast<QWidget*>(slider), static_cast<QWidget*>(number),
                                  static_cast<QWidget*>(list)})
        column->addWidget(widget);
    slider->setValue(50);
    number->setValue(50);
    list->setCurrentIndex(1);
    inside->setFixedSize(200, 2000);
    area.setWidget(inside);
    area.resize(240, 200);
    area.show();
    area.activateWindow();
    area.setFocus();
    QVERIFY(QTest::qWaitForWindowActive(&area));
    const auto values = [&] {
        return std::array{slider->value(), number->value(), list->currentIndex()};
    };
    const auto turn = [](QWidget* widget) {
        const QPointF at(widget->rect().center());
        QWheelEvent event(at, widget->mapToGlobal(at), {}, QPoint(0, -120), Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(widget, &event);
    };
    const auto before = values();
    for (QWidget* const widget : {static_cast<QWidget*>(slider), static_cast<QWidget*>(number),
                                  static_cast<QWidget*>(list)})
    {
        const int place = area.verticalScrollBar()->value();
        turn(widget);
        QCOMPARE(values(), before);
        QVERIFY(area.verticalScrollBar()->value() > place); // it scrolls
        QVERIFY(!widget->hasFocus());
    }
    for (QWidget* const widget : {static_cast<QWidget*>(slider), static_cast<QWidget*>(number),
                                  static_cast<QWidget*>(list)})
    {
        const auto now = values();
        widget->setFocus();
        turn(widget);
        QVERIFY(values() != now);
    }
}

void TestMenus::aClickOnASliderGoesThere()
{
    apply_theme(*qApp, Theme::light);
    QSlider slider(Qt::Horizontal);
    slider.resize(400, 30);
    slider.setRange(0, 10'000);
    slider.show();
    QTest::mouseClick(&slider, Qt::LeftButton, {}, QPoint(300, 15));
    QVERIFY(std::abs(slider.value() - 7'500) < 300);
}

void TestMenus::numbersOfAnAxisHaveRoom_data()
{
    QTest::addColumn<int>("width");
    QTest::addColumn<double>("from");
    QTest::addColumn<double>("to");
    for (const int width : {170, 265, 400, 900}) {
        QTest::addRow("%d, long numbers", width) << width << 5161.78 << 5162.31;
        QTest::addRow("%d, short numbers", width) << width << 0.0 << 20.0;
        QTest::addRow("%d, thousands", width) << width << 0.0 << 14739.7;
    }
}

void TestMenus::numbersOfAnAxisHaveRoom()
{
    QFETCH(const int, width);
    QFETCH(const double, from);
    QFETCH(const double, to);
    Chart chart;
    chart.resize(width, 200);
    chart.xAxis->setRange(from, to);
    chart.replot();
    const QFontMetricsF letters(chart.xAxis->tickLabelFont());
    QVector<double> ticks;
    QVector<QString> numbers;
    chart.xAxis->ticker()->generate(chart.xAxis->range(), QLocale::c(), 'g',
                                    chart.xAxis->numberPrecision(), ticks, nullptr, &numbers);
    int seen = 0;
    double end = -1e9;
    for (int i = 0; i < ticks.size(); ++i) {
        if (!chart.xAxis->range().contains(ticks[i]))
            continue;
        const double middle = chart.xAxis->coordToPixel(ticks[i]);
        const double half = letters.horizontalAdvance(numbers[i]) / 2;
        QVERIFY2(middle - half > end, qPrintable(numbers.join(' ')));
        end = middle + half;
        ++seen;
    }
    QVERIFY(seen >= (width > 200 ? 2 : 1));
}

TRAINYARD_WINDOW_TEST(TestMenus, QApplication)
#include "test_menus.moc"
