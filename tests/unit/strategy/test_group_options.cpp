// Options of context, expert and tensor parallelism and of back ends, from job to step.

#include "sim/strategy/misfits.h"
#include "tests/catch.h"
#include "tests/support/flaws.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>
#include <set>

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

using enum CollectiveKind;

Strategy context_strategy(int cp, ContextKind kind, int a2a = 1)
{
    Strategy strategy;
    strategy.cp = cp;
    strategy.dp = 1;
    strategy.context = {.kind = kind, .a2a = a2a};
    return strategy;
}

Strategy expert_strategy(int ep)
{
    Strategy strategy;
    strategy.ep = ep;
    strategy.dp = ep;
    return strategy;
}

std::vector<std::uint32_t> numbers(const std::vector<RankId>& ranks)
{
    std::vector<std::uint32_t> out;
    for (const RankId rank : ranks)
        out.push_back(rank.value);
    return out;
}

Problems refusals(const Model& model, const Strategy& strategy, Training training = training_of(8))
{
    JobRequest request;
    request.model = model;
    request.strategy = strategy;
    request.training = training;
    request.devices = 64;
    const Checked<Job> job = resolve(request);
    return job ? Problems{} : job.error();
}

bool refuses(const Problems& problems, std::string_view pointer, std::string_view hint)
{
    return std::ranges::any_of(problems, [&](const Diagnostic& p) {
        return p.pointer == pointer && p.hint.find(hint) != std::string::npos;
    });
}

SimTime step_time(const Model& model, const Strategy& strategy, int nodes = 1)
{
    const Job job = job_of(model, strategy, training_of(strategy.dp.value_or(1)));
    const Plan plan = make_plan(job);
    const Binding binding = bind(plan, job, h100_nodes(nodes), h100_costs(), {});
    CHECK(flaws(plan.program, binding).empty());
    return run(plan.program, binding).step_time;
}

} // namespace

TEST_CASE("hybrid groups: neighbours exchange heads, rings go across")
{
    Strategy strategy = context_strategy(4, ContextKind::hybrid, 2);
    strategy.tp = 2;
    const RankLayout layout(job_of(small_decoder(), strategy, training_of(1)));
    CHECK(numbers(layout.members(GroupKind::cp, RankId{1})) ==
          std::vector<std::uint32_t>{1, 3, 5, 7});
    CHECK(numbers(layout.members(GroupKind::cp_a2a, RankId{7})) ==
          std::vector<std::uint32_t>{5, 7});
    CHECK(numbers(layout.members(GroupKind::cp_ring, RankId{7})) ==
          std::vector<std::uint32_t>{3, 7});
}

TEST_CASE("spread experts: groups as far apart as they go, copies side by side")
{
    Strategy strategy = expert_strategy(4);
    strategy.dp = 16;
    RankLayout near(job_of(small_mixture(), strategy, training_of(16)));
    CHECK(numbers(near.members(GroupKind::ep, RankId{5})) ==
          std::vector<std::uint32_t>{4, 5, 6, 7});
    CHECK(near.expert_rank(RankId{6}) == 2);
    strategy.experts.placement = ExpertPlacement::spread;
    RankLayout spread(job_of(small_mixture(), strategy, training_of(16)));
    CHECK(numbers(spread.members(GroupKind::ep, RankId{5})) ==
          std::vector<std::uint32_t>{1, 5, 9, 13});
    CHECK(numbers(spread.members(GroupKind::edp, RankId{5})) ==
          std::vector<std::uint32_t>{4, 5, 6, 7});
    CHECK(spread.expert_rank(RankId{5}) == 1);
}

TEST_CASE("expert groups side by side stay inside a node, spread ones do not")
{
    Strategy strategy = expert_strategy(8);
    strategy.dp = 16;
    CHECK(partition_of(job_of(small_mixture(), strategy, training_of(16))).ep_nodes == 1);
    strategy.experts.placement = ExpertPlacement::spread;
    CHECK(partition_of(job_of(small_mixture(), strategy, training_of(16))).ep_nodes == 2);
}

