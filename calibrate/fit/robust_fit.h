#pragma once

// Constants of a model in their logarithms, by robust least squares with priors.

#include <Eigen/Core>

#include <functional>

namespace trainyard {

// Minimises over the logarithms of the constants c with priors p
//
//   sum over i of share_i rho(residual_i)  +  sum over c of hold_c (log(c / p))^2
//
// with rho quadratic near zero and linear beyond `linear_beyond`.
struct RobustProblem {
    std::function<Eigen::VectorXd(const Eigen::VectorXd& logs)> residuals;
    Eigen::VectorXd share; // of a residual
    Eigen::VectorXd prior; // logarithms
    Eigen::VectorXd hold;
    double linear_beyond = 0.03;
};

struct RobustFit {
    Eigen::VectorXd logs;
    Eigen::MatrixXd covariance; // for residuals of scatter 1
};

// Levenberg and Marquardt, numeric derivatives, reweighted; starts at the prior.
RobustFit fit_robustly(const RobustProblem& problem);

} // namespace trainyard
