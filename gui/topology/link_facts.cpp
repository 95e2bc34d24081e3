#include "gui/topology/link_facts.h"

#include "gui/model/qt_text.h"
#include "gui/timeline/time_text.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/network_notes.h"

#include <QCoreApplication>

namespace trainyard::gui {

namespace {

QString text(const char* english)
{
    return QCoreApplication::translate("Topology", english);
}

QString shown_bytes(double bytes)
{
    return QString::fromStdString(to_display(Bytes(static_cast<std::uint64_t>(bytes + 0.5))));
}

QString moment(const TopologyRun& run, SimTime time)
{
    return QString::fromStdString(moment_text(time - step_of(*run.outcome).from));
}

Bandwidth load_at(const TopologyRun& run, LinkId link, LoadTime time)
{
    const LinkLoads& loads = *run.loads;
    return loads.load(link, time.moment() ? loads.rates_at(time.from)
                                          : loads.mean_rates(time.from, time.to));
}

double part_of(const TopologyRun& run, LinkId link, Bandwidth load)
{
    const double capacity = run.capacity[link.value];
    return capacity > 0 ? load.value() / capacity : 0;
}

QString row(const QString& name, const QString& value)
{
    return QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>").arg(name, value);
}

QString place_title(const TopologyScene& scene, std::uint32_t place)
{
    return escaped(scene.layout->graph()->places[place].name);
}

QString use_rows(const WayUse& use)
{
    QString rows;
    if (use.links > 1)
        rows += row(text("links"), QStringLiteral("%L1").arg(use.links));
    if (use.dead > 0)
        rows += row(text("broken"), QStringLiteral("%L1").arg(use.dead));
    if (use.changed > 0)
        rows += row(text("changed"), QStringLiteral("%L1").arg(use.changed));
    rows += row(text("capacity"), rate_words(Bandwidth(use.capacity)));
    rows += row(text("load"), QStringLiteral("%1 (%2)").arg(rate_words(Bandwidth(use.load)),
                                                            share_words(use.mean())));
    if (use.links > 1)
        rows += row(text("busiest link"), share_words(use.worst));
    return rows;
}

} // namespace

QString share_words(double share)
{
    return QString::fromStdString(percent(share));
}

QString time_words(const TopologyRun& run, LoadTime time)
{
    if (time.moment())
        return text("at %1").arg(moment(run, time.from));
    if (time == step_of(*run.outcome))
        return text("mean of the step");
    return text("mean from %1 to %2").arg(moment(run, time.from), moment(run, time.to));
}

QString link_words(const TopologyRun& run, LinkId link, LoadTime time)
{
    const Bandwidth load = load_at(run, link, time);
    return text("%1: %2 of %3, %4, %5")
        .arg(QString::fromStdString(run.name(link)), rate_words(load),
             rate_words(Bandwidth(run.capacity[link.value])), share_words(part_of(run, link, load)),
             time_words(run, time));
}

QString state_words(const TopologyRun& run, LinkId link)
{
    if (run.state[link.value] == LinkState::dead)
        return text("broken");
    if (run.state[link.value] == LinkState::sound)
        return text("sound");
    const Link now = run.outcome->topology->link(link);
    const Link sound = run.graph->topology->link(link);
    QString words;
    if (now.capacity != sound.capacity)
        words =
            text("has %1 of its line rate left").arg(share_words(now.capacity / sound.capacity));
    if (now.latency != sound.latency)
        words += (words.isEmpty() ? QString() : QStringLiteral(", ")) +
                 text("%1 more per traversal")
                     .arg(QString::fromStdString(to_display(now.latency - sound.latency)));
    return words;
}

std::vector<LinkFact> link_facts(const TopologyRun& run, LinkId link, LoadTime time)
{
    const LoadTime step = step_of(*run.outcome);
    const LinkLoads& loads = *run.loads;
    const Bandwidth now = load_at(run, link, time);
    const double bytes = loads.bytes(link, step.from, step.to);
    const Bandwidth mean(bytes / to_seconds(step.to - step.from).value());
    const Bandwidth highest = loads.highest(link, step.from, step.to);
    std::vector<LinkFact> facts;
    facts.push_back({text("capacity"), rate_words(Bandwidth(run.capacity[link.value]))});
    facts.push_back({text("state"), state_words(run, link)});
    facts.push_back(
        {time.moment() ? text("at the cursor") : text("in sight"),
         QStringLiteral("%1, %2").arg(rate_words(now), share_words(part_of(run, link, now)))});
    facts.push_back(
        {text("over the step"), text("%1, mean %2, highest %3")
                                    .arg(shown_bytes(bytes), share_words(part_of(run, link, mean)),
                                         share_words(part_of(run, link, highest)))});
    const int world = run.outcome->job.world();
    if (loads.ranks_counted() < world)
        facts.push_back(
            {text("counted"),
             text("transfers of %L1 of %L2 ranks only").arg(loads.ranks_counted()).arg(world)});
    else if (loads.ranks_recorded() < world)
        facts.push_back(
            {text("times"), text("own of %L1 of %L2 ranks, others' of one with the same role")
                                .arg(loads.ranks_recorded())
                                .arg(world)});
    if (part_of(run, link, highest) > 1.0005)
        facts.push_back({text("above 100 %"), QString::fromStdString(fidelity_meaning(
                                                  run.outcome->engine.network.fidelity))});
    if (const LinkTotals* const totals = loads.totals(link))
        facts.push_back({text("engine's count"),
                         text("%1, highest %2")
                             .arg(shown_bytes(totals->bytes), share_words(totals->busiest_share))});
    return facts;
}

QString tip_of_bundle(const TopologyScene& scene, std::uint32_t index, BundleWay way)
{
    const TopologyRun& run = *scene.run;
    const Bundle& bundle = scene.layout->bundles()[index];
    const WayUse& use = use_of(scene.uses[index], way);
    const auto& items = scene.layout->items();
    const std::uint32_t from = items[way == BundleWay::there ? bundle.a : bundle.b].place;
    const std::uint32_t to = items[way == BundleWay::there ? bundle.b : bundle.a].place;
    QString title = QStringLiteral("%1 → %2").arg(place_title(scene, from), place_title(scene, to));
    QString rows;
    if (use.links == 1) {
        title = escaped(run.name(use.busiest));
        const LoadTime step = step_of(*run.outcome);
        rows += row(text("bytes per step"),
                    shown_bytes(run.loads->bytes(use.busiest, step.from, step.to)));
        rows += row(text("highest"),
                    share_words(part_of(run, use.busiest,
                                        run.loads->highest(use.busiest, step.from, step.to))));
        rows += row(text("state"), state_words(run, use.busiest));
    }
    return QStringLiteral("<b>%1</b><br>%2<table>%3%4</table>")
        .arg(title, scene.when.toHtmlEscaped(), use_rows(use), rows);
}

QString tip_of_place(const TopologyScene& scene, std::uint32_t item)
{
    const LaidPlace& laid = scene.layout->items()[item];
    const Place& place = scene.layout->graph()->places[laid.place];
    QString rows;
    if (place.gpus > 1)
        rows += row(text("GPUs"), QStringLiteral("%L1").arg(place.gpus));
    if (place.kind == PlaceKind::switches)
        rows += row(text("switches"), QStringLiteral("%L1").arg(place.pieces));
    if (const std::uint32_t inside = scene.layout->inside_of(item);
        inside != no_place && laid.folded)
        rows += use_rows(scene.uses[inside].there);
    QString tip = QStringLiteral("<b>%1</b>").arg(place_title(scene, laid.place));
    if (!rows.isEmpty())
        tip += QStringLiteral("<table>%1</table>").arg(rows);
    if (laid.folded)
        tip += QStringLiteral("<br>") + text("double-click or Return unfolds it");
    return tip;
}

QString ranks_words(const std::vector<RankId>& ranks)
{
    if (ranks.empty())
        return {};
    bool run = true;
    for (std::size_t i = 1; i < ranks.size(); ++i)
        run = run && ranks[i].value == ranks[i - 1].value + 1;
    if (ranks.size() == 1)
        return text("rank %1").arg(ranks[0].value);
    if (run && ranks.size() > 2)
        return text("ranks %1-%2").arg(ranks.front().value).arg(ranks.back().value);
    if (ranks.size() <= 6) {
        QStringList numbers;
        for (const RankId rank : ranks)
            numbers << QString::number(rank.value);
        return text("ranks %1").arg(numbers.join(QStringLiteral(", ")));
    }
    return text("%1 ranks, %2 to %3")
        .arg(ranks.size())
        .arg(ranks.front().value)
        .arg(ranks.back().value);
}

QString pattern_words(TrafficPattern pattern, bool message)
{
    if (message)
        return text("message");
    switch (pattern) {
    case TrafficPattern::ring:
        return text("ring");
    case TrafficPattern::tree:
        return text("tree");
    case TrafficPattern::nvls:
        return text("NVLS");
    case TrafficPattern::all_to_all:
        return text("all-to-all");
    case TrafficPattern::neighbours:
        break;
    }
    return text("neighbours");
}

QString rate_words(Bandwidth rate)
{
    return QString::fromStdString(to_display(rate));
}

} // namespace trainyard::gui
