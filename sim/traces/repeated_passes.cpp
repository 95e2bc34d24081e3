#include "sim/traces/repeated_passes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace trainyard {
namespace {

constexpr std::size_t most_centres = 8;
constexpr std::size_t most_skipped = 8; // kernels that one pass has and another has not, in a row
constexpr std::size_t most_counts = 16;
constexpr double least_alike = 0.5;   // of the time of passes
constexpr double least_covered = 0.2; // of the time of all kernels, by what passes have in common

// A kernel that runs as often as there are passes.
struct PassMark {
    std::vector<std::size_t> at;
    double time = 0;
};

using KernelPlaces = std::vector<PassMark>;

enum class Identity : std::uint8_t { kind, name, name_and_before };

KernelPlaces places_of(const std::vector<PassKernel>& kernels, Identity identity)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, PassMark> marks;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const PassKernel& kernel = kernels[i];
        std::pair<std::uint32_t, std::uint32_t> key{kernel.kind, 0};
        if (identity != Identity::kind)
            key.first = kernel.name;
        if (identity == Identity::name_and_before)
            key.second = i == 0 ? ~std::uint32_t{0} : kernels[i - 1].name;
        PassMark& mark = marks[key];
        mark.at.push_back(i);
        mark.time += kernel.time;
    }
    KernelPlaces out;
    for (auto& [key, mark] : marks)
        out.push_back(std::move(mark));
    return out;
}

// Longest first, the same kernels once.
std::vector<PassMark> marks_of(const std::vector<PassKernel>& kernels, std::size_t count,
                               std::span<const Identity> identities)
{
    std::vector<PassMark> out;
    std::set<std::size_t> seen; // by the first place
    for (const Identity identity : identities)
        for (PassMark& mark : places_of(kernels, identity))
            if (mark.at.size() == count && seen.insert(mark.at.front()).second)
                out.push_back(std::move(mark));
    std::stable_sort(out.begin(), out.end(),
                     [](const PassMark& a, const PassMark& b) { return a.time > b.time; });
    return out;
}

// Marks that run in turn around one of them.
struct MarkedPasses {
    std::vector<std::size_t> first; // by pass: its first mark
    std::vector<std::size_t> last;
    double time = 0;

    explicit MarkedPasses(const PassMark& centre)
        : first(centre.at), last(centre.at), time(centre.time)
    {}

    void add(const PassMark& mark)
    {
        const std::size_t count = first.size();
        bool before = true; // all of a pass's marks behind those of the pass before
        bool behind = true;
        for (std::size_t j = 0; j < count; ++j) {
            const std::size_t at = mark.at[j];
            before = before && at <= last[j] && (j == 0 || at > last[j - 1]);
            behind = behind && at >= first[j] && (j + 1 == count || at < first[j + 1]);
        }
        if (!before && !behind)
            return;
        time += mark.time;
        for (std::size_t j = 0; j < count; ++j) {
            first[j] = std::min(first[j], mark.at[j]);
            last[j] = std::max(last[j], mark.at[j]);
        }
    }
};

double time_of(const std::vector<PassKernel>& kernels)
{
    double sum = 0;
    for (const PassKernel& kernel : kernels)
        sum += kernel.time;
    return sum;
}

// Around each of the longest marks: first of kernels that run once in each pass, then also of those
// that run once in each behind a certain other.
std::vector<MarkedPasses> markings(const std::vector<PassKernel>& kernels, std::size_t count)
{
    constexpr std::array all{Identity::kind, Identity::name, Identity::name_and_before};
    std::vector<MarkedPasses> out;
    for (const std::size_t identities : {std::size_t{2}, all.size()}) {
        const std::vector<PassMark> marks =
            marks_of(kernels, count, std::span(all).first(identities));
        for (std::size_t c = 0; c < std::min(marks.size(), most_centres); ++c) {
            MarkedPasses passes(marks[c]);
            for (std::size_t m = 0; m < marks.size(); ++m)
                if (m != c)
                    passes.add(marks[m]);
            out.push_back(std::move(passes));
        }
    }
    return out;
}

