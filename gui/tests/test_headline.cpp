// The headline: what it is of, what changed, and where its cards lead.

#include "gui/app/price_dialog.h"
#include "gui/breakdown/breakdown_panel.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/headline_card.h"
#include "gui/tests/window_fixture.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/theme.h"
#include "sim/base/units.h"
#include "sim/report/training/training_text.h"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>
#include <algorithm>

using namespace trainyard;
using namespace trainyard::gui;

class TestHeadline : public test::WindowFixture {
    Q_OBJECT

private slots:
    void itSaysWhatItIsOf();
    void itsPeakIsThatOfTheCommandLine();
    void aLongTitleIsElidedAndToldWhole();
    void everyCardLeadsToItsView();
    void aChangeIsToldByItself();
    void aGestureIsOneChange();
    void anotherScenarioIsNoChange();
    void aBaselineComesBeforeTheRunBefore();
    void whatIsLateIsGrey();
    void theTrainingHasAPrice();
    void tokensThatAreNoneAreTold();
    void whatIsUsualIsToldOfDenseModels();
    void theMemoryHasAnIntervalAndAnEvidence();
    void whatFitsByItsValueAloneIsDoubted();
    void devicesThatAreIdleAreTold();
    void escapeEndsTheSearchForAWayOut();

private:
    std::vector<HeadlineCard*> cards()
    {
        const auto found = window_->findChild<HeadlineBar*>()->findChildren<HeadlineCard*>();
        return {found.begin(), found.end()};
    }
    // Of all that is written in the headline.
    QStringList words()
    {
        QStringList out;
        for (const QLabel* const label :
             window_->findChild<HeadlineBar*>()->findChildren<QLabel*>())
            out << label->text();
        return out;
    }
    PriceDialog& asked()
    {
        QTest::mouseClick(cards().back(), Qt::LeftButton);
        return *window_->findChild<PriceDialog*>();
    }
    void answer(PriceDialog& dialog)
    {
        dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->click();
    }
};

void TestHeadline::itSaysWhatItIsOf()
{
    open("scenarios/llama3-70b-h100-64.json");
    const QString all = words().join('\n');
    for (const char* part : {"llama-3.1-70b on 64 x ", "tp 4", "bf16", "evidence: "})
        QVERIFY2(all.contains(QLatin1String(part), Qt::CaseInsensitive), part);
    const RunFigures& summary = window_->workspace().run()->summary;
    const HeadlineItem& rate = cards()[1]->item();
    QVERIFY(rate.value.contains(
        QString::fromStdString(figure_of("tokens_per_s").text(summary.tokens_per_s))));
    QVERIFY(rate.interval.contains(QStringLiteral("per GPU")));
}

// Of 16 stages the one that holds most is not the one whose allocator reserves most.
void TestHeadline::itsPeakIsThatOfTheCommandLine()
{
    Session session;
    for (const char* name : {"llama3-405b-h100-16k", "llama3-70b-h100-64",
                             "mixtral-8x7b-ep8-h100-64", "llama3-8b-h100-8"})
    {
        open((std::string("scenarios/") + name + ".json").c_str());
        const Checked<Outcome> told = session.simulate(*window_->workspace().run()->file);
        QVERIFY(told);
        const RunView& run = *window_->workspace().run();
        QVERIFY2(run.summary.peak_memory == told->memory.peak(), name);
        QVERIFY2(run.outcome->memory.fullest_stage == told->memory.fullest_stage, name);
        QCOMPARE(run.summary.fits, told->memory.fits());
        QVERIFY(words().contains(QString::fromStdString(to_display(told->memory.peak()))));
    }
}

void TestHeadline::aLongTitleIsElidedAndToldWhole()
{
    open("scenarios/llama3-405b-h100-16k.json");
    auto& bar = *window_->findChild<HeadlineBar*>();
    const QString full = words().front();
    window_->resize(window_->minimumSizeHint());
    QTest::qWait(1);
    auto* const title = bar.findChild<ElidedLabel*>();
    QCOMPARE(title->text(), full); // for those who hear it
    QCOMPARE(title->toolTip(), full);
    title->resize(title->fontMetrics().horizontalAdvance(full) / 2, title->height());
    const QImage half = title->grab().toImage();
    title->set_text(full.left(3 * full.size() / 4)); // the rest could not be seen
    QCOMPARE(title->grab().toImage(), half);
}

