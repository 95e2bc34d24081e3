#include "gui/breakdown/memory_panel.h"

#include "gui/breakdown/memory_figures.h"
#include "gui/timeline/time_text.h"
#include "gui/widgets/flat_button.h"
#include "gui/widgets/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QTreeWidget>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr std::size_t stops = 200; // of the cursor over what is in sight

} // namespace

MemoryPanel::MemoryPanel(Workspace& workspace, QWidget* parent)
    : ChartPanel(QStringLiteral("breakdown-memory"), tr("Memory over time"), parent),
      workspace_(workspace),
      stages_(new QComboBox),
      whole_(flat_button(tr("Whole step"), tr("Show the whole step again (F)"))),
      content_(new QTreeWidget)
{
    stages_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    stages_->setAccessibleName(tr("Pipeline stage whose memory is shown"));
    tools().insertWidget(2, stages_);
    tools().insertWidget(3, whole_);
    connect(whole_, &QToolButton::clicked, &workspace_.view(), &ViewState::show_all);
    connect(stages_, &QComboBox::activated, this, &MemoryPanel::load);
    content_->setHeaderLabels({tr("At the peak"), tr("each"), tr("together")});
    content_->setRootIsDecorated(false);
    content_->setAccessibleName(tr("Largest tensors at the peak"));
    content_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    body().addWidget(content_);
    content_->hide();

    put_legend_below();
    chart().yAxis->setLabel(tr("in use [GB]"));
    chart().setInteraction(QCP::iRangeDrag);
    chart().setInteraction(QCP::iRangeZoom);
    chart().axisRect()->setRangeDrag(Qt::Horizontal);
    chart().axisRect()->setRangeZoom(Qt::Horizontal);
    new PaintItem(&chart(), [this](QCPPainter& painter) {
        paint_areas(painter);
        paint_peak(painter, paint_lines(painter));
    });
    connect(chart().xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
            [this](const QCPRange& range) {
                if (curve_ != nullptr && !following_)
                    workspace_.view().show({time_of(range.lower), time_of(range.upper)});
            });
    connect(&chart(), &QCustomPlot::afterLayout, this, &MemoryPanel::fit_height);
    ViewState& view = workspace_.view();
    connect(&view, &ViewState::rangeChanged, this, &MemoryPanel::follow_range);
    connect(&view, &ViewState::cursorChanged, &chart(),
            [this] { chart().replot(QCustomPlot::rpQueuedReplot); });
    connect(&view, &ViewState::selectionChanged, this, &MemoryPanel::follow_selection);
    connect(&workspace_, &Workspace::runChanged, this, &MemoryPanel::follow_run);
    connect(&workspace_, &Workspace::recordedChanged, this, &MemoryPanel::follow_run);
    connect(this, &Panel::sightChanged, this, &MemoryPanel::follow_run);
    connect(&task_, &BackgroundTask::busyChanged, this, &Panel::busyChanged);
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& why) {
        curve_.reset();
        set_message(why);
    });
    connect(&chart(), &Chart::themed, this, &MemoryPanel::fill);
    follow_run();
}

void MemoryPanel::follow_run()
{
    const std::shared_ptr<const RunView>& run = workspace_.recorded();
    set_stale(curve_ != nullptr && !workspace_.current() && !workspace_.live().busy());
    if (run == nullptr || !run->recorded) {
        set_message(tr("What the devices hold over a step is shown here as soon as a scenario is "
                       "open and has been simulated."));
        return;
    }
    if (run == run_ || !in_sight())
        return;
    run_ = run;
    fill_stages();
    load();
}

// One lane for each stage.
void MemoryPanel::fill_stages()
{
    const Outcome& outcome = *run_->outcome;
    const int before = stages_->currentIndex();
    const int count_before = stages_->count();
    std::map<RoleId, LaneId> lanes;
    for (const OpRecord& record : outcome.result->records)
        lanes.emplace(outcome.binding->lanes[record.lane.value].role, record.lane);
    stages_->clear();
    lanes_.clear();
    int fullest = 0;
    for (const auto& [role, lane] : lanes) {
        const bool is_fullest =
            role.value == static_cast<std::uint32_t>(outcome.memory.fullest_stage);
        if (is_fullest)
            fullest = stages_->count();
        stages_->addItem(is_fullest ? tr("stage %1 (fullest)").arg(role.value)
                                    : tr("stage %1").arg(role.value));
        lanes_.push_back(lane);
    }
    stages_->setVisible(lanes_.size() > 1);
    stages_->setCurrentIndex(stages_->count() == count_before && before >= 0 ? before : fullest);
}

