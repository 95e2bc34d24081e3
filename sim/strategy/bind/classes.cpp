#include "sim/strategy/bind/classes.h"

#include "sim/base/random.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace trainyard {

namespace {

using Word = std::uint32_t;

// Numbers distinct rows of words from 0, in the order in which they come.
class RowTable {
public:
    explicit RowTable(std::size_t expected)
        : buckets_(std::bit_ceil(2 * std::max<std::size_t>(expected, 8)), empty)
    {}

    std::size_t size() const { return rows_.size(); }

    Word number(std::span<const Word> row)
    {
        if (2 * (rows_.size() + 1) > buckets_.size())
            grow();
        const std::uint64_t hash = hash_of(row);
        Word& bucket = find(row, hash);
        if (bucket == empty) {
            bucket = static_cast<Word>(rows_.size());
            rows_.push_back({hash, words_.size(), row.size()});
            words_.insert(words_.end(), row.begin(), row.end());
        }
        return bucket;
    }

private:
    struct Row {
        std::uint64_t hash;
        std::size_t first;
        std::size_t size;
    };
    static constexpr Word empty = 0xffffffff;

    static std::uint64_t hash_of(std::span<const Word> row)
    {
        std::uint64_t hash = row.size();
        for (const Word word : row)
            hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15ULL;
        return hash ^ (hash >> 32);
    }

    Word& find(std::span<const Word> row, std::uint64_t hash)
    {
        const std::size_t mask = buckets_.size() - 1;
        for (std::size_t at = hash & mask;; at = (at + 1) & mask)
            if (buckets_[at] == empty || equal(rows_[buckets_[at]], row, hash))
                return buckets_[at];
    }

    bool equal(const Row& known, std::span<const Word> row, std::uint64_t hash) const
    {
        return known.hash == hash && known.size == row.size() &&
               std::equal(row.begin(), row.end(),
                          words_.begin() + static_cast<std::ptrdiff_t>(known.first));
    }

    void grow()
    {
        buckets_.assign(2 * buckets_.size(), empty);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            std::size_t at = rows_[i].hash & (buckets_.size() - 1);
            while (buckets_[at] != empty)
                at = (at + 1) & (buckets_.size() - 1);
            buckets_[at] = static_cast<Word>(i);
        }
    }

    std::vector<Word> buckets_;
    std::vector<Row> rows_;
    std::vector<Word> words_;
};

// Splits classes until neighbourhoods agree.
//
// When a class splits, its largest part keeps its colour and the others get new ones. Only ranks
// that meet a rank with a new colour can differ from their like after that: each round looks at
// those alone. Of a class, those not looked at stay alike, and differ from those looked at.
class Refinement {
public:
    Refinement(const Neighbourhood& neighbourhood, std::vector<Word> colour)
        : n_(neighbourhood),
          colour_(std::move(colour)),
          group_colour_(n_.groups.size()),
          group_table_(n_.groups.size() / 8),
          group_stamp_(n_.groups.size(), 0),
          rank_stamp_(colour_.size(), 0)
    {
        for (const Word colour_of_rank : colour_)
            grow_colours(colour_of_rank + std::size_t{1});
        for (const Word colour_of_rank : colour_)
            ++size_[colour_of_rank];
    }

    std::vector<Word> run() &&
    {
        changed_.resize(colour_.size());
        std::iota(changed_.begin(), changed_.end(), 0U);
        dirty_ = changed_;
        for (Word g = 0; g < n_.groups.size(); ++g)
            number_group(g);
        split();
        while (!changed_.empty()) {
            find_dirty();
            split();
        }
        return std::move(colour_);
    }

private:
    void grow_colours(std::size_t count)
    {
        if (size_.size() < count)
            size_.resize(count, 0);
    }

    // A group as a number: its slot, shape and the set of colours in it.
    void number_group(Word g)
    {
        const RankGroup& group = n_.groups[g];
        colour_seen_.resize(size_.size(), 0);
        ++seen_;
        row_.clear();
        for (const RankId member : group.members) {
            const Word colour = colour_[member.value];
            if (colour_seen_[colour] == seen_)
                continue;
            colour_seen_[colour] = seen_;
            row_.push_back(colour);
        }
        std::ranges::sort(row_);
        row_.push_back(group.shape);
        row_.push_back(static_cast<Word>(group.slot));
        group_colour_[g] = group_table_.number(row_);
    }

