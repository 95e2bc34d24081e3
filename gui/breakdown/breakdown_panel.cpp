#include "gui/breakdown/breakdown_panel.h"

#include "gui/breakdown/memory_panel.h"
#include "gui/breakdown/roofline_panel.h"
#include "gui/breakdown/time_bars_panel.h"
#include "gui/breakdown/tornado_panel.h"

#include <QGridLayout>
#include <QPainter>
#include <QTabBar>
#include <algorithm>

namespace trainyard::gui {

BreakdownPanel::BreakdownPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent), tabs_(new QTabBar)
{
    charts_ = {new TimeBarsPanel(workspace), new MemoryPanel(workspace),
               new RooflinePanel(workspace), new TornadoPanel(workspace)};
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    // As small as one chart, whatever four of them would need.
    layout->setSizeConstraint(QLayout::SetNoConstraint);
    setMinimumSize(200, 160);
    tabs_->setDrawBase(false);
    tabs_->setExpanding(false);
    tabs_->setAccessibleName(tr("Charts of the breakdown"));
    tabs_->addTab(tr("All"));
    layout->addWidget(tabs_);
    auto* const grid = new QGridLayout;
    grid->setSpacing(2);
    layout->addLayout(grid, 1);
    for (std::size_t i = 0; i < charts_.size(); ++i) {
        ChartPanel* const chart = charts_[i];
        tabs_->addTab(chart->title());
        grid->addWidget(chart, static_cast<int>(i / 2), static_cast<int>(i % 2));
        connect(chart, &Panel::busyChanged, this, &Panel::busyChanged);
        connect(chart, &ChartPanel::enlargeWanted, this,
                [this, i] { enlarge(enlarged_ == i ? std::nullopt : std::optional(i)); });
        connect(chart, &ChartPanel::leaveWanted, this, [this] { enlarge(std::nullopt); });
    }
    for (const int i : {0, 1}) {
        grid->setRowStretch(i, 1);
        grid->setColumnStretch(i, 1);
    }
    connect(tabs_, &QTabBar::currentChanged, this, [this](int tab) {
        enlarge(tab > 0 ? std::optional(static_cast<std::size_t>(tab - 1)) : std::nullopt);
    });
    connect(this, &Panel::sightChanged, this, &BreakdownPanel::arrange);
    arrange();
}

bool BreakdownPanel::room_for_all() const
{
    const QFontMetrics metrics = fontMetrics();
    return width() >= 80 * metrics.averageCharWidth() && height() >= 22 * metrics.height();
}

void BreakdownPanel::enlarge(std::optional<std::size_t> chart)
{
    if (chart == enlarged_)
        return;
    enlarged_ = chart;
    arrange();
    if (chart)
        charts_[*chart]->chart().setFocus();
}

void BreakdownPanel::arrange()
{
    const bool all = room_for_all();
    if (!all && !enlarged_)
        enlarged_ = 0;
    tabs_->setTabEnabled(0, all);
    const QSignalBlocker quiet(tabs_);
    tabs_->setCurrentIndex(enlarged_ ? static_cast<int>(*enlarged_) + 1 : 0);
    for (std::size_t i = 0; i < charts_.size(); ++i) {
        const bool shown = !enlarged_ || *enlarged_ == i;
        charts_[i]->set_enlarged(enlarged_ == i);
        charts_[i]->setVisible(shown);
        // Only what is simulated for one chart alone waits until that one is seen.
        const bool dear = i + 1 == charts_.size();
        charts_[i]->set_in_sight(in_sight() && (shown || !dear));
    }
}

void BreakdownPanel::resizeEvent(QResizeEvent* event)
{
    Panel::resizeEvent(event);
    arrange();
}

std::vector<Panel*> BreakdownPanel::parts()
{
    return {charts_.begin(), charts_.end()};
}

bool BreakdownPanel::busy() const
{
    return std::ranges::any_of(charts_, [](const ChartPanel* chart) { return chart->busy(); });
}

void BreakdownPanel::cancel()
{
    for (ChartPanel* const chart : charts_)
        chart->cancel();
}

void BreakdownPanel::paint_to(QPainter& painter, const QSize& size)
{
    const QSize quarter(size.width() / 2, size.height() / 2);
    for (std::size_t i = 0; i < charts_.size(); ++i) {
        painter.save();
        painter.translate(static_cast<int>(i % 2) * quarter.width(),
                          static_cast<int>(i / 2) * quarter.height());
        charts_[i]->paint_to(painter, quarter);
        painter.restore();
    }
}

TableData BreakdownPanel::table() const
{
    return charts_[enlarged_.value_or(0)]->table();
}

} // namespace trainyard::gui
