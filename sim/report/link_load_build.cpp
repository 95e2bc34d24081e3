#include "sim/report/link_load.h"
#include "sim/strategy/bind/links.h"
#include "sim/strategy/bind/trunks.h"
#include "sim/study/recorded/record_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

class LinkLoads::Builder {
public:
    Builder(LinkLoads& out, const WorkControl& work)
        : out_(out),
          outcome_(*out.outcome_),
          work_(work),
          recorded_(outcome_.binding->lanes.size()),
          stand_in_(outcome_.binding->lanes.size()),
          trunks_(*outcome_.topology),
          by_link_(outcome_.topology->link_count())
    {}

    void build()
    {
        read_records();
        choose_stand_ins();
        const std::vector<std::uint32_t> flows = flow_numbers(out_.near_);
        std::uint32_t next = 0;
        for (std::size_t rank = 0; rank < outcome_.binding->lane_of.size(); ++rank) {
            work_.check();
            for (const std::vector<std::uint32_t>& group_of : out_.near_.group_of)
                if (const std::uint32_t group = group_of[rank];
                    group != no_group && flows[group] == next)
                    add_group(group, next++);
            add_messages(make_id<RankId>(rank));
        }
        index_links();
        drop_idle_sources();
        make_profiles();
        out_.totals_of_.resize(by_link_.size());
        for (std::size_t i = 0; i < outcome_.result->links.size(); ++i)
            out_.totals_of_[outcome_.result->links[i].link.value] =
                static_cast<std::uint32_t>(i + 1);
    }

private:
    // Lane, slot of its group or neighbour, pattern; messages have one of their own.
    enum class Part : std::uint8_t { collective, message };
    using Key = std::tuple<LaneId, Part, std::uint8_t, TrafficPattern>;
    struct LinkPart {
        std::uint32_t way = 0;
        double share = 0;
    };

