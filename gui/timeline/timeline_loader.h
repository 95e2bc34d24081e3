#pragma once

// Makes timeline models in the background; the latest request wins.

#include "gui/model/live_run.h"
#include "gui/timeline/timeline_model.h"

#include <QObject>
#include <QThreadPool>

namespace trainyard::gui {

class TimelineLoader : public QObject {
    Q_OBJECT

public:
    using QObject::QObject;
    ~TimelineLoader() override; // cancels and waits

    // Answers with `loaded` or `failed`, unless it is overtaken. `run` has records; `compared` may
    // be null, and where it has none it is simulated again in `session`, which outlives this.
    void load(std::shared_ptr<const RunView> run, std::shared_ptr<const RunView> compared,
              Session& session);
    // Ends what runs and waits for nothing; true where something did. It is not answered.
    bool cancel();
    bool busy() const { return busy_; }

signals:
    void progressed(const QString& stage, double done, double total);
    void loaded(const std::shared_ptr<const trainyard::gui::TimelineModel>& model);
    void failed(const QString& message);

private:
    ProgressCall progress_of(std::uint64_t serial);
    void answer(std::uint64_t serial, std::shared_ptr<const TimelineModel> model,
                const QString& message);

    QThreadPool pool_;
    std::shared_ptr<CancelFlag> cancel_;
    std::uint64_t serial_ = 0;
    bool busy_ = false;
};

} // namespace trainyard::gui
