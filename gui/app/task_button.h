#pragma once

// A large button: what one can do, and in a line or two what comes of it.

#include <QAbstractButton>

namespace trainyard::gui {

class TaskButton : public QAbstractButton {
    Q_OBJECT

public:
    TaskButton(const QString& title, const QString& says, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }
    int heightForWidth(int width) const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QString says_;
};

} // namespace trainyard::gui
