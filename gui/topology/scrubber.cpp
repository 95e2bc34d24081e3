#include "gui/topology/scrubber.h"

#include "gui/timeline/time_text.h"
#include "gui/widgets/boxes.h"

#include <QComboBox>
#include <QLabel>
#include <QSlider>
#include <QTimer>
#include <QToolButton>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int slider_steps = 10'000;
constexpr int frame_ms = 33;

} // namespace

Scrubber::Scrubber(ViewState& view, QWidget* parent)
    : QWidget(parent),
      view_(view),
      play_(new QToolButton),
      slider_(new QSlider(Qt::Horizontal)),
      time_(new QLabel),
      speed_(new QComboBox),
      whole_(new QToolButton),
      timer_(new QTimer(this))
{
    in_a_row(this, {play_, {slider_, 1}, time_, speed_, whole_}, {.margins = {4, 0, 4, 0}});
    play_->setAutoRaise(true);
    play_->setAccessibleName(tr("Play or pause (Space)"));
    play_->setToolTip(play_->accessibleName());
    slider_->setRange(0, slider_steps);
    slider_->setPageStep(slider_steps / 20);
    slider_->setSingleStep(slider_steps / 500);
    slider_->setAccessibleName(tr("Time of the picture, within what is in sight"));
    slider_->setToolTip(slider_->accessibleName());
    time_->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("0000.000 ms")) + 8);
    for (const int seconds : {60, 20, 10, 5})
        speed_->addItem(tr("in %1 s").arg(seconds), seconds);
    speed_->setCurrentIndex(1);
    speed_->setAccessibleName(tr("How long playing takes"));
    speed_->setToolTip(tr("How long it takes to play what is in sight"));
    whole_->setText(tr("Mean"));
    whole_->setAutoRaise(true);
    whole_->setToolTip(tr("No moment: the mean over what is in sight (Esc)"));
    timer_->setInterval(frame_ms);
    connect(play_, &QToolButton::clicked, this, &Scrubber::togglePlay);
    connect(timer_, &QTimer::timeout, this, &Scrubber::tick);
    connect(whole_, &QToolButton::clicked, this, [this] {
        pause();
        view_.set_cursor(view_.whole().from);
    });
    connect(slider_, &QSlider::valueChanged, this, [this](int value) {
        if (moving_)
            return;
        const TimeRange range = view_.range();
        const double share = static_cast<double>(value) / slider_steps;
        view_.set_cursor(range.from + SimTime(std::llround(
                                          share * static_cast<double>(range.length().value()))));
    });
    connect(&view_, &ViewState::cursorChanged, this, &Scrubber::follow);
    connect(&view_, &ViewState::rangeChanged, this, &Scrubber::follow);
    pause();
    follow();
}

bool Scrubber::playing() const
{
    return timer_->isActive();
}

double Scrubber::seconds() const
{
    return speed_->currentData().toDouble();
}

void Scrubber::set_origin(SimTime origin)
{
    origin_ = origin;
    follow();
}

void Scrubber::togglePlay()
{
    if (playing()) {
        pause();
        return;
    }
    // Once more from where it begins, if it stands at the end or before it.
    const TimeRange range = view_.range();
    if (view_.cursor() >= range.to || view_.cursor() < range.from)
        view_.set_cursor(range.from);
    play_->setText(QStringLiteral("\u275a\u275a")); // pause
    clock_.start();
    timer_->start();
}

void Scrubber::pause()
{
    timer_->stop();
    play_->setText(QStringLiteral("\u25b6")); // play
}

void Scrubber::tick()
{
    const TimeRange range = view_.range();
    const double passed = static_cast<double>(clock_.restart()) / 1e3 / seconds();
    const SimTime next =
        view_.cursor() +
        SimTime(std::llround(passed * static_cast<double>(range.length().value())));
    view_.set_cursor(std::min(next, range.to));
    if (next >= range.to)
        pause();
}

void Scrubber::follow()
{
    const TimeRange range = view_.range();
    const bool set = view_.cursor() > view_.whole().from;
    const double share = (view_.cursor() - range.from) / range.length();
    moving_ = true;
    slider_->setValue(set ? static_cast<int>(std::lround(slider_steps * share)) : 0);
    moving_ = false;
    time_->setText(set ? QString::fromStdString(time_text(view_.cursor() - origin_)) : tr("mean"));
}

} // namespace trainyard::gui