void MemoryPanel::follow_selection()
{
    const std::optional<RankId> rank = workspace_.view().selection().rank;
    if (!rank || run_ == nullptr)
        return;
    const std::vector<Lane>& lanes = run_->outcome->binding->lanes;
    const auto found = std::ranges::find(lanes, *rank, &Lane::rank);
    if (found == lanes.end())
        return;
    for (std::size_t i = 0; i < lanes_.size(); ++i)
        if (lanes[lanes_[i].value].role == found->role &&
            stages_->currentIndex() != static_cast<int>(i)) {
            stages_->setCurrentIndex(static_cast<int>(i));
            load();
        }
}

void MemoryPanel::load()
{
    const int at = stages_->currentIndex();
    if (run_ == nullptr || at < 0)
        return;
    const LaneId lane = lanes_[static_cast<std::size_t>(at)];
    task_.start([this, run = run_, lane](const WorkControl&) -> BackgroundTask::Answer {
        auto curve = std::make_shared<const MemoryCurve>(memory_curve(*run->outcome, lane));
        std::vector<MemoryKind> kinds = stacking_order(*curve);
        return [this, run, lane, curve = std::move(curve), kinds = std::move(kinds)] {
            shown_ = run;
            set_stale(!workspace_.current());
            curve_ = curve;
            kinds_ = kinds;
            lane_ = lane;
            set_message(curve_->points.empty() ? tr("This run was not recorded whole.")
                                               : QString());
            fill();
            fill_content();
        };
    });
}

void MemoryPanel::cancel()
{
    if (!task_.busy())
        return;
    task_.cancel();
    if (curve_ == nullptr)
        set_message(tr("Cancelled. F5 simulates again."));
    else
        set_stale(true);
}

const StageMemory& MemoryPanel::stage() const
{
    const Outcome& outcome = *shown_->outcome;
    return outcome.memory.stages[outcome.binding->lanes[lane_.value].role.value];
}

double MemoryPanel::unit() const
{
    constexpr double second = 1e12;
    return static_cast<double>(workspace_.view().whole().length().value()) >= 10 * second
               ? second
               : second / 1e3;
}

double MemoryPanel::x_of(SimTime time) const
{
    return static_cast<double>((time - workspace_.view().whole().from).value()) / unit();
}

SimTime MemoryPanel::time_of(double x) const
{
    return workspace_.view().whole().from + SimTime(static_cast<std::int64_t>(x * unit()));
}

void MemoryPanel::follow_range()
{
    const TimeRange range = workspace_.view().range();
    following_ = true;
    chart().xAxis->setLabel(unit() < 1e12 ? tr("since the step began [ms]")
                                          : tr("since the step began [s]"));
    chart().xAxis->setRange(x_of(range.from), x_of(range.to));
    following_ = false;
    whole_->setVisible(!(range == workspace_.view().whole()));
    chart().replot(QCustomPlot::rpQueuedReplot);
}

void MemoryPanel::fill()
{
    if (curve_ == nullptr || curve_->points.empty())
        return;
    chart().clearPlottables();
    for (auto kind = kinds_.rbegin(); kind != kinds_.rend(); ++kind) {
        auto* const series = new QCPBars(chart().xAxis, chart().yAxis);
        series->setName(text_of(to_name(*kind)));
        series->setPen(Qt::NoPen);
        series->setBrush(brush_of(fill_of(*kind), palette()));
    }
    fit_legend(chart().width());
    follow_range();
}

// With room for two lines of words above the curve, which would hide it.
void MemoryPanel::fit_height()
{
    if (curve_ == nullptr || curve_->points.empty())
        return;
    double top = gigabytes(curve_->points[curve_->peak].bytes);
    top = std::max(top, gigabytes(reserved(stage()).value_or(Bytes(0))));
    const double words = 2.5 * fontMetrics().height() / std::max(1, chart().axisRect()->height());
    double upper = std::max(top, 1e-6) / (1 - std::min(words, 0.5));
    // A device without limit, or one that is far from full, keeps the curve in sight.
    const double capacity = gigabytes(shown_->outcome->memory.capacity);
    if (capacity > 0 && capacity < 8 * top)
        upper = std::max(upper, 1.12 * capacity);
    chart().yAxis->setRange(0, upper);
}

void MemoryPanel::fit(const QSize& size)
{
    fit_legend(size.width());
}

void MemoryPanel::resizeEvent(QResizeEvent* event)
{
    ChartPanel::resizeEvent(event);
    content_->setVisible(width() > 100 * fontMetrics().averageCharWidth() && curve_ != nullptr);
    content_->setMaximumWidth(width() * 2 / 5);
}

