#include "gui/explore/nothing_fits.h"

#include "gui/explore/words.h"
#include "gui/model/qt_text.h"
#include "sim/base/units.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

QString bytes_text(double bytes)
{
    return text_of(to_display(Bytes(static_cast<std::uint64_t>(bytes))));
}

std::size_t unfit_count(const PointStore& store)
{
    std::size_t count = 0;
    for (const ReasonKind& kind : store.kinds())
        count += kind.memory ? kind.count : 0;
    return count;
}

} // namespace

QString counts_text(const PointStore& store)
{
    const std::size_t unfit = unfit_count(store);
    const std::size_t others = store.size() - store.feasible_count() - unfit;
    QStringList parts{
        words("%L1 of %L2 points can be").arg(store.feasible_count()).arg(store.size())};
    if (unfit > 0)
        parts << words("%L1 do not fit in memory").arg(unfit);
    if (others > 0)
        parts << words("%L1 cannot be for other reasons").arg(others);
    return parts.join(QStringLiteral("; "));
}

QString nothing_fits_text(const PointStore& store, const SweepPlan& plan)
{
    constexpr std::size_t most = 5;
    std::vector<ReasonKind> kinds(store.kinds().begin() + 1, store.kinds().end());
    std::ranges::stable_sort(kinds, std::greater<>(), &ReasonKind::count);
    const bool memory = unfit_count(store) == store.size();
    QString html =
        QStringLiteral("<h3>%1</h3>")
            .arg(memory ? words("Nothing fits: none of the %L1 points has enough memory.")
                              .arg(store.size())
                        : words("None of the %L1 points can be.").arg(store.size()));
    if (store.size() < plan.points)
        html +=
            words("<p>%L1 of %L2 points were looked at.</p>").arg(store.size()).arg(plan.points);
    html += QStringLiteral("<table cellspacing=\"0\" cellpadding=\"3\">");
    for (std::size_t i = 0; i < std::min(most, kinds.size()); ++i)
        html += QStringLiteral("<tr><td align=\"right\"><b>%L1 ×</b></td><td>%2%3</td></tr>")
                    .arg(kinds[i].count)
                    .arg(kinds[i].memory ? words("do not fit in the memory of a device")
                                         : escaped(kinds[i].example),
                         kinds[i].hint.empty()
                             ? QString()
                             : QStringLiteral("<br><i>%1</i>").arg(escaped(kinds[i].hint)));
    html += QStringLiteral("</table>");
    if (kinds.size() > most)
        html += words("<p>and %L1 more reasons</p>").arg(kinds.size() - most);
    if (const auto nearest = store.nearest())
        html += words("<p>Nearest: <b>%1</b> lacks %2 of %3 a device.</p>")
                    .arg(plan.point_name(store.index(*nearest)).toHtmlEscaped(),
                         bytes_text(missing_memory(store, *nearest)),
                         bytes_text(store.figure(*nearest, "device_memory_bytes")));
    return html + words("<p>What would help: more values of tp and pp, a higher ZeRO stage, full "
                        "recomputation or a smaller micro-batch (preset \"%1\"), or more or larger "
                        "devices.</p>")
                      .arg(title_of(Preset::memory));
}

} // namespace trainyard::gui
