#pragma once

// In the status bar: how many problems there are, with a sign beside the colour.

#include "sim/base/diagnostic.h"

#include <QToolButton>

namespace trainyard::gui {

class ProblemsButton : public QToolButton {
    Q_OBJECT

public:
    explicit ProblemsButton(QWidget* parent = nullptr);

    void set_counts(int errors, int warnings);

protected:
    void changeEvent(QEvent* event) override;

private:
    void follow_colours();

    int errors_ = 0;
    int warnings_ = 0;
};

} // namespace trainyard::gui
