#pragma once

// One figure of the headline: its name, value, change and interval. A click, Return or Space leads
// to where more is told of it.

#include "gui/model/headline.h"

#include <QWidget>

class QLabel;

namespace trainyard::gui {

class HeadlineCard : public QWidget {
    Q_OBJECT

public:
    explicit HeadlineCard(QWidget* parent = nullptr);

    // `current`: the figures are of the scenario as it is; others are grey.
    void show_item(const HeadlineItem& item, bool current);
    const HeadlineItem& item() const { return item_; }

signals:
    void chosen(const QString& view, const QString& part);

protected:
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void copy() const;
    QString change_text() const;

    HeadlineItem item_;
    QLabel* name_;
    QLabel* value_;
    QLabel* change_;
    QLabel* interval_;
};

} // namespace trainyard::gui
