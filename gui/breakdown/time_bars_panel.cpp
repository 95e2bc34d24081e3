#include "gui/breakdown/time_bars_panel.h"

#include "gui/widgets/theme.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr double thickness = 0.74; // of a bar, of a row
constexpr std::size_t all_rows = 1000;

// Ranks with a bar of their own, and those that they stand for.
std::size_t ranks_shown(const std::vector<TimeBar>& bars, const Outcome& outcome)
{
    std::size_t ranks = 0;
    for (const TimeBar& bar : bars)
        if (bar.of == BarOf::rank || bar.of == BarOf::critical) {
            const auto& lanes = outcome.binding->lanes;
            const auto lane = std::ranges::find(lanes, *bar.rank, &Lane::rank);
            ranks += lane == lanes.end() ? 1 : static_cast<std::size_t>(lane->multiplicity);
        }
    return ranks;
}

const Outcome* outcome_of(const std::shared_ptr<const RunView>& run)
{
    return run == nullptr ? nullptr : run->outcome.get();
}

} // namespace

TimeBarsPanel::TimeBarsPanel(Workspace& workspace, QWidget* parent)
    : ChartPanel(QStringLiteral("breakdown-time"), tr("Where the time goes"), parent),
      workspace_(workspace),
      unit_(new QComboBox)
{
    unit_->addItems({tr("seconds"), tr("% of the step")});
    unit_->setAccessibleName(tr("Unit of the bars"));
    tools().insertWidget(2, unit_);
    connect(unit_, &QComboBox::currentIndexChanged, this, &TimeBarsPanel::fill);

    put_legend_below();
    for (const TimeKind kind : time_kinds()) {
        auto* const series = new QCPBars(chart().xAxis, chart().yAxis);
        series->setName(text_of(title_of(kind)));
        series->setPen(Qt::NoPen);
        series->setBrush(brush_of(fill_of(kind), palette()));
        kinds_.push_back(series);
    }
    chart().yAxis->setRangeReversed(true);
    chart().yAxis->grid()->setVisible(false);
    chart().yAxis->setTickLength(0);
    new PaintItem(&chart(), [this](QCPPainter& painter) { paint_bars(painter); });
    connect(&chart(), &QCustomPlot::legendClick, this,
            [this](QCPLegend*, QCPAbstractLegendItem* item) {
                auto* const one = qobject_cast<QCPPlottableLegendItem*>(item);
                for (std::size_t k = 0; one != nullptr && k < kinds_.size(); ++k)
                    if (one->plottable() == kinds_[k])
                        highlight(highlighted_ == time_kinds()[k] ? std::nullopt
                                                                  : std::optional(time_kinds()[k]));
            });
    connect(&workspace_, &Workspace::runChanged, this, &TimeBarsPanel::follow);
    connect(&workspace_, &Workspace::baselineChanged, this, &TimeBarsPanel::follow);
    connect(&workspace_.view(), &ViewState::selectionChanged, &chart(),
            [this] { chart().replot(QCustomPlot::rpQueuedReplot); });
    connect(this, &Panel::sightChanged, this, &TimeBarsPanel::follow);
    connect(&chart(), &Chart::themed, this, &TimeBarsPanel::fill);
    follow();
}

void TimeBarsPanel::follow()
{
    const Outcome* const outcome = outcome_of(workspace_.run());
    set_message(outcome != nullptr ? QString()
                                   : tr("Where the time of a step goes is shown here as soon as "
                                        "a scenario is open and has been simulated."));
    set_stale(outcome != nullptr && !workspace_.current() && !workspace_.live().busy());
    fill();
}

std::size_t TimeBarsPanel::rows_in(int height) const
{
    const int line = fontMetrics().height();
    return static_cast<std::size_t>(std::max(2, (height - 15 * line / 2) / (line * 5 / 4)));
}

void TimeBarsPanel::fit(const QSize& size)
{
    if (rows_in(size.height()) != rows_) {
        rows_ = rows_in(size.height());
        fill();
    }
    fit_legend(size.width());
}

