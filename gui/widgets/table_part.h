#pragma once

// A table as a part of a view: seen, sorted, and exported by itself.

#include "gui/widgets/panel.h"

class QSortFilterProxyModel;
class QTableView;

namespace trainyard::gui {

class TablePart : public Panel {
    Q_OBJECT

public:
    TablePart(QString key, QString title, QWidget* parent = nullptr);

    QString key() const override { return key_; }
    QString title() const override { return title_; }
    void paint_to(QPainter& painter, const QSize& size) override;
    TableData table() const override { return table_; }

    void set_table(TableData table);
    QTableView& view() { return *view_; }

private:
    QString key_;
    QString title_;
    TableData table_;
    QSortFilterProxyModel* sorted_;
    QTableView* view_;
};

} // namespace trainyard::gui