    // Ranks that meet a changed one.
    void find_dirty()
    {
        ++round_;
        dirty_.clear();
        const auto mark = [&](Word rank) {
            if (rank_stamp_[rank] == round_)
                return;
            rank_stamp_[rank] = round_;
            dirty_.push_back(rank);
        };
        for (const Word rank : changed_) {
            for (const auto& group_of : n_.group_of) {
                const Word g = group_of[rank];
                if (g == no_group || group_stamp_[g] == round_)
                    continue;
                group_stamp_[g] = round_;
                number_group(g);
                for (const RankId member : n_.groups[g].members)
                    mark(member.value);
            }
            if (!n_.peers.empty())
                for (const RankPeer& peer : n_.peers[rank])
                    mark(peer.rank.value);
        }
    }

    std::span<const Word> signature(Word rank)
    {
        row_.clear();
        row_.push_back(colour_[rank]);
        for (const auto& group_of : n_.group_of)
            row_.push_back(group_of[rank] == no_group ? no_group : group_colour_[group_of[rank]]);
        if (!n_.peers.empty())
            for (const RankPeer& peer : n_.peers[rank]) {
                row_.push_back(peer.shape);
                row_.push_back(colour_[peer.rank.value]);
            }
        return row_;
    }

    // Gives the parts of each class among the dirty ranks colours of their own.
    void split()
    {
        RowTable table(std::min<std::size_t>(dirty_.size(), 4096));
        part_of_.clear();
        for (const Word rank : dirty_)
            part_of_.push_back(table.number(signature(rank)));

        std::vector<Word> part_size(table.size(), 0);
        std::vector<Word> part_colour(table.size());
        std::vector<Word> rest = size_; // by colour: ranks that are not dirty
        for (std::size_t i = 0; i < dirty_.size(); ++i) {
            ++part_size[part_of_[i]];
            part_colour[part_of_[i]] = colour_[dirty_[i]];
            --rest[colour_[dirty_[i]]];
        }
        keep_and_renew(part_size, part_colour, rest);

        changed_.clear();
        for (std::size_t i = 0; i < dirty_.size(); ++i) {
            Word& colour = colour_[dirty_[i]];
            if (colour == part_colour[part_of_[i]])
                continue;
            --size_[colour];
            colour = part_colour[part_of_[i]];
            ++size_[colour];
            changed_.push_back(dirty_[i]);
        }
    }

    // Where all of a class are dirty, its largest part keeps the colour; all other parts get new
    // ones.
    void keep_and_renew(const std::vector<Word>& part_size, std::vector<Word>& part_colour,
                        const std::vector<Word>& rest)
    {
        constexpr Word none = 0xffffffff;
        std::vector<Word> largest(size_.size(), none);
        for (Word part = 0; part < part_size.size(); ++part) {
            Word& best = largest[part_colour[part]];
            if (best == none || part_size[part] > part_size[best])
                best = part;
        }
        auto next = static_cast<Word>(size_.size());
        for (Word part = 0; part < part_size.size(); ++part) {
            const Word before = part_colour[part];
            if (rest[before] > 0 || largest[before] != part)
                part_colour[part] = next++;
        }
        grow_colours(next);
    }

    const Neighbourhood& n_;
    std::vector<Word> colour_; // by rank
    std::vector<Word> size_;   // by colour: ranks
    std::vector<Word> group_colour_;
    RowTable group_table_;
    std::vector<Word> changed_; // ranks with a new colour
    std::vector<Word> dirty_;   // ranks to look at
    std::vector<Word> part_of_; // by place in dirty_
    std::vector<Word> row_;
    std::vector<Word> group_stamp_; // the last round that looked at it
    std::vector<Word> rank_stamp_;
    std::vector<Word> colour_seen_;
    Word seen_ = 0;
    Word round_ = 0;
};

// Colours numbered in the order in which ranks show them.
RankClasses classes_of(std::vector<Word> colour)
{
    RankClasses classes;
    const std::size_t colours = colour.empty() ? 0 : *std::ranges::max_element(colour) + 1;
    std::vector<Word> number(colours, no_group);
    for (Word rank = 0; rank < colour.size(); ++rank) {
        Word& known = number[colour[rank]];
        if (known == no_group) {
            known = static_cast<Word>(classes.first.size());
            classes.first.push_back(RankId{rank});
            classes.size.push_back(0);
        }
        ++classes.size[known];
        colour[rank] = known;
    }
    classes.class_of = std::move(colour);
    return classes;
}

} // namespace

RankClasses separate_ranks(std::size_t ranks)
{
    std::vector<Word> colour(ranks);
    std::iota(colour.begin(), colour.end(), 0U);
    return classes_of(std::move(colour));
}

RankClasses alike_ranks(const Neighbourhood& neighbourhood,
                        const std::vector<std::uint32_t>& colour)
{
    return classes_of(Refinement(neighbourhood, colour).run());
}

} // namespace trainyard