void TimeBarsPanel::fill()
{
    const Outcome* const outcome = outcome_of(workspace_.run());
    bars_.clear();
    pieces_.clear();
    mark(std::nullopt);
    if (outcome == nullptr)
        return;
    bars_ = time_bars(*outcome, outcome_of(workspace_.baseline()), std::max<std::size_t>(rows_, 2));
    const bool seconds = unit_->currentIndex() == 0;
    pieces_ = pieces_of(bars_, seconds ? BarUnit::seconds : BarUnit::share);
    double longest = 0;
    for (const BarPiece& piece : pieces_)
        longest = std::max(longest, piece.to);
    const double factor = !seconds ? 100 : longest < 1e-3 ? 1e6 : longest < 1 ? 1e3 : 1;
    for (BarPiece& piece : pieces_) {
        piece.from *= factor;
        piece.to *= factor;
    }
    chart().xAxis->setLabel(!seconds        ? tr("% of the step")
                            : factor == 1   ? tr("time of a step [s]")
                            : factor == 1e3 ? tr("time of a step [ms]")
                                            : tr("time of a step [us]"));
    const auto stages =
        static_cast<std::size_t>(std::ranges::count(bars_, BarOf::stage, &TimeBar::of));
    const std::size_t all = outcome->plan->program.roles.size();
    if (stages > 0 && stages < all)
        chart().xAxis->setLabel(
            tr("%1; %2 of %3 stages shown").arg(chart().xAxis->label()).arg(stages).arg(all));
    const std::size_t ranks = ranks_shown(bars_, *outcome);
    const auto all_ranks = static_cast<std::size_t>(workspace_.run()->summary.gpus);
    if (std::ranges::count(bars_, BarOf::rank, &TimeBar::of) > 0 && ranks < all_ranks)
        chart().xAxis->setLabel(
            tr("%1; %2 of %3 ranks shown").arg(chart().xAxis->label()).arg(ranks).arg(all_ranks));
    chart().xAxis->setRange(0, std::max(longest * factor, 1e-9) * (seconds ? 1.02 : 1.0));
    const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    for (std::size_t bar = 0; bar < bars_.size(); ++bar)
        ticker->addTick(static_cast<double>(bar), text_of(bars_[bar].name));
    chart().yAxis->setTicker(ticker);
    chart().yAxis->setRange(-0.5, static_cast<double>(bars_.size()) - 0.5);
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
        kinds_[k]->setBrush(brush_of(fill_of(time_kinds()[k]), palette()));
        kinds_[k]->removeFromLegend();
    }
    std::vector<TimeShares> steps;
    for (const TimeBar& bar : bars_)
        steps.push_back(bar.shares);
    for (const TimeKind kind : visible_kinds(steps))
        kinds_[index_of(kind)]->addToLegend();
    fit_legend(chart().width());
    chart().replot(QCustomPlot::rpQueuedReplot);
}

QRectF TimeBarsPanel::bounds_of(std::size_t item) const
{
    const BarPiece& piece = pieces_[item];
    const QCPAxis& x = *const_cast<TimeBarsPanel*>(this)->chart().xAxis;
    const QCPAxis& y = *const_cast<TimeBarsPanel*>(this)->chart().yAxis;
    const auto row = static_cast<double>(piece.bar);
    return QRectF(QPointF(x.coordToPixel(piece.from), y.coordToPixel(row - thickness / 2)),
                  QPointF(x.coordToPixel(piece.to), y.coordToPixel(row + thickness / 2)))
        .normalized();
}

void TimeBarsPanel::paint_piece(QCPPainter& painter, const BarPiece& piece) const
{
    const Fill& fill = fill_of(piece.kind);
    const bool pale = highlighted_ && *highlighted_ != piece.kind;
    QColor colour = colour_of(fill, palette());
    const QRectF box = bounds_of(static_cast<std::size_t>(&piece - pieces_.data()));
    painter.setPen(Qt::NoPen);
    if (pale) {
        colour.setAlphaF(0.25F);
        painter.setBrush(colour);
    } else
        painter.setBrush(brush_of(fill, palette()));
    painter.drawRect(box);
    const QString share = text_of(percent(share_of(bars_[piece.bar].shares, piece.kind)));
    if (fill.hatch != Hatch::none ||
        box.width() < painter.fontMetrics().horizontalAdvance(share) + 6 ||
        box.height() < painter.fontMetrics().ascent())
        return;
    painter.setPen(pale ? palette().color(QPalette::Text) : ink_on(colour));
    painter.drawText(box, Qt::AlignCenter, share);
}

