#pragma once

// Texts that end in an ellipsis where there is no room for all of them.

#include <QComboBox>
#include <QLabel>

namespace trainyard::gui {

// One line as wide as its place; all of it is its tool tip.
class ElidedLabel : public QLabel {
    Q_OBJECT

public:
    explicit ElidedLabel(QWidget* parent = nullptr);

    void set_text(const QString& text); // in place of setText, which would ask for room

    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

// A list whose chosen line may be longer than the box is wide.
class ElidedComboBox : public QComboBox {
    Q_OBJECT

public:
    using QComboBox::QComboBox;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace trainyard::gui
