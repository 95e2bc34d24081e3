#include "gui/widgets/columns_model.h"

namespace trainyard::gui {

TableData ColumnsModel::table() const
{
    TableData table;
    for (const ShownColumn& column : columns_)
        table.columns << column.title;
    for (std::size_t row = 0; row < rows(); ++row) {
        QStringList& cells = table.rows.emplace_back();
        for (const ShownColumn& column : columns_)
            cells << column.text(row);
    }
    return table;
}

int ColumnsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(rows());
}

int ColumnsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant ColumnsModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const ShownColumn& column = columns_[static_cast<std::size_t>(index.column())];
    if (role == sort_role && column.number)
        return column.number(row);
    if (role == Qt::DisplayRole || role == sort_role)
        return column.text(row);
    if (role == Qt::TextAlignmentRole && column.number)
        return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant ColumnsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal)
        return {};
    return columns_[static_cast<std::size_t>(section)].title;
}

} // namespace trainyard::gui
