// A cluster described in its form: what follows from what, and what is said beside a field.

#include "gui/new/cluster_editor.h"
#include "gui/new/cluster_form.h"
#include "gui/new/cluster_sketch.h"
#include "gui/tests/clicks.h"
#include "gui/tests/window_test.h"
#include "sim/topology/read_topology.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>

using namespace trainyard;
using namespace trainyard::gui;

class TestClusterForm : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void everyChangeIsDrawnWithItsFigures();
    void aRackIsCountedInRacks();
    void anotherKindOfNodeBringsItsOwnFigures();
    void aFigureOfTheNetworkKeepsItsPreset();
    void whatCannotBeIsSaidBesideItsField();
    void aFoldedFieldOpensForItsProblem();
    void whatCanBeChosenIsAList();
    void labelsSayTheirUnits();
    void aListedClusterIsDrawnButNotEdited();
    void aVeryLargeClusterIsDrawnFolded();

private:
    bool settled()
    {
        return QTest::qWaitFor([&] { return !editor_->busy(); }, patience_ms);
    }
    QLineEdit* text(const char* name)
    {
        return editor_->findChild<QLineEdit*>(QLatin1String(name));
    }
    QComboBox* box(const char* name) { return editor_->findChild<QComboBox*>(QLatin1String(name)); }
    const TopologySummary& summary() { return editor_->sketch().picture()->summary; }
    // What stands below a field in sight; empty: nothing.
    QString said(const QWidget* field);

    std::unique_ptr<ClusterEditor> editor_;
    test::Clicks clicks_;
};

void TestClusterForm::init()
{
    editor_ = std::make_unique<ClusterEditor>();
    editor_->resize(1000, 640);
    editor_->show();
    editor_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(editor_.get()));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
}

void TestClusterForm::cleanup()
{
    editor_.reset();
}

QString TestClusterForm::said(const QWidget* field)
{
    QString nearest;
    int least = 2 * field->height() + 10;
    for (const auto* const label : field->parentWidget()->findChildren<QLabel*>()) {
        const int below = label->y() - field->geometry().bottom();
        if (label->isVisible() && label->wordWrap() && below >= 0 && below < least) {
            least = below;
            nearest = label->text();
        }
    }
    return nearest;
}

void TestClusterForm::everyChangeIsDrawnWithItsFigures()
{
    QCOMPARE(summary().devices, 128);
    QVERIFY(clicks_.type(text("nodes"), "64"));
    QVERIFY(settled());
    QCOMPARE(summary().devices, 512);
    const double full = summary().bisection.value();
    QVERIFY(clicks_.type(text("fabric.oversubscription"), "2"));
    QVERIFY(settled());
    QVERIFY(summary().bisection.value() < 0.6 * full);
    QVERIFY(clicks_.choose(box("fabric.kind"), "leaf-spine"));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
    QCOMPARE(editor_->topology().find("fabric")->find("kind")->as_string(),
             std::string("leaf-spine"));
    // What is described is a topology as files have it.
    QVERIFY(read_topology(editor_->topology(), "").has_value());
}

void TestClusterForm::aRackIsCountedInRacks()
{
    QVERIFY(!text("racks")->isVisible());
    QVERIFY(clicks_.choose(box("node"), "GB200: 4 a node (gb200-nvl72)"));
    QVERIFY(settled());
    QVERIFY(text("racks")->isVisible());
    QCOMPARE(text("racks")->text(), QString("2")); // 128 GPUs and a few more
    QVERIFY(clicks_.type(text("racks"), "8"));
    QVERIFY(settled());
    QCOMPARE(text("nodes")->text(), QString("144"));
    QCOMPARE(summary().devices, 8 * 72);
    QCOMPARE(summary().domains_by_size.at(72), 8);
    QVERIFY(clicks_.type(text("nodes"), "9")); // half a rack
    QVERIFY(settled());
    QVERIFY(text("racks")->text().isEmpty());
}

void TestClusterForm::anotherKindOfNodeBringsItsOwnFigures()
{
    QVERIFY(clicks_.type(text("node.nics"), "4"));
    QVERIFY(clicks_.choose(box("fabric.network"), "roce_400"));
    QVERIFY(settled());
    QCOMPARE(summary().network.nics, 4);
    QCOMPARE(summary().network.name, std::string("roce_400"));
    QVERIFY(clicks_.choose(box("node"), "A100-SXM4-80GB: 8 a node (dgx-a100)"));
    QVERIFY(settled());
    QCOMPARE(summary().devices, 128);
    QCOMPARE(summary().network.nics, 8);
    QCOMPARE(summary().network.name, std::string("ib_hdr"));
    QVERIFY(text("node.nics")->text().isEmpty());
    QCOMPARE(text("node.nics")->placeholderText(), QString("8"));
}

