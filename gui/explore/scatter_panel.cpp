#include "gui/explore/scatter_panel.h"

#include "gui/explore/ranges.h"
#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/flat_button.h"
#include "sim/base/units.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QToolTip>
#include <cmath>

namespace trainyard::gui {

ScatterPanel::ScatterPanel(const PointStore& store, Marks& marks, const PointsModel& rows,
                           QWidget* parent)
    : Panel(parent),
      store_(store),
      marks_(marks),
      rows_(rows),
      chart_(new ScatterChart(store, marks)),
      x_(new ElidedComboBox),
      y_(new ElidedComboBox),
      colour_(new ElidedComboBox),
      log_x_(new QCheckBox(tr("log"))),
      log_y_(new QCheckBox(tr("log")))
{
    auto* const row = new QHBoxLayout;
    const auto add = [&](const QString& text, QComboBox* box, QCheckBox* log, const QString& name) {
        auto* const label = new QLabel(text);
        label->setBuddy(box);
        box->setAccessibleName(name);
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(5);
        row->addWidget(label);
        row->addWidget(box, 1);
        if (log != nullptr) {
            log->setToolTip(tr("logarithmic %1 axis").arg(text));
            log->setAccessibleName(log->toolTip());
            row->addWidget(log);
            connect(log, &QCheckBox::toggled, this, &ScatterPanel::read_choices);
        }
        connect(box, &QComboBox::currentIndexChanged, this, &ScatterPanel::read_choices);
    };
    add(tr("x"), x_, log_x_, tr("what is drawn to the right"));
    add(tr("y"), y_, log_y_, tr("what is drawn upwards"));
    add(tr("colour"), colour_, nullptr, tr("what colours the points"));
    QToolButton* const fit = flat_button(tr("Fit"), tr("show all points (F)"));
    connect(fit, &QToolButton::clicked, chart_, &ScatterChart::fit);
    row->addWidget(fit);
    in_a_column(this, {row, {chart_, 1}}, {.spacing = 2});
    setFocusProxy(chart_);
    chart_->setAccessibleName(title());
    chart_->installEventFilter(this);
    connect(chart_, &ScatterChart::opened, this, &ScatterPanel::opened);
    connect(chart_, &ScatterChart::hovered, this,
            [this](std::uint32_t point, const QPoint& global) {
                QToolTip::showText(global, describe(point), chart_);
            });
    connect(&marks_, &Marks::currentChanged, this, [this] {
        const auto point = marks_.current();
        chart_->setAccessibleDescription(point && store_.has(*point) ? describe(*point)
                                                                     : QString());
    });
}

void ScatterPanel::paint_to(QPainter& painter, const QSize& size)
{
    const int below = note_.isEmpty() ? 0 : 2 * fontMetrics().height();
    chart_->paint_chart(painter, {size.width(), size.height() - below});
    if (below == 0)
        return;
    const QRect line(0, size.height() - below, size.width(), below);
    painter.fillRect(line, palette().color(QPalette::Base));
    painter.setPen(palette().color(QPalette::Text));
    painter.setFont(font());
    painter.drawText(line, Qt::AlignCenter, note_);
}

void ScatterPanel::restart(std::vector<Metric> metrics)
{
    metrics_ = std::move(metrics);
    fill_choices();
    apply();
}

void ScatterPanel::set_choice(const ScatterChoice& choice)
{
    choice_ = choice;
    fill_choices();
    apply();
}

void ScatterPanel::fill_choices()
{
    filling_ = true;
    for (QComboBox* const box : {x_, y_, colour_})
        box->clear();
    colour_->addItem(tr("none"), QString());
    for (const Metric& metric : metrics_) {
        x_->addItem(metric.title, metric.key); // its unit is on the axis
        y_->addItem(metric.title, metric.key);
        colour_->addItem(metric.title, metric.key);
    }
    const auto choose = [](QComboBox* box, const QString& key, int otherwise) {
        const int at = box->findData(key);
        box->setCurrentIndex(at >= 0 ? at : std::min(otherwise, box->count() - 1));
    };
    choose(x_, choice_.x, 0);
    choose(y_, choice_.y, 1);
    const auto field =
        std::ranges::find_if(metrics_, [](const Metric& one) { return one.axis.has_value(); });
    const bool known = choice_.colour.isEmpty() || find_metric(metrics_, choice_.colour) != nullptr;
    choose(colour_, known || field == metrics_.end() ? choice_.colour : field->key, 0);
    log_x_->setChecked(choice_.log_x);
    log_y_->setChecked(choice_.log_y);
    filling_ = false;
}

void ScatterPanel::read_choices()
{
    if (filling_ || metrics_.empty())
        return;
    choice_ = {x_->currentData().toString(), y_->currentData().toString(),
               colour_->currentData().toString(), log_x_->isChecked(), log_y_->isChecked()};
    apply();
    emit choiceChanged();
}

void ScatterPanel::apply()
{
    if (metrics_.empty())
        return;
    ScatterAxes axes;
    axes.x = *find_metric(metrics_, x_->currentData().toString());
    axes.y = *find_metric(metrics_, y_->currentData().toString());
    if (const Metric* colour = find_metric(metrics_, colour_->currentData().toString()))
        axes.colour = *colour;
    axes.log_x = log_x_->isChecked();
    axes.log_y = log_y_->isChecked();
    log_x_->setEnabled(!axes.x.axis);
    log_y_->setEnabled(!axes.y.axis);
    chart_->set_axes(axes);
}

QString ScatterPanel::describe(std::uint32_t point) const
{
    QStringList fields;
    QStringList lines;
    const auto time = [&](std::string_view key) {
        return text_of(to_display(Seconds(store_.figure(point, key))));
    };
    const auto bytes = [&](std::string_view key) {
        return text_of(figure_of(key).text(store_.figure(point, key)));
    };
    const double high = store_.figure(point, "peak_memory_high_bytes"); // NaN: not known
    for (const Metric& metric : metrics_) {
        const QString text = text_of(store_, point, metric);
        if (metric.axis)
            fields << QStringLiteral("%1 %2").arg(metric.title, text);
        else if (metric.figure->unit == FigureUnit::seconds &&
                 !std::isnan(store_.figure(point, "step_time_low_s")))
            lines << tr("%1: %2 (%3 – %4)")
                         .arg(metric.title, time(metric.figure->key), time("step_time_low_s"),
                              time("step_time_high_s"));
        else if (metric.figure == &figure_of("peak_memory_bytes") && high > 0)
            lines << tr("%1: %2 (%3 – %4)")
                         .arg(metric.title, bytes("peak_memory_bytes"),
                              bytes("peak_memory_low_bytes"), bytes("peak_memory_high_bytes"));
        else if (!text.isEmpty())
            lines << QStringLiteral("%1: %2 %3").arg(metric.title, text, metric.unit).trimmed();
    }
    if (!store_.feasible(point)) {
        lines << text_of(store_.reason(point));
        const std::string hint =
            point == PointStore::guest ? "" : store_.kinds()[store_.kind(point)].hint;
        if (!hint.empty())
            lines << text_of(hint);
    }
    return fields.join(QStringLiteral(", ")) + '\n' + lines.join('\n');
}

bool ScatterPanel::eventFilter(QObject* watched, QEvent* event)
{
    // Escape would otherwise be the window's, which cancels runs.
    if (watched == chart_ && event->type() == QEvent::ShortcutOverride && marks_.any() &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape)
    {
        event->accept();
        return true;
    }
    if (watched == chart_ && event->type() == QEvent::KeyPress)
        return take_key(static_cast<QKeyEvent*>(event)->key());
    return Panel::eventFilter(watched, event);
}

void ScatterPanel::step_along_front(int by)
{
    const std::vector<FrontPoint>& front = chart_->front().points();
    if (front.empty())
        return;
    const auto at = std::ranges::find_if(
        front, [&](const FrontPoint& one) { return marks_.current() == one.point; });
    const auto last = static_cast<int>(front.size()) - 1;
    const int next =
        at == front.end() ? (by > 0 ? 0 : last) : static_cast<int>(at - front.begin()) + by;
    marks_.set_current(front[static_cast<std::size_t>(std::clamp(next, 0, last))].point);
}

bool ScatterPanel::take_key(int key)
{
    const std::optional<std::uint32_t> current = marks_.current();
    switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (!current || *current >= store_.size() || !store_.feasible(*current))
            step_along_front(1);
        else if (const auto next = chart_->neighbour(*current, static_cast<Qt::Key>(key)))
            marks_.set_current(next);
        return true;
    case Qt::Key_BracketRight:
    case Qt::Key_BracketLeft:
        step_along_front(key == Qt::Key_BracketRight ? 1 : -1);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (current)
            emit opened(*current);
        return true;
    case Qt::Key_P:
        if (current)
            emit pinWanted(*current);
        return true;
    case Qt::Key_F:
        chart_->fit();
        return true;
    case Qt::Key_Escape:
        marks_.clear();
        return true;
    default:
        return false;
    }
}

} // namespace trainyard::gui
