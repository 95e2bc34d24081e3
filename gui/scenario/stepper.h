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

    // A current value that is in no list is shown as one more: a number or size before the first
    // that is larger, other texts at the end.
    void set_values(const QStringList& values, const QString& current);
    QString value() const;
    // Where the next steps may lead, the likeliest first: on in the direction of the last one.
    QStringList next_values() const;
    bool dragging() const; // the hand is on the slider
    // Why the value cannot be: its colour and tool tip; empty: it can.
    void set_problem(const QString& problem);

protected:
    void changeEvent(QEvent* event) override;

signals:
    // By the user only. `dragging`: the hand is still on the slider.
    void chosen(const QString& value, bool dragging);
    void let_go(); // the hand left the slider

private:
    void step(int by);
    void show_value();
    void show_colours();

    QStringList values_;
    int last_ = 0; // position of the slider
    int direction_ = 1;
    QLabel* name_;
    QToolButton* less_;
    QSlider* slider_;
    QToolButton* more_;
    QLabel* value_;
    QString help_;
    QString problem_;
};

} // namespace trainyard::gui
