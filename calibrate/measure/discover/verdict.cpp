#include "calibrate/measure/discover/verdict.h"

#include "calibrate/fit/order_statistics.h"
#include "calibrate/measure/discover/pair_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {
namespace {

constexpr double most_pairs = 2.0 / 3; // of a culprit's judged pairs are slow

struct Candidate {
    SlowKind culprit = SlowKind::part;
    std::string name;
    std::vector<std::size_t> crossing; // cells, ascending
};

std::vector<Candidate> candidates(const PairStudy& study, const PairTable& table)
{
    std::map<std::tuple<int, SlowKind>, std::vector<std::size_t>> by_rank;
    for (std::size_t i = 0; i < table.cells.size(); ++i) {
        const OrderedPair& pair = table.cells[i].pair;
        by_rank[{pair.from, SlowKind::gpu}].push_back(i);
        by_rank[{pair.to, SlowKind::gpu}].push_back(i);
        by_rank[{pair.from, SlowKind::sending}].push_back(i);
        by_rank[{pair.to, SlowKind::receiving}].push_back(i);
    }
    std::vector<Candidate> out;
    for (auto& [key, cells] : by_rank) {
        const auto& [rank, culprit] = key;
        out.push_back({culprit,
                       name_of(study, rank) + (culprit == SlowKind::sending     ? " sending"
                                               : culprit == SlowKind::receiving ? " receiving"
                                                                                : ""),
                       std::move(cells)});
    }
    // Parts that exactly the pairs of a GPU cross cannot be told from it: they are named beside it.
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (std::size_t i = 0; i < out.size(); ++i)
        known.emplace(out[i].crossing, i);
    for (const SharedPart& part : study.parts) {
        std::vector<std::size_t> cells;
        for (const OrderedPair& pair : part.crossing)
            if (const auto found = table.by_pair.find(pair); found != table.by_pair.end())
                cells.push_back(found->second);
        std::sort(cells.begin(), cells.end());
        const auto [at, fresh] = known.emplace(cells, out.size());
        if (fresh)
            out.push_back({SlowKind::part, part.name, std::move(cells)});
        else
            out[at->second].name += " or " + part.name;
    }
    return out;
}

// Cells of a candidate that can tell of it: those of classes that have others too.
std::vector<std::size_t> judged_cells(const Candidate& candidate, const PairTable& table)
{
    std::vector<std::size_t> inside(table.classes.size());
    for (const std::size_t i : candidate.crossing)
        ++inside[table.cells[i].cls];
    std::vector<std::size_t> out;
    for (const std::size_t i : candidate.crossing) {
        const std::size_t cls = table.cells[i].cls;
        if (inside[cls] < table.classes[cls].level.cells)
            out.push_back(i);
    }
    return out;
}

struct Blame {
    const Candidate* candidate = nullptr;
    std::vector<std::size_t> cells; // that it explains
    std::size_t judged = 0;
    std::size_t slow = 0; // of the judged, explained by others or not
};

class Attribution {
public:
    Attribution(const PairStudy& study, const PairTable& table)
        : study_(study), table_(table), candidates_(candidates(study, table))
    {
        for (const Candidate& candidate : candidates_)
            judged_.push_back(judged_cells(candidate, table));
        for (std::size_t i = 0; i < table.cells.size(); ++i)
            if (table.cells[i].slow)
                open_.insert(i);
    }

    std::vector<SlowVerdict> run()
    {
        std::vector<SlowVerdict> out;
        while (!open_.empty()) {
            const Blame blame = best();
            if (blame.candidate == nullptr)
                break;
            for (const std::size_t i : blame.cells)
                open_.erase(i);
            out.push_back(verdict_of(blame));
        }
        add_links(out);
        return out;
    }

private:
    Blame best() const
    {
        Blame best;
        for (std::size_t c = 0; c < candidates_.size(); ++c) {
            Blame blame{&candidates_[c], {}, judged_[c].size(), 0};
            for (const std::size_t i : judged_[c]) {
                blame.slow += table_.cells[i].slow ? 1 : 0;
                if (open_.contains(i))
                    blame.cells.push_back(i);
            }
            if (blame.cells.size() < 2 || is_one_pair(blame.cells) ||
                static_cast<double>(blame.slow) < most_pairs * static_cast<double>(blame.judged))
                continue;
            if (best.candidate == nullptr || better(blame, best))
                best = std::move(blame);
        }
        return best;
    }

    bool is_one_pair(const std::vector<std::size_t>& cells) const
    {
        std::set<std::pair<int, int>> pairs;
        for (const std::size_t i : cells)
            pairs.insert(std::minmax(table_.cells[i].pair.from, table_.cells[i].pair.to));
        return pairs.size() < 2;
    }

    // More pairs explained, then fewer sound ones among its own, then what is named first.
    static bool better(const Blame& a, const Blame& b)
    {
        return a.cells.size() != b.cells.size() ? a.cells.size() > b.cells.size()
                                                : a.judged - a.slow < b.judged - b.slow;
    }