TEST_CASE("a ring's exchanges are messages to the next rank, c - 1 a layer")
{
    const Job job = job_of(small_decoder(), context_strategy(4, ContextKind::ring), training_of(1));
    const Plan plan = make_plan(job);
    const Volume sum = volume(plan, 0, send_receive, GroupKind::cp);
    // 8 layers: 3 forward, 2 x 3 backward, of K and V of 256 tokens x 1024 in 16 bit.
    CHECK(sum.bytes == Approx(8 * 9 * 2 * 2 * 256.0 * 1024));
    CHECK(sum.count == 8 * (3 + 4)); // backward sends both at once but for the ends
}

TEST_CASE("a ring hides its exchanges while attention takes longer")
{
    const Job job = job_of(small_decoder(), context_strategy(4, ContextKind::ring), training_of(1));
    const Plan plan = make_plan(job);
    Binding binding = bind(plan, job, h100_nodes(1), h100_costs(), {});
    const auto time_with = [&](Seconds message) {
        const Binding toy =
            with_costs(binding, plan,
                       {phase_costs(Seconds(1e-3), Seconds(1e-3)), [&](const TransferRequest& r) {
                            return r.kind == send_receive ? message : Seconds(0);
                        }});
        return to_seconds(run(plan.program, toy).step_time).value();
    };
    // Each step of a ring is one op of 1 ms: up to there messages are free.
    CHECK(time_with(Seconds(0.9e-3)) == Approx(time_with(Seconds(0))));
    // Beyond, each of 3 + 3 exchanges before a further step adds what does not fit; the last of
    // backward is waited for by the merge in its own op.
    CHECK(time_with(Seconds(2e-3)) > time_with(Seconds(0)) + 8 * 6 * 0.9e-3);
}

TEST_CASE("links of a ring of messages: every member's bytes go to the next one")
{
    Strategy strategy = context_strategy(4, ContextKind::ring);
    strategy.rank_order = "dp-cp";
    strategy.dp = 4;
    const Job job = job_of(small_decoder(), strategy, training_of(4));
    BindOptions options;
    options.links = LinkDetail::sums;
    const Topology topology = h100_nodes(2);
    const Binding binding = bind(make_plan(job), job, topology, h100_costs(), options);
    for (const Group& group : binding.groups) {
        if (group.kind != GroupKind::cp)
            continue;
        // Ranks 0, 4 | 8, 12: two of four hops leave their node.
        double out = 0;
        for (const LinkUse& use : group.neighbours)
            if (topology.link(use.link).kind == LinkKind::nic)
                out += use.coefficient / 65536.0;
        CHECK(out == Approx(4.0)); // both ends of two hops
    }
}

TEST_CASE("every kind of context parallelism runs, folded as unfolded, over shared links too")
{
    for (const auto& [kind, a2a] :
         {std::pair(ContextKind::all_gather, 1), std::pair(ContextKind::ring, 1),
          std::pair(ContextKind::ulysses, 1), std::pair(ContextKind::hybrid, 2)})
    {
        Strategy strategy = context_strategy(4, kind, a2a);
        strategy.tp = 2;
        strategy.pp = 2;
        strategy.dp = 1;
        Training training = training_of(4);
        const Job job = job_of(small_decoder(), strategy, training);
        const Plan plan = make_plan(job);
        const auto time = [&](const BindOptions& options, Fidelity fidelity) {
            const Binding binding = bind(plan, job, h100_nodes(2), h100_costs(), options);
            REQUIRE(flaws(plan.program, binding).empty());
            return run(plan.program, binding, 3, fidelity).step_time;
        };
        BindOptions folded;
        folded.folding = Folding::replicas;
        BindOptions links;
        links.links = LinkDetail::sums;
        CHECK(time({}, Fidelity::alpha_beta) == time(folded, Fidelity::alpha_beta));
        CHECK(time(links, Fidelity::bundle) > SimTime(0));
    }
}

TEST_CASE("expert ranks with more tokens work longer and the others wait for them")
{
    Strategy strategy = expert_strategy(4);
    const SimTime even = step_time(small_mixture(), strategy);
    strategy.experts.load = ExpertLoad::power_law;
    strategy.experts.exponent = 0;
    CHECK(step_time(small_mixture(), strategy) == even); // bit for bit
    strategy.experts.exponent = 1;
    CHECK(step_time(small_mixture(), strategy) > even);

    const Job job = job_of(small_mixture(), strategy, training_of(4));
    const Binding binding = bind(make_plan(job), job, h100_nodes(1), h100_costs(), {});
    REQUIRE(binding.lanes.size() == 4);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        REQUIRE(binding.lanes[rank].scales.size() == 2);
        CHECK(binding.lanes[rank].scales[0] == full_share);
        // Rank i works on 1/(i + 1) of what rank 0 gets.
        CHECK(binding.lanes[rank].scales[1] ==
              static_cast<std::uint32_t>(std::lround(full_share / static_cast<double>(rank + 1))));
    }
}