void TestHeadline::everyCardLeadsToItsView()
{
    open(eight);
    const std::vector<HeadlineCard*> all = cards();
    QCOMPARE(all.size(), std::size_t{5});
    const auto& breakdown = *static_cast<BreakdownPanel*>(window_->panel("breakdown"));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        window_->show_panel(QStringLiteral("topology"));
        all[i]->setFocus();
        QTest::keyClick(all[i], Qt::Key_Return);
        const HeadlineItem& item = all[i]->item();
        QTRY_VERIFY2(window_->panel(item.view)->in_sight(), qPrintable(item.name));
        if (!item.part.isEmpty())
            QCOMPARE(breakdown.charts()[*breakdown.enlarged()]->key(), item.part);
    }
    asked().reject();
}

void TestHeadline::aChangeIsToldByItself()
{
    open(eight);
    QVERIFY(cards().front()->item().change.isEmpty());
    Document& document = window_->workspace().document();
    QVERIFY(!document.set("training.precision", "fp8"));
    QVERIFY(settled());
    const HeadlineItem quicker = cards().front()->item();
    QVERIFY(quicker.trend == Trend::better);
    document.undo_stack().undo();
    QVERIFY(settled());
    QVERIFY(cards().front()->item().trend == Trend::worse);
    window_->workspace().simulate_again();
    QVERIFY(settled());
    QVERIFY(cards().front()->item().trend == Trend::worse); // still of the last change
}

void TestHeadline::aGestureIsOneChange()
{
    open(eight);
    Document& document = window_->workspace().document();
    const auto first = window_->workspace().run();
    for (const char* batch : {"64", "128", "256"}) {
        QVERIFY(!document.set("training.global_batch", batch, Gesture::continuing));
        QVERIFY(settled());
    }
    QVERIFY(window_->workspace().compared() == first);
}

void TestHeadline::anotherScenarioIsNoChange()
{
    open(eight);
    open("scenarios/llama3-70b-h100-64.json");
    QVERIFY(window_->workspace().compared() == nullptr);
    QVERIFY(cards().front()->item().change.isEmpty());
}

void TestHeadline::aBaselineComesBeforeTheRunBefore()
{
    open(eight);
    window_->workspace().pin_baseline();
    Document& document = window_->workspace().document();
    QVERIFY(!document.set("training.global_batch", "64"));
    QVERIFY(settled());
    QVERIFY(!document.set("training.global_batch", "32"));
    QVERIFY(settled());
    QVERIFY(window_->workspace().compared() == window_->workspace().baseline());
    QVERIFY(words().contains(QStringLiteral("against the baseline")));
    window_->workspace().clear_baseline();
    QVERIFY(words().contains(QStringLiteral("against the run before")));
}

void TestHeadline::whatIsLateIsGrey()
{
    open(eight);
    window_->workspace().document().edit({{"run.engine", "reference"},
                                          {"run.fold", "false"},
                                          {"run.steps", "1000"},
                                          {"training.global_batch", "256"}});
    QTRY_VERIFY_WITH_TIMEOUT(words().contains(QStringLiteral("simulating")), patience_ms);
    const QString time = cards().front()->item().value;
    for (const QLabel* const label : cards().front()->findChildren<QLabel*>())
        if (label->text() == time)
            QCOMPARE(label->palette().color(label->foregroundRole()),
                     sign_colours(label->palette()).quiet);
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(words().contains(QStringLiteral("out of date")));
}

void TestHeadline::theTrainingHasAPrice()
{
    open(eight);
    QVERIFY(cards().back()->item().interval.contains(QStringLiteral("no price")));
    PriceDialog& dialog = asked();
    dialog.findChild<QDoubleSpinBox*>(QStringLiteral("price"))->setValue(2.5);
    QTest::keyClicks(dialog.findChild<QLineEdit*>(QStringLiteral("tokens")), "1 T");
    answer(dialog);
    const RunFigures& summary = window_->workspace().run()->summary;
    const double hours = 1e12 / summary.tokens_per_s / 3600;
    const HeadlineItem& cost = cards().back()->item();
    QCOMPARE(cost.value, QString::fromStdString(money_text(hours * 2.5 * summary.gpus)));
    QVERIFY(cost.name.contains(QStringLiteral("1.00 T")));
    QVERIFY(cost.interval.contains(
        QString::fromStdString(wall_text(Seconds(1e12 / summary.tokens_per_s)))));
    QVERIFY(cost.interval.contains(QStringLiteral("takes"))); // days, not powers of ten of seconds
    QVERIFY(!cost.interval.contains(QStringLiteral("e+")));
    QVERIFY(window_->save_session(path("a.trainyard.json")));
    restart();
    QVERIFY(window_->open(path("a.trainyard.json")));
    QCOMPARE(window_->workspace().price().tokens, 1e12);
}

