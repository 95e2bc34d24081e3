#include "gui/recorded/recorded_tables.h"

#include "gui/model/qt_text.h"
#include "sim/report/kinds.h"
#include "sim/report/traces/recorded_run.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

QString tr_recorded(const char* text)
{
    return QCoreApplication::translate("Recorded", text);
}

// Six digits, as few as tell it.
QString figure(double value)
{
    return QString::number(value, 'g', 6);
}

// As many decimals in every row, so that they stand below each other.
QString fixed(double value, int decimals)
{
    return QString::number(value, 'f', decimals);
}

QString ms_figure(Seconds time)
{
    return fixed(time.value() * 1e3, 3);
}

QString us_figure(Seconds time)
{
    return fixed(time.value() * 1e6, 2);
}

QString count_figure(double count)
{
    return count > 0 ? figure(std::round(100 * count) / 100) : QString();
}

class DifferenceRows {
public:
    DifferenceRows()
    {
        out_.columns = {tr_recorded("of"),
                        tr_recorded("what"),
                        tr_recorded("recorded [ms]"),
                        tr_recorded("simulated [ms]"),
                        tr_recorded("simulated / recorded"),
                        tr_recorded("recorded count"),
                        tr_recorded("simulated count")};
    }

    void begin(const QString& part) { part_ = part; }

    void add(const QString& what, Seconds recorded, Seconds simulated, double recorded_count = 0,
             double simulated_count = 0)
    {
        if (recorded.value() <= 0 && simulated.value() <= 0)
            return;
        const bool both = recorded.value() > 0 && simulated.value() > 0;
        out_.rows.push_back({part_, what, ms_figure(recorded), ms_figure(simulated),
                             both ? QString::number(simulated / recorded, 'f', 3) : QString(),
                             count_figure(recorded_count), count_figure(simulated_count)});
    }

    void add(const QString& what, const TimePair& pair)
    {
        add(what, pair.recorded, pair.simulated);
    }

    void add(const QString& pass, const PassSides& sides)
    {
        add(pass, sides.all);
        add(pass + tr_recorded(", embedding"), sides.embedding);
        for (const LayerPair& layers : sides.layers) {
            const int low = std::min(layers.first, layers.last);
            const int high = std::max(layers.first, layers.last);
            const QString name = low == high
                                     ? tr_recorded(", layer %1").arg(low)
                                     : tr_recorded(", layers %1 to %2, each").arg(low).arg(high);
            add(pass + name, layers.compute);
            add(pass + name + tr_recorded(", with waits"), layers.elapsed);
        }
        add(pass + tr_recorded(", head and loss"), sides.head);
    }

    TableData take() && { return std::move(out_); }

private:
    TableData out_;
    QString part_;
};

// Kinds that any rank spends time on.
std::vector<TimeKind> kinds_of(const RunSummary& run)
{
    std::vector<TimeKind> out;
    for (std::size_t k = 0; k < time_kind_count; ++k)
        if (std::any_of(run.ranks.begin(), run.ranks.end(),
                        [&](const RankSummary& rank) { return rank.time[k].value() > 0; }))
            out.push_back(static_cast<TimeKind>(k));
    return out;
}

TableData graph_ranks_table(const RunSummary& run)
{
    TableData out{{tr_recorded("rank")}, {}};
    for (std::size_t p = 0; p < phase_count; ++p) {
        const QString phase = text_of(to_name(static_cast<Phase>(p))).replace('_', ' ');
        out.columns << tr_recorded("%1, operations").arg(phase)
                    << tr_recorded("%1 [TFLOP]").arg(phase);
    }
    out.columns << tr_recorded("file");
    for (const RankSummary& rank : run.ranks) {
        QStringList row{QString::number(rank.rank)};
        for (const PhaseWork& phase : rank.phases)
            row << count_figure(phase.ops)
                << (phase.flops > 0 ? fixed(phase.flops / 1e12, 3) : QString());
        out.rows.push_back(row << text_of(rank.file));
    }
    return out;
}

QString how_known(MovingFrom source)
{
    switch (source) {
    case MovingFrom::stated:
        return tr_recorded("stated");
    case MovingFrom::arrivals:
        return tr_recorded("all members recorded");
    case MovingFrom::quickest:
        return tr_recorded("as the quickest alike");
    case MovingFrom::own_start:
        break;
    }
    return tr_recorded("at most: waiting included");
}

} // namespace

