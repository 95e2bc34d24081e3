#pragma once

// The line in which operations of a timeline are searched, with the way from match to match.

#include <QWidget>

class QLabel;
class QLineEdit;
class QTimer;

namespace trainyard::gui {

class TimelineCanvas;

class TimelineSearch : public QWidget {
    Q_OBJECT

public:
    // `canvas` lives at least as long; its key "/" leads here.
    explicit TimelineSearch(TimelineCanvas& canvas, QWidget* parent = nullptr);

    // The canvas has another model.
    void search();

private:
    void tell_matches();

    TimelineCanvas& canvas_;
    QLineEdit* line_;
    QLabel* matches_;
    QTimer* timer_;
};

} // namespace trainyard::gui
