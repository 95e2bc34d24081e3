#include "sim/strategy/lower/stage_lowering.h"

#include "sim/strategy/lower/activation_offload.h"
#include "sim/strategy/lower/data_loader.h"
#include "sim/strategy/lower/exchange_writer.h"
#include "sim/strategy/lower/held_states.h"
#include "sim/strategy/lower/step_end.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

// The layers of each chunk of a stage, which follow each other.
class Chunks {
public:
    explicit Chunks(const std::vector<PlacedLayer>& layers)
    {
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const auto chunk = static_cast<std::size_t>(layers[i].chunk);
            if (chunk >= ranges_.size())
                ranges_.resize(chunk + 1);
            if (ranges_[chunk].count++ == 0)
                ranges_[chunk].first = i;
        }
    }

    std::size_t layers_of(const Pass& pass) const { return range(pass).count; }
    // Number `i` of the layers that the pass goes through: from the last one unless it is forward.
    std::size_t layer(const Pass& pass, std::size_t i) const
    {
        const Range r = range(pass);
        return r.first + (pass.kind == PassKind::forward ? i : r.count - 1 - i);
    }

private:
    struct Range {
        std::size_t first = 0;
        std::size_t count = 0;
    };

    Range range(const Pass& pass) const
    {
        const auto chunk = static_cast<std::size_t>(pass.chunk);
        return chunk < ranges_.size() ? ranges_[chunk] : Range{};
    }

    std::vector<Range> ranges_; // by chunk
};

// A pass, or two that take turns: their visits come layer by layer, the forward one first while it
// has any.
void add_visits_of_turn(const Chunks& chunks, const Pass& pass, const Pass* beside,
                        std::vector<Visit>& visits)
{
    const std::size_t own = chunks.layers_of(pass);
    const std::size_t other = beside != nullptr ? chunks.layers_of(*beside) : 0;
    for (std::size_t i = 0; i < std::max(own, other); ++i) {
        if (i < own)
            visits.push_back({pass.kind, pass.micro_batch, chunks.layer(pass, i)});
        if (i < other)
            visits.push_back({beside->kind, beside->micro_batch, chunks.layer(*beside, i)});
    }
}

std::vector<Visit> visits_of(const Chunks& chunks, std::size_t layers,
                             const std::vector<Pass>& passes)
{
    std::vector<Visit> visits;
    for (std::size_t i = 0; i < passes.size(); ++i) {
        const Pass* beside = passes[i].with_next ? &passes[i + 1] : nullptr;
        add_visits_of_turn(chunks, passes[i], beside, visits);
        i += beside != nullptr ? 1 : 0;
    }
    std::vector<bool> seen(layers, false);
    for (Visit& visit : visits)
        if (visit.kind == PassKind::forward && !seen[visit.layer])
            visit.first = seen[visit.layer] = true;
    std::fill(seen.begin(), seen.end(), false);
    for (auto visit = visits.rbegin(); visit != visits.rend(); ++visit)
        if (completes_gradients(visit->kind) && !seen[visit->layer])
            visit->last = seen[visit->layer] = true;
    return visits;
}

// Whether the pass begins with the input: the model's first layer runs forward.
bool reads_input(const std::vector<PlacedLayer>& layers, const Chunks& chunks, const Pass& pass)
{
    return pass.kind == PassKind::forward && chunks.layers_of(pass) > 0 &&
           layers[chunks.layer(pass, 0)].number == 0;
}

std::string role_name(const Job& job, int stage)
{
    return job.strategy.pp == 1 ? "rank" : "stage " + std::to_string(stage);
}

// Writes the passes of a stage, visit by visit.
class PassWriter {
public:
    PassWriter(StageWriter& writer, LayerCatalog& catalog, const StageContent& content,
               DataParallel& data_parallel)
        : writer_(writer),
          catalog_(catalog),
          content_(content),
          data_parallel_(data_parallel),
          offload_(writer, catalog, content)
    {}

    // The next pass of that direction takes over a tensor that was received.
    void takes_over(PassKind kind, const TensorChanges& received)
    {
        (kind == PassKind::forward ? forward_received_ : backward_received_) = &received;
    }

    // `input`: what the first layer waits for.
    void alone(std::size_t visits, EventId input)
    {
        for (std::size_t i = 0; i < visits; ++i) {
            const LayerUse use = begin(next_, false, input);
            writer_.layer(use);
            end(*use.block, false);
            input = writer_.never();
        }
    }

