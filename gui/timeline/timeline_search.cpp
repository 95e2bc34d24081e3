#include "gui/timeline/timeline_search.h"

#include "gui/timeline/timeline_canvas.h"
#include "gui/widgets/boxes.h"
#include "gui/widgets/flat_button.h"

#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QTimer>

namespace trainyard::gui {

namespace {

constexpr int search_after_ms = 120;

} // namespace

TimelineSearch::TimelineSearch(TimelineCanvas& canvas, QWidget* parent)
    : QWidget(parent),
      canvas_(canvas),
      line_(new QLineEdit),
      matches_(new QLabel),
      timer_(new QTimer(this))
{
    line_->setPlaceholderText(tr("Search operations ( / )"));
    line_->setAccessibleName(tr("Search operations"));
    line_->setClearButtonEnabled(true);
    line_->setFixedWidth(fontMetrics().horizontalAdvance(line_->placeholderText()) + 60);
    auto* const previous = flat_button(tr("<"), tr("Previous match (Shift+N)"));
    auto* const next = flat_button(tr(">"), tr("Next match (N)"));
    auto* const row = in_a_row(this, {}, {.spacing = 1});
    for (QWidget* widget : {static_cast<QWidget*>(line_), static_cast<QWidget*>(previous),
                            static_cast<QWidget*>(next), static_cast<QWidget*>(matches_)})
        row->addWidget(widget);
    timer_->setSingleShot(true);
    timer_->setInterval(search_after_ms);
    connect(timer_, &QTimer::timeout, this, &TimelineSearch::search);
    connect(line_, &QLineEdit::textChanged, this, [this] { timer_->start(); });
    connect(line_, &QLineEdit::returnPressed, this, [this] {
        search();
        canvas_.go_to_match(Toward::next);
    });
    auto* const leave = new QShortcut(Qt::Key_Escape, line_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(leave, &QShortcut::activated, this, [this] {
        line_->clear();
        canvas_.setFocus();
    });
    connect(previous, &QToolButton::clicked, this,
            [this] { canvas_.go_to_match(Toward::previous); });
    connect(next, &QToolButton::clicked, this, [this] { canvas_.go_to_match(Toward::next); });
    connect(&canvas_, &TimelineCanvas::pinnedChanged, this, &TimelineSearch::tell_matches);
    connect(&canvas_, &TimelineCanvas::searchForWanted, this, [this](const QString& text) {
        line_->setText(text);
        search();
    });
    connect(&canvas_, &TimelineCanvas::searchWanted, this, [this] {
        line_->setFocus(Qt::ShortcutFocusReason);
        line_->selectAll();
    });
}

void TimelineSearch::search()
{
    timer_->stop();
    const std::string text = line_->text().trimmed().toStdString();
    canvas_.set_matches(canvas_.model() ? find_slices(canvas_.model()->data, text)
                                        : SearchMatches{});
    tell_matches();
}

void TimelineSearch::tell_matches()
{
    const std::size_t count = canvas_.matches().slices.size();
    if (line_->text().trimmed().isEmpty())
        matches_->clear();
    else if (count == 0)
        matches_->setText(tr("none found"));
    else if (const std::size_t number =
                 number_of(canvas_.model()->data, canvas_.matches(), canvas_.pinned());
             number > 0)
        matches_->setText(tr("%L1 of %L2").arg(number).arg(count));
    else
        matches_->setText(tr("%L1 found").arg(count));
}

} // namespace trainyard::gui
