#include "gui/new/cluster_dialog.h"

#include "gui/model/qt_text.h"
#include "gui/new/cluster_editor.h"
#include "gui/widgets/boxes.h"
#include "sim/base/files.h"
#include "sim/study/inputs.h"

#include <QFileDialog>
#include <QLabel>
#include <QPushButton>

namespace trainyard::gui {

namespace {

struct ReadCluster {
    Json topology; // null: none is given
    std::string file;
    Problems problems;
};

ReadCluster cluster_in(const ScenarioFile& scenario)
{
    const Source& source = scenario.scenario.topology;
    if (!source.given())
        return {};
    Checked<Input> input = find_input(source, InputKind::topology, scenario);
    if (!input)
        return {{}, {}, std::move(input.error())};
    return {std::move(input->json), input->file, {}};
}

Json topology_in(const Document& document)
{
    const Json* const topology = document.find("topology");
    return topology != nullptr ? *topology : Json();
}

} // namespace

ClusterDialog::ClusterDialog(Document& document, QWidget* parent)
    : QDialog(parent),
      document_(document),
      cluster_(new ClusterEditor),
      note_(new QLabel),
      apply_(new QPushButton(tr("&Apply"))),
      save_(new QPushButton(tr("&Save as file ...")))
{
    setWindowTitle(tr("Cluster of the scenario"));
    auto* const column = new QVBoxLayout(this);
    column->addWidget(cluster_, 1);
    note_->setWordWrap(true);
    column->addWidget(note_);
    auto* const close = new QPushButton(tr("Close"));
    close->setAutoDefault(false);
    save_->setAutoDefault(false);
    apply_->setDefault(true);
    auto* const row = in_a_row({save_, room(1), apply_, close});
    column->addLayout(row);
    resize(1000, 640);

    connect(cluster_, &ClusterEditor::changed, this, &ClusterDialog::follow);
    connect(cluster_, &ClusterEditor::told, this, &ClusterDialog::say);
    connect(&document_, &Document::changed, this, &ClusterDialog::follow_document);
    connect(&reading_, &BackgroundTask::failed, this, &ClusterDialog::say);
    connect(apply_, &QPushButton::clicked, this, &ClusterDialog::apply);
    connect(save_, &QPushButton::clicked, this, &ClusterDialog::ask_save);
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    follow();
}

bool ClusterDialog::busy() const
{
    return reading_.busy() || cluster_->busy();
}

void ClusterDialog::read()
{
    note_->clear();
    known_ = topology_in(document_);
    Checked<ScenarioFile> scenario = document_.read();
    if (!scenario) {
        say(tr("The scenario has errors in its form: mend them first."));
        return;
    }
    auto file = std::make_shared<const ScenarioFile>(std::move(*scenario));
    reading_.start([this, file](const WorkControl&) -> BackgroundTask::Answer {
        auto found = std::make_shared<ReadCluster>(cluster_in(*file));
        return [this, found] {
            if (!found->problems.empty())
                say(text_of(found->problems.front().message));
            else if (!found->topology.is_null())
                cluster_->set_topology(std::move(found->topology), found->file);
        };
    });
}

void ClusterDialog::follow()
{
    const bool can = cluster_->valid() && !cluster_->listed();
    apply_->setEnabled(can);
    save_->setEnabled(cluster_->valid());
}

// Another scenario, or another cluster in it: what was typed was meant for the one before.
void ClusterDialog::follow_document()
{
    if (isVisible() && !(topology_in(document_) == known_))
        read();
}

// As a copy: the file that the scenario named before stays as it is.
void ClusterDialog::apply()
{
    Json scenario = document_.json();
    scenario["topology"] = known_ = cluster_->topology();
    document_.replace(std::move(scenario), tr("change the cluster"));
    say(tr("The cluster stands in the scenario now. Undo takes it back."));
}

void ClusterDialog::save_to(const std::string& file) const
{
    write_file(file, to_text(cluster_->topology()) + "\n");
}

void ClusterDialog::ask_save()
{
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Save the cluster"), QStringLiteral("cluster.json"), tr("Topologies (*.json)"));
    if (file.isEmpty())
        return;
    try {
        save_to(file.toStdString());
        say(tr("Written: %1").arg(file));
    } catch (const WorldError& error) {
        say(text_of(error.message));
    }
}

void ClusterDialog::say(const QString& text)
{
    note_->setText(text);
}

} // namespace trainyard::gui