TEST_CASE("a capacity takes the fullest rank's excess away")
{
    Strategy strategy = expert_strategy(4);
    const SimTime even = step_time(small_mixture(), strategy);
    strategy.experts.load = ExpertLoad::histogram;
    strategy.experts.shares = {4, 1, 1, 1};
    const SimTime uneven = step_time(small_mixture(), strategy);
    strategy.experts.capacity_factor = 1.0;
    const SimTime capped = step_time(small_mixture(), strategy);
    CHECK(uneven > capped);
    CHECK(capped == even); // the fullest rank is at the mean

    const Problems notes = group_notes(job_of(small_mixture(), strategy, training_of(4)));
    REQUIRE(notes.size() == 1);
    // Shares 4/7: loads 16/7, 4/7 x 3; kept (1 + 3 x 4/7)/4 = 19/28.
    CHECK(notes[0].message == "32.1 % of the copies of tokens are dropped");
}

TEST_CASE("shared experts beside the exchange save time")
{
    Model model = small_mixture();
    std::get<Transformer>(model.architecture).moe->shared_expert_ffn = 4096;
    Strategy strategy = expert_strategy(8);
    const SimTime before = step_time(model, strategy);
    strategy.experts.overlap_shared = true;
    CHECK(step_time(model, strategy) < before);
}

TEST_CASE("without vocabulary parallelism every rank holds and does all of it")
{
    Strategy strategy;
    strategy.tp = 4;
    strategy.dp = 1;
    strategy.sequence_parallel = GENERATE(false, true);
    const Job cut = job_of(small_decoder(), strategy, training_of(1));
    strategy.tensor.vocabulary = false;
    const Job whole = job_of(small_decoder(), strategy, training_of(1));
    const auto head_of = [](const Job& job) {
        return layer_work(job.model, {LayerKind::Role::head}, partition_of(job));
    };
    const LayerWork a = head_of(cut);
    const LayerWork b = head_of(whole);
    CHECK(b.parameters.dense > 3.9 * a.parameters.dense);
    const bool split = *strategy.sequence_parallel; // each rank has a quarter of the tokens
    CHECK(hardware_flops(b.forward).value() ==
          Approx((split ? 1 : 4) * hardware_flops(a.forward).value()));
    for (const WorkItem& item : b.forward)
        CHECK(std::holds_alternative<Kernel>(item)); // no communication
    // Gradients made of different tokens are added up: embedding and logits, 4 bytes each.
    const double sums = volume(make_plan(whole), 0, all_reduce, GroupKind::tp).bytes;
    if (split)
        CHECK(sums == Approx(2 * 4 * 8192.0 * 1024));
}

TEST_CASE("reducing an input's gradient beside the weight's gradient is an option")
{
    Strategy strategy;
    strategy.tp = 4;
    strategy.dp = 1;
    strategy.sequence_parallel = false;
    const auto products = [](const ComputeRequest& request) {
        double count = 0;
        for (const WorkItem& item : request.kernels)
            count += std::get<Kernel>(item).kind == KernelKind::gemm;
        return Seconds(1e-3 * count);
    };
    const auto time = [&] {
        const Job job = job_of(small_decoder(), strategy, training_of(1));
        const Plan plan = make_plan(job);
        const Binding toy =
            with_costs(bind(plan, job, h100_nodes(1), h100_costs(), {}), plan,
                       {products, [](const TransferRequest&) { return Seconds(0.5e-3); }});
        return to_seconds(run(plan.program, toy).step_time).value();
    };
    const double after = time();
    strategy.tensor.beside_weight_gradient = true;
    // Backward, 2 reductions in each of 8 layers and that of the logits' input.
    CHECK(after - time() == Approx((8 * 2 + 1) * 0.5e-3));
}

