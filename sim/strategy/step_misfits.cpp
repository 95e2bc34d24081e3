#include "sim/strategy/misfits.h"
#include "sim/strategy/rank_layout.h"
#include "sim/strategy/stages.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

void check_batch(const Job& job, Problems& problems)
{
    const Training& training = job.training;
    const std::int64_t pass = training.micro_batch * job.dp(); // sequences of all replicas at once
    if (training.global_batch % pass != 0) {
        const std::int64_t below = training.global_batch / pass * pass;
        const std::string batches =
            below > 0 ? fmt::format("{} or {}", below, below + pass) : fmt::format("{}", pass);
        const std::string micro = sizes_that_work(
            "micro-batches", static_cast<int>(std::min<std::int64_t>(training.micro_batch, 4096)),
            [&](int b) { return training.global_batch % (std::int64_t{b} * job.dp()) == 0; });
        problems.push_back(
            refusal("/training/global_batch",
                    fmt::format("a batch of {} is no multiple of micro_batch x dp = {} x {}",
                                training.global_batch, training.micro_batch, job.dp()),
                    fmt::format("batches that work here: {}{}", batches,
                                micro.empty() ? "" : "; " + micro)));
        return;
    }
    if (job.micro_batches() > most_micro_batches) {
        problems.push_back(
            refusal("/training/global_batch",
                    fmt::format("{} micro-batches per replica", job.micro_batches()),
                    fmt::format("at most {}: raise micro_batch or dp", most_micro_batches)));
        return;
    }
    const PipelineSchedule* schedule = find_schedule(job.strategy.schedule);
    if (schedule == nullptr)
        return; // reported by check_schedule
    const std::string why = schedule->refusal(shape_of(job));
    if (const std::size_t semicolon = why.find("; "); semicolon != std::string::npos)
        problems.push_back(
            refusal("/strategy/schedule", why.substr(0, semicolon), why.substr(semicolon + 2)));
    else if (!why.empty())
        problems.push_back(refusal("/strategy/schedule", why, {}));
}

void check_schedule(const Job& job, Problems& problems)
{
    if (find_schedule(job.strategy.schedule) == nullptr)
        problems.push_back(refusal("/strategy/schedule",
                                   fmt::format("unknown schedule \"{}\"", job.strategy.schedule),
                                   suggestion(job.strategy.schedule, schedule_names())));
}

void check_group(const Job& job, Problems& problems)
{
    const Strategy& s = job.strategy;
    if (s.pipeline.micro_batch_group && s.schedule != "interleaved-1f1b")
        problems.push_back(
            refusal("/strategy/pipeline/micro_batch_group",
                    fmt::format("the schedule {} takes micro-batches in no groups", s.schedule),
                    "leave it out, or use the schedule interleaved-1f1b with vpp >= 2"));
}

void check_turns(const Job& job, Problems& problems)
{
    const PipelineSchedule* schedule = find_schedule(job.strategy.schedule);
    if (!job.strategy.overlap.ep || schedule == nullptr)
        return;
    if (!schedule->takes_turns({.stages = job.strategy.pp, .chunks = job.strategy.vpp}))
        problems.push_back(refusal(
            "/strategy/overlap/ep",
            fmt::format("{} with pp = {} runs no forward pass beside a backward pass",
                        job.strategy.schedule, job.strategy.pp),
            "schedules that do: interleaved-1f1b with vpp >= 2, 1f1b with pp = 1, dualpipe"));
}

// Are there few enough passes to list them? What has too many is refused for that.
bool lists_passes(const Job& job)
{
    const auto* transformer = std::get_if<Transformer>(&job.model.architecture);
    const std::int64_t layers = transformer != nullptr ? transformer->layers : 1;
    const std::int64_t stages = std::int64_t{job.strategy.pp} * job.strategy.vpp;
    return job.micro_batches() <= most_micro_batches && stages <= layers + 2;
}

// FSDP gathers units for one whole pass at a time.
void check_whole_passes(const Job& job, Problems& problems)
{
    const PipelineSchedule* schedule = find_schedule(job.strategy.schedule);
    if (job.strategy.zero != 3 || schedule == nullptr || !lists_passes(job) ||
        !schedule->refusal(shape_of(job)).empty())
        return;
    for (const Pass& pass : schedule->passes(shape_of(job), 0))
        if (pass.with_next || pass.kind == PassKind::backward_weight) {
            problems.push_back(refusal(
                "/strategy/zero",
                fmt::format("FSDP with {}, whose passes are split or take turns, is not modelled",
                            job.strategy.overlap.ep ? std::string("overlap.ep")
                                                    : job.strategy.schedule),
                "use zero 0, 1 or 2; or the schedule gpipe, 1f1b, interleaved-1f1b or "
                "breadth-first without overlap.ep"));
            return;
        }
}

void check_experts(const Job& job, Problems& problems)
{
    const Strategy& s = job.strategy;
    const std::int64_t stage = std::int64_t{s.tp} * s.cp * job.dp();
    if (stage % (std::int64_t{s.ep} * s.etp) == 0)
        return;
    const int most = static_cast<int>(std::min<std::int64_t>(stage, 65536));
    const bool etp_fills = stage % s.etp == 0; // then some ep does, else none
    problems.push_back(refusal(
        etp_fills ? "/strategy/ep" : "/strategy/etp",
        fmt::format("experts over ep x etp = {} x {} ranks do not fill the {} ranks of a stage "
                    "(tp x cp x dp)",
                    s.ep, s.etp, stage),
        etp_fills ? sizes_that_work("expert parallel sizes", most,
                                    [&](int ep) { return stage % (std::int64_t{ep} * s.etp) == 0; })
                  : sizes_that_work("expert tensor parallel sizes", most,
                                    [&](int etp) { return stage % etp == 0; })));
}

void check_rank_order(const Job& job, Problems& problems)
{
    const Strategy& s = job.strategy;
    const std::string shape = "each of tp, cp, dp, pp once, joined by dashes, e.g. tp-cp-dp-pp";
    if (!parse_rank_order(s.rank_order)) {
        problems.push_back(refusal("/strategy/rank_order",
                                   fmt::format("\"{}\" is no order of ranks", s.rank_order),
                                   shape));
        return;
    }
    for (const auto& [name, size] : {std::pair("tp", s.tp), std::pair("cp", s.cp),
                                     std::pair("dp", job.dp()), std::pair("pp", s.pp)})
        if (size > 1 && s.rank_order.find(name) == std::string::npos)
            problems.push_back(refusal(
                "/strategy/rank_order",
                fmt::format("\"{}\" leaves out {}, whose size is {}", s.rank_order, name, size),
                shape));
}

} // namespace

Problems step_misfits(const Job& job)
{
    Problems problems;
    check_schedule(job, problems);
    check_batch(job, problems);
    check_group(job, problems);
    check_turns(job, problems);
    check_whole_passes(job, problems);
    check_experts(job, problems);
    check_rank_order(job, problems);
    return problems;
}

} // namespace trainyard
