#include "gui/scenario/headline_bar.h"

#include "gui/model/qt_text.h"
#include "gui/scenario/advice_line.h"
#include "gui/scenario/headline_card.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"
#include "sim/report/text/describe.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int card_count = 5;
constexpr int late_after_ms = 200;

template <class Label>
Label* sized_label(Label* text, double times)
{
    text->setFont(sized(text->font(), times));
    return text;
}

QString bottleneck_text(const Bottleneck& bottleneck)
{
    return QObject::tr("Bound by %1: %2")
        .arg(text_of(to_name(bottleneck.kind)), text_of(bottleneck.evidence));
}

QLabel* chip_label(const StatusChip& chip, const QPalette& palette)
{
    const SignColours colours = sign_colours(palette);
    const QColor colour = chip.kind == StatusChip::Kind::error     ? colours.error
                          : chip.kind == StatusChip::Kind::warning ? colours.warning
                                                                   : colours.quiet;
    auto* const label = sized_label(new QLabel(chip.text), 0.85);
    if (chip.kind == StatusChip::Kind::error)
        label->setFont(bold(label->font()));
    label->setObjectName(QStringLiteral("chip"));
    label->setStyleSheet(QStringLiteral("QLabel#chip { border: 1px solid %1; border-radius: 4px; "
                                        "padding: 0px 5px; color: %1; }")
                             .arg(colour.name()));
    label->setToolTip(chip.explanation);
    label->setAccessibleDescription(chip.explanation);
    return label;
}

} // namespace

HeadlineBar::HeadlineBar(Workspace& workspace, QWidget* parent)
    : QFrame(parent),
      workspace_(workspace),
      title_(sized_label(new ElidedLabel, 1.05)),
      settings_(sized_label(new ElidedLabel, 0.95)),
      chips_(new QHBoxLayout),
      state_(sized_label(new QLabel, 0.9)),
      advice_(new AdviceLine(workspace)),
      late_(new QTimer(this))
{
    setObjectName(QStringLiteral("headline"));
    setFrameShape(QFrame::StyledPanel);
    auto* const column = in_a_column(this, {}, {.margins = {12, 6, 12, 6}, .spacing = 2});
    make_title(*column);
    auto* const row = in_a_row({}, {.spacing = 18});
    for (int i = 0; i < card_count; ++i) {
        cards_.push_back(new HeadlineCard);
        row->addWidget(cards_.back(), 1);
        connect(cards_.back(), &HeadlineCard::chosen, this, &HeadlineBar::view_wanted);
    }
    column->addLayout(row);
    state_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    state_->setFocusPolicy(Qt::NoFocus);
    state_->setWordWrap(true);
    column->addWidget(state_);
    column->addWidget(advice_);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base); // tells changeEvent, which shows what there is by now

    late_->setSingleShot(true);
    late_->setInterval(late_after_ms);
    connect(late_, &QTimer::timeout, this, &HeadlineBar::follow);
    connect(&workspace_.live(), &LiveRun::started, late_, qOverload<>(&QTimer::start));
    connect(&workspace_, &Workspace::runChanged, this, [this] {
        late_->stop();
        follow();
        show_now();
    });
    connect(&workspace_, &Workspace::problemsChanged, this, &HeadlineBar::show_state);
    connect(&workspace_, &Workspace::baselineChanged, this, &HeadlineBar::follow);
    connect(&workspace_, &Workspace::priceChanged, this, &HeadlineBar::follow);
    follow();
}

void HeadlineBar::make_title(QBoxLayout& column)
{
    title_->setFont(bold(title_->font()));
    title_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    settings_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    chips_->setSpacing(4);
    auto* const row = in_a_row({title_, {settings_, 1}, chips_}, {.spacing = 10});
    column.addLayout(row);
}

// The figures are of the scenario as it is now, and can be.
bool HeadlineBar::is_current() const
{
    return workspace_.current() && !has_errors(workspace_.problems());
}

void HeadlineBar::follow()
{
    // What cannot run has figures of another scenario: they are no answer to the baseline.
    const RunView* const other =
        has_errors(workspace_.problems()) ? nullptr : workspace_.compared().get();
    std::vector<HeadlineItem> items(card_count);
    if (workspace_.run() != nullptr)
        items = headline_of(*workspace_.run(), other, workspace_.price());
    for (std::size_t i = 0; i < cards_.size(); ++i)
        cards_[i]->show_item(items[i], is_current());
    show_title();
    show_chips();
    show_state();
}

