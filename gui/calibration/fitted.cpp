#include "gui/calibration/fitted.h"

#include "calibrate/fit/fit_report.h"
#include "gui/model/qt_text.h"
#include "sim/base/units.h"
#include "sim/cost/device_catalogue.h"
#include "sim/report/collective_curves.h"

#include <QStringList>
#include <algorithm>
#include <map>

namespace trainyard::gui {

namespace {

std::set<Bytes> sizes_out(const Exclusions& excluded, const CurveStudy& study)
{
    std::set<Bytes> out;
    for (const ExcludedSize& one : excluded)
        if (one.configuration == study.configuration && one.buffers == study.buffers)
            out.insert(one.size);
    return out;
}

const CostModel* cost_of(const CalibrationState& state)
{
    return state.run ? state.run->cost.get() : nullptr;
}

Bandwidth least_of(Bandwidth inside, int nics, Bandwidth nic_rate, int nodes)
{
    const Bandwidth across = static_cast<double>(nics) * nic_rate;
    if (nodes <= 1)
        return inside;
    if (!(across.value() > 0))
        return {};
    return inside.value() > 0 ? std::min(inside, across) : across;
}

// By what logs say of their machine.
Bandwidth measured_line_rate(const Configuration& what, const FitInput& input)
{
    const KnownDevice* const known = shipped_devices().named_in(what.hardware);
    return least_of(known != nullptr ? known->device.nvlink : Bandwidth(), input.nics_per_node,
                    input.nic_rate, what.nodes);
}

// By the scenario's cluster.
Bandwidth cluster_line_rate(const Configuration& what, const Topology& topology)
{
    const DeviceAttachment device = topology.device(DeviceId{0});
    const NodeNetwork network = topology.network(device.node);
    return least_of(device.nvlink, network.nics, network.nic_rate, what.nodes);
}

class Fitting {
public:
    Fitting(const CalibrationState& state, const Fitted* before, const WorkControl& work)
        : state_(state), before_(before), work_(work), out_(std::make_shared<Fitted>())
    {
        out_->state = state;
    }

    std::shared_ptr<const Fitted> run()
    {
        if (state_.measured) {
            add(state_.measured->input.sweeps, Origin::measured);
            for (const MeasuredPairs& pairs : state_.measured->pairs)
                out_->matrices.push_back(std::make_shared<const JudgedMatrix>(JudgedMatrix{
                    pairs.source, pairs.matrix, judge(*state_.measured, pairs.matrix)}));
        }
        if (state_.growing)
            add(state_.growing->input.sweeps, Origin::growing);
        if (state_.run) {
            for (const CollectiveCurve& curve : collective_curves(*state_.run))
                add_job(curve);
            add_profile(state_.run->cost->profile());
        }
        std::stable_sort(out_->curves.begin(), out_->curves.end(),
                         [](const auto& a, const auto& b) { return rank(*a) < rank(*b); });
        return std::move(out_);
    }

private:
    static std::pair<Origin, double> rank(const FittedCurve& curve)
    {
        return {curve.origin, -error_of(curve.study).value_or(-1)};
    }

    void add_job(const CollectiveCurve& curve)
    {
        FittedCurve out{Origin::job, study_table(curve.table), std::string(to_name(curve.group))};
        out.study.flags.push_back(curve.basis);
        out.line_rate = line_rate_of(out);
        out_->curves.push_back(std::make_shared<const FittedCurve>(std::move(out)));
    }

    Bandwidth line_rate_of(const FittedCurve& curve) const
    {
        const Configuration& what = curve.study.configuration;
        if (curve.origin == Origin::measured && state_.measured)
            return measured_line_rate(what, state_.measured->input);
        if (curve.origin == Origin::growing && state_.growing)
            return measured_line_rate(what, state_.growing->input);
        return state_.run ? cluster_line_rate(what, *state_.run->topology) : Bandwidth();
    }

    void add_profile(const Profile& profile)
    {
        add(measured_sweeps(profile), Origin::profile);
        for (const KnotTable& table : profile.hardware.knots)
            if (table.raw.samples.empty())
                out_->curves.push_back(std::make_shared<const FittedCurve>(
                    FittedCurve{Origin::profile, study_table(table), table.source}));
    }

    void add(const std::vector<Sweep>& sweeps, Origin origin)
    {
        const std::vector<Launches> all = by_configuration(sweeps);
        for (std::size_t i = 0; i < all.size(); ++i) {
            work_.report("fitting curves", static_cast<double>(i), static_cast<double>(all.size()));
            for (const Buffers buffers : {Buffers::out_of_place, Buffers::in_place})
                if (is_timed(all[i], buffers)) {
                    work_.check();
                    out_->curves.push_back(curve_of(all[i], buffers, origin));
                }
        }
    }

    std::shared_ptr<const FittedCurve> curve_of(const Launches& launches, Buffers buffers,
                                                Origin origin)
    {
        FittedCurve out;
        out.origin = origin;
        out.study.configuration = launches.configuration;
        out.study.buffers = buffers;
        if (auto known = known_curve(out))
            return known;
        MeasuredOn on;
        on.rack_domain = shipped_devices().nvlink_domain_of(launches.configuration.hardware);
        out.study = study_curve(launches, buffers, state_.excluded, on);
        out.line_rate = line_rate_of(out);
        return std::make_shared<const FittedCurve>(std::move(out));
    }

