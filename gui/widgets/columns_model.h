#pragma once

// A table of rows that are made when they are shown: each column says what it shows of a row.

#include "gui/widgets/panel.h"

#include <QAbstractTableModel>
#include <functional>

namespace trainyard::gui {

struct ShownColumn {
    QString title;
    std::function<QString(std::size_t row)> text;
    std::function<QVariant(std::size_t row)> number = nullptr; // of columns that are no words
};

class ColumnsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    static constexpr int sort_role = Qt::UserRole; // numbers as numbers

    using QAbstractTableModel::QAbstractTableModel;

    TableData table() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    virtual std::size_t rows() const = 0;
    void set_columns(std::vector<ShownColumn> columns) { columns_ = std::move(columns); }

private:
    std::vector<ShownColumn> columns_;
};

} // namespace trainyard::gui
