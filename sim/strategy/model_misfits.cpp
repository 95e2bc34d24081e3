#include "sim/strategy/misfits.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace trainyard {

std::vector<LayerKind> inner_kinds(const Model& model)
{
    std::vector<LayerKind> kinds;
    for (const LayerKind& kind : layers_of(model))
        if ((kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe) &&
            std::ranges::find(kinds, kind) == kinds.end())
            kinds.push_back(kind);
    return kinds;
}

bool divides_heads(const Model& model, int tp)
{
    const Transformer& transformer = std::get<Transformer>(model.architecture);
    return std::ranges::all_of(inner_kinds(model), [&](const LayerKind& kind) {
        const LayerModel layer(transformer, kind);
        if (layer->is_recurrent())
            return layer->recurrence->heads % tp == 0;
        const bool attends = layer->mixer == MixerKind::attention || layer->cross_attention;
        return !attends || layer->heads % tp == 0;
    });
}

namespace {

class Cuts {
public:
    Cuts(const Job& job, const Transformer& model, int devices)
        : job_(job), model_(model), devices_(devices), kinds_(inner_kinds(job.model))
    {}

    Problems all()
    {
        tensor();
        context();
        experts();
        pipeline();
        recompute();
        offload();
        const Problems adapters = lora_misfits(job_);
        problems_.insert(problems_.end(), adapters.begin(), adapters.end());
        return problems_;
    }

private:
    void refuse(const char* pointer, std::string message, std::string hint)
    {
        problems_.push_back(refusal(pointer, std::move(message), std::move(hint)));
    }

    std::string of_model() const
    {
        return job_.model.name.empty() ? "of the model"
                                       : fmt::format("of model \"{}\"", job_.model.name);
    }

    // Of the layers of one kind.
    std::string layer_refusal(int tp, const LayerKind& kind) const
    {
        const LayerModel of_kind(model_, kind);
        const Transformer& layer = *of_kind;
        const auto cut = [&](std::int64_t size, const char* what) {
            return size % tp == 0
                       ? std::string()
                       : fmt::format("{} does not divide the {} {} {}", tp, size, what, of_model());
        };
        const auto cut_or_copied = [&](int heads, const char* what) {
            // With fewer key/value heads than ranks each rank keeps a copy of one.
            return heads % tp == 0 || tp % heads == 0
                       ? std::string()
                       : fmt::format("{} and the {} {} {} do not divide each other", tp, heads,
                                     what, of_model());
        };
        std::string why;
        if (layer.is_recurrent()) {
            why = cut(layer.recurrence->heads, "heads of recurrent layers");
            if (why.empty())
                why = cut_or_copied(layer.recurrence->key_heads, "key heads of recurrent layers");
        } else if (layer.mixer == MixerKind::attention || layer.cross_attention) {
            why = cut(layer.heads, "attention heads");
            if (why.empty())
                why = cut_or_copied(layer.kv_heads, "key/value heads");
            if (why.empty() && layer.output_rank > 0)
                why = cut(layer.output_groups, "groups of heads");
        }
        if (why.empty() && kind.channel && kind.role == LayerKind::Role::dense)
            why = cut(layer.ffn, "feed-forward units");
        return why;
    }

    // Why tensors cannot be cut into `tp` parts; empty when they can.
    std::string tensor_refusal(int tp) const
    {
        const auto cut = [&](std::int64_t size, const char* what) {
            return size % tp == 0
                       ? std::string()
                       : fmt::format("{} does not divide the {} {} {}", tp, size, what, of_model());
        };
        std::string why;
        for (const LayerKind& kind : kinds_)
            if (why.empty())
                why = layer_refusal(tp, kind);
        if (why.empty())
            why = cut(model_.hidden, "hidden units");
        if (why.empty() && model_.moe)
            why = cut(model_.moe->shared_expert_ffn, "feed-forward units of the shared experts");
        if (why.empty() && !job_.software.pads_vocabulary && job_.strategy.tensor.vocabulary)
            why = cut(model_.vocabulary, "vocabulary entries");
        return why;
    }

    void tensor()
    {
        const Strategy& strategy = job_.strategy;
        if (std::string why = tensor_refusal(strategy.tp); !why.empty())
            refuse("/strategy/tp", std::move(why),
                   sizes_that_work("tensor parallel sizes", devices_,
                                   [&](int tp) { return tensor_refusal(tp).empty(); }));
        if (!*strategy.sequence_parallel)
            return;
        const std::int64_t local = job_.training.sequence_length / strategy.cp;
        if (local % strategy.tp != 0)
            refuse("/strategy/sequence_parallel",
                   fmt::format("tp = {} does not divide the {} tokens of a rank's sequence",
                               strategy.tp, local),
                   "set sequence_parallel to false or change the sequence length");
    }

