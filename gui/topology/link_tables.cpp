#include "gui/topology/link_tables.h"

#include "gui/timeline/time_text.h"
#include "gui/topology/link_facts.h"
#include "sim/base/units.h"
#include "sim/report/collectives.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace trainyard::gui {

namespace {

enum LinkColumn { link_name, link_share, link_load, link_capacity, link_state };
constexpr int link_columns = 5;

// The group is the longest: last.
enum FlowColumn { flow_op, flow_bytes, flow_rate, flow_time, flow_from, flow_group };
constexpr int flow_columns = 6;

} // namespace

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
        emit dataChanged(index(0, 0), index(rowCount() - 1, link_columns - 1));
}

int LinkTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !picture_ ? 0 : static_cast<int>(picture_->busiest.size());
}

int LinkTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : link_columns;
}

QVariant LinkTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const LinkId at = link(index.row());
    if (role == Qt::TextAlignmentRole && index.column() >= link_share &&
        index.column() <= link_capacity)
        return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != sort_role)
        return {};
    const bool sorts = role == sort_role;
    switch (index.column()) {
    case link_name:
        return QString::fromStdString(picture_->run->name(at));
    case link_capacity:
        return sorts ? QVariant(picture_->run->capacity[at.value])
                     : QVariant(rate_words(Bandwidth(picture_->run->capacity[at.value])));
    case link_load:
        return sorts ? QVariant(picture_->loads[at.value])
                     : QVariant(rate_words(Bandwidth(picture_->loads[at.value])));
    case link_share:
        return sorts ? QVariant(picture_->share(at)) : QVariant(share_words(picture_->share(at)));
    default:
        return state_words(*picture_->run, at);
    }
}

QVariant LinkTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal)
        return {};
    const std::array<QString, link_columns> titles{tr("link"), tr("utilisation"), tr("load"),
                                                   tr("capacity"), tr("state")};
    return titles[static_cast<std::size_t>(section)];
}

void FlowTable::set_flows(std::shared_ptr<const TopologyRun> run, LinkFlows flows)
{
    beginResetModel();
    run_ = std::move(run);
    flows_ = std::move(flows);
    endResetModel();
}

int FlowTable::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(flows_.largest.size());
}

int FlowTable::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : flow_columns;
}

QString FlowTable::text(const LinkFlow& flow, int column) const
{
    const Outcome& outcome = *run_->outcome;
    const OpRecord& record = outcome.result->records[flow.record];
    const Label& label = outcome.plan->program.labels[record.label.value];
    switch (column) {
    case flow_op:
        return QStringLiteral("%1 (%2)").arg(
            QString::fromStdString(label.name),
            pattern_words(run_->loads->pattern_of(flow), run_->loads->is_message(flow)));
    case flow_group:
        return QStringLiteral("%1, %2").arg(QString::fromStdString(title_of(label.group)),
                                            ranks_words(run_->loads->ranks_of(flow)));
    case flow_bytes:
        return QString::fromStdString(
            to_display(Bytes(static_cast<std::uint64_t>(flow.bytes + 0.5))));
    case flow_rate:
        return rate_words(flow.rate());
    case flow_from:
        return QString::fromStdString(time_text(flow.from - step_of(outcome).from));
    default:
        return QString::fromStdString(time_text(flow.to - flow.from));
    }
}

QVariant FlowTable::number(const LinkFlow& flow, int column) const
{
    switch (column) {
    case flow_bytes:
        return flow.bytes;
    case flow_rate:
        return flow.rate().value();
    case flow_from:
        return static_cast<qlonglong>(flow.from.value());
    case flow_time:
        return static_cast<qlonglong>((flow.to - flow.from).value());
    default:
        return text(flow, column);
    }
}

QVariant FlowTable::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const LinkFlow& flow = flows_.largest[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole)
        return text(flow, index.column());
    if (role == sort_role)
        return number(flow, index.column());
    if (role == Qt::TextAlignmentRole && index.column() >= flow_bytes &&
        index.column() <= flow_from)
        return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant FlowTable::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal)
        return {};
    const std::array<QString, flow_columns> titles{tr("operation"), tr("bytes here"), tr("rate"),
                                                   tr("takes"),     tr("from"),       tr("group")};
    return titles[static_cast<std::size_t>(section)];
}

TableData FlowTable::table() const
{
    TableData table;
    for (int column = 0; column < flow_columns; ++column)
        table.columns << headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    for (const LinkFlow& flow : flows_.largest) {
        QStringList row;
        for (int column = 0; column < flow_columns; ++column)
            row << text(flow, column);
        table.rows.push_back(row);
    }
    return table;
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
