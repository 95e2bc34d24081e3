// A job's launch script in the window: what was understood of it, what it lacks, and the same job
// again with other answers.

#include "gui/new/origin_view.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/tests/clicks.h"
#include "gui/tests/window_fixture.h"
#include "sim/base/files.h"

#include <QComboBox>
#include <QLineEdit>
#include <QTreeView>
#include <QTreeWidget>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

// In the style of Megatron-LM's examples; the number of nodes is set elsewhere.
const std::string script = R"(#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES}
DISTRIBUTED_ARGS="--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES"
GPT_ARGS="
    --tensor-model-parallel-size 4
    --pipeline-model-parallel-size $PP
    --num-layers 32
    --hidden-size 4096
    --num-attention-heads 32
    --seq-length 2048
    --max-position-embeddings 2048
    --micro-batch-size 1
    --global-batch-size 64
    --bf16
    --swiglu
    --log-throughput
    --vocab-size 32000
"
torchrun $DISTRIBUTED_ARGS pretrain_gpt.py $GPT_ARGS
)";

} // namespace

class TestOrigin : public test::WindowFixture {
    Q_OBJECT

private slots:
    void aScriptWithoutMachinesIsAskedForThem();
    void aLineLeadsToItsField();
    void theSameJobAgainCanBeUndone();
    void aScenarioOfItsOwnHasNoOrigin();
    void itFitsALowScreen();
    void aTorchtitanFileMayBeginWithATable();

private:
    OriginView& origin() { return *window_->findChild<OriginView*>(); }
    QComboBox* gpu() { return origin().findChild<QComboBox*>("import-gpu"); }
    QLineEdit* answer(const char* name)
    {
        return origin().findChild<QLineEdit*>(QLatin1String(name));
    }
    // The lines of the list with that heading.
    QStringList lines(const QString& heading);
    QTreeWidgetItem* line(const QString& part);
    std::string written()
    {
        const std::string file = path("pretrain.sh");
        write_file(file, script);
        return file;
    }
    // On 4 nodes of H100, with two stages.
    bool import_on_h100();
    test::Clicks clicks_;
};

QStringList TestOrigin::lines(const QString& heading)
{
    QStringList out;
    for (int i = 0; i < origin().lists().topLevelItemCount(); ++i) {
        const QTreeWidgetItem* const head = origin().lists().topLevelItem(i);
        if (head->text(0).startsWith(heading))
            for (int j = 0; j < head->childCount(); ++j)
                out << head->child(j)->text(0);
    }
    return out;
}

QTreeWidgetItem* TestOrigin::line(const QString& part)
{
    for (int i = 0; i < origin().lists().topLevelItemCount(); ++i)
        for (int j = 0; j < origin().lists().topLevelItem(i)->childCount(); ++j)
            if (origin().lists().topLevelItem(i)->child(j)->text(0).contains(part))
                return origin().lists().topLevelItem(i)->child(j);
    return nullptr;
}

bool TestOrigin::import_on_h100()
{
    return !window_->open(written()) &&
           QTest::qWaitFor([&] { return gpu()->count() > 1; }, patience_ms) &&
           clicks_.choose(gpu(), "H100-SXM5-80GB") && clicks_.type(answer("import-nodes"), "4") &&
           clicks_.type(answer("import-variables"), "PP=2") && clicks_.click("Import again") &&
           settled() && window_->workspace().current();
}

void TestOrigin::aScriptWithoutMachinesIsAskedForThem()
{
    QVERIFY(!window_->open(written()));
    QVERIFY(has_errors(window_->refused()));
    QVERIFY(origin().isVisible());
    QVERIFY(!lines("Refused").empty());
    QVERIFY(import_on_h100());
    const Job& job = window_->workspace().run()->outcome->job;
    QCOMPARE(job.strategy.tp, 4);
    QCOMPARE(job.strategy.pp, 2);
    QCOMPARE(window_->workspace().run()->outcome->topology->device_count(), 32);
    QVERIFY(lines("Refused").empty());
    QVERIFY(!lines("Understood").empty());
    QVERIFY(!lines("Ignored").empty());
    QVERIFY(origin().isVisible());
}

void TestOrigin::aLineLeadsToItsField()
{
    QVERIFY(import_on_h100());
    QTreeWidgetItem* const tensor = line("strategy.tp");
    QVERIFY(tensor != nullptr);
    QTreeWidget& lists = origin().lists();
    lists.scrollToItem(tensor);
    QTest::mouseClick(lists.viewport(), Qt::LeftButton, {}, lists.visualItemRect(tensor).center());
    auto* const tree = window_->findChild<ScenarioPanel*>()->findChild<QTreeView*>();
    QVERIFY(tree->currentIndex().isValid());
    QCOMPARE(tree->currentIndex().siblingAtColumn(0).data().toString(), QString("tp"));
}

void TestOrigin::theSameJobAgainCanBeUndone()
{
    QVERIFY(import_on_h100());
    QVERIFY(clicks_.type(answer("import-variables"), "PP=4"));
    QVERIFY(clicks_.click("Import again"));
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->outcome->job.strategy.pp, 4);
    window_->workspace().document().undo_stack().undo();
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->outcome->job.strategy.pp, 2);
}

void TestOrigin::aScenarioOfItsOwnHasNoOrigin()
{
    QVERIFY(import_on_h100());
    open(eight);
    QCOMPARE(origin().lists().topLevelItemCount(), 0);
    // On the cluster of the open scenario nothing is asked but the variable.
    QVERIFY(!window_->open(written()));
    QVERIFY(clicks_.type(answer("import-variables"), "PP=2"));
    QVERIFY(clicks_.click("Import again"));
    QVERIFY(settled());
    QVERIFY(window_->workspace().current());
    QCOMPARE(window_->workspace().run()->outcome->topology->device_count(), 8);
}

void TestOrigin::itFitsALowScreen()
{
    open(eight);
    QVERIFY(!window_->open("README.md")); // no job in it: the view asks for what is missing
    QVERIFY(settled());
    QVERIFY(origin().isVisible());
    QVERIFY2(window_->minimumSizeHint().height() <= 720,
             qPrintable(QString::number(window_->minimumSizeHint().height())));
}

// "[job]" in its first line is no JSON.
void TestOrigin::aTorchtitanFileMayBeginWithATable()
{
    const std::string text = read_file("tests/golden/data/jobs/llama3_70b.toml");
    write_file(path("job.toml"), text.substr(text.find('[')));
    open(eight);
    window_->open(path("job.toml")); // the cluster may be another than its
    QVERIFY(settled());
    QVERIFY(origin().isVisible());
}

TRAINYARD_WINDOW_TEST(TestOrigin, QApplication)
#include "test_origin.moc"
