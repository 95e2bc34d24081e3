#include "calibrate/fit/fabric_fit.h"

#include "sim/cost/collective_form.h"

#include <Eigen/Dense>

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

    // log(T / measured) over the square root of the sweep's number of sizes.
    Eigen::VectorXd residuals(const Eigen::VectorXd& logs) const
    {
        Eigen::VectorXd out(rows_);
        const FabricClass fabric = fabric_of(logs);
        const CollectiveForm form = plain_form();
        Eigen::Index row = 0;
        for (const Measured& one : data_) {
            const auto lines = time_lines(one.kind, one.shape, {&fabric, nullptr, &form});
            const double weight = 1 / std::sqrt(static_cast<double>(one.points.size()));
            for (const TimedSize& point : one.points)
                out(row++) =
                    weight * std::log(lowest(lines, point.size).at(point.size) / point.time);
        }
        return out;
    }

    // Of the robust loss rho at each residual (before the division above).
    Eigen::VectorXd weights(const Eigen::VectorXd& residuals) const
    {
        constexpr double linear_beyond = 0.03;
        Eigen::VectorXd out(rows_);
        Eigen::Index row = 0;
        for (const Measured& one : data_)
            for (std::size_t i = 0; i < one.points.size(); ++i, ++row) {
                const double error =
                    residuals(row) * std::sqrt(static_cast<double>(one.points.size()));
                out(row) = 1 / std::sqrt(1 + std::pow(error / linear_beyond, 2));
            }
        return out;
    }

    Eigen::MatrixXd jacobian(const Eigen::VectorXd& logs) const
    {
        constexpr double step = 1e-4;
        Eigen::MatrixXd out(rows_, logs.size());
        for (Eigen::Index i = 0; i < logs.size(); ++i) {
            Eigen::VectorXd up = logs;
            Eigen::VectorXd down = logs;
            up(i) += step;
            down(i) -= step;
            out.col(i) = (residuals(up) - residuals(down)) / (2 * step);
        }
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

double loss(const FabricModel& model, const Eigen::VectorXd& logs)
{
    // 2 s^2 (sqrt(1 + (r/s)^2) - 1) has the weights above as its derivative; per sweep.
    const Eigen::VectorXd r = model.residuals(logs);
    const Eigen::VectorXd w = model.weights(r);
    double sum = prior_weight * prior_weight * (logs - model.prior()).squaredNorm();
    for (Eigen::Index i = 0; i < r.size(); ++i)
        sum += 2 * r(i) * r(i) * w(i) / (1 + w(i));
    return sum;
}

Eigen::MatrixXd normal_matrix(const FabricModel& model, const Eigen::VectorXd& logs,
                              Eigen::VectorXd& gradient)
{
    const Eigen::VectorXd r = model.residuals(logs);
    const Eigen::VectorXd w = model.weights(r);
    const Eigen::MatrixXd j = model.jacobian(logs);
    const double hold = prior_weight * prior_weight;
    gradient = j.transpose() * w.cwiseProduct(r) + hold * (logs - model.prior());
    Eigen::MatrixXd out = j.transpose() * w.asDiagonal() * j;
    out.diagonal().array() += hold;
    return out;
}

Eigen::VectorXd minimised(const FabricModel& model)
{
    constexpr int most_turns = 200;
    constexpr double enough = 1e-9; // of the loss
    Eigen::VectorXd logs = model.prior();
    double now = loss(model, logs);
    double damping = 1e-3;
    for (int turn = 0; turn < most_turns && damping < 1e9; ++turn) {
        Eigen::VectorXd gradient;
        Eigen::MatrixXd normal = normal_matrix(model, logs, gradient);
        normal.diagonal() *= 1 + damping;
        const Eigen::VectorXd next = logs - normal.ldlt().solve(gradient);
        const double then = loss(model, next);
        if (!(then < now)) {
            damping *= 4;
            continue;
        }
        const bool done = now - then < enough * now;
        logs = next;
        now = then;
        damping /= 3;
        if (done)
            break;
    }
    return logs;
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
    const Eigen::VectorXd logs = minimised(model);
    Eigen::VectorXd gradient;
    const Eigen::MatrixXd covariance = normal_matrix(model, logs, gradient).inverse();
    const double free = std::max(1.0, static_cast<double>(out.sweeps - logs.size()));
    const double scatter = model.residuals(logs).squaredNorm() / free;
    for (Eigen::Index i = 0; i < logs.size(); ++i) {
        constexpr double normal_90 = 1.645;
        constexpr double least = 0.05;
        const Parameter& parameter = parameters[static_cast<std::size_t>(i)];
        const double width =
            std::clamp(normal_90 * std::sqrt(scatter * covariance(i, i)), least, 1.0);
        const double most = is_share(parameter) ? 1.0 : HUGE_VAL;
        const double value = std::min(most, std::exp(logs(i)));
        out.constants.push_back({parameter.path, value, value * std::exp(-width),
                                 std::min(most, value * std::exp(width))});
    }
    out.error = model.mean_error(logs);
    return out;
}

} // namespace trainyard
