#include "gui/breakdown/breakdown_panel.h"

#include "gui/breakdown/icicle_panel.h"
#include "gui/breakdown/memory_panel.h"
#include "gui/breakdown/roofline_panel.h"
#include "gui/breakdown/time_bars_panel.h"
#include "gui/breakdown/tornado_panel.h"
#include "gui/widgets/boxes.h"

#include <QGridLayout>
#include <QPainter>
#include <QTabBar>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr std::size_t beside = 4; // charts in one picture; the others have it to themselves

} // namespace

BreakdownPanel::BreakdownPanel(Workspace& workspace, QWidget* parent)
    : Panel(parent), tabs_(new QTabBar), grid_(new QGridLayout)
{
    charts_ = {new TimeBarsPanel(workspace), new MemoryPanel(workspace),
               new RooflinePanel(workspace), new TornadoPanel(workspace),
               new IciclePanel(workspace)};
    auto* const layout = in_a_column(this, {}, {.spacing = 0});
    // As small as one chart, whatever four of them would need.
    layout->setSizeConstraint(QLayout::SetNoConstraint);
    setMinimumSize(200, 160);
    tabs_->setDrawBase(false);
    tabs_->setExpanding(false);
    tabs_->setAccessibleName(tr("Charts of the breakdown"));
    tabs_->addTab(tr("All"));
    layout->addWidget(tabs_);
    grid_->setSpacing(2);
    layout->addLayout(grid_, 1);
    for (std::size_t i = 0; i < charts_.size(); ++i) {
        ChartPanel* const chart = charts_[i];
        tabs_->addTab(chart->title());
        grid_->addWidget(chart, static_cast<int>(i / 2), static_cast<int>(i % 2));
        connect(chart, &Panel::busyChanged, this, &Panel::busyChanged);
        connect(chart, &ChartPanel::enlargeWanted, this,
                [this, i] { enlarge(enlarged() == i ? std::nullopt : std::optional(i)); });
        connect(chart, &ChartPanel::leaveWanted, this, [this] { enlarge(std::nullopt); });
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
    return width() >= 96 * metrics.averageCharWidth() && height() >= 30 * metrics.height();
}

std::optional<std::size_t> BreakdownPanel::enlarged() const
{
    return enlarged_ || room_for_all() ? enlarged_ : std::optional<std::size_t>(0);
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

void BreakdownPanel::show_part(const QString& key)
{
    const auto found = std::ranges::find(charts_, key, &Panel::key);
    enlarge(found == charts_.end()
                ? std::nullopt
                : std::optional(static_cast<std::size_t>(found - charts_.begin())));
}

void BreakdownPanel::arrange()
{
    const std::optional<std::size_t> one = enlarged();
    const QSignalBlocker quiet(tabs_); // a tab disabled brings another to the front
    tabs_->setTabEnabled(0, room_for_all());
    tabs_->setTabToolTip(0, room_for_all() ? QString()
                                           : tr("The view is too small for all charts beside each "
                                                "other: enlarge it, or the window"));
    tabs_->setCurrentIndex(one ? static_cast<int>(*one) + 1 : 0);
    // What is hidden takes no room.
    for (const std::size_t i : {0U, 1U, 2U}) {
        const bool rowed = one ? *one / 2 == i : i < 2;
        grid_->setRowStretch(static_cast<int>(i), rowed ? 1 : 0);
        if (i < 2)
            grid_->setColumnStretch(static_cast<int>(i), !one || *one % 2 == i ? 1 : 0);
    }
    for (std::size_t i = 0; i < charts_.size(); ++i) {
        const bool shown = one ? *one == i : i < beside;
        charts_[i]->set_enlarged(one == i);
        charts_[i]->setVisible(shown);
        // Only what is simulated for one chart alone waits until that one is seen.
        const bool dear = i + 1 == beside;
        charts_[i]->set_in_sight(in_sight() && (shown || !dear));
    }
}

void BreakdownPanel::resizeEvent(QResizeEvent* event)
{
    Panel::resizeEvent(event);
    arrange();
}

std::vector<KeyHelp> BreakdownPanel::key_help() const
{
    return {
        {tr("arrow keys, Home, End"), tr("from mark to mark")},
        {tr("Return"), tr("enlarge the chart, or back to all four")},
        {tr("Space"), tr("choose what is marked")},
        {"H", tr("where the time goes: highlight the kind")},
        {"%", tr("where the time goes: seconds or shares")},
        {"P", tr("memory: to the peak")},
        {tr("Space, Backspace"), tr("layers and ops: into the part, out of it")},
        {"W S, F", tr("memory: closer, further, fit all")},
        {tr("Esc"), tr("lets go, then back to all four")},
    };
}

std::vector<Panel*> BreakdownPanel::parts()
{
    return {charts_.begin(), charts_.end()};
}

bool BreakdownPanel::busy() const
{
    return std::ranges::any_of(charts_, [](const ChartPanel* chart) { return chart->busy(); });
}

void BreakdownPanel::prepare_picture()
{
    for (ChartPanel* const chart : charts_)
        chart->prepare_picture();
}

void BreakdownPanel::cancel()
{
    for (ChartPanel* const chart : charts_)
        chart->cancel();
}

void BreakdownPanel::paint_to(QPainter& painter, const QSize& size)
{
    const QSize quarter(size.width() / 2, size.height() / 2);
    for (std::size_t i = 0; i < beside; ++i) {
        painter.save();
        painter.translate(static_cast<int>(i % 2) * quarter.width(),
                          static_cast<int>(i / 2) * quarter.height());
        charts_[i]->paint_to(painter, quarter);
        painter.restore();
    }
}

TableData BreakdownPanel::table() const
{
    return charts_[enlarged().value_or(0)]->table();
}

} // namespace trainyard::gui
