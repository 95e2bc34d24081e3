#include "gui/explore/compare_panel.h"

#include "gui/explore/time_bars.h"
#include "gui/model/qt_text.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/flat_button.h"
#include "gui/widgets/plain_table.h"
#include "gui/widgets/progress_strip.h"
#include "gui/widgets/table_dialog.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QTimer>
#include <QToolButton>

namespace trainyard::gui {

namespace {

constexpr int request_after_ms = 100;

} // namespace

ComparePanel::ComparePanel(Workspace& workspace, QWidget* parent)
    : Panel(parent),
      workspace_(workspace),
      buttons_(new QHBoxLayout),
      note_(new QLabel),
      view_(plain_table(tr("what differs"))),
      bars_(new TimeBars),
      progress_(new ProgressStrip),
      later_(new QTimer(this))
{
    note_->setWordWrap(true);
    note_->setContentsMargins(6, 0, 6, 0);
    in_a_column(this, {buttons_, note_, progress_, {view_, 1}, bars_},
                {.margins = {0, 4, 0, 0}, .spacing = 4});
    later_->setSingleShot(true);
    later_->setInterval(request_after_ms);
    connect_all();
    make_buttons();
}

void ComparePanel::connect_all()
{
    connect(later_, &QTimer::timeout, this, &ComparePanel::request);
    connect(progress_, &ProgressStrip::cancelled, this, &ComparePanel::cancel);
    connect(&task_, &BackgroundTask::progressed, progress_, &ProgressStrip::set);
    connect(&task_, &BackgroundTask::busyChanged, this, [this] {
        if (!task_.busy())
            progress_->end();
        emit busyChanged();
    });
    connect(&task_, &BackgroundTask::failed, this, [this](const QString& message) {
        take(nullptr);
        say(message);
    });
    connect(&workspace_, &Workspace::runChanged, this, &ComparePanel::follow);
    connect(&workspace_, &Workspace::baselineChanged, this, &ComparePanel::follow);
    connect(this, &Panel::sightChanged, this, &ComparePanel::follow);
}

bool ComparePanel::busy() const
{
    return task_.busy() || later_->isActive();
}

void ComparePanel::cancel()
{
    if (!busy())
        return;
    later_->stop();
    task_.cancel();
    emit busyChanged();
    say(result_ ? tr("Cancelled: this is the last comparison. Run > Simulate again (F5) "
                     "compares again.")
                : tr("Cancelled. Run > Simulate again (F5) compares."));
}

void ComparePanel::set_pins(std::vector<Pin> pins)
{
    pins_ = std::move(pins);
    make_buttons();
    follow();
    emit pinsChanged();
}

void ComparePanel::toggle(const Pin& pin)
{
    std::vector<Pin> pins = pins_;
    const auto same = std::ranges::find(pins, pin.scenario, &Pin::scenario);
    if (same != pins.end())
        pins.erase(same);
    else {
        if (pins.size() == most_pins)
            pins.erase(pins.begin());
        pins.push_back(pin);
    }
    set_pins(std::move(pins));
}

// A button for each pin takes it out again.
void ComparePanel::make_buttons()
{
    while (QLayoutItem* const item = buttons_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (std::size_t i = 0; i < pins_.size(); ++i) {
        const QString name = fontMetrics().elidedText(pins_[i].name, Qt::ElideRight,
                                                      fontMetrics().averageCharWidth() * 22);
        QToolButton* const button =
            tipped_button(QStringLiteral("%1: %2  ✕").arg(i + 1).arg(name),
                          tr("%1: take it out of the comparison").arg(pins_[i].name));
        connect(button, &QToolButton::clicked, this, [this, i] {
            std::vector<Pin> pins = pins_;
            pins.erase(pins.begin() + static_cast<std::ptrdiff_t>(i));
            // Not while the button that asks for it is at work.
            QTimer::singleShot(0, this, [this, pins] { set_pins(pins); });
        });
        buttons_->addWidget(button);
    }
    buttons_->addStretch(1);
}

std::vector<Compared> ComparePanel::wanted() const
{
    std::vector<Compared> out;
    const auto& baseline = workspace_.baseline();
    if (baseline && baseline->outcome)
        out.push_back({tr("baseline"), {}, {}, baseline});
    if (workspace_.run())
        out.push_back({workspace_.current() ? tr("current scenario") : tr("last that ran"),
                       {},
                       {},
                       workspace_.run()});
    for (std::size_t i = 0; i < pins_.size(); ++i)
        out.push_back({tr("pin %1").arg(i + 1), pins_[i].scenario, pins_[i].file, nullptr});
    return out;
}

void ComparePanel::follow()
{
    if (pins_.empty()) {
        later_->stop();
        task_.cancel();
        take(nullptr);
    } else if (in_sight())
        later_->start();
    emit busyChanged();
}

void ComparePanel::request()
{
    progress_->begin(tr("comparing"));
    task_.start([this, all = wanted()](const WorkControl& work) -> BackgroundTask::Answer {
        return [this, result = compare_all(all, session_, work)] { take(result); };
    });
}

void ComparePanel::take(const std::shared_ptr<const ComparedResult>& result)
{
    result_ = result;
    say(pins_.empty() ? tr("Pin up to four points (P or a right click in the chart or the table) "
                           "to see them beside the scenario as it is.")
        : result_     ? result_->problem.trimmed()
                      : QString());
    QAbstractItemModel* const old = view_->model();
    view_->setModel(new TableModel(table(), view_));
    delete old;
    view_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    bars_->set_result(result_);
    bars_->setVisible(result_ && !result_->summaries.empty());
}

void ComparePanel::say(const QString& note)
{
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
}

TableData ComparePanel::table() const
{
    TableData out;
    out.columns = {tr("What")};
    if (!result_)
        return out;
    for (const QString& name : result_->names)
        out.columns << name;
    for (const SettingDifference& setting : result_->comparison.settings) {
        QStringList row{text_of(setting.field)};
        for (const std::string& value : setting.values)
            row << (value.empty() ? tr("default") : text_of(value));
        out.rows.push_back(std::move(row));
    }
    for (const bool differing : {true, false})
        for (const MetricComparison& metric : result_->comparison.metrics) {
            if (metric.differs() != differing)
                continue;
            QStringList row{text_of(metric.title)};
            for (std::size_t i = 0; i < metric.values.size(); ++i) {
                const QString change = i > 0 ? text_of(change_text(metric, i)) : QString();
                const QString value = text_of(metric_text(metric, i));
                row << (change.isEmpty() ? value : QStringLiteral("%1 (%2)").arg(value, change));
            }
            out.rows.push_back(std::move(row));
        }
    QStringList limits{tr("limited by")};
    for (const std::string& bottleneck : result_->comparison.bottlenecks)
        limits << text_of(bottleneck);
    if (limits.size() > 1)
        out.rows.push_back(std::move(limits));
    return out;
}

void ComparePanel::paint_to(QPainter& painter, const QSize& size)
{
    if (!result_) {
        paint_message(painter, size, note_->text(), palette());
        return;
    }
    const int bars = std::min(bars_->sizeHint().height(), size.height() / 2);
    paint_table(painter, {size.width(), size.height() - bars}, table(), palette());
    bars_->paint_bars(painter, QRect(0, size.height() - bars, size.width(), bars));
}

} // namespace trainyard::gui
