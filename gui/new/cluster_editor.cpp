#include "gui/new/cluster_editor.h"

#include "gui/model/qt_text.h"
#include "gui/new/cluster_form.h"
#include "gui/new/cluster_sketch.h"
#include "gui/widgets/boxes.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>

namespace trainyard::gui {

ClusterEditor::ClusterEditor(QWidget* parent)
    : QWidget(parent),
      form_(new ClusterForm),
      scroll_(new QScrollArea),
      note_(new QLabel),
      sketch_(new ClusterSketch),
      facts_(new QLabel)
{
    note_->setWordWrap(true);
    note_->hide();
    scroll_->setWidget(form_);
    scroll_->setWidgetResizable(true);
    scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setMinimumWidth(fontMetrics().averageCharWidth() * 62);
    scroll_->viewport()->setAutoFillBackground(false);
    form_->setAutoFillBackground(false);
    auto* const left = in_a_column({note_, {scroll_, 1}});
    facts_->setTextFormat(Qt::RichText);
    facts_->setWordWrap(true);
    facts_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->setAccessibleName(tr("figures of the cluster"));
    auto* const right = in_a_column({{sketch_, 1}, facts_});
    in_a_row(this, {{left, 0}, {right, 1}});

    connect(form_, &ClusterForm::edited, this, [this] {
        topology_ = form_->topology();
        look();
    });
    for (BackgroundTask* const task : {&choosing_, &checking_, &drawing_})
        connect(task, &BackgroundTask::failed, this, &ClusterEditor::told);
    choosing_.start([this](const WorkControl&) -> BackgroundTask::Answer {
        Checked<ClusterChoices> found = cluster_choices();
        if (!found)
            throw WorldError{found.error().front().message};
        auto choices = std::make_shared<const ClusterChoices>(std::move(*found));
        return [this, choices] { take_choices(choices); };
    });
}

void ClusterEditor::set_topology(Json topology, const std::string& file)
{
    topology_ = std::move(topology);
    file_ = file;
    if (choices_)
        begin();
}

void ClusterEditor::take_choices(std::shared_ptr<const ClusterChoices> choices)
{
    choices_ = std::move(choices);
    if (topology_.is_null())
        topology_ = ClusterDraft(choices_).json();
    begin();
}

void ClusterEditor::begin()
{
    listed_ = !ClusterDraft::generated(topology_);
    scroll_->setVisible(!listed_);
    note_->setVisible(listed_);
    note_->setText(tr("This cluster lists its devices, switches and links one by one. It is edited "
                      "link by link in the topology view (Break, Halve, Rate), or in its file."));
    if (!listed_) {
        form_->set_draft(choices_, ClusterDraft(choices_, topology_));
        topology_ = form_->topology();
    }
    look();
}

void ClusterEditor::set_nodes(int nodes)
{
    if (listed_ || !form_->has_draft())
        return;
    Json topology = topology_;
    topology["nodes"] = nodes;
    set_topology(std::move(topology), file_);
}

void ClusterEditor::look()
{
    current_ = false;
    drawing_.cancel();
    checking_.start(
        [this, topology = topology_, file = file_](const WorkControl&) -> BackgroundTask::Answer {
            auto check = std::make_shared<ClusterCheck>(check_cluster(topology, file));
            return [this, check] { take_check(std::move(*check)); };
        });
    emit changed();
}

void ClusterEditor::take_check(ClusterCheck check)
{
    check_ = std::move(check);
    current_ = true;
    if (!listed_)
        form_->set_problems(check_.problems);
    sketch_->set_stale(true);
    if (check_.topology)
        drawing_.start(
            [this, topology = check_.topology](const WorkControl& work) -> BackgroundTask::Answer {
                auto picture = std::make_shared<const ClusterPicture>(picture_of(topology, work));
                return [this, picture] {
                    sketch_->set_picture(picture);
                    show_facts();
                };
            });
    else
        show_facts();
    emit changed();
}

void ClusterEditor::show_facts()
{
    if (!check_.topology) {
        facts_->setText(tr("The cluster cannot be so: see beside the fields."));
        return;
    }
    QString rows;
    for (const ClusterFact& fact : facts_of(sketch_->picture()->summary))
        rows += QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td><b>%2</b></td></tr>")
                    .arg(fact.name.toHtmlEscaped(), fact.value.toHtmlEscaped());
    facts_->setText(QStringLiteral("<table cellspacing='2'>%1</table>").arg(rows));
}

} // namespace trainyard::gui
