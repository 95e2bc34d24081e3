#include "sim/strategy/bind/classes.h"

#include "sim/strategy/bind/colouring.h"
#include "sim/strategy/bind/link_users.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace trainyard {

namespace {

using Word = std::uint32_t;

// Splits classes until neighbourhoods agree.
//
// Only ranks and links that meet a rank, a group or a link with a new colour can differ from their
// like after that: each round looks at those alone.
class Refinement {
public:
    Refinement(const Neighbourhood& neighbourhood, std::vector<Word> colour,
               const RankTraffic* traffic)
        : n_(neighbourhood),
          ranks_(std::move(colour)),
          group_colour_(n_.groups.size()),
          group_table_(n_.groups.size() / 8),
          group_stamp_(n_.groups.size(), 0),
          rank_stamp_(ranks_.count(), 0)
    {
        if (traffic == nullptr)
            return;
        users_.emplace(*traffic, neighbourhood);
        find_rings(*traffic);
        links_ = Colouring(link_colours(*traffic));
        link_stamp_.resize(links_.count(), 0);
    }

    void run()
    {
        dirty_ranks_ = numbers_to(ranks_.count());
        dirty_links_ = numbers_to(links_.count());
        for (Word g = 0; g < n_.groups.size(); ++g)
            number_group(g);
        while (split())
            find_dirty();
    }

    std::vector<Word> rank_colours() && { return std::move(ranks_).take(); }
    std::vector<Word> link_colours_found() && { return std::move(links_).take(); }
    std::vector<Word> group_colours() && { return std::move(group_colour_); }

private:
    static std::vector<Word> numbers_to(std::size_t count)
    {
        std::vector<Word> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 0U);
        return numbers;
    }

    // Who stands beside each rank in its rings that go hop by hop.
    void find_rings(const RankTraffic& traffic)
    {
        for (std::size_t g = 0; g < n_.groups.size(); ++g) {
            if (traffic.groups[g].ring_hops.empty())
                continue;
            const auto& [slot, members, shape] = n_.groups[g];
            rings_.resize(n_.group_of.size());
            rings_[slot].resize(ranks_.count());
            for (std::size_t i = 0; i < members.size(); ++i) {
                const RankId next = members[(i + 1) % members.size()];
                rings_[slot][members[i].value].behind = next.value;
                rings_[slot][next.value].before = members[i].value;
            }
        }
        std::erase_if(rings_, [](const auto& of_slot) { return of_slot.empty(); });
    }

    // Whether anything has a new colour.
    bool split()
    {
        changed_ranks_ =
            ranks_.split(dirty_ranks_, [this](Word rank) { return rank_signature(rank); });
        changed_links_ =
            links_.split(dirty_links_, [this](Word link) { return link_signature(link); });
        return !changed_ranks_.empty() || !changed_links_.empty();
    }

    // A group as a number: its slot, shape, the set of colours in it and what it puts on links.
    // Whether it is another one now.
    bool number_group(Word g)
    {
        const RankGroup& group = n_.groups[g];
        colour_seen_.resize(ranks_.colours(), 0);
        ++seen_;
        row_.clear();
        for (const RankId member : group.members) {
            const Word colour = ranks_[member.value];
            if (colour_seen_[colour] == seen_)
                continue;
            colour_seen_[colour] = seen_;
            row_.push_back(colour);
        }
        std::ranges::sort(row_);
        row_.push_back(group.shape);
        row_.push_back(static_cast<Word>(group.slot));
        if (users_)
            push(links_under(g));
        const Word before = std::exchange(group_colour_[g], group_table_.number(row_));
        return group_colour_[g] != before;
    }

    void push(std::uint64_t word)
    {
        row_.push_back(static_cast<Word>(word >> 32));
        row_.push_back(static_cast<Word>(word));
    }
    // The classes of links under a user, as a sum.
    std::uint64_t links_under(Word user) const
    {
        std::uint64_t sum = 0;
        for (const LinkUsers::Edge& edge : users_->links_of(user))
            sum += mixed(links_[edge.to], edge.weight);
        return sum;
    }

