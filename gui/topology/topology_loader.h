#pragma once

// Makes topology runs in the background; the latest request wins.

#include "gui/model/live_run.h"
#include "gui/topology/topology_run.h"

#include <QObject>
#include <QThreadPool>

namespace trainyard::gui {

class TopologyLoader : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;
    ~TopologyLoader() override; // cancels and waits

    // Answers with `loaded` or `failed`, unless it is overtaken. `graph`: of the run before.
    void load(std::shared_ptr<const RunView> run, std::shared_ptr<const ClusterGraph> graph);
    // Nothing is wanted any more. Whether something was.
    bool cancel();
    bool busy() const { return busy_; }

signals:
    void progressed(const QString& stage, double done, double total);
    void loaded(const std::shared_ptr<const trainyard::gui::TopologyRun>& run);
    void failed(const QString& message);

private:
    void answer(std::uint64_t serial, std::shared_ptr<const TopologyRun> run,
                const QString& message);

    QThreadPool pool_;
    std::shared_ptr<CancelFlag> cancel_;
    std::uint64_t serial_ = 0;
    bool busy_ = false;
};

} // namespace trainyard::gui