    void read_records()
    {
        const std::vector<OpRecord>& records = outcome_.result->records;
        const RecordGraph graph(outcome_.plan->program, *outcome_.binding, records);
        const std::size_t last = outcome_.result->step_ends.size();
        for (RecordIndex i = 0; i < records.size(); ++i) {
            if (i % 65'536 == 0)
                work_.check();
            if (records[i].step + std::size_t{1} != last)
                continue;
            recorded_[records[i].lane.value] = true;
            const engine::FlatOp& op = graph.op_of(i);
            if (op.kind == OpKind::collective)
                add_collective(i, op);
            for (std::uint32_t p = 0; p < op.part_count; ++p)
                add_message(i, graph.kind_of(records[i].lane).parts[op.part_first + p], op);
        }
        for (Source& source : out_.sources_)
            source.close();
    }

    void add_collective(RecordIndex index, const engine::FlatOp& op)
    {
        const OpRecord& record = outcome_.result->records[index];
        const Binding& binding = *outcome_.binding;
        const GroupId id = binding.lanes[record.lane.value].groups[op.group.value];
        if (!id.valid())
            return;
        const Group& group = binding.groups[id.value];
        std::uint32_t scale = op.scale.valid() ? 0 : full_share;
        for (const LaneId member : group.members)
            if (op.scale.valid())
                scale = std::max(scale, binding.lanes[member.value].scales[op.scale.value]);
        const TransferCost& cost = binding.costs.transfers[group.variant][op.cost.value];
        add({record.lane, Part::collective, op.group.value, cost.pattern}, index, cost, scale);
    }

    void add_message(RecordIndex index, const engine::PartPlan& part, const engine::FlatOp& op)
    {
        if (part.direction != Direction::send)
            return;
        const OpRecord& record = outcome_.result->records[index];
        const Lane& lane = outcome_.binding->lanes[record.lane.value];
        const std::uint32_t variant = lane.peers[part.peer.value].variant;
        const std::uint32_t scale = op.scale.valid() ? lane.scales[op.scale.value] : full_share;
        const TransferCost& cost = outcome_.binding->costs.transfers[variant][part.cost.value];
        add({record.lane, Part::message, part.peer.value, TrafficPattern::neighbours}, index, cost,
            scale);
    }

    void add(const Key& key, RecordIndex index, const TransferCost& cost, std::uint32_t scale)
    {
        const OpRecord& record = outcome_.result->records[index];
        const u128 work = cost.work.value * scale / full_share;
        const SimTime from = record.transfer_start + cost.latency;
        SimTime to = record.end;
        if (outcome_.engine.network.fidelity == Fidelity::alpha_beta && cost.ceiling.value() > 0)
            to = std::min(to, from + time_to_finish(Work{work}, cost.ceiling));
        if (work == 0 || to <= from)
            return;
        const auto [at, is_new] =
            source_of_.emplace(key, static_cast<std::uint32_t>(out_.sources_.size()));
        if (is_new)
            out_.sources_.emplace_back().pattern = std::get<TrafficPattern>(key);
        out_.sources_[at->second].transfers.push_back(
            {from, to, static_cast<double>(work) / static_cast<double>(picoseconds_per_second),
             index});
    }

    // For a lane that is not recorded the first recorded one of its role.
    void choose_stand_ins()
    {
        const Binding& binding = *outcome_.binding;
        std::map<RoleId, LaneId> first;
        for (std::size_t i = recorded_.size(); i-- > 0;)
            if (recorded_[i])
                first[binding.lanes[i].role] = make_id<LaneId>(i);
        for (std::size_t i = 0; i < recorded_.size(); ++i)
            if (recorded_[i])
                stand_in_[i] = make_id<LaneId>(i);
            else if (const auto at = first.find(binding.lanes[i].role); at != first.end())
                stand_in_[i] = at->second;
        for (const LaneId lane : binding.lane_of) {
            out_.ranks_counted_ += stand_in_[lane.value].valid() ? 1 : 0;
            out_.ranks_recorded_ += recorded_[lane.value] ? 1 : 0;
        }
    }

    // Whose records tell of the group: of its recorded lanes the first, else of those that stand
    // for its members.
    LaneId teller_of(const RankGroup& group) const
    {
        LaneId own; // none is the highest
        LaneId other;
        for (const RankId member : group.members) {
            const LaneId lane = outcome_.binding->lane_of[member.value];
            if (recorded_[lane.value])
                own = std::min(own, lane);
            other = std::min(other, stand_in_[lane.value]);
        }
        return own.valid() ? own : other;
    }

    void add_group(std::uint32_t index, std::uint64_t flow)
    {
        const RankGroup& group = out_.near_.groups[index];
        const LaneId lane = teller_of(group);
        if (!lane.valid())
            return;
        const auto slot = static_cast<std::uint8_t>(group.slot);
        for (auto at = source_of_.lower_bound({lane, Part::collective, slot, TrafficPattern{}});
             at != source_of_.end() && std::get<0>(at->first) == lane &&
             std::get<1>(at->first) == Part::collective && std::get<2>(at->first) == slot;
             ++at)
            add_way({at->second, index, {}, {}, false},
                    group_uses(group, out_.near_.shapes[group.shape], std::get<3>(at->first), flow,
                               *outcome_.topology));
    }

    void add_messages(RankId rank)
    {
        if (out_.near_.peers.empty())
            return;
        const LaneId lane = stand_in_[outcome_.binding->lane_of[rank.value].value];
        const std::vector<RankPeer>& peers = out_.near_.peers[rank.value];
        for (std::size_t slot = 0; slot < peers.size(); ++slot) {
            const auto at = source_of_.find(
                {lane, Part::message, static_cast<std::uint8_t>(slot), TrafficPattern::neighbours});
            if (at != source_of_.end())
                add_way({at->second, 0, rank, peers[slot].rank, true},
                        message_uses(rank, peers[slot].rank, *outcome_.topology));
        }
    }

    void add_way(const Way& way, const std::vector<LinkUse>& uses)
    {
        const auto number = static_cast<std::uint32_t>(out_.ways_.size());
        out_.ways_.push_back(way);
        for (const LinkUse& use : trunks_.carried(uses)) {
            const auto links = static_cast<double>(trunks_.links(use.link).size());
            by_link_[use.link.value].push_back({number, use.coefficient / 65536.0 / links});
        }
    }

    // All links of a trunk have the same uses: those of its carrier.
    void index_links()
    {
        for (std::size_t link = 0; link < by_link_.size(); ++link)
            out_.carrier_.push_back(trunks_.carrier(make_id<LinkId>(link)));
        out_.first_use_.push_back(0);
        for (std::vector<LinkPart>& parts : by_link_) {
            for (const LinkPart& part : parts)
                out_.uses_.push_back({part.way, part.share});
            out_.first_use_.push_back(static_cast<std::uint32_t>(out_.uses_.size()));
            parts = {};
        }
    }

    // Those of groups that other lanes stand for.
    void drop_idle_sources()
    {
        constexpr std::uint32_t idle = 0xffffffff;
        std::vector<std::uint32_t> now(out_.sources_.size(), idle);
        std::vector<Source> kept;
        for (Way& way : out_.ways_) {
            if (now[way.source] == idle) {
                now[way.source] = static_cast<std::uint32_t>(kept.size());
                kept.push_back(std::move(out_.sources_[way.source]));
            }
            way.source = now[way.source];
        }
        out_.sources_ = std::move(kept);
    }

    void make_profiles()
    {
        using Shares = std::map<std::uint32_t, double>;
        std::map<Shares, std::uint32_t> known{{Shares{}, 0}};
        out_.profiles_.emplace_back();
        for (std::size_t link = 0; link + 1 < out_.first_use_.size(); ++link) {
            if (const LinkId carrier = out_.carrier_[link]; carrier.value < link) {
                out_.profile_of_.push_back(out_.profile_of_[carrier.value]);
                continue;
            }
            Shares shares;
            for (std::uint32_t u = out_.first_use_[link]; u < out_.first_use_[link + 1]; ++u)
                shares[out_.ways_[out_.uses_[u].way].source] += out_.uses_[u].share;
            const auto [at, is_new] =
                known.emplace(shares, static_cast<std::uint32_t>(out_.profiles_.size()));
            if (is_new) {
                std::vector<Use>& profile = out_.profiles_.emplace_back();
                for (const auto& [source, share] : shares)
                    profile.push_back({source, share});
            }
            out_.profile_of_.push_back(at->second);
        }
    }

    LinkLoads& out_;
    const Outcome& outcome_;
    const WorkControl& work_;
    std::vector<bool> recorded_;   // by lane
    std::vector<LaneId> stand_in_; // by lane; none: its role is not recorded
    std::map<Key, std::uint32_t> source_of_;
    Trunks trunks_;
    std::vector<std::vector<LinkPart>> by_link_; // of carriers
};

LinkLoads::LinkLoads(std::shared_ptr<const Outcome> outcome, const WorkControl& work)
    : outcome_(std::move(outcome)),
      near_(neighbourhood(outcome_->plan->program, outcome_->job, *outcome_->topology,
                          FabricLimit::links))
{
    Builder(*this, work).build();
}

} // namespace trainyard
