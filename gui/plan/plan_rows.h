#pragma once

// The rows of an answer as a table, sorted by numbers.

#include "gui/plan/shown_plan.h"
#include "gui/widgets/panel.h"

#include <QAbstractTableModel>

namespace trainyard::gui {

class PlanRows : public QAbstractTableModel {
    Q_OBJECT

public:
    using QAbstractTableModel::QAbstractTableModel;

    // Null: none yet.
    void show(std::shared_ptr<const ShownPlan> plan);

    // Of the answer's entries.
    std::size_t entry(int row) const { return order_[static_cast<std::size_t>(row)]; }
    std::optional<int> row_of(std::size_t entry) const;

    // As it is sorted now.
    TableData table() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    // Column -1: best first.
    void sort(int column, Qt::SortOrder order) override;

private:
    const PlanEntry& at(int row) const { return plan_->entries[entry(row)]; }
    QString cell_text(const PlanEntry& entry, std::size_t column) const;

    std::shared_ptr<const ShownPlan> plan_;
    std::vector<std::size_t> order_;
};

} // namespace trainyard::gui
