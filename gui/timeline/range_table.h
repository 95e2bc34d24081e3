#pragma once

// What a stretch of time holds, for a table.

#include "gui/timeline/slice_search.h"
#include "gui/widgets/columns_model.h"

#include <memory>

namespace trainyard::gui {

struct TimelineModel;

class RangeTable : public ColumnsModel {
    Q_OBJECT

public:
    explicit RangeTable(QObject* parent = nullptr) : ColumnsModel(parent) { set_entries({}, {}); }

    void set_entries(std::shared_ptr<const TimelineModel> model, std::vector<RangeEntry> entries);
    const std::vector<RangeEntry>& entries() const { return entries_; }
    // Times in microseconds.
    TableData table() const;

protected:
    std::size_t rows() const override { return entries_.size(); }

private:
    std::shared_ptr<const TimelineModel> model_;
    std::vector<RangeEntry> entries_;
};

} // namespace trainyard::gui