TEST_CASE("each kind of group has its own back end, else the strategy's")
{
    Strategy strategy;
    strategy.backend = Backend::gloo;
    strategy.backends.tp = Backend::nccl;
    strategy.backends.pp = Backend::ucx;
    CHECK(backend_of(strategy, GroupKind::tp) == Backend::nccl);
    CHECK(backend_of(strategy, GroupKind::etp) == Backend::nccl);
    CHECK(backend_of(strategy, GroupKind::pp) == Backend::ucx);
    for (const GroupKind kind : {GroupKind::dp, GroupKind::edp, GroupKind::ep, GroupKind::cp,
                                 GroupKind::embedding, GroupKind::world})
        CHECK(backend_of(strategy, kind) == Backend::gloo);

    strategy = {};
    strategy.tp = 2;
    strategy.pp = 2;
    strategy.dp = 2;
    strategy.backends.dp = Backend::gloo;
    const Plan plan = make_plan(job_of(small_decoder(), strategy, training_of(4)));
    for_each_op(plan.program, plan.program.roles[0],
                [&](const Block&, const Op& op, const BlockUse&) {
                    if (op.kind != OpKind::collective)
                        return;
                    const GroupKind kind = plan.program.groups[op.group.value].kind;
                    const bool gradients = kind != GroupKind::tp;
                    CHECK((plan.transfers[op.cost.value].backend == Backend::gloo) == gradients);
                });
}

TEST_CASE("context parallelism that cannot be is refused with what can")
{
    Strategy strategy = context_strategy(1, ContextKind::ring);
    CHECK(refuses(refusals(small_decoder(), strategy), "/strategy/context", "set cp"));

    strategy = context_strategy(4, ContextKind::hybrid, 3);
    CHECK(refuses(refusals(small_decoder(), strategy), "/strategy/context/a2a", "1, 2, 4"));

    strategy = context_strategy(16, ContextKind::ulysses); // 8 heads
    CHECK(refuses(refusals(small_decoder(), strategy), "/strategy/cp", "1, 2, 4, 8; or"));

    strategy = context_strategy(4, ContextKind::ulysses);
    strategy.context.balance = ContextBalance::contiguous;
    CHECK(refuses(refusals(small_decoder(), strategy), "/strategy/context/balance", "leave"));

    Training training = training_of(8);
    training.sequence_length = 1020;
    strategy = context_strategy(4, ContextKind::ring);
    CHECK(refuses(refusals(small_decoder(), strategy, training), "/strategy/context/balance",
                  "multiple of 8"));
    strategy.context.balance = ContextBalance::contiguous;
    CHECK(refusals(small_decoder(), strategy, training).empty());

    Model windowed = small_decoder();
    std::get<Transformer>(windowed.architecture).sliding_window = 128;
    CHECK(refuses(refusals(windowed, context_strategy(4, ContextKind::ring)),
                  "/strategy/context/kind", "all_gather"));
}

TEST_CASE("options of experts that cannot be are refused with what can")
{
    Strategy strategy = expert_strategy(4);
    strategy.experts.node_limit = 2;
    strategy.experts.dispatcher = Dispatcher::all_to_all;
    CHECK(refuses(refusals(small_mixture(), strategy), "/strategy/experts/node_limit",
                  "one_copy_per_node"));

    strategy = expert_strategy(4);
    strategy.experts.load = ExpertLoad::histogram;
    strategy.experts.shares = {1, 2};
    CHECK(refuses(refusals(small_mixture(), strategy), "/strategy/experts/shares", "4 numbers"));
    strategy.experts.shares = {1, 2, -1, 1};
    CHECK(refuses(refusals(small_mixture(), strategy), "/strategy/experts/shares", "any unit"));
    strategy.experts.load = ExpertLoad::uniform;
    CHECK(refuses(refusals(small_mixture(), strategy), "/strategy/experts/shares", "histogram"));

    strategy = expert_strategy(4);
    strategy.experts.overlap_shared = true;
    CHECK(refuses(refusals(small_mixture(), strategy), "/strategy/experts/overlap_shared",
                  "leave it out"));
    strategy = {};
    strategy.experts.capacity_factor = 1.0;
    CHECK(refuses(refusals(small_decoder(), strategy), "/strategy/experts", "leave experts out"));
}
