// What stands below the fields of the planner's form: that a text is the window's, and what is
// wrong with it.

#include "gui/model/qt_text.h"
#include "gui/plan/plan_form.h"
#include "gui/widgets/labels.h"
#include "gui/widgets/theme.h"

#include <fmt/core.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <utility>

namespace trainyard::gui {

namespace {

// Lists of all that is known are a tool tip.
constexpr int longest_hint = 100;

} // namespace

bool PlanForm::is_own(const ClusterRow& row)
{
    return row.cluster->currentText().trimmed().toStdString() == own_cluster;
}

void PlanForm::set_defaults(const PlanDefaults& defaults)
{
    if (defaults == defaults_)
        return;
    const PlanDefaults before = std::exchange(defaults_, defaults);
    setting_ = true;
    const auto follow = [](QLineEdit& edit, const std::string& old, const std::string& now) {
        if (edit.text().trimmed().toStdString() == old)
            edit.setText(text_of(now));
    };
    follow(*texts_.at("/tokens"), before.tokens, defaults.tokens);
    follow(*texts_.at("/price"), before.price, defaults.price);
    for (const ClusterRow& row : clusters_)
        if (is_own(row))
            follow(*row.price, before.price, defaults.price);
    setting_ = false;
    edited();
}

void PlanForm::tell_defaults()
{
    const auto tell = [](QLabel& note, const QLineEdit& edit, const std::string& shown) {
        note.setVisible(!shown.empty() && edit.text().trimmed().toStdString() == shown);
    };
    tell(*fields_.at("/tokens").note, *texts_.at("/tokens"), defaults_.tokens);
    tell(*fields_.at("/price").note, *texts_.at("/price"), defaults_.price);
    for (const ClusterRow& row : clusters_)
        tell(*row.note, *row.price, is_own(row) ? defaults_.price : std::string());
}

QLabel* PlanForm::place_of(const std::string& pointer)
{
    if (const auto field = fields_.find(pointer); field != fields_.end())
        return field->second.box->isVisibleTo(this) ? field->second.problem : other_problems_;
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
        if (pointer == fmt::format("/clusters/{}", i))
            return clusters_[i].problem;
        if (pointer == fmt::format("/prices/{}", i))
            return clusters_[i].price_problem;
    }
    return pointer == "/clusters" || pointer == "/prices" ? clusters_problem_ : other_problems_;
}

// Nothing was typed there yet: that something is lacking is no mistake.
bool PlanForm::is_empty(const std::string& pointer) const
{
    const auto text = texts_.find(pointer);
    if (text != texts_.end())
        return text->second->text().isEmpty();
    for (std::size_t i = 0; i < clusters_.size(); ++i)
        if (pointer == fmt::format("/clusters/{}", i))
            return clusters_[i].cluster->currentText().isEmpty();
    return pointer == "/prices" || pointer == "/clusters";
}

void PlanForm::say(QLabel* place, const QString& text, bool lacking)
{
    const QString before = place->isHidden() ? QString() : place->text() + QStringLiteral("\n");
    place->setText(before + text);
    const SignColours colours = sign_colours(palette());
    colour_text(place, lacking ? colours.quiet : colours.error);
    place->show();
}

void PlanForm::show_problems(const Problems& problems)
{
    std::vector<QLabel*> places{other_problems_, clusters_problem_};
    for (const auto& [pointer, field] : fields_)
        places.push_back(field.problem);
    for (const ClusterRow& row : clusters_)
        places.insert(places.end(), {row.problem, row.price_problem});
    for (QLabel* const place : places)
        place->hide();
    for (const Diagnostic& problem : problems) {
        QLabel* const place = problem.file.empty() ? place_of(problem.pointer) : other_problems_;
        QString text = capitalised(problem.message);
        if (place == other_problems_ && !problem.pointer.empty())
            text = text_of(problem.pointer) + QStringLiteral(": ") + text_of(problem.message);
        const QString hint = text_of(problem.hint);
        if (!hint.isEmpty() && hint.size() <= longest_hint)
            text += QStringLiteral(" (") + hint + QStringLiteral(")");
        say(place, text, problem.file.empty() && is_empty(problem.pointer));
        place->setToolTip(hint);
    }
}

} // namespace trainyard::gui
