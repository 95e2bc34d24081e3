#pragma once

// What the field takes for good, beside which a report puts its figures.

#include <string_view>

namespace trainyard {

// Overhead of one kind, of the step: below this nobody looks, above the other it hurts.
inline constexpr double good_overhead = 0.05;
inline constexpr double bad_overhead = 0.20;

inline constexpr double good_scaling = 0.90;
inline constexpr double fair_scaling = 0.85; // realistic on eight GPUs

// Large dense models in bf16 on A100 and H100 reach this to 0.50, of the peak in bf16 (Narayanan
// 2021: 52 %; Llama 3, Grattafiori 2024: 38-43 %).
inline constexpr double usual_mfu_low = 0.35;

enum class Verdict { good, fair, bad };

constexpr Verdict judge_overhead(double share)
{
    if (share < good_overhead)
        return Verdict::good;
    return share > bad_overhead ? Verdict::bad : Verdict::fair;
}

constexpr Verdict judge_scaling(double efficiency)
{
    if (efficiency > good_scaling)
        return Verdict::good;
    return efficiency < fair_scaling ? Verdict::bad : Verdict::fair;
}

constexpr Verdict judge_mfu(double mfu)
{
    if (mfu >= usual_mfu_low)
        return Verdict::good;
    return mfu < usual_mfu_low / 2 ? Verdict::bad : Verdict::fair;
}

// Compute / (compute + communication), so overhead seen from the other side.
constexpr Verdict judge_compute(double share)
{
    return judge_overhead(1 - share);
}

constexpr std::string_view to_word(Verdict verdict)
{
    switch (verdict) {
    case Verdict::good:
        return "good";
    case Verdict::fair:
        return "fair";
    case Verdict::bad:
        break;
    }
    return "poor";
}

// What people read beside a figure, and how it is judged.
struct Target {
    std::string_view text = {};
    Verdict (*judge)(double) = nullptr;
};
inline constexpr Target overhead_target{"< 5 % good, > 20 % hurts", judge_overhead};
inline constexpr Target scaling_target{"> 90 % good, 85 % on 8 GPUs", judge_scaling};
inline constexpr Target compute_target{"> 80 %", judge_compute};
inline constexpr Target mfu_target{"35 to 50 % usual", judge_mfu};

} // namespace trainyard
