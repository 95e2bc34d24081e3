#include "gui/widgets/table_part.h"

#include "gui/widgets/boxes.h"
#include "gui/widgets/plain_table.h"
#include "gui/widgets/table_dialog.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <algorithm>

namespace trainyard::gui {

TablePart::TablePart(QString key, QString title, QWidget* parent)
    : Panel(parent),
      key_(std::move(key)),
      title_(std::move(title)),
      sorted_(new QSortFilterProxyModel(this)),
      view_(plain_table(title_))
{
    sorted_->setSortRole(Qt::UserRole); // numbers as numbers
    view_->setModel(sorted_);
    view_->setSortingEnabled(true);
    view_->horizontalHeader()->setSortIndicatorClearable(true);
    view_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    in_a_column(this, {view_});
    setFocusProxy(view_);
}

void TablePart::set_table(TableData table)
{
    if (table == table_)
        return;
    const bool same = table.columns == table_.columns;
    table_ = std::move(table);
    const QAbstractItemModel* const before = sorted_->sourceModel();
    sorted_->setSourceModel(new TableModel(table_, this));
    delete before;
    if (same)
        return;
    constexpr int most_letters = 48; // of names of kernels
    view_->resizeColumnsToContents();
    const int widest = most_letters * fontMetrics().averageCharWidth();
    for (int c = 0; c < sorted_->columnCount(); ++c)
        view_->setColumnWidth(c, std::min(view_->columnWidth(c), widest));
}

void TablePart::paint_to(QPainter& painter, const QSize& size)
{
    paint_table(painter, size, table_, palette());
}

} // namespace trainyard::gui