void TestClusterForm::aFigureOfTheNetworkKeepsItsPreset()
{
    QCOMPARE(text("fabric.network.port_rate")->placeholderText(), QString("50 GB/s")); // 400 Gb/s
    QVERIFY(clicks_.type(text("fabric.network.port_rate"), "800 Gb/s"));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
    QCOMPARE(summary().network.name, std::string("ib_ndr"));
    QCOMPARE(summary().network.nic_rate, Bandwidth(100e9));
    QVERIFY(clicks_.type(text("fabric.network.port_rate"), ""));
    QVERIFY(settled());
    QCOMPARE(summary().network.nic_rate, Bandwidth(50e9));
}

void TestClusterForm::whatCannotBeIsSaidBesideItsField()
{
    QVERIFY(said(text("nodes")).isEmpty());
    QVERIFY(clicks_.type(text("nodes"), "many"));
    QVERIFY(settled());
    QVERIFY(!editor_->valid());
    QVERIFY(!said(text("nodes")).isEmpty());
    QVERIFY(clicks_.type(text("nodes"), "16"));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
    QVERIFY(said(text("nodes")).isEmpty());
    QVERIFY(clicks_.type(text("node.nics"), "0"));
    QVERIFY(settled());
    QVERIFY(!editor_->valid());
    QVERIFY(!said(text("node.nics")).isEmpty());
    QVERIFY(clicks_.choose(box("fabric.kind"), "none"));
    QVERIFY(settled());
    QVERIFY(!editor_->valid()); // nothing between 16 nodes
    QVERIFY(clicks_.type(text("nodes"), "1"));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
    QCOMPARE(summary().devices, 8);
}

// Three layers of switches with 8 ports do not hold so many nodes.
void TestClusterForm::aFoldedFieldOpensForItsProblem()
{
    QVERIFY(!text("fabric.rails")->isVisible());
    QVERIFY(clicks_.click("More fields"));
    QVERIFY(clicks_.type(text("fabric.rails"), "3"));
    QVERIFY(settled());
    QVERIFY(!editor_->valid()); // 8 NICs
    QVERIFY(!said(text("fabric.rails")).isEmpty());
    QVERIFY(clicks_.type(text("fabric.rails"), ""));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
}

void TestClusterForm::whatCanBeChosenIsAList()
{
    QVERIFY(clicks_.click("More fields"));
    QComboBox* const transport = box("fabric.network.transport");
    QVERIFY(transport != nullptr && box("fabric.network.gpu_direct") != nullptr);
    QVERIFY(transport->currentText().startsWith("as usual"));
    QVERIFY(clicks_.choose(transport, "roce"));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
    QCOMPARE(editor_->topology().find("fabric")->find("network")->find("transport")->as_string(),
             std::string("roce"));
    QVERIFY(clicks_.choose(box("fabric.network.gpu_direct"), "false"));
    QVERIFY(settled());
    QVERIFY(!editor_->topology().find("fabric")->find("network")->find("gpu_direct")->as_bool());
    QVERIFY(clicks_.choose(transport, "as usual"));
    QVERIFY(settled());
    QVERIFY(editor_->topology().find("fabric")->find("network")->find("transport") == nullptr);
}

void TestClusterForm::labelsSayTheirUnits()
{
    const auto label = [&](const QWidget* field) {
        for (const auto* const one : field->parentWidget()->findChildren<QLabel*>())
            if (one->buddy() == field)
                return one->text();
        return QString();
    };
    QVERIFY2(label(text("node.nic_rate")).endsWith("[GB/s]"),
             qPrintable(label(text("node.nic_rate"))));
    QCOMPARE(label(text("nodes")), QString("N&umber of nodes"));
    QVERIFY(clicks_.type(text("node.nic_rate"), "25"));
    QVERIFY(settled());
    QVERIFY(editor_->valid());
    QCOMPARE(summary().network.nic_rate, Bandwidth(25e9));
}

void TestClusterForm::aListedClusterIsDrawnButNotEdited()
{
    const Checked<Json> listed = read_json_file("topologies/explicit-2x2.json");
    QVERIFY(listed.has_value());
    editor_->set_topology(*listed, "topologies/explicit-2x2.json");
    QVERIFY(settled());
    QVERIFY(editor_->listed());
    QVERIFY(editor_->valid());
    QVERIFY(!text("nodes")->isVisible());
    QCOMPARE(summary().devices, 4);
}

void TestClusterForm::aVeryLargeClusterIsDrawnFolded()
{
    QVERIFY(clicks_.choose(box("fabric.kind"), "fat-tree"));
    QVERIFY(clicks_.type(text("nodes"), "16384"));
    QVERIFY(settled());
    if (!editor_->valid()) { // more ports hold more
        QVERIFY(clicks_.choose(box("fabric.network"), "roce_spectrumx"));
        QVERIFY(settled());
    }
    QVERIFY(editor_->valid());
    QCOMPARE(summary().devices, 131'072);
    QVERIFY(editor_->sketch().picture()->layout != nullptr);
    QVERIFY(editor_->sketch().picture()->layout->items().size() < TopologyLayout::most_items);
}

TRAINYARD_WINDOW_TEST(TestClusterForm, QApplication)
#include "test_cluster_form.moc"
