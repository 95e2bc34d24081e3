#pragma once

// The time cursor as a slider under the picture, with play and pause.

#include "gui/model/view_state.h"

#include <QElapsedTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QSlider;
class QTimer;
class QToolButton;

namespace trainyard::gui {

class Scrubber : public QWidget {
    Q_OBJECT

public:
    explicit Scrubber(ViewState& view, QWidget* parent = nullptr);

    bool playing() const;
    // What the times shown count from: where the step begins.
    void set_origin(SimTime origin);

public slots:
    void togglePlay();
    void pause();

private:
    void follow();
    void tick();
    double seconds() const; // to play what is in sight

    ViewState& view_;
    SimTime origin_;
    QToolButton* play_;
    QSlider* slider_;
    QLabel* time_;
    QComboBox* speed_;
    QToolButton* whole_;
    QTimer* timer_;
    QElapsedTimer clock_;
    bool moving_ = false; // the slider is being set
};

} // namespace trainyard::gui