    // Ranks and links that meet a changed one.
    void find_dirty()
    {
        ++round_;
        dirty_ranks_.clear();
        dirty_links_.clear();
        for (const Word rank : changed_ranks_) {
            for (const auto& group_of : n_.group_of)
                if (group_of[rank] != no_group)
                    look_at_group(group_of[rank]);
            if (!n_.peers.empty())
                for (const RankPeer& peer : n_.peers[rank])
                    mark(peer.rank.value, rank_stamp_, dirty_ranks_);
            if (users_)
                for (Word user = users_->first_send(rank); user < users_->end_of_sends(rank);
                     ++user)
                    mark_links_of(user);
        }
        for (const Word link : changed_links_)
            for (const LinkUsers::Edge& edge : users_->users_of(link))
                if (edge.to < users_->groups())
                    look_at_group(edge.to);
                else
                    mark(users_->sender(edge.to), rank_stamp_, dirty_ranks_);
    }

    void look_at_group(Word g)
    {
        if (group_stamp_[g] == round_)
            return;
        group_stamp_[g] = round_;
        const bool changed = number_group(g);
        for (const RankId member : n_.groups[g].members)
            mark(member.value, rank_stamp_, dirty_ranks_);
        if (changed && users_)
            mark_links_of(g);
    }

    void mark_links_of(Word user)
    {
        for (const LinkUsers::Edge& edge : users_->links_of(user))
            mark(edge.to, link_stamp_, dirty_links_);
    }

    void mark(Word index, std::vector<Word>& stamps, std::vector<Word>& dirty) const
    {
        if (std::exchange(stamps[index], round_) != round_)
            dirty.push_back(index);
    }

    std::span<const Word> rank_signature(Word rank)
    {
        row_.clear();
        row_.push_back(ranks_[rank]);
        for (const auto& group_of : n_.group_of)
            row_.push_back(group_of[rank] == no_group ? no_group : group_colour_[group_of[rank]]);
        if (!n_.peers.empty())
            for (const RankPeer& peer : n_.peers[rank]) {
                row_.push_back(peer.shape);
                row_.push_back(ranks_[peer.rank.value]);
            }
        for (const std::vector<RingPlace>& of_slot : rings_)
            for (const Word beside : {of_slot[rank].before, of_slot[rank].behind})
                row_.push_back(beside == no_group ? no_group : ranks_[beside]);
        if (users_)
            for (Word user = users_->first_send(rank); user < users_->end_of_sends(rank); ++user)
                push(links_under(user));
        return row_;
    }

    std::span<const Word> link_signature(Word link)
    {
        std::uint64_t sum = 0;
        for (const LinkUsers::Edge& edge : users_->users_of(link)) {
            if (edge.to < users_->groups()) {
                sum += mixed(group_colour_[edge.to], edge.weight);
                continue;
            }
            const Word sender = users_->sender(edge.to);
            const Word slot = edge.to - users_->first_send(sender);
            sum += mixed(mixed(ranks_[sender], slot + std::uint64_t{1}), edge.weight);
        }
        row_ = {links_[link]};
        push(sum);
        return row_;
    }

    struct RingPlace {
        Word before = no_group; // ranks
        Word behind = no_group;
    };

    const Neighbourhood& n_;
    std::optional<LinkUsers> users_;
    std::vector<std::vector<RingPlace>> rings_; // by slot with such and rank
    Colouring ranks_;
    Colouring links_;
    std::vector<Word> group_colour_;
    RowTable group_table_;
    std::vector<Word> changed_ranks_;
    std::vector<Word> changed_links_;
    std::vector<Word> dirty_ranks_; // to look at
    std::vector<Word> dirty_links_;
    std::vector<Word> row_;
    std::vector<Word> group_stamp_; // the last round that looked at it
    std::vector<Word> rank_stamp_;
    std::vector<Word> link_stamp_;
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
                        const std::vector<std::uint32_t>& colour, const RankTraffic* traffic)
{
    Refinement refinement(neighbourhood, colour, traffic);
    refinement.run();
    RankClasses classes = classes_of(std::move(refinement).rank_colours());
    if (traffic == nullptr)
        return classes;
    const std::vector<Word> links = std::move(refinement).link_colours_found();
    std::vector<LinkId> first(links.empty() ? 0 : *std::ranges::max_element(links) + 1);
    for (std::size_t i = 0; i < links.size(); ++i) {
        if (!first[links[i]].valid())
            first[links[i]] = make_id<LinkId>(i);
        classes.link_of.push_back(first[links[i]]);
    }
    classes.group_class = std::move(refinement).group_colours();
    return classes;
}

} // namespace trainyard
