#include "gui/plan/shown_plan.h"

#include <cmath>

namespace trainyard::gui {

bool PlanCell::operator==(const PlanCell& other) const
{
    return text == other.text &&
           (number == other.number || (std::isnan(number) && std::isnan(other.number)));
}

ShownPlan in_currency(ShownPlan plan, const Price& price)
{
    const auto put = [&](QString& text) { text = in_currency(std::move(text), price); };
    put(plan.headline);
    for (QString& verdict : plan.verdicts)
        put(verdict);
    for (PlanColumn& column : plan.columns)
        put(column.heading);
    for (PlanEntry& entry : plan.entries)
        for (PlanCell& cell : entry.cells)
            put(cell.text);
    for (PlanLeftOut& one : plan.left_out)
        put(one.reason);
    return plan;
}

} // namespace trainyard::gui
