#pragma once

// Screen "topology": the cluster with the load of its links, a scrubber, and a pane about one link.

#include "gui/model/background_task.h"
#include "gui/model/workspace.h"
#include "gui/topology/link_edits.h"
#include "gui/topology/link_pane.h"
#include "gui/topology/scrubber.h"
#include "gui/topology/topology_canvas.h"
#include "gui/topology/topology_search.h"

class QBoxLayout;
class QComboBox;
class QLabel;
class QLineEdit;
class QTimer;

namespace trainyard::gui {

class ElidedLabel;
class ProgressStrip;

class TopologyPanel : public Panel {
    Q_OBJECT

public:
    explicit TopologyPanel(Workspace& workspace, QWidget* parent = nullptr);

    QString key() const override { return QStringLiteral("topology"); }
    QString title() const override { return tr("Topology"); }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override;
    std::vector<Panel*> parts() override { return {this, &pane_->chart()}; }

    // While it is being made, the run before is shown.
    bool busy() const override { return task_.busy() || canvas_->busy(); }
    void cancel() override;
    bool wants_ops() const override { return true; }
    std::vector<KeyHelp> key_help() const override;

    TopologyCanvas& canvas() { return *canvas_; }
    LinkPane& pane() { return *pane_; }
    Scrubber& scrubber() { return *scrubber_; }

    // Of the selected link, both ways, or of all links beside it.
    enum class Reach : std::uint8_t { link, bundle };
    void change(const LinkChange& change, Reach reach = Reach::link);

signals:
    void told(const trainyard::Problems& problems); // of an edit that cannot be done
    void clusterWanted();                           // to be described anew

private:
    void make_tools(QBoxLayout* layout);
    void follow_run();
    void take(const std::shared_ptr<const TopologyRun>& run);
    void follow_shown();
    void follow_selection();
    void follow_time();
    void edit(QChar what);
    void ask_rate();
    void search();
    void show_match(std::ptrdiff_t by);
    void want_all();
    void show_menu(const QPoint& at);
    void tell_coverage();
    void refuse(const Problems& problems);

    Workspace& workspace_;
    TopologyCanvas* canvas_;
    Scrubber* scrubber_;
    LinkPane* pane_;
    QComboBox* tint_;
    QLineEdit* search_;
    QLabel* matched_;
    TopologyMatches matches_; // of the text searched for last
    std::size_t match_ = 0;   // into them: the one shown
    QString searched_;
    ElidedLabel* note_;
    ProgressStrip* progress_;
    QTimer* table_timer_;
    std::shared_ptr<const RunView> wanted_; // of the latest request
    BackgroundTask search_task_;
    BackgroundTask task_;
};

} // namespace trainyard::gui
