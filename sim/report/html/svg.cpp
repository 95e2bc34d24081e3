#include "sim/report/html/svg.h"

#include <fmt/core.h>

#include <cmath>

namespace trainyard {

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char letter : text)
        switch (letter) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            if (static_cast<unsigned char>(letter) >= 0x20 || letter == '\n' || letter == '\t')
                out += letter;
        }
    return out;
}

std::string coordinate(double value)
{
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string svg_rect(const Box& box, std::string_view css_class, std::string_view title)
{
    const std::string head = fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", css_class,
        coordinate(box.x), coordinate(box.y), coordinate(box.width), coordinate(box.height));
    return title.empty() ? head + "/>"
                         : fmt::format("{}><title>{}</title></rect>", head, escaped(title));
}

std::string svg_text(const TextAt& at, std::string_view text)
{
    const std::string_view anchor = at.anchor == Anchor::start    ? "start"
                                    : at.anchor == Anchor::middle ? "middle"
                                                                  : "end";
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>",
                       coordinate(at.x), coordinate(at.y), anchor, at.css_class, escaped(text));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class)
{
    return fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", css_class,
                       coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2));
}

std::string svg_figure(double width, double height, std::string_view label, std::string_view body)
{
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" "
                       "viewBox=\"0 0 {} {}\">{}</svg>\n",
                       escaped(label), coordinate(width), coordinate(height), body);
}

std::vector<double> round_ticks(double end, int count)
{
    std::vector<double> ticks;
    if (!(end > 0) || !std::isfinite(end) || count < 1)
        return ticks;
    const double rough = end / count;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough) {
            step = factor * power;
            break;
        }
    for (int i = 0; i * step <= end * (1 + 1e-9); ++i)
        ticks.push_back(i * step);
    return ticks;
}

} // namespace trainyard