void MemoryPanel::fill_content()
{
    content_->clear();
    for (const PeakTensor& tensor : stage().tensors) {
        const auto together = tensor.bytes * static_cast<std::uint64_t>(tensor.count);
        new QTreeWidgetItem(content_,
                            {text_of(tensor.name),
                             tr("%1 x %2").arg(tensor.count).arg(text_of(to_display(tensor.bytes))),
                             text_of(to_display(together))});
    }
    for (int i = 0; i < content_->topLevelItemCount(); ++i) {
        QTreeWidgetItem* const item = content_->topLevelItem(i);
        const MemoryKind kind = stage().tensors[static_cast<std::size_t>(i)].kind;
        item->setToolTip(0, text_of(to_name(kind)));
        item->setData(0, Qt::DecorationRole, colour_of(fill_of(kind), palette()));
        for (const int column : {1, 2})
            item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
    content_->setVisible(width() > 100 * fontMetrics().averageCharWidth());
}

std::size_t MemoryPanel::items() const
{
    return curve_ == nullptr || curve_->points.empty() ? 0 : stops;
}

SimTime MemoryPanel::time_of_item(std::size_t item) const
{
    const TimeRange range = workspace_.view().range();
    const double part = (static_cast<double>(item) + 0.5) / static_cast<double>(stops);
    return range.from +
           SimTime(static_cast<std::int64_t>(part * static_cast<double>(range.length().value())));
}

QRectF MemoryPanel::bounds_of(std::size_t item) const
{
    auto& plot = const_cast<MemoryPanel*>(this)->chart();
    const QRect body = plot.axisRect()->rect();
    const double x = plot.xAxis->coordToPixel(x_of(time_of_item(item)));
    return {QPointF(x - 1, body.top()), QPointF(x + 1, body.bottom())};
}

std::optional<std::size_t> MemoryPanel::item_at(const QPointF& position) const
{
    auto& plot = const_cast<MemoryPanel*>(this)->chart();
    const QRect body = plot.axisRect()->rect();
    if (items() == 0 || !body.contains(position.toPoint()))
        return std::nullopt;
    const double part = (position.x() - body.left()) / std::max(1, body.width());
    return static_cast<std::size_t>(std::clamp(part * stops, 0.0, stops - 1.0));
}

QString MemoryPanel::tip_of(std::size_t item) const
{
    const SimTime time = time_of_item(item);
    const HeldBytes* const held = held_at(*curve_, time);
    if (held == nullptr)
        return {};
    QString tip =
        tr("<b>%1</b> in use at %2")
            .arg(display(held->bytes), text_of(time_text(time - workspace_.view().whole().from)));
    for (auto kind = kinds_.rbegin(); kind != kinds_.rend(); ++kind)
        if (const std::int64_t bytes = held->kinds[index_of(*kind)]; bytes > 0)
            tip += QStringLiteral("<br>%1: %2").arg(text_of(to_name(*kind)), display(bytes));
    const HeldBytes& peak = curve_->points[curve_->peak];
    tip += tr("<br>peak %1 at %2: %3")
               .arg(display(peak.bytes),
                    text_of(time_text(peak.time - workspace_.view().whole().from)),
                    place_text().toHtmlEscaped());
    return tip;
}

void MemoryPanel::choose(std::size_t item)
{
    workspace_.view().set_cursor(time_of_item(item));
}

bool MemoryPanel::press(int key)
{
    ViewState& view = workspace_.view();
    if (key == Qt::Key_P && items() > 0)
        view.set_cursor(curve_->points[curve_->peak].time);
    else if (key == Qt::Key_F)
        view.show_all();
    else if (key == Qt::Key_W || key == Qt::Key_S) {
        const TimeRange range = view.range();
        const SimTime eighth(range.length().value() / 8);
        view.show(key == Qt::Key_W ? TimeRange{range.from + eighth, range.to - eighth}
                                   : TimeRange{range.from - eighth, range.to + eighth});
    } else
        return false;
    return true;
}

TableData MemoryPanel::table() const
{
    TableData out;
    out.columns = {tr("Time [ms]"), tr("In use [GB]")};
    for (const MemoryKind kind : kinds_)
        out.columns << tr("%1 [GB]").arg(text_of(to_name(kind)));
    if (items() == 0)
        return out;
    const TimeRange range = workspace_.view().range();
    std::vector<HeldBytes> rows = columns_of(*curve_, range.from, range.to, stops);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (const HeldBytes& held : rows) {
        QStringList row{QString::number(x_of(held.time) * unit() / 1e9, 'g', 9),
                        QString::number(gigabytes(held.bytes), 'g', 9)};
        for (const MemoryKind kind : kinds_)
            row << QString::number(gigabytes(held.kinds[index_of(kind)]), 'g', 9);
        out.rows.push_back(row);
    }
    return out;
}

} // namespace trainyard::gui
