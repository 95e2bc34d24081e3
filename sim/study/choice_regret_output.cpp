#include "sim/study/choice_regret.h"
#include "sim/study/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

double percent_of(std::size_t part, std::size_t whole)
{
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// "3", or "3 to 26".
std::string layout_counts(const ChoiceRegret& regret)
{
    const auto [fewest, most] = std::ranges::minmax(regret.choices, {}, &LayoutRegret::layouts);
    return fewest.layouts == most.layouts ? fmt::format("{}", most.layouts)
                                          : fmt::format("{} to {}", fewest.layouts, most.layouts);
}

std::string left_out(const ChoiceRegret& regret)
{
    std::string out;
    const auto add = [&](std::size_t count, std::string_view why) {
        if (count > 0)
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, why);
    };
    add(regret.too_few, fmt::format("with fewer than {} layouts of their job", fewest_layouts));
    add(regret.not_predicted, "not predicted");
    add(regret.not_fitting, "predicted not to fit");
    return out.empty() ? out : fmt::format("    left out   {}\n", out);
}

std::string worst_choice(const ChoiceRegret& regret, std::span<const RecordVerdict> verdicts)
{
    const LayoutRegret& worst =
        *std::ranges::max_element(regret.choices, {}, &LayoutRegret::regret);
    if (worst.regret <= 0)
        return "";
    const auto line = [&](std::string_view title, std::size_t record, Seconds time) {
        const RecordVerdict& verdict = verdicts[record];
        return fmt::format("    {:<10} {}\n               {}: {}, predicted {:.4g} s\n", title,
                           verdict.id, verdict.layout.words,
                           std::isinf(time.value())
                               ? "ran out of memory"
                               : fmt::format("measured {:.4g} s", time.value()),
                           verdict.predicted->value.value());
    };
    return line("worst", worst.chosen, worst.chosen_time) +
           line("instead of", worst.best, worst.best_time);
}

Json choice_json(const LayoutRegret& choice, std::span<const RecordVerdict> verdicts)
{
    Json out = Json::object();
    out["layouts"] = static_cast<std::uint64_t>(choice.layouts);
    out["chosen"] = verdicts[choice.chosen].id;
    out["chosen_layout"] = verdicts[choice.chosen].layout.words;
    out["best"] = verdicts[choice.best].id;
    out["best_layout"] = verdicts[choice.best].layout.words;
    out["quicker"] = static_cast<std::uint64_t>(choice.quicker);
    out["regret"] = choice.regret;
    out["at_random"] = choice.at_random;
    return out;
}

} // namespace

std::string choice_text(const ChoiceRegret& regret, std::span<const RecordVerdict> verdicts)
{
    if (regret.choices.empty())
        return "";
    std::string out = fmt::format(
        "\nChoice of layout: the one predicted quickest of a job's measured ones; regret: 1 - its "
        "tokens/s / the best's\n"
        "    jobs       {} with {} layouts, {} runs\n"
        "    regret     {:.1f}% mean, {:.1f}% median, {:.1f}% p90, {:.1f}% worst; {:.1f}% mean "
        "when "
        "chosen at random\n"
        "    chosen     the best in {} ({:.0f}%)",
        regret.choices.size(), layout_counts(regret), regret.runs, 100 * regret.mean,
        100 * regret.median, 100 * regret.p90, 100 * regret.worst, 100 * regret.at_random,
        regret.best_chosen, percent_of(regret.best_chosen, regret.choices.size()));
    if (regret.more_than_three > 0)
        out += fmt::format(", of more than 3 one of the 3 best in {} of {} ({:.0f}%)",
                           regret.among_three_best, regret.more_than_three,
                           percent_of(regret.among_three_best, regret.more_than_three));
    return out + "\n" + worst_choice(regret, verdicts) + left_out(regret);
}

Json to_json(const ChoiceRegret& regret, std::span<const RecordVerdict> verdicts)
{
    if (regret.choices.empty())
        return {};
    Json out = Json::object();
    out["jobs"] = static_cast<std::uint64_t>(regret.choices.size());
    out["runs"] = static_cast<std::uint64_t>(regret.runs);
    out["mean"] = regret.mean;
    out["median"] = regret.median;
    out["p90"] = regret.p90;
    out["worst"] = regret.worst;
    out["at_random"] = regret.at_random;
    out["best_chosen"] = static_cast<std::uint64_t>(regret.best_chosen);
    out["more_than_three"] = static_cast<std::uint64_t>(regret.more_than_three);
    out["among_three_best"] = static_cast<std::uint64_t>(regret.among_three_best);
    out["not_predicted"] = static_cast<std::uint64_t>(regret.not_predicted);
    out["not_fitting"] = static_cast<std::uint64_t>(regret.not_fitting);
    out["too_few"] = static_cast<std::uint64_t>(regret.too_few);
    Json choices = Json::array();
    for (const LayoutRegret& choice : regret.choices)
        choices.push_back(choice_json(choice, verdicts));
    out["choices"] = std::move(choices);
    return out;
}

} // namespace trainyard
