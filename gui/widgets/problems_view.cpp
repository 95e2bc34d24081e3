#include "gui/widgets/problems_view.h"

#include "gui/widgets/theme.h"

#include <QEvent>
#include <algorithm>
#include <span>

namespace trainyard::gui {

namespace {

// Of each kind: each quotes its line of a file.
constexpr std::size_t most_shown = 50;

} // namespace

ProblemsView::ProblemsView(QWidget* parent) : QListWidget(parent)
{
    setAccessibleName(tr("problems"));
    setWordWrap(true);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    const auto choose = [this](QListWidgetItem* item) {
        const std::string pointer = item->data(Qt::UserRole).toString().toStdString();
        if (!pointer.empty())
            emit chosen(pointer);
    };
    connect(this, &QListWidget::itemClicked, this, choose);
    connect(this, &QListWidget::itemActivated, this, choose);
    show_all();
}

void ProblemsView::set_problems(const Problems& problems)
{
    scenario_ = problems;
    show_all();
    emit counted();
}

void ProblemsView::add(const Problems& problems)
{
    tried_ = problems;
    show_all();
    emit counted();
}

int ProblemsView::count_of(Severity severity) const
{
    const auto of = [severity](const Problems& list) {
        return std::ranges::count(list, severity, &Diagnostic::severity);
    };
    return static_cast<int>(of(tried_) + of(scenario_));
}

QSize ProblemsView::sizeHint() const
{
    return {60 * fontMetrics().averageCharWidth(), 5 * fontMetrics().height()};
}

void ProblemsView::show_all()
{
    clear();
    const SignColours colours = sign_colours(palette());
    for (const Problems* list : {&tried_, &scenario_}) {
        const std::size_t shown = std::min(list->size(), most_shown);
        for (const Diagnostic& problem : std::span(*list).first(shown)) {
            const std::string text = trainyard::render(problem);
            auto* const item = new QListWidgetItem(QString::fromStdString(text).trimmed(), this);
            item->setData(Qt::UserRole, QString::fromStdString(problem.pointer));
            item->setForeground(problem.severity == Severity::error ? colours.error
                                                                    : colours.warning);
        }
        if (shown < list->size())
            (new QListWidgetItem(tr("... and %L1 more").arg(list->size() - shown), this))
                ->setForeground(colours.quiet);
    }
    if (count() == 0) {
        auto* const item = new QListWidgetItem(tr("No problems."), this);
        item->setForeground(colours.quiet);
        item->setFlags(Qt::ItemIsEnabled);
    }
}

void ProblemsView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        show_all();
    QListWidget::changeEvent(event);
}

} // namespace trainyard::gui
