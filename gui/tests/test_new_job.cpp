// From the start page to a simulated job by clicks alone, without a file of one's own.

#include "gui/app/start_page.h"
#include "gui/new/cluster_editor.h"
#include "gui/new/cluster_sketch.h"
#include "gui/new/model_list.h"
#include "gui/new/new_job_page.h"
#include "gui/new/origin_view.h"
#include "gui/tests/clicks.h"
#include "gui/tests/window_fixture.h"

#include <QCommandLinkButton>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTreeView>
#include <QTreeWidget>

using namespace trainyard;
using namespace trainyard::gui;

class TestNewJob : public test::WindowFixture {
    Q_OBJECT

private slots:
    void aJobIsMadeByClicksAlone();
    void whatDoesNotFitTellsTheSmallestClusterThatDoes();
    void aModelIsFoundByTyping();
    void lengthsAndBatchesAreWholeNumbers();
    void escapeEndsASearchAndKeepsThePage();
    void theStartPageLeadsToItsTasks();
    void examplesAreDrawn();
    void aModelsFileBeginsANewJob();

private:
    NewJobPage& page() { return *window_->findChild<NewJobPage*>(); }
    bool page_settled()
    {
        return QTest::qWaitFor([&] { return !page().busy(); }, patience_ms) && settled();
    }
    QLineEdit* field(const char* name) { return page().findChild<QLineEdit*>(QLatin1String(name)); }
    QPushButton* button(const QString& text)
    {
        for (auto* const one : page().findChildren<QPushButton*>())
            if (one->text().remove('&') == text)
                return one;
        return nullptr;
    }
};

// From the start page to a 128-GPU cluster of H100 with Llama 3.1 70B.
void TestNewJob::aJobIsMadeByClicksAlone()
{
    test::Clicks clicks;
    QVERIFY(clicks.click("New job ..."));
    QVERIFY(page_settled());
    QVERIFY(clicks.pick(&page().model().list(), "llama-3.1-70b"));
    QVERIFY(clicks.type(field("nodes"), "16"));
    QVERIFY(page_settled());
    QVERIFY(page().cluster().sketch().picture() != nullptr);
    QCOMPARE(page().cluster().sketch().picture()->summary.devices, 128);
    QVERIFY(clicks.click("Create"));
    QVERIFY(page_settled());
    QVERIFY(page().refused().empty());
    QVERIFY(!page().isVisible());
    QVERIFY(window_->workspace().current());
    const Outcome& outcome = *window_->workspace().run()->outcome;
    QCOMPARE(outcome.topology->device_count(), 128);
    QVERIFY(outcome.job.model.name.find("70") != std::string::npos);
    Document& document = window_->workspace().document();
    QVERIFY(!document.named());
    QVERIFY(document.modified()); // no file has it
    QVERIFY(document.find("topology")->is_object());
    QVERIFY2(clicks.count() <= 5, qPrintable(QString::number(clicks.count())));
    // Why it is as it is stays in sight.
    const auto* const origin = window_->findChild<OriginView*>();
    QVERIFY(origin->isVisible());
    QVERIFY(window_->findChild<OriginView*>()->lists().topLevelItem(0)->childCount() > 3);
}

void TestNewJob::whatDoesNotFitTellsTheSmallestClusterThatDoes()
{
    test::Clicks clicks;
    window_->show_new();
    QVERIFY(page_settled());
    QVERIFY(clicks.pick(&page().model().list(), "llama-3.1-70b"));
    QVERIFY(clicks.type(field("nodes"), "1"));
    QVERIFY(page_settled());
    QVERIFY(clicks.click("Create"));
    QVERIFY(page_settled());
    QVERIFY(has_errors(page().refused()));
    QVERIFY(page().isVisible());
    auto* const smallest = page().findChild<QPushButton*>("smallest");
    QVERIFY(smallest->isVisible());
    QVERIFY(clicks.click(smallest));
    QVERIFY(page_settled());
    const int nodes = field("nodes")->text().toInt();
    QVERIFY2(nodes >= 2 && nodes <= 4, qPrintable(field("nodes")->text()));
    QVERIFY(clicks.click("Create"));
    QVERIFY(page_settled());
    QVERIFY(page().refused().empty());
    QVERIFY(window_->workspace().current());
}

void TestNewJob::aModelIsFoundByTyping()
{
    test::Clicks clicks;
    window_->show_new();
    QVERIFY(page_settled());
    QVERIFY(!button("Create")->isEnabled());
    const int all = page().model().list().model()->rowCount();
    QVERIFY(clicks.type(&page().model().search(), "qwen2.5"));
    QVERIFY(page_settled());
    const int found = page().model().list().model()->rowCount();
    QVERIFY(found > 1 && found < all);
    QVERIFY(!page().model().valid());                                           // several
    QVERIFY(clicks.type(&page().model().search(), "meta-llama/Llama-3.1-70B")); // as published
    QVERIFY(page_settled());
    QVERIFY(page().model().valid());
    QVERIFY(clicks.type(&page().model().search(), "scenarios/models/gpt2-xl/config.json"));
    QVERIFY(page_settled());
    QVERIFY(page().model().valid());
    QVERIFY(button("Create")->isEnabled());
    QVERIFY(clicks.type(&page().model().search(), "no/such/config.json"));
    QVERIFY(page_settled());
    QVERIFY(!page().model().valid());
    QVERIFY(!button("Create")->isEnabled());
}

