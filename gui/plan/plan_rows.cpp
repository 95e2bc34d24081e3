#include "gui/plan/plan_rows.h"

#include "gui/widgets/labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard::gui {

void PlanRows::show(std::shared_ptr<const ShownPlan> plan)
{
    beginResetModel();
    plan_ = std::move(plan);
    order_.resize(plan_ ? plan_->entries.size() : 0);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    endResetModel();
}

std::optional<int> PlanRows::row_of(std::size_t entry) const
{
    const auto found = std::ranges::find(order_, entry);
    return found == order_.end() ? std::nullopt
                                 : std::optional(static_cast<int>(found - order_.begin()));
}

int PlanRows::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int PlanRows::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !plan_ ? 0 : static_cast<int>(plan_->columns.size());
}

// Plain numbers, so that columns line up and spreadsheets take them.
QString PlanRows::cell_text(const PlanEntry& entry, std::size_t column) const
{
    const PlanCell& cell = entry.cells[column];
    const int digits = plan_->columns[column].digits;
    if (digits == of_words)
        return cell.text;
    if (std::isnan(cell.number))
        return {};
    if (digits == of_whole_numbers)
        return QString::number(cell.number, 'f', 0);
    // No exponents: as many places as the digits leave behind the point.
    const double size = std::abs(cell.number);
    const int before = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
    return QString::number(cell.number, 'f', std::max(0, digits - before));
}

QVariant PlanRows::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !plan_)
        return {};
    const auto column = static_cast<std::size_t>(index.column());
    const PlanEntry& entry = at(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
        return cell_text(entry, column);
    case Qt::TextAlignmentRole:
        return QVariant(
            Qt::AlignVCenter |
            (plan_->columns[column].digits != of_words ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::FontRole:
        if (entry.chosen)
            return bold({});
        if (entry.own) {
            QFont font;
            font.setItalic(true);
            return font;
        }
        return {};
    default:
        return {};
    }
}

QVariant PlanRows::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
        section >= columnCount())
        return {};
    return plan_->columns[static_cast<std::size_t>(section)].heading;
}

void PlanRows::sort(int column, Qt::SortOrder order)
{
    if (!plan_)
        return;
    emit layoutAboutToBeChanged();
    const QModelIndexList before = persistentIndexList();
    std::vector<std::size_t> entries;
    for (const QModelIndex& index : before)
        entries.push_back(entry(index.row()));
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (column >= 0 && column < columnCount()) {
        const auto at_column = static_cast<std::size_t>(column);
        const bool words = plan_->columns[at_column].digits == of_words;
        const auto cell = [&](std::size_t i) -> const PlanCell& {
            return plan_->entries[i].cells[at_column];
        };
        std::ranges::stable_sort(order_, [&](std::size_t a, std::size_t b) {
            if (!words && std::isnan(cell(a).number) != std::isnan(cell(b).number))
                return std::isnan(cell(b).number); // what is not known comes last, either way
            if (order == Qt::DescendingOrder)
                std::swap(a, b);
            return words ? cell(a).text < cell(b).text : cell(a).number < cell(b).number;
        });
    }
    QModelIndexList after;
    for (qsizetype i = 0; i < before.size(); ++i)
        after << index(*row_of(entries[static_cast<std::size_t>(i)]), before[i].column());
    changePersistentIndexList(before, after);
    emit layoutChanged();
}

TableData PlanRows::table() const
{
    TableData out;
    if (!plan_)
        return out;
    for (const PlanColumn& column : plan_->columns)
        out.columns << column.heading;
    for (const std::size_t i : order_) {
        QStringList& cells = out.rows.emplace_back();
        for (std::size_t column = 0; column < plan_->columns.size(); ++column)
            cells << cell_text(plan_->entries[i], column);
    }
    return out;
}

} // namespace trainyard::gui