    // A forward pass beside a backward pass: their visits come in turns.
    void in_turns(std::size_t visits, EventId forward_input, EventId backward_input)
    {
        for (const std::size_t end_of_turn = next_ + visits; next_ < end_of_turn;) {
            EventId& input = is_forward(next_) ? forward_input : backward_input;
            const LayerUse one = begin(next_, true, std::exchange(input, writer_.never()));
            const bool two = is_forward(next_) && next_ + 1 < end_of_turn && !is_forward(next_ + 1);
            if (!two) {
                single_turn(one);
                continue;
            }
            const LayerUse other =
                begin(next_ + 1, true, std::exchange(backward_input, writer_.never()));
            writer_.layers_in_turns(one, other);
            end(*one.block, true);
            end(*other.block, true);
        }
    }

private:
    bool is_forward(std::size_t visit) const
    {
        return content_.visits[visit].kind == PassKind::forward;
    }

    LayerUse begin(std::size_t visit, bool in_turns, EventId input)
    {
        const Visit& v = content_.visits[visit];
        const PlacedLayer& placed = content_.layers[v.layer];
        const TensorChanges* received =
            std::exchange(is_forward(visit) ? forward_received_ : backward_received_, &nothing_);
        TensorChanges besides;
        if (catalog_.tells_memory())
            besides = data_parallel_.memory(visit);
        if (!besides.empty())
            besides.insert(besides.begin(), received->begin(), received->end());
        offload_.before(visit, in_turns);
        const LayerBlock& block =
            catalog_.block(placed.kind, {v.kind, in_turns}, besides.empty() ? *received : besides);
        return {&block, input, data_parallel_.before(writer_, visit), v.index(placed)};
    }

    void end(const LayerBlock& block, bool in_turns)
    {
        offload_.after(next_, in_turns);
        data_parallel_.after(writer_, next_++, block);
    }

    // One pass has more layers than the other.
    void single_turn(const LayerUse& use)
    {
        static const LayerBlock nothing;
        const LayerUse none{.block = &nothing};
        if (is_forward(next_))
            writer_.layers_in_turns(use, none);
        else
            writer_.layers_in_turns(none, use);
        end(*use.block, true);
    }

    StageWriter& writer_;
    LayerCatalog& catalog_;
    const StageContent& content_;
    DataParallel& data_parallel_;
    ActivationOffload offload_;
    const TensorChanges nothing_;
    const TensorChanges* forward_received_ = &nothing_;
    const TensorChanges* backward_received_ = &nothing_;
    std::size_t next_ = 0; // visit
};

} // namespace

void lower_stage(PlanBuilder& plan, LayerCatalog& catalog, const StageRequest& request)
{
    const Job& job = request.job;
    StageContent content{
        request.work, layers_of_stage(request.work, request.placement, request.stage), {}};
    const Chunks chunks(content.layers);
    content.visits = visits_of(chunks, content.layers.size(), request.passes);
    const auto data_parallel = make_data_parallel(job, content);

    StageWriter writer(plan, job, role_name(job, request.stage));
    ExchangeWriter exchanges(writer, request.exchanges, request.work, request.peers);
    PassWriter passes(writer, catalog, content, *data_parallel);
    writer.host_work("communicator creation", job.communicator_creation, Phase::other);
    const auto reads = [&](const Pass& pass) { return reads_input(content.layers, chunks, pass); };
    DataLoader loader(writer, static_cast<int>(std::ranges::count_if(request.passes, reads)));
    for (std::size_t i = 0; i < request.passes.size(); ++i) {
        const Pass& pass = request.passes[i];
        const std::size_t layers = chunks.layers_of(pass);
        exchanges.write_gap(i);
        if (reads(pass))
            loader.before_pass();
        const bool weights = pass.kind == PassKind::backward_weight; // have all they need
        const EventId input =
            exchanges.input_of(i).value_or(weights ? writer.never() : writer.tail_beside());
        passes.takes_over(pass.kind, exchanges.taken_over(i));
        if (!pass.with_next) {
            passes.alone(layers, input);
            continue;
        }
        const Pass& beside = request.passes[++i];
        if (reads(beside))
            loader.before_pass();
        const EventId other = exchanges.input_of(i).value_or(writer.tail_beside());
        passes.takes_over(beside.kind, exchanges.taken_over(i));
        // What was made here may have been made by the other chain.
        passes.in_turns(layers + chunks.layers_of(beside),
                        request.exchanges.input_of[i - 1] ? input : writer.tail(), other);
    }
    exchanges.write_gap(request.passes.size());
    write_step_end(writer, content, request.stage, *data_parallel);
    plan.role(std::move(writer).finish(),
              catalog.tells_memory() ? held_states(job, content) : HeldStates());
}

} // namespace trainyard
