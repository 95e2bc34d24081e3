#pragma once

// One setting as a slider between two buttons: a value of a list, small to large.

#include <QStringList>
#include <QWidget>

class QLabel;
class QSlider;
class QToolButton;

namespace trainyard::gui {

class Stepper : public QWidget {
    Q_OBJECT

public:
    Stepper(const QString& name, const QString& help, QWidget* parent = nullptr);

    // A current value that is in no list is shown as one more, at its end.
    void set_values(const QStringList& values, const QString& current);
    QString value() const;

signals:
    // By the user only. `dragging`: the hand is still on the slider.
    void chosen(const QString& value, bool dragging);

private:
    void step(int by);
    void show_value();

    QStringList values_;
    QLabel* name_;
    QToolButton* less_;
    QSlider* slider_;
    QToolButton* more_;
    QLabel* value_;
};

} // namespace trainyard::gui