    void add_links(std::vector<SlowVerdict>& out)
    {
        while (!open_.empty()) {
            const std::size_t first = *open_.begin();
            open_.erase(open_.begin());
            const OrderedPair pair = table_.cells[first].pair;
            const auto back = table_.by_pair.find({pair.to, pair.from});
            std::vector<std::size_t> cells{first};
            if (back != table_.by_pair.end() && open_.erase(back->second) > 0)
                cells.push_back(back->second);
            SlowVerdict verdict;
            verdict.culprit = cells.size() > 1 ? SlowKind::both_ways : SlowKind::one_way;
            verdict.what = cells.size() > 1 ? fmt::format("{} <-> {}", name_of(study_, pair.from),
                                                          name_of(study_, pair.to))
                                            : arrow(study_, pair);
            fill(verdict, cells);
            verdict.evidence = numbers_of(cells) + others_of(cells) + again_of(cells);
            out.push_back(std::move(verdict));
        }
    }

    SlowVerdict verdict_of(const Blame& blame)
    {
        SlowVerdict out;
        out.culprit = blame.candidate->culprit;
        out.what = blame.candidate->name;
        fill(out, blame.cells);
        out.evidence = fmt::format("{} of its {} pairs that can be judged are slow, {}{}{}",
                                   blame.slow, blame.judged, numbers_of(blame.cells),
                                   others_of(blame.cells), again_of(blame.cells));
        return out;
    }

    void fill(SlowVerdict& out, const std::vector<std::size_t>& cells) const
    {
        std::vector<double> shares;
        for (const std::size_t i : cells) {
            const PairCell& cell = table_.cells[i];
            out.pairs.push_back(cell.pair);
            shares.push_back(cell.value / table_.classes[cell.cls].level.median);
        }
        out.share = median(shares);
    }

    // "121 GB/s", "119 and 121 GB/s", "110 to 130 GB/s".
    std::string numbers_of(const std::vector<std::size_t>& cells) const
    {
        std::vector<double> values;
        for (const std::size_t i : cells)
            values.push_back(table_.cells[i].value);
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        if (values.size() == 1)
            return in_gigabytes(*least) + " GB/s";
        return fmt::format("{} {} {} GB/s", in_gigabytes(*least), values.size() == 2 ? "and" : "to",
                           in_gigabytes(*most));
    }

    // "; the 55 other NV18 pairs 382 GB/s median", for each class.
    std::string others_of(const std::vector<std::size_t>& cells) const
    {
        std::map<std::size_t, std::size_t> blamed;
        for (const std::size_t i : cells)
            ++blamed[table_.cells[i].cls];
        std::string out;
        for (const auto& [cls, count] : blamed) {
            const ClassLevel& level = table_.classes[cls].level;
            const std::size_t others = level.cells - count;
            out += fmt::format(
                "; the {}other {} pair{} {} GB/s{}", others == 1 ? "" : fmt::format("{} ", others),
                table_.classes[cls].word, others == 1 ? "" : "s", in_gigabytes(level.median),
                level.sound == 1       ? ""
                : level.sound < others ? " median of the sound ones"
                                       : " median");
        }
        return out;
    }

    std::string again_of(const std::vector<std::size_t>& cells) const
    {
        std::vector<double> values;
        std::size_t measured = 0;
        for (const std::size_t i : cells) {
            measured += table_.cells[i].again.empty() ? 0 : 1;
            values.insert(values.end(), table_.cells[i].again.begin(), table_.cells[i].again.end());
        }
        if (values.empty())
            return "; not measured again";
        std::string out = measured < cells.size()
                              ? fmt::format("; {} of them measured again: ", measured)
                              : std::string("; measured again: ");
        if (values.size() > 4) {
            const auto [least, most] = std::minmax_element(values.begin(), values.end());
            return out + fmt::format("{} to {}", in_gigabytes(*least), in_gigabytes(*most));
        }
        std::vector<std::string> words;
        for (const double value : values)
            words.push_back(in_gigabytes(value));
        return out + fmt::format("{}", fmt::join(words, ", "));
    }

    const PairStudy& study_;
    const PairTable& table_;
    std::vector<Candidate> candidates_;
    std::vector<std::vector<std::size_t>> judged_;
    std::set<std::size_t> open_; // slow cells without a culprit
};

} // namespace

std::vector<OrderedPair> to_measure_again(const PairStudy& study)
{
    std::vector<OrderedPair> out;
    for (const PairCell& cell : table_of(study).cells)
        if (cell.slow)
            out.push_back(cell.pair);
    return out;
}

PairVerdicts verdicts(const PairStudy& study)
{
    const PairTable table = table_of(study);
    return {Attribution(study, table).run(), table.recovered};
}

} // namespace trainyard
