#pragma once

// Reads in the background what there is to sweep of a scenario; the latest request wins.

#include "sim/study/sweep_space.h"

#include <QObject>
#include <QThreadPool>

namespace trainyard::gui {

class FactsFinder : public QObject {
    Q_OBJECT

public:
    explicit FactsFinder(QObject* parent = nullptr);
    ~FactsFinder() override;

    void find(ScenarioFile file);
    bool busy() const { return busy_; }

signals:
    void found(const trainyard::Checked<trainyard::SweepFacts>& facts);

private:
    QThreadPool pool_;
    std::uint64_t serial_ = 0;
    bool busy_ = false;
};

} // namespace trainyard::gui
