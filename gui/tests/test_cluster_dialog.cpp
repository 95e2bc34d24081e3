// The cluster of the open scenario, edited in its form.

#include "gui/new/cluster_dialog.h"
#include "gui/new/cluster_editor.h"
#include "gui/new/cluster_form.h"
#include "gui/tests/clicks.h"
#include "gui/tests/window_fixture.h"
#include "sim/topology/read_topology.h"
#include "tests/support/file_size_limit.h"

#include <QComboBox>
#include <QLineEdit>

using namespace trainyard;
using namespace trainyard::gui;

class TestClusterDialog : public test::WindowFixture {
    Q_OBJECT

private slots:
    void theClusterIsChangedAsACopyAndTakenBack();
    void theClusterIsSavedAsAFile();
    void itIsReadAnewEachTime();

private:
    ClusterDialog& dialog() { return *window_->findChild<ClusterDialog*>(); }
    QLineEdit* field(const char* name)
    {
        return dialog().findChild<QLineEdit*>(QLatin1String(name));
    }
    bool dialog_settled()
    {
        return QTest::qWaitFor([&] { return !dialog().busy(); }, patience_ms) && settled();
    }
};

void TestClusterDialog::theClusterIsChangedAsACopyAndTakenBack()
{
    open("scenarios/llama3-70b-h100-64.json");
    Document& document = window_->workspace().document();
    const Json before = document.json();
    QVERIFY(before.find("topology")->is_string()); // a file
    test::Clicks clicks;
    QVERIFY(clicks.menu("Edit", "Cluster ..."));
    QVERIFY(dialog_settled());
    QCOMPARE(field("nodes")->text(), QString("8"));
    QVERIFY(clicks.type(field("nodes"), "16"));
    QVERIFY(clicks.choose(dialog().findChild<QComboBox*>("fabric.kind"), "fat-tree"));
    QVERIFY(dialog_settled());
    QVERIFY(document.json() == before); // not before it is applied
    QVERIFY(clicks.click("Apply"));
    QVERIFY(dialog_settled());
    QVERIFY(document.find("topology")->is_object());
    QCOMPARE(window_->workspace().run()->outcome->topology->device_count(), 128);
    document.undo_stack().undo(); // one change
    QVERIFY(settled());
    QVERIFY(document.json() == before);
    QVERIFY(clicks.count() <= 5);
    QVERIFY(dialog_settled());
    QCOMPARE(field("nodes")->text(), QString("8")); // follows
}

void TestClusterDialog::theClusterIsSavedAsAFile()
{
    open(eight);
    window_->edit_cluster();
    QVERIFY(dialog_settled());
    test::Clicks clicks;
    QVERIFY(clicks.choose(dialog().findChild<QComboBox*>("fabric.kind"), "rail"));
    QVERIFY(clicks.type(field("nodes"), "4"));
    QVERIFY(dialog_settled());
    const std::string file = path("cluster.json");
    dialog().save_to(file);
    const Checked<Topology> read = read_topology_file(file);
    QVERIFY(read.has_value());
    QCOMPARE(read->device_count(), 32);
    const testing::FileSizeLimit full(16);
    QVERIFY_EXCEPTION_THROWN(dialog().save_to(file), WorldError);
}

void TestClusterDialog::itIsReadAnewEachTime()
{
    open(eight);
    window_->edit_cluster();
    QVERIFY(dialog_settled());
    test::Clicks clicks;
    QVERIFY(clicks.type(field("nodes"), "4"));
    QVERIFY(clicks.click("Close"));
    open("scenarios/llama3-70b-h100-64.json");
    window_->edit_cluster();
    QVERIFY(dialog_settled());
    QCOMPARE(field("nodes")->text(), QString("8"));
}

TRAINYARD_WINDOW_TEST(TestClusterDialog, QApplication)
#include "test_cluster_dialog.moc"
