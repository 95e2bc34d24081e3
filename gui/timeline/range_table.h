#pragma once

// What a stretch of time holds, for a table.

#include "gui/timeline/slice_search.h"
#include "gui/widgets/panel.h"

#include <QAbstractTableModel>
#include <memory>

namespace trainyard::gui {

struct TimelineModel;

class RangeTable : public QAbstractTableModel {
    Q_OBJECT

public:
    static constexpr int sort_role = Qt::UserRole; // numbers as numbers

    using QAbstractTableModel::QAbstractTableModel;

    void set_entries(std::shared_ptr<const TimelineModel> model, std::vector<RangeEntry> entries);
    const std::vector<RangeEntry>& entries() const { return entries_; }
    TableData table() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const RangeEntry& entry, int column) const;
    QVariant number(const RangeEntry& entry, int column) const;

    std::shared_ptr<const TimelineModel> model_;
    std::vector<RangeEntry> entries_;
};

} // namespace trainyard::gui
