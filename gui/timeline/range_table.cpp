#include "gui/timeline/range_table.h"

#include "gui/model/qt_text.h"
#include "gui/timeline/timeline_model.h"
#include "sim/base/units.h"
#include "sim/report/kinds.h"

namespace trainyard::gui {

namespace {

constexpr int first_time_column = 3;
constexpr int last_time_column = 5;
constexpr double ps_per_us = 1e6;

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
    const auto time = [this](const QString& title, auto of) {
        return ShownColumn{
            title,
            [this, of](std::size_t row) {
                return text_of(to_display(to_seconds(std::invoke(of, entries_[row]))));
            },
            [this, of](std::size_t row) {
                return static_cast<qlonglong>(std::invoke(of, entries_[row]).value());
            }};
    };
    std::vector<ShownColumn> columns{
        {tr("name"),
         [this](std::size_t row) { return text_of(model_->data.names[entries_[row].name]); }},
        {tr("kind"),
         [this](std::size_t row) { return text_of(slice_title_of(entries_[row].kind)); }},
        {tr("count"), [this](std::size_t row) { return QString::number(entries_[row].count); },
         [this](std::size_t row) { return static_cast<qulonglong>(entries_[row].count); }},
        time(tr("total"), &RangeEntry::total),
        time(tr("mean"), mean_of),
        time(tr("longest"), &RangeEntry::longest)};
    if (model_ != nullptr && model_->data.run_names.size() > 1)
        columns.push_back({tr("run"), [this](std::size_t row) {
                               return text_of(model_->data.run_names[entries_[row].run]);
                           }});
    set_columns(std::move(columns));
    endResetModel();
}

TableData RangeTable::table() const
{
    TableData table = ColumnsModel::table();
    for (int column = first_time_column; column <= last_time_column; ++column) {
        table.columns[column] += QStringLiteral(" [us]");
        for (int row = 0; row < rowCount(); ++row)
            table.rows[static_cast<std::size_t>(row)][column] = QString::number(
                data(index(row, column), sort_role).toDouble() / ps_per_us, 'g', 12);
    }
    return table;
}

} // namespace trainyard::gui
