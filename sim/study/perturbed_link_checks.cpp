// Perturbations of links: what contradicts, and what has no effect.

#include "sim/study/entry_problems.h"
#include "sim/study/perturbation.h"
#include "sim/study/perturbed_links.h"
#include "sim/study/perturbed_windows.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace trainyard {

namespace {

class LinkChecker {
public:
    LinkChecker(const std::vector<Perturbation>& all, const Topology& topology)
        : all_(all), topology_(topology), links_(links_by_entry(all, topology))
    {}

    Problems check() &&
    {
        for (std::size_t i = 0; i < all_.size(); ++i)
            for (const LinkId link : links_[i])
                if (all_[i].dead && !all_[i].has_window())
                    dead_.try_emplace(link, i);
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!all_[i].of_network())
                continue;
            problems_.enter(i);
            check_subject(all_[i]);
            check_window(all_[i]);
            check_twice(all_[i]);
            check_effect(all_[i]);
        }
        return std::move(problems_).take();
    }

private:
    // By the first entry that says it.
    struct Said {
        std::optional<std::size_t> bandwidth;
        std::optional<std::size_t> latency;
        std::optional<std::size_t> background;
    };

    void check_subject(const Perturbation& p)
    {
        if (p.of_devices())
            problems_.error(p.link.empty() ? "/ecmp" : "/link", "devices and links in one entry",
                            "write two entries");
        if (p.link.empty() && p.changes_links())
            problems_.error("", "no \"link\" says which",
                            "\"link\": \"fabric\": all between switches");
        if (p.ecmp && !p.link.empty())
            problems_.error("/ecmp", "collisions are of the whole fabric",
                            "write it in an entry of its own");
        if (p.dead && (p.bandwidth != 1.0 || p.background != 0.0 || p.latency.value() > 0))
            problems_.error("/dead", fmt::format("\"{}\" is dead and more", p.link),
                            "a dead link has no bandwidth, latency or traffic");
        if (!p.link.empty() && links_[problems_.entry()].empty())
            problems_.error("/link", fmt::format("no link of this cluster is named \"{}\"", p.link),
                            name_hint(p.link));
    }

    // Each looks at every link: only for as many entries as are read one by one.
    std::string name_hint(const std::string& pattern)
    {
        constexpr int most = 50;
        return hints_++ < most ? link_name_hint(pattern, topology_) : "`trainyard topo` names them";
    }

    // The rate of a link may change within the run; what a transfer costs alone does not.
    void check_window(const Perturbation& p)
    {
        if (!p.has_window())
            return;
        if (p.ecmp)
            problems_.error(p.from ? "/from" : "/until", "collisions for a time",
                            "flows collide for the whole run: leave \"from\" and \"until\" out");
        if (p.latency.value() > 0)
            problems_.error("/latency", "a latency for a time",
                            "it holds for the whole run: write an entry of its own");
        check_window_order(p, problems_);
        for (const LinkId link : links_[problems_.entry()]) {
            if (problems_.wrong())
                return;
            const std::string name = topology_.link_name(link);
            if (p.dead)
                check_outage(p, topology_.link(link), topology_.network(NodeId{0}).transport, name,
                             problems_);
            if (!windows_[link].add(p))
                problems_.error("/link", fmt::format("two windows of {} overlap", name),
                                "end one where the other begins");
        }
    }

    // One of each per link. What other jobs take of a slow link is no contradiction.
    void check_twice(const Perturbation& p)
    {
        if (p.has_window())
            return;
        once(p.bandwidth != 1.0, &Said::bandwidth, "/bandwidth",
             "write one entry with the product of the shares");
        once(p.latency.value() > 0, &Said::latency, "/latency",
             "write one entry with the sum of the latencies");
        once(p.background > 0, &Said::background, "/background",
             "write one entry with what all of them take");
        if (!p.ecmp)
            return;
        if (collisions_)
            problems_.error(
                "/ecmp",
                fmt::format("collisions twice, here and in /perturbations/{}", *collisions_),
                "keep one of them");
        else
            collisions_ = problems_.entry();
    }

    void once(bool has, std::optional<std::size_t> Said::*member, const char* field,
              const char* hint)
    {
        if (!has)
            return;
        for (const LinkId link : links_[problems_.entry()]) {
            std::optional<std::size_t>& before = said_[link].*member;
            if (before)
                return problems_.error(field,
                                       fmt::format("{} has a {} twice, here and in "
                                                   "/perturbations/{}",
                                                   topology_.link_name(link), field + 1, *before),
                                       hint);
            before = problems_.entry();
        }
    }

    void check_effect(const Perturbation& p)
    {
        const std::vector<LinkId>& links = links_[problems_.entry()];
        if (problems_.wrong() || links.empty())
            return;
        if (!p.changes_links())
            return problems_.warn(
                "", "this entry changes nothing",
                "\"bandwidth\", \"latency\", \"background\" or \"dead\" say what is wrong");
        const auto otherwise_dead = [&](LinkId link) {
            const auto found = dead_.find(link);
            return found != dead_.end() && found->second != problems_.entry();
        };
        if (std::ranges::all_of(links, otherwise_dead))
            problems_.error(p.dead ? "/dead" : "/link",
                            fmt::format("\"{}\" is dead, says /perturbations/{}", p.link,
                                        dead_.at(links.front())),
                            "keep one of the entries");
    }

    const std::vector<Perturbation>& all_;
    const Topology& topology_;
    std::vector<std::vector<LinkId>> links_; // by entry
    std::unordered_map<LinkId, std::size_t> dead_;
    std::unordered_map<LinkId, Said> said_;
    std::unordered_map<LinkId, Windows> windows_;
    std::optional<std::size_t> collisions_;
    int hints_ = 0;
    EntryProblems problems_;
};

} // namespace

Problems link_problems(const std::vector<Perturbation>& perturbations, const Topology& topology)
{
    return LinkChecker(perturbations, topology).check();
}

} // namespace trainyard
