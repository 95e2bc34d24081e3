#include "gui/timeline/range_table.h"

#include "gui/model/qt_text.h"
#include "gui/timeline/timeline_model.h"
#include "sim/base/units.h"
#include "sim/report/kinds.h"

#include <array>

namespace trainyard::gui {

namespace {

enum Column {
    name_column,
    kind_column,
    count_column,
    total_column,
    mean_column,
    longest_column,
    run_column // only where two runs are compared
};
constexpr int columns = 7;

constexpr double ps_per_us = 1e6;

bool is_time(int column)
{
    return column >= total_column && column <= longest_column;
}

SimTime mean_of(const RangeEntry& entry)
{
    return entry.total / static_cast<std::int64_t>(entry.count);
}

} // namespace

void RangeTable::set_entries(std::shared_ptr<const TimelineModel> model,
                             std::vector<RangeEntry> entries)
{
    beginResetModel();
    model_ = std::move(model);
    entries_ = std::move(entries);
    endResetModel();
}

int RangeTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(entries_.size());
}

int RangeTable::columnCount(const QModelIndex& parent) const
{
    if (parent.isValid())
        return 0;
    return model_ != nullptr && model_->data.run_names.size() > 1 ? columns : columns - 1;
}

QString RangeTable::text(const RangeEntry& entry, int column) const
{
    const auto shown = [](SimTime time) { return text_of(to_display(to_seconds(time))); };
    switch (column) {
    case name_column:
        return text_of(model_->data.names[entry.name]);
    case kind_column:
        return text_of(slice_title_of(entry.kind));
    case count_column:
        return QString::number(entry.count);
    case total_column:
        return shown(entry.total);
    case mean_column:
        return shown(mean_of(entry));
    case longest_column:
        return shown(entry.longest);
    default:
        return text_of(model_->data.run_names[entry.run]);
    }
}

QVariant RangeTable::number(const RangeEntry& entry, int column) const
{
    switch (column) {
    case count_column:
        return static_cast<qulonglong>(entry.count);
    case total_column:
        return static_cast<qlonglong>(entry.total.value());
    case mean_column:
        return static_cast<qlonglong>(mean_of(entry).value());
    case longest_column:
        return static_cast<qlonglong>(entry.longest.value());
    default:
        return text(entry, column);
    }
}

QVariant RangeTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const RangeEntry& entry = entries_[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole)
        return text(entry, index.column());
    if (role == sort_role)
        return number(entry, index.column());
    if (role == Qt::TextAlignmentRole && index.column() >= count_column &&
        index.column() != run_column)
        return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant RangeTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal)
        return {};
    const std::array<QString, columns> titles{tr("name"), tr("kind"),    tr("count"), tr("total"),
                                              tr("mean"), tr("longest"), tr("run")};
    return titles[static_cast<std::size_t>(section)];
}

TableData RangeTable::table() const
{
    TableData table;
    for (int column = 0; column < columnCount(); ++column) {
        const QString title = headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
        table.columns << (is_time(column) ? title + QStringLiteral(" [us]") : title);
    }
    for (const RangeEntry& entry : entries_) {
        QStringList row;
        for (int column = 0; column < columnCount(); ++column)
            row << (is_time(column)
                        ? QString::number(number(entry, column).toDouble() / ps_per_us, 'g', 12)
                        : text(entry, column));
        table.rows.push_back(row);
    }
    return table;
}

} // namespace trainyard::gui
