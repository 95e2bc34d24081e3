#include "sim/base/fields.h"
#include "tests/catch.h"
#include "tests/property/random_laws.h"
#include "tests/support/pick.h"

#include <algorithm>
#include <regex>

namespace trainyard::testing {

namespace {

struct Change {
    std::string field; // "strategy/tp"
    Json value;
};
using Alternative = std::vector<Change>; // all of them together

std::vector<std::int64_t> numbers_in(const std::string& text)
{
    static const std::regex number("[0-9]+");
    std::vector<std::int64_t> out;
    for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at)
        out.push_back(std::stoll(at->str()));
    return out;
}

// "use vpp = 2", "etp = tp", "the schedule zb-h1 with vpp = 1", "use zero 0, 1",
// "sharding.style \"megatron\"", "leave shard_group out".
Alternative alternative_in(const std::string& text, const Strategy& strategy)
{
    static const std::regex assignment("\\b(tp|pp|vpp|cp|ep|etp|dp) = ([0-9]+)");
    static const std::regex schedule("schedule ([a-z0-9-]+)");
    static const std::regex zero("zero ([0-9])");
    Alternative out;
    for (std::sregex_iterator at(text.begin(), text.end(), assignment), end; at != end; ++at)
        out.push_back({"strategy/" + at->str(1), Json(std::int64_t{std::stoll(at->str(2))})});
    static const std::regex style("style \"([a-z]+)\"");
    static const std::regex leave("leave ([a-z_]+) out");
    if (text.find("etp = tp") != std::string::npos)
        out.push_back({"strategy/etp", Json(std::int64_t{strategy.tp})});
    std::smatch found;
    if (std::regex_search(text, found, schedule))
        out.push_back({"strategy/schedule", Json(found.str(1))});
    if (std::regex_search(text, found, zero))
        out.push_back({"strategy/zero", Json(std::int64_t{std::stoll(found.str(1))})});
    if (std::regex_search(text, found, style))
        out.push_back({"strategy/sharding", Json(Json::Object{{"style", Json(found.str(1))}})});
    if (std::regex_search(text, found, leave))
        out.push_back({"strategy/" + found.str(1), Json()});
    return out;
}

// What a hint says to do: "sizes that work here: 1, 2, 4", "use ..., or ...".
std::vector<Alternative> alternatives_in(const Diagnostic& problem, const Strategy& strategy)
{
    std::vector<Alternative> out;
    const std::string& hint = problem.hint;
    if (const auto works = hint.find("work here: "); works != std::string::npos) {
        const std::string list = hint.substr(works + 11);
        const std::string field =
            hint.starts_with("virtual stages") ? "strategy/vpp" : problem.pointer.substr(1);
        for (const std::int64_t value : numbers_in(list.substr(0, list.find(';'))))
            out.push_back({{field, Json(value)}});
        return out;
    }
    for (std::size_t from = 0; from < hint.size();) {
        const std::size_t to = std::min(hint.find(", or ", from), hint.size());
        if (Alternative one = alternative_in(hint.substr(from, to - from), strategy); !one.empty())
            out.push_back(std::move(one));
        from = to + 1;
    }
    return out;
}

template <class Part>
void set(Part& part, const std::string& field, const Json& value)
{
    Json json = fields_of<Part>().write(part);
    const auto slash = field.find('/'); // of a part of this part
    Json& parent = slash == std::string::npos ? json : json[field.substr(0, slash)];
    const std::string key = slash == std::string::npos ? field : field.substr(slash + 1);
    if (value.is_null())
        std::erase_if(parent.members(), [&](const Json::Member& m) { return m.first == key; });
    else
        parent[key] = value;
    Problems problems;
    Part changed;
    fields_of<Part>().read(Reader(json, "changed", problems), changed);
    REQUIRE(problems.empty());
    part = std::move(changed);
}

void apply(JobRequest& request, const Change& change)
{
    const auto slash = change.field.find('/');
    const std::string part = change.field.substr(0, slash);
    const std::string field = change.field.substr(slash + 1);
    if (part == "strategy")
        set(request.strategy, field, change.value);
    else
        set(request.training, field, change.value);
    const Strategy& s = request.strategy;
    request.devices = std::max(request.devices, s.tp * s.pp * s.cp * s.dp.value_or(1));
}

bool still_there(const Problems& problems, const Diagnostic& problem)
{
    return std::ranges::any_of(problems, [&](const Diagnostic& other) {
        return other.pointer == problem.pointer && other.message == problem.message;
    });
}

} // namespace

// A proposal answers its own problem: that must be gone, however many others are left. Following
// them one after the other must lead to a job.
void check_hints(const Draws& draws)
{
    constexpr int most_changes = 12;
    const std::vector<SoftwareClass> software = all_software();
    Random random(draws.seed);
    int followed = 0;
    int led_to_a_job = 0;
    for (int refused = 0; refused < draws.jobs;) {
        JobRequest request = random_request(random, software);
        const std::string first = describe(request);
        Checked<Job> job = resolve(request);
        if (job)
            continue;
        ++refused;
        bool readable = true;
        for (int step = 0; step < most_changes && !job && readable; ++step) {
            readable = false;
            for (const Diagnostic& problem : job.error()) {
                INFO(first << "\n"
                           << problem.pointer << ": " << problem.message << " | " << problem.hint);
                CHECK_FALSE(problem.hint.empty());
                const std::vector<Alternative> proposals =
                    alternatives_in(problem, request.strategy);
                if (proposals.empty())
                    continue;
                for (const Change& change : pick(random, proposals))
                    apply(request, change);
                const Checked<Job> changed = resolve(request);
                if (!changed)
                    CHECK_FALSE(still_there(changed.error(), problem));
                job = changed;
                readable = true;
                break;
            }
        }
        followed += readable || job.has_value();
        led_to_a_job += job.has_value();
    }
    CHECK(led_to_a_job >= 0.9 * followed);
}

} // namespace trainyard::testing