// Before other views make their pictures of the run.
void HeadlineBar::show_now()
{
    if (!isVisible())
        return;
    for (HeadlineCard* const card : cards_)
        card->layout()->activate();
    layout()->activate();
    repaint();
}

void HeadlineBar::show_title()
{
    const SignColours colours = sign_colours(palette());
    const RunView* const run = workspace_.run().get();
    title_->set_text(run != nullptr ? text_of(job_title(*run->outcome)) : QString());
    settings_->set_text(run != nullptr ? text_of(job_settings(*run->outcome)) : QString());
    colour_text(title_, is_current() ? palette().color(QPalette::WindowText) : colours.quiet);
    colour_text(settings_, colours.quiet);
}

// Made anew only where they differ: style sheets take their time.
void HeadlineBar::set_chips(const std::vector<StatusChip>& chips)
{
    if (chips == shown_chips_)
        return;
    shown_chips_ = chips;
    while (QLayoutItem* const item = chips_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const StatusChip& chip : chips)
        chips_->addWidget(chip_label(chip, palette()));
}

void HeadlineBar::show_chips()
{
    if (workspace_.run() == nullptr) {
        set_chips({});
        return;
    }
    std::vector<StatusChip> chips = chips_of(*workspace_.run());
    if (!workspace_.current())
        chips.insert(chips.begin(),
                     {workspace_.live().busy() ? tr("simulating") : tr("out of date"),
                      StatusChip::Kind::warning, tr("The figures are of an earlier scenario.")});
    else if (workspace_.compared() != nullptr)
        chips.insert(
            chips.begin(),
            {workspace_.baseline() != nullptr ? tr("against the baseline")
                                              : tr("against the run before"),
             StatusChip::Kind::plain,
             workspace_.baseline() != nullptr
                 ? tr("Changes are against the pinned baseline (Run > Forget the baseline).")
                 : tr("Changes are against the run before the last change; Run > Pin as baseline "
                      "keeps one.")});
    set_chips(chips);
}

void HeadlineBar::show_state()
{
    write_state();
    fit_state();
}

// One line: what the figures are of; above them, why they cannot be.
void HeadlineBar::write_state()
{
    const SignColours colours = sign_colours(palette());
    const Problems& problems = workspace_.problems();
    const auto first = std::ranges::find(problems, Severity::error, &Diagnostic::severity);
    const bool possible = first == problems.end();
    colour_text(state_, possible ? colours.quiet : colours.error);
    state_->setText(possible ? meaning() : verdict(*first));
    auto* const column = static_cast<QVBoxLayout*>(layout());
    const int place = possible ? column->count() - 2 : 1; // above the advice, or below the title
    if (column->indexOf(state_) == place)
        return;
    column->removeWidget(state_);
    column->insertWidget(place, state_);
}

QString HeadlineBar::meaning() const
{
    if (workspace_.cancelled())
        return tr("Cancelled; Run > Simulate again (F5) goes on. The figures are of the scenario "
                  "before.");
    if (workspace_.run() != nullptr)
        return bottleneck_text(workspace_.run()->summary.bottleneck);
    return tr("No scenario yet: open one, or take an example from the start page.");
}

QString HeadlineBar::verdict(const Diagnostic& error) const
{
    QString text = text_of(error.message);
    if (!error.pointer.empty())
        text = text_of(error.pointer) + QStringLiteral(": ") + text;
    if (workspace_.current())
        return tr("%1 (the figures are what it would be with more memory)").arg(text);
    return workspace_.run() != nullptr
               ? tr("%1 (the figures are of the last scenario that ran)").arg(text)
               : text;
}

// As many lines as its text takes at this width: a label that wraps asks for more.
void HeadlineBar::fit_state()
{
    state_->setFixedHeight(state_->heightForWidth(state_->width()));
}

void HeadlineBar::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    fit_state();
}

void HeadlineBar::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange) {
        shown_chips_.clear(); // in other colours
        follow();
    }
    QFrame::changeEvent(event);
}

} // namespace trainyard::gui