TableData differences_table(const SideBySide& sides)
{
    DifferenceRows rows;
    rows.begin(tr_recorded("time"));
    rows.add(tr_recorded("step"), sides.recorded, sides.simulated);
    for (std::size_t k = 0; k < time_kind_count; ++k)
        rows.add(text_of(title_of(static_cast<TimeKind>(k))), sides.recorded_time[k],
                 sides.simulated_time[k]);
    rows.add(tr_recorded("between queued kernels"), sides.recorded_gaps, Seconds());
    rows.add(tr_recorded("idle, launches unknown"), sides.recorded_untold, Seconds());
    rows.begin(tr_recorded("kernels"));
    for (std::size_t w = 0; w < compared_work_count; ++w) {
        const WorkPair& pair = sides.work[w];
        rows.add(text_of(title_of(static_cast<ComparedWork>(w))), pair.recorded, pair.simulated,
                 pair.recorded_ops, pair.simulated_ops);
    }
    rows.begin(tr_recorded("transfers"));
    for (const TransferPair& pair : sides.transfers)
        rows.add(tr_recorded("%1, %2").arg(text_of(to_name(pair.collective)),
                                           text_of(slice_title_of(pair.purpose))),
                 pair.recorded, pair.simulated, pair.recorded_count, pair.simulated_count);
    for (const StageSides& stage : sides.stages) {
        rows.begin(sides.stages.size() > 1 ? tr_recorded("stage %1").arg(stage.stage)
                                           : tr_recorded("layers"));
        rows.add(tr_recorded("forward"), stage.forward);
        rows.add(tr_recorded("backward"), stage.backward);
        rows.add(tr_recorded("optimizer and end of step"), stage.update);
        rows.add(tr_recorded("of no known phase"), stage.other);
    }
    return std::move(rows).take();
}

TableData ranks_table(const RunSummary& run)
{
    if (run.times != TimesStated::timeline)
        return graph_ranks_table(run);
    const std::vector<TimeKind> kinds = kinds_of(run);
    TableData out{{tr_recorded("rank"), tr_recorded("steps"), tr_recorded("step [ms]")}, {}};
    for (const TimeKind kind : kinds)
        out.columns << tr_recorded("%1 [ms]").arg(text_of(title_of(kind)));
    out.columns << tr_recorded("between queued kernels [ms]")
                << tr_recorded("idle, launches unknown [ms]") << tr_recorded("kernels launched")
                << tr_recorded("clock behind the first rank's [us]") << tr_recorded("file");
    for (const RankSummary& rank : run.ranks) {
        QStringList row{QString::number(rank.rank), QString::number(rank.steps),
                        ms_figure(rank.step)};
        for (const TimeKind kind : kinds)
            row << ms_figure(rank.time[static_cast<std::size_t>(kind)]);
        out.rows.push_back(row << ms_figure(rank.gaps) << ms_figure(rank.untold)
                               << count_figure(rank.launches) << us_figure(rank.clock_offset)
                               << text_of(rank.file));
    }
    return out;
}

TableData transfers_table(const RunSummary& run)
{
    TableData out{{tr_recorded("transfer"), tr_recorded("ranks"), tr_recorded("size [B]"),
                   tr_recorded("type"), tr_recorded("a step"), tr_recorded("kernel [us]"),
                   tr_recorded("moves [us]"), tr_recorded("how that is known"),
                   tr_recorded("bus bandwidth [GB/s]"), tr_recorded("expected [us]")},
                  {}};
    const bool timed = run.times == TimesStated::timeline;
    for (const TransferRow& row : run.transfers)
        out.rows.push_back(
            {text_of(transfer_title(row)), row.ranks > 0 ? QString::number(row.ranks) : QString(),
             row.bytes > 0 ? QString::number(row.bytes) : QString(), text_of(row.dtype),
             count_figure(row.count), timed ? us_figure(row.kernel) : QString(),
             timed ? us_figure(row.moving) : QString(), timed ? how_known(row.source) : QString(),
             row.bus_bandwidth.value() > 0 ? fixed(row.bus_bandwidth.value() / 1e9, 2) : QString(),
             row.expected ? us_figure(*row.expected) : QString()});
    return out;
}

TableData kernels_table(const RunSummary& run)
{
    TableData out{{tr_recorded("class"), tr_recorded("kernel"), tr_recorded("shapes"),
                   tr_recorded("a step"), tr_recorded("time [us]")},
                  {}};
    for (const RecordedKernel& kernel : run.kernels)
        out.rows.push_back({text_of(title_of(kernel.work)), text_of(kernel.name),
                            text_of(kernel.shapes), count_figure(kernel.count),
                            us_figure(kernel.time)});
    return out;
}

TableData waits_table(const RunSummary& run)
{
    TableData out{{tr_recorded("rank"), tr_recorded("came last, a step"),
                   tr_recorded("others waited [us]"), tr_recorded("waited itself [us]")},
                  {}};
    for (const StragglerRow& row : run.stragglers)
        out.rows.push_back({QString::number(row.rank), count_figure(row.last), us_figure(row.kept),
                            us_figure(row.waited)});
    return out;
}

} // namespace trainyard::gui
