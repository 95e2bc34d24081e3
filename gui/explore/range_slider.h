#pragma once

// A slider with two ends over values in a row. The arrow keys move one end, Space changes to the
// other.

#include <QWidget>

namespace trainyard::gui {

class RangeSlider : public QWidget {
    Q_OBJECT

public:
    explicit RangeSlider(int count, QWidget* parent = nullptr);

    int low() const { return low_; }
    int high() const { return high_; }
    void set_range(int low, int high); // tells nobody

signals:
    void moved(int low, int high); // by the user

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    QSize sizeHint() const override;

private:
    double place(int value) const;
    int value_at(double x) const;
    void move_to(int value);

    int count_;
    int low_ = 0;
    int high_ = 0;
    bool upper_ = true; // the end that moves
};

} // namespace trainyard::gui
