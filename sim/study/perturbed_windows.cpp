#include "sim/study/perturbed_windows.h"

#include "sim/base/units.h"

#include <iterator>
#include <limits>

namespace trainyard {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double begin_of(const Perturbation& p)
{
    return p.from.value_or(Seconds(0)).value();
}

double end_of(const Perturbation& p)
{
    return p.until ? p.until->value() : never;
}

bool is_between_nodes(LinkKind kind)
{
    return kind != LinkKind::nvlink && kind != LinkKind::c2c && kind != LinkKind::pcie;
}

} // namespace

void check_window_order(const Perturbation& p, EntryProblems& problems)
{
    if (p.from && p.until && *p.until <= *p.from)
        problems.error("/until",
                       fmt::format("the window ends at {}, before it begins at {}",
                                   to_text(*p.until), to_text(*p.from)),
                       "\"until\" counts from the start of the measured step, as \"from\" does");
}

Seconds longest_outage(Transport transport)
{
    constexpr double tries = 8;
    constexpr double between_tries = 4.096e-6 * (1 << 20);
    return Seconds(transport == Transport::tcp ? 924.6 : tries * between_tries);
}

void check_outage(const Perturbation& p, const Link& link, Transport transport,
                  const std::string& name, EntryProblems& problems)
{
    if (!is_between_nodes(link.kind))
        return problems.error(
            "/dead", fmt::format("{} fails under way, which ends the job", name),
            "\"bandwidth\" for a time; without \"from\" and \"until\" the job is started without "
            "the link");
    const Seconds longest = longest_outage(transport);
    const double length = end_of(p) - begin_of(p);
    if (length > longest.value())
        problems.error(
            p.until ? "/until" : "/from",
            fmt::format(
                "{} is gone {}: transfers over it are given up after {}, which ends the job", name,
                p.until ? "for " + to_display(Seconds(length)) : std::string("for good"),
                to_display(longest)),
            "a shorter time; without \"from\" and \"until\" the job is started without the link");
}

bool Windows::add(const Perturbation& p)
{
    const auto next = ends_.lower_bound(begin_of(p));
    const bool meets_next = next != ends_.end() && next->first < end_of(p);
    const bool meets_last = next != ends_.begin() && std::prev(next)->second > begin_of(p);
    if (meets_next || meets_last)
        return false;
    ends_.emplace(begin_of(p), end_of(p));
    return true;
}

} // namespace trainyard
