#include "calibrate/fit/network_fit.h"

#include "calibrate/fit/robust_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {
namespace {

struct SharedConstant {
    const char* path;
    double prior;
    double CollectiveForm::*member;
};

// Priors: an earlier fit, rounded.
constexpr std::array<SharedConstant, 5> shared_constants{{
    {"cross_ll", 0.32, &CollectiveForm::cross_ll},
    {"cross_ll128", 0.56, &CollectiveForm::cross_ll128},
    {"tree_latency_ll128", 2.6, &CollectiveForm::tree_latency_ll128},
    {"tree_latency_simple", 4.9, &CollectiveForm::tree_latency_simple},
    {"ring_entry_crossings", 1.04, &CollectiveForm::ring_entry_crossings},
}};

struct ClassConstant {
    const char* path;
    double (*get)(const NetworkClass& network);
    void (*set)(NetworkClass& network, double value);
};

constexpr std::array<ClassConstant, 3> class_constants{{
    {"latency", [](const NetworkClass& n) { return n.latency.value(); },
     [](NetworkClass& n, double v) { n.latency = Seconds(v); }},
    {"efficiency", [](const NetworkClass& n) { return n.efficiency; },
     [](NetworkClass& n, double v) { n.efficiency = std::min(1.0, v); }},
    {"max_per_communicator", [](const NetworkClass& n) { return n.max_per_communicator.value(); },
     [](NetworkClass& n, double v) { n.max_per_communicator = Bandwidth(v); }},
}};

bool is_share(std::string_view path)
{
    return path == "efficiency" || path.starts_with("cross_");
}

double predicted(const NetworkSweep& one, const NetworkClass& network, const CollectiveForm& form,
                 Bytes size)
{
    const auto time = [&](CollectiveKind kind) {
        return lowest(time_lines(kind, one.shape, {&one.fabric, &network, &form}), size)
            .at(size)
            .value();
    };
    if (one.ring && one.collective == CollectiveKind::all_reduce)
        return time(CollectiveKind::reduce_scatter) + time(CollectiveKind::all_gather);
    return time(one.collective);
}

double mean_error(const NetworkSweep& one, const NetworkClass& network, const CollectiveForm& form)
{
    double sum = 0;
    for (const TimedSize& point : one.points)
        sum += std::abs(predicted(one, network, form, point.size) / point.time.value() - 1);
    return sum / static_cast<double>(std::max<std::size_t>(1, one.points.size()));
}

// Where each constant stands among the logarithms: the shared ones, then class by class.
class NetworkModel {
public:
    NetworkModel(std::span<const NetworkSweep> sweeps, const CollectiveForm& form) : form_(form)
    {
        for (const SharedConstant& one : shared_constants)
            prior_.push_back({one.path, "", one.prior});
        for (const NetworkSweep& sweep : sweeps) {
            if (sweep.points.empty())
                continue;
            rows_ += static_cast<Eigen::Index>(sweep.points.size());
            data_.push_back(sweep);
            if (networks_.emplace(sweep.network.name, sweep.network).second)
                for (const ClassConstant& one : class_constants)
                    if (one.get(sweep.network) > 0)
                        prior_.push_back({one.path, sweep.network.name, one.get(sweep.network)});
        }
    }

    RobustProblem problem() const
    {
        RobustProblem out;
        out.residuals = [this](const Eigen::VectorXd& logs) { return residuals(logs); };
        out.share = share();
        const auto count = static_cast<Eigen::Index>(prior_.size());
        out.prior.resize(count);
        out.hold.resize(count);
        for (Eigen::Index i = 0; i < count; ++i) {
            const Prior& prior = prior_[static_cast<std::size_t>(i)];
            out.prior(i) = std::log(prior.value);
            out.hold(i) = std::pow(scatter * normal_90 / prior_width(prior.path), 2);
        }
        out.linear_beyond = scatter;
        return out;
    }

    NetworkFit fitted(const RobustFit& fit) const
    {
        NetworkFit out{form_, networks_, {}, {}, static_cast<int>(data_.size())};
        set(fit.logs, out.form, out.networks);
        for (std::size_t i = 0; i < prior_.size(); ++i) {
            constexpr double least = 0.05;
            const auto at = static_cast<Eigen::Index>(i);
            const double most = is_share(prior_[i].path) ? 1.0 : HUGE_VAL;
            const double width =
                std::max(least, normal_90 * scatter * std::sqrt(fit.covariance(at, at)));
            const double value = std::min(most, std::exp(fit.logs(at)));
            const FittedConstant constant{prior_[i].path, value, value * std::exp(-width),
                                          std::min(most, value * std::exp(width))};
            (prior_[i].network.empty() ? out.shared : out.constants[prior_[i].network])
                .push_back(constant);
        }
        return out;
    }

private:
    static constexpr double scatter = 0.15;
    static constexpr double normal_90 = 1.645;

    struct Prior {
        std::string path;
        std::string network; // empty: shared
        double value;
    };

    void set(const Eigen::VectorXd& logs, CollectiveForm& form,
             std::map<std::string, NetworkClass>& networks) const
    {
        for (std::size_t i = 0; i < prior_.size(); ++i) {
            const double value = std::exp(logs(static_cast<Eigen::Index>(i)));
            const Prior& prior = prior_[i];
            for (const SharedConstant& one : shared_constants)
                if (prior.network.empty() && prior.path == one.path)
                    form.*one.member = is_share(one.path) ? std::min(1.0, value) : value;
            for (const ClassConstant& one : class_constants)
                if (!prior.network.empty() && prior.path == one.path)
                    one.set(networks.at(prior.network), value);
        }
    }

    // log(T / measured).
    Eigen::VectorXd residuals(const Eigen::VectorXd& logs) const
    {
        CollectiveForm form = form_;
        auto networks = networks_;
        set(logs, form, networks);
        Eigen::VectorXd out(rows_);
        Eigen::Index row = 0;
        for (const NetworkSweep& one : data_)
            for (const TimedSize& point : one.points)
                out(row++) =
                    std::log(predicted(one, networks.at(one.network.name), form, point.size) /
                             point.time.value());
        return out;
    }

    // Every sweep counts once.
    Eigen::VectorXd share() const
    {
        Eigen::VectorXd out(rows_);
        Eigen::Index row = 0;
        for (const NetworkSweep& one : data_)
            for (std::size_t i = 0; i < one.points.size(); ++i)
                out(row++) = 1 / static_cast<double>(one.points.size());
        return out;
    }

    CollectiveForm form_;
    std::map<std::string, NetworkClass> networks_;
    std::vector<NetworkSweep> data_;
    std::vector<Prior> prior_;
    Eigen::Index rows_ = 0;
};

} // namespace

double prior_width(std::string_view path)
{
    if (path == "latency" || path == "max_per_communicator")
        return 0.47;
    return path == "efficiency" ? 0.09 : 0.25;
}

CollectiveForm prior_form(CollectiveForm form)
{
    for (const SharedConstant& one : shared_constants)
        form.*one.member = one.prior;
    return form;
}

NetworkFit fit_networks(std::span<const NetworkSweep> sweeps, const CollectiveForm& form)
{
    const NetworkModel model(sweeps, form);
    return model.fitted(fit_robustly(model.problem()));
}

double network_error(const NetworkSweep& sweep, const CollectiveForm& form)
{
    return mean_error(sweep, sweep.network, form);
}

double network_error(const NetworkSweep& sweep, const NetworkFit& fit)
{
    const auto found = fit.networks.find(sweep.network.name);
    return mean_error(sweep, found == fit.networks.end() ? sweep.network : found->second, fit.form);
}

} // namespace trainyard
