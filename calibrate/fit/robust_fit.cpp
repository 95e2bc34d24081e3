#include "calibrate/fit/robust_fit.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace trainyard {
namespace {

// Of the loss at each residual.
Eigen::VectorXd weights(const RobustProblem& problem, const Eigen::VectorXd& residuals)
{
    return (1 + (residuals.array() / problem.linear_beyond).square()).rsqrt();
}

Eigen::MatrixXd jacobian(const RobustProblem& problem, const Eigen::VectorXd& logs)
{
    constexpr double step = 1e-4;
    Eigen::MatrixXd out(problem.share.size(), logs.size());
    for (Eigen::Index i = 0; i < logs.size(); ++i) {
        Eigen::VectorXd up = logs;
        Eigen::VectorXd down = logs;
        up(i) += step;
        down(i) -= step;
        out.col(i) = (problem.residuals(up) - problem.residuals(down)) / (2 * step);
    }
    return out;
}

// 2 s^2 (sqrt(1 + (r/s)^2) - 1) has the weights above as its derivative.
double loss(const RobustProblem& problem, const Eigen::VectorXd& logs)
{
    const Eigen::ArrayXd r = problem.residuals(logs);
    const Eigen::ArrayXd w = weights(problem, r);
    return (problem.share.array() * 2 * r.square() * w / (1 + w)).sum() +
           (problem.hold.array() * (logs - problem.prior).array().square()).sum();
}

Eigen::MatrixXd normal_matrix(const RobustProblem& problem, const Eigen::VectorXd& logs,
                              Eigen::VectorXd& gradient)
{
    const Eigen::VectorXd r = problem.residuals(logs);
    const Eigen::VectorXd w = problem.share.cwiseProduct(weights(problem, r));
    const Eigen::MatrixXd j = jacobian(problem, logs);
    gradient = j.transpose() * w.cwiseProduct(r) + problem.hold.cwiseProduct(logs - problem.prior);
    Eigen::MatrixXd out = j.transpose() * w.asDiagonal() * j;
    out.diagonal() += problem.hold;
    return out;
}

} // namespace

RobustFit fit_robustly(const RobustProblem& problem)
{
    constexpr int most_turns = 200;
    constexpr double enough = 1e-9; // of the loss
    Eigen::VectorXd logs = problem.prior;
    Eigen::VectorXd gradient;
    double now = loss(problem, logs);
    double damping = 1e-3;
    for (int turn = 0; turn < most_turns && damping < 1e9; ++turn) {
        Eigen::MatrixXd normal = normal_matrix(problem, logs, gradient);
        normal.diagonal() *= 1 + damping;
        const Eigen::VectorXd next = logs - normal.ldlt().solve(gradient);
        const double then = loss(problem, next);
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
    return {logs, normal_matrix(problem, logs, gradient).inverse()};
}

} // namespace trainyard
