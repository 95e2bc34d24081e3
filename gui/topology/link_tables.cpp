#include "gui/topology/link_tables.h"

#include "gui/model/qt_text.h"
#include "gui/timeline/time_text.h"
#include "gui/topology/link_facts.h"
#include "sim/base/units.h"
#include "sim/report/collectives.h"

namespace trainyard::gui {

LinkTable::LinkTable(QObject* parent) : ColumnsModel(parent)
{
    const auto column = [this](const QString& title, auto text, auto number_of) {
        return ShownColumn{
            title,
            [this, text, number_of](std::size_t row) { return text(number_of(link_of(row))); },
            [this, number_of](std::size_t row) { return number_of(link_of(row)); }};
    };
    const auto rate = [](double bytes) { return rate_words(Bandwidth(bytes)); };
    set_columns(
        {{tr("link"),
          [this](std::size_t row) { return text_of(picture_->run->name(link_of(row))); }},
         column(tr("utilisation"), share_words,
                [this](LinkId link) { return picture_->share(link); }),
         column(tr("load"), rate, [this](LinkId link) { return picture_->loads[link.value]; }),
         column(tr("capacity"), rate,
                [this](LinkId link) { return picture_->run->capacity[link.value]; }),
         {tr("state"),
          [this](std::size_t row) { return state_words(*picture_->run, link_of(row)); }}});
}

void LinkTable::set_picture(std::shared_ptr<const TopologyPicture> picture)
{
    // As many rows as before: where the table was scrolled to stays.
    const bool same = picture && picture_ && picture->run == picture_->run;
    if (!same)
        beginResetModel();
    picture_ = std::move(picture);
    if (!same)
        endResetModel();
    else if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

FlowTable::FlowTable(QObject* parent) : ColumnsModel(parent)
{
    const auto column = [this](const QString& title, auto text, auto number_of) {
        return ShownColumn{
            title, [this, text](std::size_t row) { return text(flows_.largest[row]); },
            [this, number_of](std::size_t row) { return number_of(flows_.largest[row]); }};
    };
    const auto words = [](SimTime time) { return text_of(time_text(time)); };
    const auto ps = [](SimTime time) { return static_cast<qlonglong>(time.value()); };
    // The group is the longest: last.
    set_columns(
        {{tr("operation"), [this](std::size_t row) { return operation_of(flows_.largest[row]); }},
         column(
             tr("bytes here"),
             [](const LinkFlow& flow) {
                 return text_of(to_display(Bytes(static_cast<std::uint64_t>(flow.bytes + 0.5))));
             },
             [](const LinkFlow& flow) { return flow.bytes; }),
         column(
             tr("rate"), [](const LinkFlow& flow) { return rate_words(flow.rate()); },
             [](const LinkFlow& flow) { return flow.rate().value(); }),
         column(
             tr("takes"), [words](const LinkFlow& flow) { return words(flow.to - flow.from); },
             [ps](const LinkFlow& flow) { return ps(flow.to - flow.from); }),
         column(
             tr("from"),
             [this, words](const LinkFlow& flow) {
                 return words(flow.from - step_of(*run_->outcome).from);
             },
             [ps](const LinkFlow& flow) { return ps(flow.from); }),
         {tr("group"), [this](std::size_t row) { return group_of(flows_.largest[row]); }}});
}

void FlowTable::set_flows(std::shared_ptr<const TopologyRun> run, LinkFlows flows)
{
    beginResetModel();
    run_ = std::move(run);
    flows_ = std::move(flows);
    endResetModel();
}

const Label& FlowTable::label_of(const LinkFlow& flow) const
{
    const Outcome& outcome = *run_->outcome;
    const OpRecord& record = outcome.result->records[flow.record];
    return outcome.plan->program.labels[record.label.value];
}

QString FlowTable::operation_of(const LinkFlow& flow) const
{
    return QStringLiteral("%1 (%2)").arg(
        text_of(label_of(flow).name),
        pattern_words(run_->loads->pattern_of(flow), run_->loads->is_message(flow)));
}

QString FlowTable::group_of(const LinkFlow& flow) const
{
    return QStringLiteral("%1, %2").arg(text_of(title_of(label_of(flow).group)),
                                        ranks_words(run_->loads->ranks_of(flow)));
}

TableData table_of(const TopologyScene& scene)
{
    TableData table;
    table.columns = {LinkTable::tr("From"),         LinkTable::tr("To"),
                     LinkTable::tr("Links"),        LinkTable::tr("Capacity [GB/s]"),
                     LinkTable::tr("Load [GB/s]"),  LinkTable::tr("Utilisation [%]"),
                     LinkTable::tr("Busiest link"), LinkTable::tr("Its utilisation [%]"),
                     LinkTable::tr("Broken"),       LinkTable::tr("Changed")};
    const auto name = [&](std::uint32_t item) {
        const std::uint32_t place = scene.layout->items()[item].place;
        return QString::fromStdString(scene.layout->graph()->places[place].name);
    };
    const auto add = [&](std::uint32_t from, std::uint32_t to, const WayUse& use) {
        if (use.links == 0)
            return;
        table.rows.push_back({name(from), name(to), QString::number(use.links),
                              QString::number(use.capacity / 1e9, 'g', 6),
                              QString::number(use.load / 1e9, 'g', 6),
                              QString::number(100 * use.mean(), 'g', 4),
                              QString::fromStdString(scene.run->name(use.busiest)),
                              QString::number(100 * use.worst, 'g', 4), QString::number(use.dead),
                              QString::number(use.changed)});
    };
    if (scene.layout == nullptr)
        return table;
    const std::vector<Bundle>& bundles = scene.layout->bundles();
    for (std::size_t i = 0; i < bundles.size(); ++i) {
        add(bundles[i].a, bundles[i].b, scene.uses[i].there);
        add(bundles[i].b, bundles[i].a, scene.uses[i].back);
    }
    return table;
}

} // namespace trainyard::gui