void TestNewJob::lengthsAndBatchesAreWholeNumbers()
{
    test::Clicks clicks;
    window_->show_new();
    QVERIFY(page_settled());
    QVERIFY(clicks.pick(&page().model().list(), "llama-3.1-8b"));
    QVERIFY(clicks.type(field("nodes"), "1"));
    QVERIFY(clicks.type(field("global_batch"), "many"));
    QVERIFY(page_settled());
    QVERIFY(!button("Create")->isEnabled());
    QVERIFY(clicks.type(field("global_batch"), "64"));
    QVERIFY(clicks.type(field("sequence_length"), "4096"));
    QVERIFY(page_settled());
    QVERIFY(clicks.click("Create"));
    QVERIFY(page_settled());
    const auto run = window_->workspace().run();
    QVERIFY(run != nullptr);
    QCOMPARE(run->file->scenario.training.global_batch, std::int64_t{64});
    QCOMPARE(run->file->scenario.training.sequence_length, std::int64_t{4096});
}

void TestNewJob::escapeEndsASearchAndKeepsThePage()
{
    test::Clicks clicks;
    window_->show_new();
    QVERIFY(page_settled());
    QVERIFY(clicks.pick(&page().model().list(), "llama-3.1-405b"));
    QVERIFY(clicks.type(field("nodes"), "2048"));
    QVERIFY(page_settled());
    QSignalSpy created(&page(), &NewJobPage::created);
    QVERIFY(clicks.click("Create"));
    QVERIFY(page().busy());
    QTest::keyClick(&page(), Qt::Key_Escape);
    QVERIFY(!page().busy());
    QVERIFY(page().isVisible());
    QTest::keyClick(&page(), Qt::Key_Escape);
    QVERIFY(!page().isVisible());
    QCOMPARE(created.count(), 0);
    QVERIFY(window_->workspace().document().json().members().empty());
}

void TestNewJob::theStartPageLeadsToItsTasks()
{
    // It names all that can be dropped on it.
    const QString opens = window_->findChild<QLabel*>("start/opens")->text();
    for (const char* const kind : {"scenario", "topology", "profile", "nccl-tests", "Megatron-LM",
                                   "traces", "Nsight Systems"})
        QVERIFY2(opens.contains(QLatin1String(kind)), kind);
    test::Clicks clicks;
    QVERIFY(clicks.click("Plan a cluster"));
    QVERIFY(page().isVisible());
    QVERIFY(page_settled());
    QVERIFY(clicks.click("Close"));
    QVERIFY(clicks.menu("File", "New ..."));
    QVERIFY(page().isVisible());
    QVERIFY(clicks.click("Close"));
    auto* const name = window_->findChild<QLineEdit*>("file-or-model");
    QVERIFY(clicks.type(name, "meta-llama/Llama-3.1-70B"));
    QTest::keyClick(name, Qt::Key_Return);
    QVERIFY(page_settled());
    QVERIFY(page().isVisible() && page().model().valid());
    QVERIFY(clicks.click("Close"));
    QVERIFY(clicks.type(name, QString::fromStdString(eight)));
    QTest::keyClick(name, Qt::Key_Return);
    QVERIFY(settled());
    QVERIFY(window_->workspace().current());
    restart();
    QVERIFY(clicks.click("Calibrate"));
    QVERIFY(window_->panel("calibration")->isVisible());
}

// From what their files say, also in other colours.
void TestNewJob::examplesAreDrawn()
{
    auto* const start = window_->findChild<StartPage*>();
    QVERIFY(QTest::qWaitFor([&] { return !start->drawing(); }, patience_ms));
    QSet<qint64> pictures;
    for (const auto* const example : start->findChildren<QCommandLinkButton*>()) {
        const QImage picture = example->icon().pixmap(example->iconSize()).toImage();
        QVERIFY(!picture.isNull());
        QSet<QRgb> colours;
        for (int x = 0; x < picture.width(); ++x)
            for (int y = 0; y < picture.height(); ++y)
                colours.insert(picture.pixel(x, y));
        QVERIFY(colours.size() > 3);
        pictures.insert(static_cast<qint64>(qHash(QByteArray::fromRawData(
            reinterpret_cast<const char*>(picture.constBits()), picture.sizeInBytes()))));
    }
    QCOMPARE(pictures.size(), 3); // each its own
}

void TestNewJob::aModelsFileBeginsANewJob()
{
    QVERIFY(window_->open("scenarios/models/gpt2-xl/config.json"));
    QVERIFY(page_settled());
    QVERIFY(page().isVisible());
    QVERIFY(page().model().valid());
    test::Clicks clicks;
    QVERIFY(clicks.type(field("nodes"), "1"));
    QVERIFY(page_settled());
    QVERIFY(clicks.click("Create"));
    QVERIFY(page_settled());
    QVERIFY(window_->workspace().current());
    // Saved elsewhere it still finds the model's file.
    window_->workspace().document().save(path("mine.json"));
    open(path("mine.json"));
    QVERIFY(window_->workspace().current());
}

TRAINYARD_WINDOW_TEST(TestNewJob, QApplication)
#include "test_new_job.moc"