    void context()
    {
        const std::int64_t length = job_.training.sequence_length;
        const auto works = [&](int cp) { return length % cp == 0; };
        if (!works(job_.strategy.cp))
            refuse("/strategy/cp",
                   fmt::format("{} does not divide the sequence of {} tokens", job_.strategy.cp,
                               length),
                   sizes_that_work("context parallel sizes", devices_, works));
        recurrent_context();
        if (model_.position == PositionKind::learned && model_.max_positions > 0 &&
            length > model_.max_positions)
            refuse("/training/sequence_length",
                   fmt::format("{} tokens, but the learned positions {} end at {}", length,
                               of_model(), model_.max_positions),
                   fmt::format("at most {}", model_.max_positions));
    }

    // Context parallelism exchanges heads for tokens around recurrent mixers.
    void recurrent_context()
    {
        for (const LayerKind& kind : kinds_) {
            const LayerModel of_kind(model_, kind);
            if (!of_kind->is_recurrent())
                continue;
            const int heads = of_kind->recurrence->heads / job_.strategy.tp;
            const auto works = [&](int cp) { return heads % cp == 0; };
            if (works(job_.strategy.cp))
                continue;
            return refuse("/strategy/cp",
                          fmt::format("{} does not divide the {} heads of recurrent layers on a "
                                      "rank (tp = {})",
                                      job_.strategy.cp, heads, job_.strategy.tp),
                          sizes_that_work("context parallel sizes", devices_, works));
        }
    }

    void experts()
    {
        const Strategy& strategy = job_.strategy;
        if (!model_.moe) {
            for (const auto& [pointer, size] :
                 {std::pair("/strategy/ep", strategy.ep), std::pair("/strategy/etp", strategy.etp)})
                if (size > 1)
                    refuse(pointer, fmt::format("{} has no experts to spread", model_name()),
                           "sizes that work here: 1");
            const bool attends = std::ranges::any_of(kinds_, [&](const LayerKind& kind) {
                return LayerModel(model_, kind)->cross_attention;
            });
            if (attends && std::int64_t{strategy.pp} * strategy.vpp > 1)
                refuse(
                    "/strategy/pp",
                    fmt::format("layers {} attend to its encoders: what these make is not sent to "
                                "later stages",
                                of_model()),
                    "sizes that work here: 1");
            return;
        }
        const MixtureOfExperts& moe = *model_.moe;
        const auto ep_works = [&](int ep) { return moe.experts % ep == 0; };
        if (!ep_works(strategy.ep))
            refuse("/strategy/ep",
                   fmt::format("{} does not divide the {} experts {}", strategy.ep, moe.experts,
                               of_model()),
                   sizes_that_work("expert parallel sizes", devices_, ep_works));
        if (strategy.tp > 1 && strategy.etp > strategy.tp && !*strategy.sequence_parallel)
            refuse(
                "/strategy/etp",
                fmt::format("experts cut over {} ranks would get the same tokens from {} of them "
                            "each (tp without sequence parallelism)",
                            strategy.etp, strategy.tp),
                fmt::format("set sequence_parallel to true, or etp to {}", strategy.tp));
        const auto etp_works = [&](int etp) { return moe.expert_ffn % etp == 0; };
        if (!etp_works(strategy.etp))
            refuse("/strategy/etp",
                   fmt::format("{} does not divide the {} feed-forward units of an expert {}",
                               strategy.etp, moe.expert_ffn, of_model()),
                   sizes_that_work("expert tensor parallel sizes", devices_, etp_works));
    }

    std::string model_name() const
    {
        return job_.model.name.empty() ? "the model" : fmt::format("model \"{}\"", job_.model.name);
    }

    void pipeline()
    {
        const Strategy& strategy = job_.strategy;
        if (model_.shared_layers && std::int64_t{strategy.pp} * strategy.vpp > 1)
            refuse("/strategy/pp",
                   fmt::format("all layers {} have the same parameters: stages cannot share them",
                               of_model()),
                   "sizes that work here: 1");
        if (!strategy.stage_layers.empty()) {
            uneven_stages();
            return;
        }
        // 64 bits: both come from the user.
        const std::int64_t stages = std::int64_t{strategy.pp} * strategy.vpp;
        if (model_.layers % stages == 0)
            return;
        const auto with_chunks = [&](int pp) {
            return model_.layers % (std::int64_t{pp} * strategy.vpp) == 0;
        };
        std::string hint = sizes_that_work(
            strategy.vpp == 1 ? "pipeline sizes"
                              : fmt::format("pipeline sizes with vpp = {}", strategy.vpp),
            devices_, with_chunks);
        if (hint.empty())
            hint = sizes_that_work(
                fmt::format("virtual stages with pp = {}", strategy.pp), model_.layers,
                [&](int vpp) { return model_.layers % (std::int64_t{strategy.pp} * vpp) == 0; });
        hint += hint.empty() ? "" : "; or ";
        refuse(strategy.pp == 1 ? "/strategy/vpp" : "/strategy/pp",
               strategy.vpp == 1
                   ? fmt::format("{} pipeline stages do not divide the {} layers {}", strategy.pp,
                                 model_.layers, of_model())
                   : fmt::format("{} stages of {} virtual ones do not divide the {} layers {}",
                                 strategy.pp, strategy.vpp, model_.layers, of_model()),
               hint + "give the layers of each stage in stage_layers");
    }

