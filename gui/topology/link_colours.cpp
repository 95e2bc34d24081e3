#include "gui/topology/link_colours.h"

#include "gui/timeline/colours.h"
#include "gui/widgets/theme.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

LinkColours::LinkColours(const QPalette& palette) : dark(theme_of(palette) == Theme::dark)
{
    const SignColours signs = sign_colours(palette);
    background = palette.color(QPalette::Base);
    frame = palette.color(QPalette::AlternateBase);
    text = palette.color(QPalette::Text);
    quiet_text = signs.quiet;
    edge = mixed(background, text, 0.45);
    thing = mixed(background, text, dark ? 0.10 : 0.05);
    accent = palette.color(QPalette::Highlight);
    error = signs.error;
    warning = signs.warning;
    stub = mixed(background, text, 0.18);
    if (dark)
        scale = {"#3b434e", "#35618c", "#2d8a9c", "#4bb58a", "#a6d65f", "#fbea5a"};
    else
        scale = {"#ccd4dd", "#92bfdc", "#5a94c8", "#5b60b4", "#73308f", "#5a0a4a"};
}

QColor LinkColours::of_use(double use) const
{
    const double at = std::clamp(use, 0.0, 1.0) * static_cast<double>(scale.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), scale.size() - 2);
    return mixed(scale[below], scale[below + 1], at - static_cast<double>(below));
}

double width_of(double capacity, double most)
{
    constexpr double thinnest = 1.2;
    constexpr double thickest = 9.0;
    return most > 0 && capacity > 0
               ? thinnest + (thickest - thinnest) * std::sqrt(std::min(1.0, capacity / most))
               : thinnest;
}

} // namespace trainyard::gui
