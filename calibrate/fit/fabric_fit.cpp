#include "calibrate/fit/fabric_fit.h"

#include "calibrate/fit/robust_fit.h"
#include "sim/cost/collective_form.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {
namespace {

struct Parameter {
    const char* path;
    double prior;
    void (*set)(FabricClass& fabric, double value);
};

constexpr std::array<Parameter, 15> parameters{{
    {"base_ll", 6e-6, [](FabricClass& f, double v) { f.base_ll = Seconds(v); }},
    {"hop_ll", 1e-6, [](FabricClass& f, double v) { f.hop_ll = Seconds(v); }},
    {"efficiency_ll", 0.05, [](FabricClass& f, double v) { f.efficiency_ll = v; }},
    {"base_ll128", 9e-6, [](FabricClass& f, double v) { f.base_ll128 = Seconds(v); }},
    {"efficiency_ll128", 0.35, [](FabricClass& f, double v) { f.efficiency_ll128 = v; }},
    {"base_simple", 22e-6, [](FabricClass& f, double v) { f.base_simple = Seconds(v); }},
    {"hop_simple", 3e-6, [](FabricClass& f, double v) { f.hop_simple = Seconds(v); }},
    {"efficiency.all_reduce", 0.75, [](FabricClass& f, double v) { f.efficiency.all_reduce = v; }},
    {"efficiency.all_gather", 0.8,
     [](FabricClass& f, double v) { f.efficiency.all_gather = f.efficiency.reduce_scatter = v; }},
    {"efficiency.all_to_all", 0.75, [](FabricClass& f, double v) { f.efficiency.all_to_all = v; }},
    {"local_copy", 0.5, [](FabricClass& f, double v) { f.local_copy = v; }},
    {"local_copy_p2p", 0.3, [](FabricClass& f, double v) { f.local_copy_p2p = v; }},
    {"p2p_base_factor", 1.4, [](FabricClass& f, double v) { f.p2p_base_factor = v; }},
    {"nvls_per_rank", 6.5e-6, [](FabricClass& f, double v) { f.nvls_per_rank = Seconds(v); }},
    {"nvls_efficiency", 0.5, [](FabricClass& f, double v) { f.nvls_efficiency = v; }},
}};

constexpr std::size_t without_switch = parameters.size() - 2;

// Shares of a line rate end at 1.
bool is_share(const Parameter& parameter)
{
    return std::string_view(parameter.path).starts_with("efficiency") ||
           std::string_view(parameter.path) == "nvls_efficiency";
}

// What the closed form takes beside the fabric inside a domain.
CollectiveForm plain_form()
{
    return {}; // hops_all_reduce 2, hops_p2p 0.25
}

struct Measured {
    CollectiveKind kind = CollectiveKind::all_reduce;
    GroupShape shape;
    std::vector<TimedSize> points;
};

bool counts(CollectiveKind kind)
{
    return kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_gather ||
           kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all;
}

std::vector<Measured> measured(std::span<const FabricSweep> sweeps)
{
    std::vector<Measured> out;
    for (const FabricSweep& one : sweeps) {
        if (!counts(one.sweep->collective) || one.sweep->ranks < 2)
            continue;
        Measured m;
        m.kind = one.sweep->collective;
        m.points = clean(*one.sweep).points;
        m.shape.ranks = m.shape.ranks_per_domain = m.shape.ranks_per_node = one.sweep->ranks;
        m.shape.nvlink = one.line_rate;
        m.shape.nvswitch = one.in_switch;
        m.shape.in_switch_reduction = one.in_switch && !one.sweep->data_type.starts_with("int") &&
                                      !one.sweep->data_type.starts_with("uint");
        if (!m.points.empty())
            out.push_back(std::move(m));
    }
    return out;
}

class FabricModel {
public:
    FabricModel(std::vector<Measured> data, std::size_t count)
        : data_(std::move(data)), count_(count)
    {
        for (const Measured& one : data_)
            rows_ += static_cast<Eigen::Index>(one.points.size());
    }