void TimeBarsPanel::paint_bars(QCPPainter& painter) const
{
    painter.setFont(font());
    for (const BarPiece& piece : pieces_)
        paint_piece(painter, piece);
    const std::optional<RankId> selected = workspace_.view().selection().rank;
    if (!selected)
        return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Text), 1.5));
    QRectF box;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        if (bars_[pieces_[i].bar].rank == selected && bars_[pieces_[i].bar].of != BarOf::stage) {
            if (!box.isNull() && box.top() != bounds_of(i).top()) {
                painter.drawRect(box);
                box = {};
            }
            box = box.united(bounds_of(i));
        }
    painter.drawRect(box);
}

QString TimeBarsPanel::length_text(const BarPiece& piece) const
{
    const TimeShares& shares = bars_[piece.bar].shares;
    return tr("%1, %2").arg(text_of(to_display(shares[index_of(piece.kind)])),
                            text_of(percent(share_of(shares, piece.kind))));
}

QString TimeBarsPanel::tip_of(std::size_t item) const
{
    const BarPiece& piece = pieces_[item];
    const TimeBar& bar = bars_[piece.bar];
    QString tip = QStringLiteral("<b>%1</b>: %2<br>%3")
                      .arg(escaped(bar.name), text_of(title_of(piece.kind)), length_text(piece));
    if (!bar.note.empty())
        tip += QStringLiteral("<br>") + escaped(bar.note);
    tip += tr("<br>of a step of %1").arg(text_of(to_display(sum_of(bar.shares))));
    return tip;
}

std::size_t TimeBarsPanel::neighbour(std::size_t item, int key) const
{
    if (key == Qt::Key_Left || key == Qt::Key_Right)
        return ChartPanel::neighbour(item, key);
    // The piece of the next bar that lies under the middle of this one.
    const BarPiece& from = pieces_[item];
    const double middle = (from.from + from.to) / 2;
    std::size_t best = item;
    const std::size_t bar = key == Qt::Key_Down ? from.bar + 1 : from.bar - 1;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
        if (pieces_[i].bar == bar && (pieces_[i].from <= middle || best == item))
            best = i;
    return best;
}

void TimeBarsPanel::choose(std::size_t item)
{
    const std::optional<RankId> rank = bars_[pieces_[item].bar].rank;
    if (!rank)
        return;
    Selection selection = workspace_.view().selection();
    selection.rank = rank;
    workspace_.view().select(selection);
}

void TimeBarsPanel::highlight(std::optional<TimeKind> kind)
{
    highlighted_ = kind;
    chart().replot(QCustomPlot::rpQueuedReplot);
}

bool TimeBarsPanel::press(int key)
{
    if (key == Qt::Key_H && marked()) {
        const TimeKind kind = pieces_[*marked()].kind;
        highlight(highlighted_ == kind ? std::nullopt : std::optional(kind));
    } else if (key == Qt::Key_Percent)
        unit_->setCurrentIndex(1 - unit_->currentIndex());
    else
        return false;
    return true;
}

TableData TimeBarsPanel::table() const
{
    TableData out;
    out.columns = {tr("Bar"), tr("Shown as"), tr("Step [ms]")};
    for (const TimeKind kind : time_kinds())
        out.columns << tr("%1 [ms]").arg(text_of(title_of(kind)));
    const Outcome* const outcome = outcome_of(workspace_.run());
    if (outcome == nullptr)
        return out;
    for (const TimeBar& bar : time_bars(*outcome, outcome_of(workspace_.baseline()), all_rows)) {
        QStringList row{text_of(bar.name), text_of(bar.note),
                        QString::number(sum_of(bar.shares).value() * 1e3, 'g', 9)};
        for (const TimeKind kind : time_kinds())
            row << QString::number(bar.shares[index_of(kind)].value() * 1e3, 'g', 9);
        out.rows.push_back(row);
    }
    return out;
}

} // namespace trainyard::gui
