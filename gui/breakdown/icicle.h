#pragma once

// Where the step's time goes, from the model down: stage, layer, op; each as wide as its time.

#include "sim/study/outcome.h"

#include <optional>
#include <string>

namespace trainyard::gui {

inline constexpr std::uint32_t no_part = 0xffffffff;

enum class IcicleOf : std::uint8_t { critical, mean }; // the critical rank, or all ranks' mean
enum class IcicleLevel : std::uint8_t { model, stage, layer, op };
inline constexpr std::size_t icicle_levels = 4;

struct IciclePart {
    std::string name;
    IcicleLevel level = IcicleLevel::model;
    std::optional<TimeKind> kind{}; // of an op, or of time that computes nothing; else mixed
    std::uint32_t parent = no_part;
    std::uint32_t end = 0; // behind all that it holds
    Seconds from;          // where it begins in the whole
    Seconds length;
    std::optional<Seconds> before{}; // the same part's of a baseline; none: it has none, or no such

    bool operator==(const IciclePart&) const = default;
};

// A parent before its parts, which fill it; the first is the model. Stages lie in their order,
// layers in theirs, then ops of no layer, then what is no compute, by kind; ops by their time.
// Compute is that of recorded ranks (each stands for the others of its stage), to the sum that all
// ranks have; what computes nothing is all ranks'. Empty where no rank that is asked for was
// recorded.
std::vector<IciclePart> make_icicle(const Outcome& recorded, IcicleOf of);

// Gives each part the length that the part of the same names has there.
void compare(std::vector<IciclePart>& parts, const std::vector<IciclePart>& baseline);

// "stage 1 > layer 3 > mlp, forward"; of the model its own name.
std::string path_of(const std::vector<IciclePart>& parts, std::size_t part);

} // namespace trainyard::gui
