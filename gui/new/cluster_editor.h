#pragma once

// A cluster being described: its form, and beside it the drawing and the figures of what it comes
// out as, made anew in the background after every change.

#include "gui/model/background_task.h"
#include "gui/new/cluster_picture.h"

#include <QWidget>

class QLabel;
class QScrollArea;

namespace trainyard::gui {

class ClusterForm;
class ClusterSketch;
struct ClusterChoices;

class ClusterEditor : public QWidget {
    Q_OBJECT

public:
    // Begins with a usual cluster.
    explicit ClusterEditor(QWidget* parent = nullptr);

    // `file`: for messages. One that lists its pieces is drawn, but not edited here.
    void set_topology(Json topology, const std::string& file);
    // What is described; null: not yet.
    const Json& topology() const { return topology_; }
    // It was looked at, and can be.
    bool valid() const { return current_ && check_.topology != nullptr; }
    bool listed() const { return listed_; }
    // Something of it is still being looked at or drawn.
    bool busy() const { return choosing_.busy() || checking_.busy() || drawing_.busy(); }
    // Sets the number of nodes as if it was typed.
    void set_nodes(int nodes);

    ClusterForm& form() { return *form_; }
    ClusterSketch& sketch() { return *sketch_; }

signals:
    void changed();                    // what is described, or whether it can be
    void told(const QString& message); // what the world refuses

private:
    void take_choices(std::shared_ptr<const ClusterChoices> choices);
    void begin();
    void look();
    void take_check(ClusterCheck check);
    void show_facts();

    std::shared_ptr<const ClusterChoices> choices_;
    Json topology_;
    std::string file_;
    ClusterCheck check_;
    bool current_ = false; // check_ is of topology_
    bool listed_ = false;
    ClusterForm* form_;
    QScrollArea* scroll_;
    QLabel* note_;
    ClusterSketch* sketch_;
    QLabel* facts_;
    BackgroundTask choosing_;
    BackgroundTask checking_;
    BackgroundTask drawing_;
};

} // namespace trainyard::gui
