#include "gui/scenario/stepper.h"

#include "gui/model/choices.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/theme.h"

#include <QEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <utility>

namespace trainyard::gui {

Stepper::Stepper(const QString& name, const QString& help, QWidget* parent)
    : QWidget(parent),
      name_(new QLabel(name)),
      less_(new QToolButton),
      slider_(new QSlider),
      more_(new QToolButton),
      value_(new QLabel),
      help_(help)
{
    setToolTip(help);
    slider_->setOrientation(Qt::Horizontal);
    slider_->setPageStep(1);
    slider_->setTickPosition(QSlider::TicksBelow);
    slider_->setTickInterval(1);
    slider_->setAccessibleName(name);
    slider_->setAccessibleDescription(help);
    less_->setText(QStringLiteral("−"));
    more_->setText(QStringLiteral("+"));
    less_->setAccessibleName(tr("less %1").arg(name));
    more_->setAccessibleName(tr("more %1").arg(name));
    for (QToolButton* const button : {less_, more_}) {
        button->setAutoRepeat(true);
        button->setFocusPolicy(Qt::NoFocus); // the slider's arrow keys do the same
    }
    name_->setBuddy(slider_);
    name_->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("micro_batch  ")));
    value_->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("1024 MiB ")));
    value_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);

    in_a_row(this, {name_, less_, {slider_, 1}, more_, value_}, {.spacing = 4});

    connect(less_, &QToolButton::clicked, this, [this] { step(-1); });
    connect(more_, &QToolButton::clicked, this, [this] { step(+1); });
    connect(slider_, &QSlider::valueChanged, this, [this](int position) {
        direction_ = position < std::exchange(last_, position) ? -1 : 1;
        show_value();
        emit chosen(value(), slider_->isSliderDown());
    });
    connect(slider_, &QSlider::sliderReleased, this, &Stepper::let_go);
    setFocusProxy(slider_);
}

bool Stepper::dragging() const
{
    return slider_->isSliderDown();
}

void Stepper::set_values(const QStringList& values, const QString& current)
{
    QStringList all = values;
    if (!all.contains(current)) {
        std::vector<std::string> texts;
        for (const QString& value : values)
            texts.push_back(value.toStdString());
        all.insert(static_cast<qsizetype>(place_among(texts, current.toStdString())), current);
    }
    if (all == values_ && value() == current)
        return;
    if (slider_->isSliderDown() && all.contains(value()))
        return; // the hand knows better
    const QSignalBlocker quiet(slider_);
    values_ = all;
    slider_->setRange(0, static_cast<int>(all.size()) - 1);
    slider_->setValue(static_cast<int>(all.indexOf(current)));
    last_ = slider_->value();
    show_value();
}

QString Stepper::value() const
{
    return values_.value(slider_->value());
}

QStringList Stepper::next_values() const
{
    QStringList next;
    for (const int steps : {direction_, 2 * direction_, -direction_})
        if (const int position = last_ + steps; position >= 0 && position < values_.size())
            next.push_back(values_[position]);
    return next;
}

void Stepper::set_problem(const QString& problem)
{
    if (problem == problem_)
        return;
    problem_ = problem;
    setToolTip(problem.isEmpty() ? help_ : tr("%1\n%2").arg(problem, help_));
    show_colours();
}

void Stepper::show_colours()
{
    QPalette colours = palette();
    if (!problem_.isEmpty())
        colours.setColor(QPalette::WindowText, sign_colours(colours).error);
    value_->setPalette(colours);
}

void Stepper::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        show_colours();
}

void Stepper::step(int by)
{
    slider_->setValue(slider_->value() + by);
}

void Stepper::show_value()
{
    value_->setText(value());
    less_->setEnabled(slider_->value() > slider_->minimum());
    more_->setEnabled(slider_->value() < slider_->maximum());
}

} // namespace trainyard::gui
