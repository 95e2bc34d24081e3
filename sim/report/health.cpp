#include "sim/report/health.h"

namespace trainyard {

std::vector<HealthRow> health_rows(const Summary& summary)
{
    std::vector<HealthRow> rows;
    for (const Figure* figure : grouped_figures_in(in_health)) {
        const Json value = figure->value(summary);
        if (value.is_null())
            continue;
        const auto judge = figure->target.judge;
        rows.push_back(
            {std::string(figure->title) + (figure->remark ? figure->remark(summary) : ""),
             value.as_double(), judge ? std::optional(judge(value.as_double())) : std::nullopt,
             figure->target.text});
    }
    return rows;
}

} // namespace trainyard
