#pragma once

// A chart's numbers as a table: sortable, and copied as they are pasted into a spreadsheet.

#include "gui/widgets/panel.h"

#include <QAbstractTableModel>
#include <QDialog>

namespace trainyard::gui {

class TableModel : public QAbstractTableModel {
    Q_OBJECT

public:
    explicit TableModel(TableData data, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    TableData data_;
    std::vector<Qt::Alignment> alignments_; // by column
};

class TableDialog : public QDialog {
    Q_OBJECT

public:
    TableDialog(const QString& title, TableData shown, QWidget* parent = nullptr);

private:
    void copy() const;

    TableData data_;
};

} // namespace trainyard::gui