    Eigen::VectorXd prior() const
    {
        Eigen::VectorXd out(static_cast<Eigen::Index>(count_));
        for (std::size_t i = 0; i < count_; ++i)
            out(static_cast<Eigen::Index>(i)) = std::log(parameters[i].prior);
        return out;
    }

    // log(T / measured).
    Eigen::VectorXd residuals(const Eigen::VectorXd& logs) const
    {
        Eigen::VectorXd out(rows_);
        const FabricClass fabric = fabric_of(logs);
        const CollectiveForm form = plain_form();
        Eigen::Index row = 0;
        for (const Measured& one : data_) {
            const auto lines = time_lines(one.kind, one.shape, {&fabric, nullptr, &form});
            for (const TimedSize& point : one.points)
                out(row++) = std::log(lowest(lines, point.size).at(point.size) / point.time);
        }
        return out;
    }

    // Every sweep counts once.
    Eigen::VectorXd share() const
    {
        Eigen::VectorXd out(rows_);
        Eigen::Index row = 0;
        for (const Measured& one : data_)
            for (std::size_t i = 0; i < one.points.size(); ++i)
                out(row++) = 1 / static_cast<double>(one.points.size());
        return out;
    }

    double mean_error(const Eigen::VectorXd& logs) const
    {
        const FabricClass fabric = fabric_of(logs);
        const CollectiveForm form = plain_form();
        double sum = 0;
        for (const Measured& one : data_) {
            const auto lines = time_lines(one.kind, one.shape, {&fabric, nullptr, &form});
            for (const TimedSize& point : one.points)
                sum += std::abs(lowest(lines, point.size).at(point.size) / point.time - 1);
        }
        return sum / static_cast<double>(rows_);
    }

    int sweeps() const { return static_cast<int>(data_.size()); }

private:
    FabricClass fabric_of(const Eigen::VectorXd& logs) const
    {
        FabricClass out;
        for (std::size_t i = 0; i < count_; ++i) {
            const double value = std::exp(logs(static_cast<Eigen::Index>(i)));
            parameters[i].set(out, is_share(parameters[i]) ? std::min(1.0, value) : value);
        }
        return out;
    }

    std::vector<Measured> data_;
    std::size_t count_;
    Eigen::Index rows_ = 0;
};

constexpr double prior_weight = 0.02;

RobustProblem problem_of(const FabricModel& model)
{
    RobustProblem out;
    out.residuals = [&model](const Eigen::VectorXd& logs) { return model.residuals(logs); };
    out.share = model.share();
    out.prior = model.prior();
    out.hold = Eigen::VectorXd::Constant(out.prior.size(), prior_weight * prior_weight);
    return out;
}

} // namespace

FabricFit fit_fabric(std::span<const FabricSweep> sweeps)
{
    FabricFit out;
    const bool in_switch = std::any_of(sweeps.begin(), sweeps.end(),
                                       [](const FabricSweep& one) { return one.in_switch; });
    const FabricModel model(measured(sweeps), in_switch ? parameters.size() : without_switch);
    out.sweeps = model.sweeps();
    if (out.sweeps == 0)
        return out;
    const RobustProblem problem = problem_of(model);
    const RobustFit fit = fit_robustly(problem);
    const Eigen::VectorXd& logs = fit.logs;
    const double free = std::max(1.0, static_cast<double>(out.sweeps - logs.size()));
    const double scatter = problem.share.dot(problem.residuals(logs).cwiseAbs2()) / free;
    for (Eigen::Index i = 0; i < logs.size(); ++i) {
        constexpr double normal_90 = 1.645;
        constexpr double least = 0.05;
        const Parameter& parameter = parameters[static_cast<std::size_t>(i)];
        const double width =
            std::clamp(normal_90 * std::sqrt(scatter * fit.covariance(i, i)), least, 1.0);
        const double most = is_share(parameter) ? 1.0 : HUGE_VAL;
        const double value = std::min(most, std::exp(logs(i)));
        out.constants.push_back({parameter.path, value, value * std::exp(-width),
                                 std::min(most, value * std::exp(width))});
    }
    out.error = model.mean_error(logs);
    return out;
}

} // namespace trainyard
