#pragma once

// The figures that are always in sight.

#include "gui/model/workspace.h"

#include <QFrame>

class QLabel;

namespace trainyard::gui {

class HeadlineBar : public QFrame {
    Q_OBJECT

public:
    explicit HeadlineBar(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Card {
        QWidget* box;
        QLabel* name;
        QLabel* value;
        QLabel* change;
        QLabel* interval;
    };

    Card add_card();
    void follow();
    void show_now();
    void show_item(const Card& card, const HeadlineItem& item);
    void show_state();
    void write_state();
    QString meaning() const;
    QString verdict(const Diagnostic& error) const;
    void fit_state();

    Workspace& workspace_;
    std::vector<Card> cards_;
    QLabel* state_;
};

} // namespace trainyard::gui