void TestHeadline::tokensThatAreNoneAreTold()
{
    open(eight);
    const Price before = window_->workspace().price();
    PriceDialog& dialog = asked();
    QTest::keyClicks(dialog.findChild<QLineEdit*>(QStringLiteral("tokens")), "lots");
    answer(dialog);
    QVERIFY(dialog.isVisible());
    QVERIFY(window_->workspace().price() == before);
    bool told = false;
    for (const QLabel* const label : dialog.findChildren<QLabel*>())
        told = told || (label->isVisible() && label->text().contains(QStringLiteral("lots")));
    QVERIFY(told);
    dialog.reject();
}

void TestHeadline::whatIsUsualIsToldOfDenseModels()
{
    open(eight);
    QVERIFY(cards()[2]->item().interval.contains(QStringLiteral("usual")));
    open("scenarios/mixtral-8x7b-ep8-h100-64.json");
    QVERIFY(!cards()[2]->item().interval.contains(QStringLiteral("usual")));
}

void TestHeadline::theMemoryHasAnIntervalAndAnEvidence()
{
    open("scenarios/llama3-70b-h100-64.json");
    const RunFigures& summary = window_->workspace().run()->summary;
    QVERIFY(summary.peak.low < summary.peak_memory && summary.peak_memory < summary.peak.high);
    const HeadlineItem& memory = cards()[3]->item();
    for (const Bytes end : {summary.peak.low, summary.peak.high})
        QVERIFY(memory.interval.contains(QString::fromStdString(to_display(end))));
    QVERIFY(memory.explanation.contains(QString::fromStdString(summary.peak.basis)));
    QVERIFY(memory.explanation.contains(QStringLiteral("Evidence: ")));
}

void TestHeadline::whatFitsByItsValueAloneIsDoubted()
{
    open(eight);
    RunView run = *window_->workspace().run();
    const auto chip = [&] {
        const std::vector<StatusChip> all = chips_of(run);
        return all.back();
    };
    run.summary.peak = {Bytes(70'000'000'000), Bytes(60'000'000'000),
                        Bytes(79'000'000'000), 0.9,
                        Grade::published,      "runs"};
    run.summary.peak_memory = Bytes(70'000'000'000);
    run.summary.capacity = Bytes(80'000'000'000);
    QVERIFY(headline_of(run, nullptr, {})[3].interval.endsWith(QStringLiteral("; fits 80.0 GB")));
    QVERIFY(!chip().text.contains(QStringLiteral("memory")));
    run.summary.capacity = Bytes(75'000'000'000);
    QVERIFY(headline_of(run, nullptr, {})[3].interval.endsWith(
        QStringLiteral("; probably fits 75.0 GB")));
    QVERIFY(!headline_of(run, nullptr, {})[3].impossible);
    QCOMPARE(chip().text, QStringLiteral("memory: probably fits"));
    run.summary.capacity = Bytes(65'000'000'000);
    run.summary.fits = false;
    QVERIFY(headline_of(run, nullptr, {})[3].interval.endsWith(
        QStringLiteral("; probably does not fit 65.0 GB")));
    QVERIFY(headline_of(run, nullptr, {})[3].impossible);
    run.summary.capacity = Bytes(50'000'000'000);
    QVERIFY(headline_of(run, nullptr, {})[3].interval.endsWith(
        QStringLiteral("; does not fit 50.0 GB")));
}

void TestHeadline::devicesThatAreIdleAreTold()
{
    open(eight);
    QVERIFY(!window_->workspace().document().set("strategy.dp", "4"));
    QVERIFY(settled());
    QVERIFY(words().join('\n').contains(QStringLiteral(" on 4 of 8 x ")));
    const Problems& problems = window_->workspace().problems();
    QVERIFY(std::ranges::any_of(problems, [](const Diagnostic& one) {
        return one.pointer == "/strategy/dp" && one.severity == Severity::warning &&
               one.message.find("4 of the 8 devices") != std::string::npos;
    }));
}

void TestHeadline::escapeEndsTheSearchForAWayOut()
{
    open(eight);
    QVERIFY(!window_->workspace().document().set("model", "llama-3.1-405b"));
    QVERIFY(settled());
    auto* const fit = window_->findChild<QToolButton*>("advice/fit");
    QTRY_VERIFY_WITH_TIMEOUT(fit->isVisible(), patience_ms);
    const Json before = window_->workspace().document().json();
    QTest::mouseClick(fit, Qt::LeftButton);
    QVERIFY(window_->findChild<QToolButton*>("advice/cancel")->isVisible());
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!window_->findChild<QToolButton*>("advice/cancel")->isVisible());
    QVERIFY(fit->isVisible());
    QVERIFY(window_->workspace().document().json() == before);
}

TRAINYARD_WINDOW_TEST(TestHeadline, QApplication)
#include "test_headline.moc"