    void uneven_stages()
    {
        const std::vector<int>& layers = job_.strategy.stage_layers;
        const std::int64_t stages = std::int64_t{job_.strategy.pp} * job_.strategy.vpp;
        if (static_cast<std::int64_t>(layers.size()) != stages) {
            refuse("/strategy/stage_layers",
                   fmt::format("{} entries for {} stages (pp x vpp)", layers.size(), stages),
                   fmt::format("give {} numbers that add up to {}", stages, model_.layers));
            return;
        }
        const std::int64_t sum = std::accumulate(layers.begin(), layers.end(), std::int64_t{0});
        if (sum != model_.layers)
            refuse("/strategy/stage_layers",
                   fmt::format("the stages hold {} layers, {} has {}", sum, model_name(),
                               model_.layers),
                   fmt::format("give {} numbers that add up to {}", stages, model_.layers));
        for (std::size_t i = 0; i < layers.size(); ++i) {
            // The outer stages hold the embedding and the head, so they may do without.
            const bool outer = i == 0 || i + 1 == layers.size();
            if (layers[i] < (outer ? 0 : 1))
                refuse("/strategy/stage_layers", fmt::format("{} layers in stage {}", layers[i], i),
                       "at least 1 layer; 0 in the first and the last stage, which hold the "
                       "embedding and the head");
        }
    }

    void recompute()
    {
        if (!job_.training.recompute_layers)
            return;
        if (job_.training.recompute != Recompute::full) {
            refuse("/training/recompute_layers", "counts layers recomputed in full only",
                   "set recompute to \"full\", or leave recompute_layers out");
            return;
        }
        const int most = layers_of_device();
        if (*job_.training.recompute_layers < 0 || *job_.training.recompute_layers > most)
            refuse("/training/recompute_layers",
                   fmt::format("{} of the {} layers on a device", *job_.training.recompute_layers,
                               most),
                   fmt::format("0 to {}", most));
    }

    void offload()
    {
        const int layers = job_.strategy.offload.activation_layers;
        const int most = layers_of_device();
        if (layers > most)
            refuse("/strategy/offload/activation_layers",
                   fmt::format("{} of the {} layers on a device", layers, most),
                   fmt::format("0 to {}", most));
    }

    // At most.
    int layers_of_device() const
    {
        return job_.strategy.stage_layers.empty() ? model_.layers / job_.strategy.pp
                                                  : model_.layers;
    }

    const Job& job_;
    const Transformer& model_;
    int devices_;
    std::vector<LayerKind> kinds_;
    Problems problems_;
};

// A list of layers knows neither heads nor sequences nor stages: only replicas.
Problems layer_list_misfits(const Job& job)
{
    Problems problems;
    const Strategy& s = job.strategy;
    const auto only = [&](const char* pointer, bool good, std::string value) {
        if (!good)
            problems.push_back(refusal(pointer,
                                       "a list of layers trains with data parallelism only",
                                       "the value that works here: " + std::move(value)));
    };
    only("/strategy/tp", s.tp == 1, "1");
    only("/strategy/pp", s.pp == 1, "1");
    only("/strategy/vpp", s.vpp == 1, "1");
    only("/strategy/cp", s.cp == 1, "1");
    only("/strategy/ep", s.ep == 1, "1");
    only("/strategy/etp", s.etp == 1, "1");
    only("/strategy/sequence_parallel", !*s.sequence_parallel, "false");
    only("/strategy/stage_layers", s.stage_layers.empty(), "[]");
    if (job.training.recompute_layers)
        problems.push_back(refusal("/training/recompute_layers", "counts layers of a transformer",
                                   "leave it out"));
    if (job.training.lora)
        problems.push_back(refusal("/training/lora", "adapters go beside a transformer's matrices",
                                   "leave it out"));
    return problems;
}

} // namespace

Problems model_misfits(const Job& job, int devices)
{
    if (const auto* transformer = std::get_if<Transformer>(&job.model.architecture))
        return Cuts(job, *transformer, devices).all();
    return layer_list_misfits(job);
}

} // namespace trainyard
