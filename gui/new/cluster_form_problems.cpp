// What is wrong with a cluster, beside its fields.

#include "gui/model/qt_text.h"
#include "gui/new/cluster_form.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"

#include <QLabel>
#include <QToolButton>
#include <algorithm>
#include <map>

namespace trainyard::gui {

namespace {

QString problem_words(const Diagnostic& problem)
{
    const QString sign =
        problem.severity == Severity::error ? QStringLiteral("✕ ") : QStringLiteral("⚠ ");
    QString out = sign + text_of(problem.message);
    if (!problem.hint.empty())
        out += QStringLiteral(" (%1)").arg(text_of(problem.hint));
    return out;
}

} // namespace

void ClusterForm::set_problems(const Problems& problems)
{
    problems_ = problems;
    show_problems();
}

// The deepest field that holds what the pointer is about.
const ClusterForm::Row* ClusterForm::row_of(const std::string& pointer) const
{
    const Row* best = nullptr;
    for (const Row& row : rows_) {
        const bool holds = !row.pointer.empty() &&
                           (pointer == row.pointer || pointer.starts_with(row.pointer + "/"));
        if (holds && (best == nullptr || row.pointer.size() > best->pointer.size()))
            best = &row;
    }
    return best;
}

void ClusterForm::show_problems()
{
    const SignColours colours = sign_colours(palette());
    std::map<QLabel*, std::pair<QString, bool>> said; // whether an error is among them
    const auto add = [&](const Diagnostic& problem) {
        const Row* const row = row_of(problem.pointer);
        auto& [words, wrong] = said[row != nullptr ? row->problem : elsewhere_];
        words += (words.isEmpty() ? QString() : QStringLiteral("\n")) + problem_words(problem);
        wrong = wrong || problem.severity == Severity::error;
        if (row != nullptr && row->more)
            more_button_->setChecked(true);
    };
    if (refused_)
        add(*refused_);
    else
        std::ranges::for_each(problems_, add);
    const auto show_in = [&](QLabel* label) {
        const auto found = said.find(label);
        label->setVisible(found != said.end());
        if (found == said.end()) {
            label->clear();
            return;
        }
        colour_text(label, found->second.second ? colours.error : colours.warning);
        label->setText(found->second.first);
    };
    for (const Row& row : rows_)
        show_in(row.problem);
    show_in(elsewhere_);
}

} // namespace trainyard::gui