// Walks two places of the sequence step by step in one direction, as long as the same runs there.
class AlikeRuns {
public:
    enum class Way : std::uint8_t { forward, back };
    AlikeRuns(const std::vector<PassKernel>& kernels, Way way) : kernels_(kernels), way_(way) {}

    // How many places from `own` on run what those from `other` on run: `own_count` and
    // `other_count` are there at most.
    std::size_t length(std::size_t own, std::size_t own_count, std::size_t other,
                       std::size_t other_count) const
    {
        std::size_t i = 0;
        std::size_t j = 0;
        std::size_t matched = 0;
        while (i < own_count && j < other_count) {
            const auto skip = skipped(own, own_count - i, i, other, other_count - j, j);
            if (!skip)
                break;
            i += skip->first + 1;
            j += skip->second + 1;
            matched = i;
        }
        return matched;
    }

private:
    const PassKernel& at(std::size_t place, std::size_t step) const
    {
        return kernels_[way_ == Way::forward ? place + step : place - step];
    }

    // The fewest kernels to leave out on both sides until the same runs.
    std::optional<std::pair<std::size_t, std::size_t>>
    skipped(std::size_t own, std::size_t own_left, std::size_t i, std::size_t other,
            std::size_t other_left, std::size_t j) const
    {
        for (std::size_t sum = 0; sum <= most_skipped; ++sum)
            for (std::size_t a = 0; a <= sum; ++a)
                if (const std::size_t b = sum - a;
                    a < own_left && b < other_left && at(own, i + a).name == at(other, j + b).name)
                    return std::pair(a, b);
        return std::nullopt;
    }

    const std::vector<PassKernel>& kernels_;
    Way way_;
};

class PassBorders {
public:
    PassBorders(const std::vector<PassKernel>& kernels, const MarkedPasses& marks,
                const std::vector<bool>& ends)
        : kernels_(kernels), marks_(marks), ends_(ends)
    {
        for (std::size_t j = 0; j + 1 < ends.size() && !model_; ++j)
            if (!ends[j] && same_stretch(marks.last[j], marks.first[j + 1]))
                model_ = j;
    }

    std::vector<KernelPass> passes() const
    {
        std::vector<KernelPass> out;
        const std::size_t early = before_first_marks();
        for (std::size_t j = 0; j < ends_.size(); ++j)
            out.push_back({begin_of(j, early), marks_.last[j] + 1});
        for (std::size_t j = 0; j < ends_.size(); ++j)
            out[j].behind = continues(j) ? out[j + 1].first : end_of(j, early);
        return out;
    }

private:
    bool same_stretch(std::size_t a, std::size_t b) const
    {
        return kernels_[a].stretch == kernels_[b].stretch;
    }

    // The next pass follows without a border.
    bool continues(std::size_t pass) const
    {
        return pass + 1 < ends_.size() && !ends_[pass] &&
               same_stretch(marks_.last[pass], marks_.first[pass + 1]);
    }
    bool begins_run(std::size_t pass) const { return pass == 0 || !continues(pass - 1); }

    // Kernels between the marks of the model pass and those of its follower.
    std::size_t model_gap() const { return marks_.first[*model_ + 1] - marks_.last[*model_] - 1; }

    // How many kernels before a pass's first mark run what others run there.
    std::size_t alike_before(std::size_t pass, std::size_t most) const
    {
        const std::size_t mark = marks_.first[pass];
        const std::size_t floor = pass == 0 ? 0 : marks_.last[pass - 1] + 1;
        std::size_t room = 0;
        while (mark - room > floor && same_stretch(mark, mark - room - 1))
            ++room;
        const std::size_t model = marks_.first[*model_ + 1];
        return AlikeRuns(kernels_, AlikeRuns::Way::back)
            .length(mark - 1, room, model - 1, std::min(most, model_gap()));
    }

    // ... at the beginnings of micro-batches: what belongs to a layer although it has no mark.
    std::size_t before_first_marks() const
    {
        if (!model_)
            return 0;
        std::vector<std::size_t> lengths;
        for (std::size_t j = 0; j < ends_.size(); ++j)
            if (begins_run(j) && marks_.first[j] > 0)
                lengths.push_back(alike_before(j, model_gap()));
        if (lengths.empty())
            return 0;
        const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
        std::nth_element(lengths.begin(), middle, lengths.end());
        return *middle;
    }