    bool same_times(Origin origin) const
    {
        switch (origin) {
        case Origin::measured:
            return before_->state.measured == state_.measured;
        case Origin::growing:
            return before_->state.growing == state_.growing;
        case Origin::job:
        case Origin::profile:
            break;
        }
        return cost_of(before_->state) == cost_of(state_);
    }

    // Fitted before of the same times.
    std::shared_ptr<const FittedCurve> known_curve(const FittedCurve& curve) const
    {
        if (before_ == nullptr || !same_times(curve.origin) ||
            sizes_out(before_->state.excluded, curve.study) !=
                sizes_out(state_.excluded, curve.study))
            return nullptr;
        return find(*before_, curve);
    }

    const CalibrationState& state_;
    const Fitted* before_;
    const WorkControl& work_;
    std::shared_ptr<Fitted> out_;
};

QString changed(const QString& before, const QString& after)
{
    return before == after ? after : QStringLiteral("%1 → %2").arg(before, after);
}

QString error_text(const CurveStudy& study)
{
    const std::optional<double> error = median_error(study);
    return error ? QStringLiteral("%1 %").arg(100 * *error, 0, 'f', 1) : QStringLiteral("–");
}

QString change_of(const CurveStudy& before, const CurveStudy& after)
{
    QStringList parts;
    const auto& was = before.table.lines;
    const auto& is = after.table.lines;
    if (!was.empty() && !is.empty()) {
        parts << QStringLiteral("alpha %1")
                     .arg(changed(text_of(to_display(was.front().alpha)),
                                  text_of(to_display(is.front().alpha))));
        parts << QStringLiteral("1/beta %1")
                     .arg(changed(text_of(to_display(was.back().rate)),
                                  text_of(to_display(is.back().rate))));
    }
    parts << QStringLiteral("median error %1").arg(changed(error_text(before), error_text(after)));
    return QStringLiteral("%1: %2").arg(name_of(after), parts.join(QStringLiteral(", ")));
}

} // namespace

std::shared_ptr<const Fitted> fit(const CalibrationState& state, const Fitted* before,
                                  const WorkControl& work)
{
    return Fitting(state, before, work).run();
}

std::vector<Sweep> sweeps_to_save(const CalibrationState& state)
{
    if (state.measured && !state.measured->input.sweeps.empty())
        return without(state.measured->input.sweeps, state.excluded);
    return state.run ? without(measured_sweeps(state.run->cost->profile()), state.excluded)
                     : std::vector<Sweep>{};
}

// A profile of ranks on CPUs needs more than curves: what their cores compute and their memory
// gives.
Problems refused_to_save(const std::vector<Sweep>& sweeps)
{
    if (std::none_of(sweeps.begin(), sweeps.end(),
                     [](const Sweep& sweep) { return on_host(sweep.backend); }))
        return {};
    return {{"", 0, "",
             "these curves were measured between CPUs (Gloo or MPI): a profile of curves alone "
             "would be one of GPUs",
             "trainyard calibrate --from JOURNAL -o PROFILE.json writes the whole profile of the "
             "host",
             Severity::error}};
}

bool FittedCurve::is_same(const FittedCurve& other) const
{
    return origin == other.origin && study.configuration == other.study.configuration &&
           study.buffers == other.study.buffers && table == other.table;
}

std::shared_ptr<const FittedCurve> find(const Fitted& fitted, const FittedCurve& curve)
{
    const auto found = std::find_if(fitted.curves.begin(), fitted.curves.end(),
                                    [&](const auto& one) { return one->is_same(curve); });
    return found == fitted.curves.end() ? nullptr : *found;
}

std::optional<double> error_of(const CurveStudy& study)
{
    return study.sizes.empty() ? study.table.errors.leave_one_out : median_error(study);
}

QString name_of(const CurveStudy& study)
{
    return QStringLiteral("%1, %2 ranks")
        .arg(text_of(to_name(study.configuration.collective)))
        .arg(study.configuration.ranks);
}

QString details_of(const CurveStudy& study)
{
    const Configuration& what = study.configuration;
    QStringList parts;
    // What tells curves apart comes first: the rest is often alike, and may be cut.
    if (study.buffers == Buffers::in_place)
        parts << QStringLiteral("in place");
    if (what.nodes > 1 && !study.table.network.empty())
        parts << text_of(study.table.network);
    if (what.nodes > 1)
        parts << QStringLiteral("%1 %2")
                     .arg(what.nodes)
                     .arg(study.sizes.empty() ? "domains" : "nodes");
    if (what.backend != Backend::nccl)
        parts << text_of(to_name(what.backend));
    if (what.algorithm != "auto" || what.protocol != "auto")
        parts << text_of(what.algorithm + "/" + what.protocol);
    if (!what.data_type.empty())
        parts << text_of(what.data_type);
    if (!what.nccl_version.empty())
        parts << QStringLiteral("NCCL %1").arg(text_of(what.nccl_version));
    return parts.join(QStringLiteral(", "));
}

QString change_text(const Fitted& before, const Fitted& after)
{
    QStringList out;
    for (const auto& curve : after.curves) {
        const auto was = find(before, *curve);
        if (was != nullptr && was != curve &&
            sizes_out(before.state.excluded, curve->study) !=
                sizes_out(after.state.excluded, curve->study))
            out << change_of(was->study, curve->study);
    }
    return out.join(QStringLiteral("; "));
}

} // namespace trainyard::gui
