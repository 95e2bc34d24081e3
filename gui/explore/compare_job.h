#pragma once

// Simulates pinned points again, whole, for comparisons; the latest request wins.

#include "gui/model/live_run.h"
#include "sim/report/compare/compare.h"

#include <QObject>
#include <QThreadPool>

namespace trainyard::gui {

// One that is compared: `run` where it has run already, else its scenario.
struct Compared {
    QString name;
    Json scenario;
    std::string file; // paths inside the scenario are relative to its folder
    std::shared_ptr<const RunView> run;
};

struct ComparedResult {
    Comparison comparison;
    std::vector<QString> names;
    std::vector<Summary> summaries;
    QString problem; // of those that could not run: they are left out
};

class CompareJob : public QObject {
    Q_OBJECT

public:
    explicit CompareJob(QObject* parent = nullptr);
    ~CompareJob() override; // cancels and waits

    void start(std::vector<Compared> wanted);
    // What is on its way is of no use any more.
    void cancel();
    bool busy() const { return busy_; }

signals:
    void ready(const std::shared_ptr<const trainyard::gui::ComparedResult>& result);

private:
    QThreadPool pool_;
    Session session_; // remembers the runs of pins
    std::shared_ptr<CancelFlag> cancel_;
    std::uint64_t serial_ = 0;
    bool busy_ = false;
};

} // namespace trainyard::gui
