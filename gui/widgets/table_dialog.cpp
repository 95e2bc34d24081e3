#include "gui/widgets/table_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

namespace trainyard::gui {

TableModel::TableModel(TableData data, QObject* parent)
    : QAbstractTableModel(parent), data_(std::move(data)), alignments_(alignments_of(data_))
{}

int TableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(data_.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(data_.columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const QString cell = data_.rows[static_cast<std::size_t>(index.row())].value(index.column());
    if (role == Qt::DisplayRole)
        return cell;
    if (role == Qt::UserRole) { // for sorting: numbers as numbers
        bool number = false;
        const double value = cell.section(' ', 0, 0).toDouble(&number);
        return number ? QVariant(value) : QVariant(cell);
    }
    if (role == Qt::TextAlignmentRole)
        return QVariant(alignments_[static_cast<std::size_t>(index.column())]);
    return {};
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal)
        return QVariant(alignments_[static_cast<std::size_t>(section)]);
    if (role != Qt::DisplayRole)
        return {};
    return orientation == Qt::Horizontal ? QVariant(data_.columns.value(section))
                                         : QVariant(section + 1);
}

TableDialog::TableDialog(const QString& title, TableData shown, QWidget* parent)
    : QDialog(parent), data_(std::move(shown))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("%1 as a table").arg(title));
    resize(820, 520);
    auto* const sorted = new QSortFilterProxyModel(this);
    sorted->setSourceModel(new TableModel(data_, this));
    sorted->setSortRole(Qt::UserRole);
    auto* const view = new QTableView;
    view->setModel(sorted);
    view->setSortingEnabled(true);
    view->sortByColumn(-1, Qt::AscendingOrder);
    view->setAlternatingRowColors(true);
    view->resizeColumnsToContents();
    view->setAccessibleName(windowTitle());
    auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QPushButton* const copies = buttons->addButton(tr("&Copy"), QDialogButtonBox::ActionRole);
    connect(copies, &QPushButton::clicked, this, &TableDialog::copy);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(view, 1);
    column->addWidget(buttons);
}

void TableDialog::copy() const
{
    QString text = data_.columns.join('\t') + '\n';
    for (const QStringList& row : data_.rows)
        text += row.join('\t') + '\n';
    QApplication::clipboard()->setText(text);
}

} // namespace trainyard::gui