    std::size_t begin_of(std::size_t pass, std::size_t early) const
    {
        const std::size_t mark = marks_.first[pass];
        return early == 0 || mark == 0 ? mark : mark - alike_before(pass, early);
    }

    std::size_t end_of(std::size_t pass, std::size_t early) const
    {
        const std::size_t from = marks_.last[pass] + 1;
        if (!model_)
            return from;
        const std::size_t ceiling =
            pass + 1 < ends_.size() ? marks_.first[pass + 1] : kernels_.size();
        std::size_t room = 0;
        while (from + room < ceiling && same_stretch(marks_.last[pass], from + room))
            ++room;
        return from + AlikeRuns(kernels_, AlikeRuns::Way::forward)
                          .length(from, room, marks_.last[*model_] + 1, model_gap() - early);
    }

    const std::vector<PassKernel>& kernels_;
    const MarkedPasses& marks_;
    const std::vector<bool>& ends_;
    std::optional<std::size_t> model_; // a pass that another follows
};

using NameCounts = std::map<std::uint32_t, std::size_t>;

NameCounts names_in(const std::vector<PassKernel>& kernels, const KernelPass& pass)
{
    NameCounts out;
    for (std::size_t i = pass.first; i < pass.behind; ++i)
        ++out[kernels[i].name];
    return out;
}

// Of the passes but the one of middle length: how long their kernels take, and those of them that
// run in that one, too, s.
struct PassLikeness {
    double all = 0;
    double alike = 0;

    double share() const { return all > 0 ? alike / all : 0; }
};

PassLikeness likeness(const std::vector<PassKernel>& kernels, const std::vector<KernelPass>& passes)
{
    std::vector<KernelPass> order = passes;
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    std::nth_element(order.begin(), middle, order.end(),
                     [](const KernelPass& a, const KernelPass& b) {
                         return a.behind - a.first < b.behind - b.first;
                     });
    const KernelPass usual = *middle;
    const NameCounts model = names_in(kernels, usual);
    PassLikeness out;
    for (const KernelPass& pass : passes) {
        if (pass == usual)
            continue;
        NameCounts left = model;
        for (std::size_t i = pass.first; i < pass.behind; ++i) {
            out.all += kernels[i].time;
            if (const auto at = left.find(kernels[i].name); at != left.end() && at->second > 0) {
                --at->second;
                out.alike += kernels[i].time;
            }
        }
    }
    return out;
}

// A little more, so that of equals the first stays.
bool exceeds(double a, double b)
{
    return a > b * (1 + 1e-9);
}

} // namespace

FoundPasses find_passes(const std::vector<PassKernel>& kernels, const std::vector<bool>& ends)
{
    FoundPasses out;
    if (ends.size() < 2)
        return out;
    const auto count = static_cast<double>(ends.size());
    double best = least_covered * time_of(kernels) * (count - 1) / count;
    for (const MarkedPasses& marks : markings(kernels, ends.size())) {
        std::vector<KernelPass> passes = PassBorders(kernels, marks, ends).passes();
        const PassLikeness like = likeness(kernels, passes);
        if (like.share() < least_alike || !exceeds(like.alike, best))
            continue;
        best = like.alike;
        out = {std::move(passes), like.share()};
    }
    return out;
}

std::size_t likely_passes(const std::vector<PassKernel>& kernels)
{
    std::map<std::size_t, double> counts; // time of kernels that run so often
    for (const PassMark& mark : places_of(kernels, Identity::kind))
        if (mark.at.size() >= 2)
            counts[mark.at.size()] += mark.time;
    std::vector<std::pair<double, std::size_t>> order;
    for (const auto& [count, time] : counts)
        order.emplace_back(time, count);
    std::sort(order.rbegin(), order.rend());
    order.resize(std::min(order.size(), most_counts));
    double best = least_covered * time_of(kernels);
    std::size_t found = 0;
    for (const auto& [time, count] : order)
        for (const MarkedPasses& marks : markings(kernels, count))
            if (exceeds(marks.time, best)) {
                best = marks.time;
                found = count;
            }
    return found;
}

} // namespace trainyard
