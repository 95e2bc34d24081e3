#pragma once

// "4 of 64 ranks recorded", and whose operations are to be.

#include "gui/timeline/timeline_model.h"
#include "sim/report/timeline/recorded.h"

#include <QToolButton>

class QActionGroup;
class QLineEdit;

namespace trainyard::gui {

class RecordMenu : public QToolButton {
    Q_OBJECT

public:
    explicit RecordMenu(QWidget* parent = nullptr);

    // Says of how many ranks it shows operations. Null: none.
    void tell(const TimelineModel* model);
    void set_choice(const LaneChoice& choice);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

signals:
    void chosen(const trainyard::LaneChoice& choice);

private:
    void choose_ranks();

    QActionGroup* choices_;
    QLineEdit* ranks_;
};

} // namespace trainyard::gui
