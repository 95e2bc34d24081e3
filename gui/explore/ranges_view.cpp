#include "gui/explore/ranges_view.h"

#include "gui/explore/range_slider.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/labels.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QVBoxLayout>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int most_columns = 4;
constexpr int least_for_slider = 4; // values

// Whether the values are numbers, small to large.
bool ordered(const AxisRange& range)
{
    return std::ranges::all_of(range.values, [](const std::string& value) {
        bool number = false;
        static_cast<void>(QString::fromStdString(value).toDouble(&number));
        return number;
    });
}

int columns_for(const AxisRange& range, const QFontMetrics& metrics)
{
    int widest = 0;
    for (const std::string& value : range.values)
        widest = std::max(widest, metrics.horizontalAdvance(value_text(value)));
    const int limit = metrics.averageCharWidth() * 26;
    const int box = widest + metrics.height() + 14;
    return std::clamp(limit / std::max(1, box), 1, most_columns);
}

} // namespace

RangesView::RangesView(QWidget* parent) : QScrollArea(parent)
{
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("what is swept"));
}

void RangesView::set_ranges(std::vector<AxisRange> ranges)
{
    const auto same = [](const AxisRange& a, const AxisRange& b) {
        return a.field == b.field && a.values == b.values && a.own == b.own;
    };
    const bool rebuild = !std::ranges::equal(ranges, ranges_, same);
    ranges_ = std::move(ranges);
    if (rebuild)
        build();
    show_states();
}

void RangesView::build()
{
    rows_.clear();
    auto* const inside = new QWidget;
    auto* const column = in_a_column(inside, {}, {.margins = {6, 4, 6, 4}, .spacing = 2});
    for (std::size_t axis = 0; axis < ranges_.size(); ++axis)
        build_row(*column, axis);
    column->addStretch(1);
    setWidget(inside);
    setMinimumWidth(inside->minimumSizeHint().width() + 16);
}

void RangesView::build_row(QLayout& column, std::size_t axis)
{
    const AxisRange& range = ranges_[axis];
    Row row;
    row.swept = new QCheckBox(range.name);
    row.swept->setToolTip(range.help);
    row.swept->setAccessibleName(tr("sweep %1").arg(range.name));
    row.swept->setObjectName(QString::fromStdString(range.field));
    row.swept->setFont(bold(font()));
    column.addWidget(row.swept);
    connect(row.swept, &QCheckBox::toggled, this, [this, axis](bool on) {
        if (filling_)
            return;
        ranges_[axis].swept = on;
        show_states();
        emit changed();
    });
    auto* const grid = new QGridLayout;
    grid->setContentsMargins(16, 0, 0, 4);
    grid->setHorizontalSpacing(4);
    grid->setVerticalSpacing(0);
    const int columns = columns_for(range, fontMetrics());
    int line = 0;
    if (range.values.size() >= least_for_slider && ordered(range)) {
        row.slider = new RangeSlider(static_cast<int>(range.values.size()));
        row.slider->setAccessibleName(tr("range of %1").arg(range.name));
        row.slider->setToolTip(tr("from the smallest to the largest value"));
        connect(row.slider, &RangeSlider::moved, this, [this, axis](int low, int high) {
            std::vector<bool>& chosen = ranges_[axis].chosen;
            for (std::size_t i = 0; i < chosen.size(); ++i)
                chosen[i] = static_cast<int>(i) >= low && static_cast<int>(i) <= high;
            show_states();
            emit changed();
        });
        grid->addWidget(row.slider, line++, 0, 1, columns);
    }
    for (std::size_t value = 0; value < range.values.size(); ++value) {
        const bool own = value == range.own;
        auto* const box = new QCheckBox(value_text(range.values[value]) +
                                        (own ? QStringLiteral(" •") : QString()));
        box->setAccessibleName(tr("%1 = %2").arg(range.name, value_text(range.values[value])));
        if (own)
            box->setToolTip(tr("the scenario's own value"));
        connect(box, &QCheckBox::toggled, this,
                [this, axis, value](bool on) { set_value(axis, value, on); });
        const int at = static_cast<int>(value);
        grid->addWidget(box, line + at / columns, at % columns);
        row.values.push_back(box);
    }
    grid->setColumnStretch(columns, 1);
    static_cast<QVBoxLayout&>(column).addLayout(grid);
    rows_.push_back(std::move(row));
}

void RangesView::set_value(std::size_t axis, std::size_t value, bool chosen)
{
    if (filling_)
        return;
    ranges_[axis].chosen[value] = chosen;
    show_states();
    emit changed();
}

void RangesView::show_states()
{
    filling_ = true;
    for (std::size_t axis = 0; axis < rows_.size(); ++axis) {
        const AxisRange& range = ranges_[axis];
        const Row& row = rows_[axis];
        row.swept->setChecked(range.swept);
        for (std::size_t value = 0; value < row.values.size(); ++value) {
            row.values[value]->setChecked(range.chosen[value]);
            row.values[value]->setVisible(range.swept);
        }
        if (row.slider == nullptr)
            continue;
        row.slider->setVisible(range.swept);
        const auto first = std::ranges::find(range.chosen, true);
        const auto last = std::find(range.chosen.rbegin(), range.chosen.rend(), true);
        if (first != range.chosen.end())
            row.slider->set_range(static_cast<int>(first - range.chosen.begin()),
                                  static_cast<int>(range.chosen.rend() - last) - 1);
    }
    filling_ = false;
}

} // namespace trainyard::gui
