#include "gui/widgets/problems_view.h"

#include "gui/widgets/theme.h"

#include <QEvent>
#include <algorithm>
#include <span>
#include <utility>

namespace trainyard::gui {

namespace {

// Of each kind: each quotes its line of a file.
constexpr std::size_t most_shown = 50;

// In the command line's words; with `quote` in place of a line of its file.
QString text_of_problem(Diagnostic problem, const QString& quote)
{
    if (quote.isEmpty())
        return QString::fromStdString(trainyard::render(problem)).trimmed();
    problem.line = 0;
    const std::string hint = std::exchange(problem.hint, {});
    QString out = QString::fromStdString(trainyard::render(problem)).trimmed() +
                  QStringLiteral("\n      ") + quote;
    if (!hint.empty())
        out += QStringLiteral("\n      ") + QString::fromStdString(hint);
    return out;
}

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

void ProblemsView::set_problems(const Problems& problems, const Quote& quote)
{
    scenario_ = problems;
    quotes_.clear();
    for (const Diagnostic& problem :
         std::span(problems).first(std::min(problems.size(), most_shown)))
        quotes_.push_back(quote ? quote(problem) : QString());
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
        for (std::size_t i = 0; i < shown; ++i) {
            const Diagnostic& problem = (*list)[i];
            const QString quote = list == &scenario_ ? quotes_[i] : QString();
            auto* const item = new QListWidgetItem(text_of_problem(problem, quote), this);
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
