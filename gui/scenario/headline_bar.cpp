#include "gui/scenario/headline_bar.h"

#include "gui/scenario/advice_line.h"
#include "gui/widgets/theme.h"

#include <QEvent>
#include <QFocusEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QStyleOptionFocusRect>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr int card_count = 5;

// Shows what its tooltip says to the keyboard too.
class CardBox : public QWidget {
public:
    CardBox() { setFocusPolicy(Qt::TabFocus); }

protected:
    void focusInEvent(QFocusEvent* event) override
    {
        QWidget::focusInEvent(event);
        if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason)
            QToolTip::showText(mapToGlobal(rect().bottomLeft()), toolTip(), this);
        update();
    }
    void focusOutEvent(QFocusEvent* event) override
    {
        QWidget::focusOutEvent(event);
        QToolTip::hideText();
        update();
    }
    void paintEvent(QPaintEvent*) override
    {
        if (!hasFocus())
            return;
        QPainter painter(this);
        QStyleOptionFocusRect option;
        option.initFrom(this);
        style()->drawPrimitive(QStyle::PE_FrameFocusRect, &option, &painter, this);
    }
};

QLabel* label(double size, bool bold)
{
    auto* const text = new QLabel;
    QFont font = text->font();
    font.setPointSizeF(font.pointSizeF() * size);
    font.setBold(bold);
    text->setFont(font);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text->setFocusPolicy(Qt::NoFocus);
    return text;
}

QString bottleneck_text(const Bottleneck& bottleneck)
{
    return QObject::tr("Bound by %1: %2")
        .arg(QString::fromStdString(std::string(to_name(bottleneck.kind))),
             QString::fromStdString(bottleneck.evidence));
}

void colour_text(QLabel* text, const QColor& colour)
{
    QPalette palette = text->palette();
    palette.setColor(text->foregroundRole(), colour);
    text->setPalette(palette);
}

} // namespace

HeadlineBar::HeadlineBar(Workspace& workspace, QWidget* parent)
    : QFrame(parent), workspace_(workspace), state_(label(0.9, false))
{
    setObjectName(QStringLiteral("headline"));
    setFrameShape(QFrame::StyledPanel);
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(12, 6, 12, 6);
    column->setSpacing(2);
    auto* const row = new QHBoxLayout;
    row->setSpacing(18);
    for (int i = 0; i < card_count; ++i) {
        cards_.push_back(add_card());
        row->addWidget(cards_.back().box, 1);
    }
    column->addLayout(row);
    state_->setWordWrap(true);
    column->addWidget(state_);
    column->addWidget(new AdviceLine(workspace_));
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base); // tells changeEvent, which shows what there is by now

    connect(&workspace_, &Workspace::runChanged, this, [this] {
        follow();
        show_now();
    });
    connect(&workspace_, &Workspace::problemsChanged, this, &HeadlineBar::show_state);
    connect(&workspace_, &Workspace::baselineChanged, this, &HeadlineBar::follow);
    connect(&workspace_, &Workspace::priceChanged, this, &HeadlineBar::follow);
    follow();
}

HeadlineBar::Card HeadlineBar::add_card()
{
    Card card{new CardBox, label(0.85, false), label(1.5, true), label(0.95, true),
              label(0.85, false)};
    auto* const column = new QVBoxLayout(card.box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(card.name);
    auto* const row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(card.value);
    row->addWidget(card.change, 1, Qt::AlignBottom);
    column->addLayout(row);
    column->addWidget(card.interval);
    return card;
}

void HeadlineBar::follow()
{
    // What cannot run has figures of another scenario: they are no answer to the baseline.
    const RunView* const baseline =
        has_errors(workspace_.problems()) ? nullptr : workspace_.baseline().get();
    std::vector<HeadlineItem> items(card_count);
    if (workspace_.run() != nullptr)
        items = headline_of(*workspace_.run(), baseline, workspace_.price());
    for (std::size_t i = 0; i < cards_.size(); ++i)
        show_item(cards_[i], items[i]);
    show_state();
}

// Before other views make their pictures of the run.
void HeadlineBar::show_now()
{
    if (!isVisible())
        return;
    for (const Card& card : cards_)
        card.box->layout()->activate();
    layout()->activate();
    repaint();
}

void HeadlineBar::show_item(const Card& card, const HeadlineItem& item)
{
    const SignColours colours = sign_colours(palette());
    card.name->setText(item.name);
    card.value->setText(item.value.isEmpty() ? QStringLiteral("–") : item.value);
    card.interval->setText(item.interval);
    QString change = item.change;
    if (item.trend != Trend::none)
        change += item.trend == Trend::better ? tr(" better") : tr(" worse");
    card.change->setText(change);
    colour_text(card.name, colours.quiet);
    colour_text(card.interval, item.impossible ? colours.error : colours.quiet);
    QFont font = card.interval->font();
    font.setBold(item.impossible);
    card.interval->setFont(font);
    colour_text(card.change, item.trend == Trend::better  ? colours.better
                             : item.trend == Trend::worse ? colours.worse
                                                          : palette().color(QPalette::WindowText));
    const bool possible = workspace_.current() && !has_errors(workspace_.problems());
    colour_text(card.value, possible ? palette().color(QPalette::WindowText) : colours.quiet);
    card.box->setToolTip(item.explanation);
    card.box->setAccessibleDescription(item.explanation);
    card.box->setAccessibleName(
        QStringList{item.name, item.value, item.interval, change}.join(QStringLiteral(", ")));
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
    const int place = possible ? column->count() - 1 : 0;
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
    QString text = QString::fromStdString(error.message);
    if (!error.pointer.empty())
        text = QString::fromStdString(error.pointer) + QStringLiteral(": ") + text;
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
    if (event->type() == QEvent::PaletteChange)
        follow();
    QFrame::changeEvent(event);
}

} // namespace trainyard::gui
