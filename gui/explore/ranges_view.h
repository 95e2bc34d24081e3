#pragma once

// A box for each field that can be swept, and one for each of its values.

#include "gui/explore/ranges.h"

#include <QScrollArea>

class QCheckBox;

namespace trainyard::gui {

class RangeSlider;

class RangesView : public QScrollArea {
    Q_OBJECT

public:
    explicit RangesView(QWidget* parent = nullptr);

    const std::vector<AxisRange>& ranges() const { return ranges_; }
    void set_ranges(std::vector<AxisRange> ranges);

signals:
    void changed(); // by the user

private:
    struct Row {
        QCheckBox* swept = nullptr;
        RangeSlider* slider = nullptr; // null: the values have no order
        std::vector<QCheckBox*> values;
    };
    void build();
    void build_row(QLayout& column, std::size_t axis);
    void show_states();
    void set_value(std::size_t axis, std::size_t value, bool chosen);

    std::vector<AxisRange> ranges_;
    std::vector<Row> rows_;
    bool filling_ = false;
};

} // namespace trainyard::gui
