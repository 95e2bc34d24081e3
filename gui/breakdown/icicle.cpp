#include "gui/breakdown/icicle.h"

#include "sim/report/kinds.h"
#include "sim/report/text/describe.h"
#include "sim/report/timeline/timeline.h"
#include "sim/study/breakdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trainyard::gui {

namespace {

constexpr std::uint32_t of_no_layer = 0x10000; // behind all layers
constexpr std::uint32_t no_compute = 0x20000;  // ... and the kind

struct OpKey {
    LabelId label;
    TimeKind kind = TimeKind::other_compute;

    auto operator<=>(const OpKey&) const = default;
};

// Seconds by layer and op, of one stage.
using StageTimes = std::map<std::uint32_t, std::map<OpKey, double>>;

bool computes(TimeKind kind)
{
    return class_of(kind) == TimeClass::compute || kind == TimeKind::slowdown;
}

class IcicleMaker {
public:
    IcicleMaker(const Outcome& outcome, IcicleOf of)
        : outcome_(outcome), of_(of), stages_(outcome.plan->program.roles.size())
    {}

    std::vector<IciclePart> make() &&
    {
        add_compute();
        if (std::ranges::all_of(stages_, [](const StageTimes& stage) { return stage.empty(); }))
            return {};
        add_the_rest();
        write();
        return std::move(parts_);
    }

private:
    bool counts(LaneId lane) const
    {
        return of_ == IcicleOf::mean || lane == outcome_.result->critical_lane;
    }

    void add_compute()
    {
        const Program& program = outcome_.plan->program;
        const auto& records = outcome_.result->records;
        std::uint16_t last = 0;
        for (const OpRecord& record : records)
            last = std::max(last, record.step);
        for (const OpRecord& record : records) {
            if (record.step != last || !counts(record.lane) ||
                program.streams[record.stream.value].kind != StreamKind::compute)
                continue;
            const Label& label = program.labels[record.label.value];
            const RoleId role = outcome_.binding->lanes[record.lane.value].role;
            const std::uint32_t layer =
                record.layer == BlockUse::no_index ? of_no_layer : record.layer;
            stages_[role.value][layer][{record.label, slice_kind_of(record, label)}] +=
                to_seconds(record.end - record.start).value();
        }
    }

    // What ranks of a stage spend on the kind, as a part of the whole's width.
    double time_of(RoleId role, TimeKind kind) const
    {
        const StepResult& result = *outcome_.result;
        const auto& lanes = outcome_.binding->lanes;
        double sum = 0;
        double ranks = 0;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            if (!counts(make_id<LaneId>(i)))
                continue;
            ranks += lanes[i].multiplicity;
            if (lanes[i].role == role)
                sum += lanes[i].multiplicity *
                       to_seconds(result.lanes[i].time[static_cast<std::size_t>(kind)]).value();
        }
        return ranks > 0 ? sum / ranks : 0;
    }

    // To the stage's share of the whole, and what it does beside computing.
    void add_the_rest()
    {
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            const auto role = make_id<RoleId>(s);
            double recorded = 0;
            for (const auto& [layer, ops] : stages_[s])
                for (const auto& [op, seconds] : ops)
                    recorded += seconds;
            double whole = 0;
            for (const TimeKind kind : time_kinds())
                whole += computes(kind) ? time_of(role, kind) : 0;
            for (auto& [layer, ops] : stages_[s])
                for (auto& [op, seconds] : ops)
                    seconds *= recorded > 0 ? whole / recorded : 0;
            for (const TimeKind kind : time_kinds())
                if (const double seconds = computes(kind) ? 0 : time_of(role, kind); seconds > 0)
                    stages_[s][no_compute + static_cast<std::uint32_t>(kind)][{{}, kind}] = seconds;
        }
    }

    std::uint32_t open(std::string name, IcicleLevel level, std::uint32_t parent,
                       std::optional<TimeKind> kind = {})
    {
        parts_.push_back({std::move(name), level, kind, parent, 0, Seconds(at_), Seconds(0), {}});
        return static_cast<std::uint32_t>(parts_.size() - 1);
    }

    void close(std::uint32_t part)
    {
        parts_[part].end = static_cast<std::uint32_t>(parts_.size());
        parts_[part].length = Seconds(at_) - parts_[part].from;
    }

    void write()
    {
        const std::uint32_t model = open(outcome_.job.model.name, IcicleLevel::model, no_part);
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            if (stages_[s].empty())
                continue;
            const std::uint32_t stage = open(stage_name(outcome_.plan->program, make_id<RoleId>(s)),
                                             IcicleLevel::stage, model);
            for (const auto& [layer, ops] : stages_[s])
                write_layer(layer, ops, stage);
            close(stage);
        }
        close(model);
    }

    void write_layer(std::uint32_t layer, const std::map<OpKey, double>& ops, std::uint32_t stage)
    {
        if (layer >= no_compute) {
            const TimeKind kind = ops.begin()->first.kind;
            const std::uint32_t part =
                open(std::string(title_of(kind)), IcicleLevel::layer, stage, kind);
            at_ += ops.begin()->second;
            close(part);
            return;
        }
        const std::uint32_t parent =
            open(layer == of_no_layer ? "outside layers"
                                      : layer_name(outcome_.plan->program, static_cast<int>(layer)),
                 IcicleLevel::layer, stage);
        std::vector<std::pair<double, OpKey>> order;
        for (const auto& [op, seconds] : ops)
            if (seconds > 0)
                order.emplace_back(-seconds, op);
        std::ranges::sort(order);
        for (const auto& [seconds, op] : order) {
            const std::string& name = outcome_.plan->program.labels[op.label.value].name;
            const std::uint32_t part = open(fmt::format("{}, {}", name, title_of(op.kind)),
                                            IcicleLevel::op, parent, op.kind);
            at_ -= seconds;
            close(part);
        }
        close(parent);
    }

    const Outcome& outcome_;
    IcicleOf of_;
    std::vector<StageTimes> stages_; // by RoleId
    std::vector<IciclePart> parts_;
    double at_ = 0;
};

} // namespace

std::vector<IciclePart> make_icicle(const Outcome& recorded, IcicleOf of)
{
    return IcicleMaker(recorded, of).make();
}

std::string path_of(const std::vector<IciclePart>& parts, std::size_t part)
{
    std::string path = parts[part].name;
    for (std::uint32_t up = parts[part].parent; up != no_part && up != 0; up = parts[up].parent)
        path = parts[up].name + " > " + path;
    return path;
}

void compare(std::vector<IciclePart>& parts, const std::vector<IciclePart>& baseline)
{
    std::map<std::string, Seconds> before;
    for (std::size_t i = 1; i < baseline.size(); ++i)
        before.emplace(path_of(baseline, i), baseline[i].length);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i == 0) { // whatever either model is called
            if (!baseline.empty())
                parts[i].before = baseline.front().length;
        } else if (const auto found = before.find(path_of(parts, i)); found != before.end())
            parts[i].before = found->second;
    }
}

} // namespace trainyard::gui
