#include "sim/strategy/bind/jitter_table.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

template <>
std::vector<EnumName<JitterDistribution>> enum_names<JitterDistribution>()
{
    using enum JitterDistribution;
    return {{normal, "normal"},
            {lognormal, "lognormal"},
            {exponential, "exponential"},
            {uniform, "uniform"}};
}

template <>
std::vector<EnumName<LatePart>> enum_names<LatePart>()
{
    return {{LatePart::step, "step"}, {LatePart::loader, "loader"}};
}

namespace {

double ratio(const std::array<double, 8>& above, const std::array<double, 8>& below, double x)
{
    double a = 0;
    double b = 0;
    for (std::size_t i = 8; i-- > 0;) {
        a = a * x + above[i];
        b = b * x + below[i];
    }
    return a / b;
}

} // namespace

// The rational approximations of PPND16.
double normal_tail(double tail)
{
    const double q = 0.5 - tail;
    if (q <= 0.425)
        return q *
               ratio({3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                      1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                      3.3430575583588128105e+4, 2.5090809287301226727e+3},
                     {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
                      5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                      2.8729085735721942674e+4, 5.2264952788528545610e+3},
                     0.180625 - q * q);
    const double r = std::sqrt(-std::log(tail));
    if (r <= 5.0)
        return ratio({1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                      3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                      2.27238449892691845833e-2, 7.74545014278341407640e-4},
                     {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
                      6.89767334985100004550e-1, 1.48103976427480074590e-1,
                      1.51986665636164571966e-2, 5.47593808499534494600e-4,
                      1.05075007164441684324e-9},
                     r - 1.6);
    return ratio({6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                  2.71155556874348757815e-5, 2.01033439929228813265e-7},
                 {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                  1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                  1.42151175831644588870e-7, 2.04426310338993978564e-15},
                 r - 5.0);
}

double jitter_quantile_of(const KernelJitter& jitter, double tail, bool upper)
{
    const double sign = upper ? 1.0 : -1.0;
    switch (jitter.distribution) {
    case JitterDistribution::normal:
        return std::max(0.0, 1.0 + sign * jitter.scale * normal_tail(tail));
    case JitterDistribution::lognormal:
        return std::exp(sign * jitter.scale * normal_tail(tail));
    case JitterDistribution::exponential:
        return 1.0 - jitter.scale * (upper ? std::log(tail) : std::log1p(-tail));
    case JitterDistribution::uniform:
        break;
    }
    return std::max(0.0, 1.0 + sign * jitter.scale * (1.0 - 2.0 * tail));
}

Jitter jitter_table(const SeededJitter& seeded)
{
    Jitter table;
    table.seed = seeded.seed;
    table.chance = static_cast<std::uint32_t>(
        std::lround(std::clamp(seeded.jitter.chance, 0.0, 1.0) * full_share));
    for (const bool upper : {false, true})
        for (std::size_t k = 0; k < jitter_edges; ++k) {
            const double tail =
                std::ldexp(2.0 - static_cast<double>(k % 16) / 16.0, -static_cast<int>(k / 16) - 2);
            const double factor =
                std::clamp(jitter_quantile_of(seeded.jitter, tail, upper), 0.0, 1024.0);
            table.factors.push_back(static_cast<std::uint32_t>(std::lround(factor * full_share)));
        }
    return table;
}

} // namespace trainyard
