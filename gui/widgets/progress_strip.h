#pragma once

// How far something long has come, with a button that ends it. Seen only once it has taken 0.3 s.

#include <QWidget>

class QLabel;
class QProgressBar;
class QTimer;

namespace trainyard::gui {

class ProgressStrip : public QWidget {
    Q_OBJECT

public:
    explicit ProgressStrip(QWidget* parent = nullptr);

    // Something begins; what began before goes on under the new text.
    void begin(const QString& stage);
    // `total` 0: not known.
    void set(const QString& stage, double done, double total);
    void end();

signals:
    void cancelled();

private:
    QLabel* stage_;
    QProgressBar* bar_;
    QTimer* timer_;
};

} // namespace trainyard::gui
