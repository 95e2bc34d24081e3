// Arguments of torchtitan's registry of models and of its converters.

#include "sim/study/jobs/adapter_arguments.h"
#include "sim/study/jobs/torch/torchtitan.h"

#include <cmath>

namespace trainyard {
namespace {

class RegistryReader {
public:
    RegistryReader(SettingTree& settings, JobDraft& draft)
        : settings_(settings),
          draft_(draft),
          model_(draft.model ? std::get_if<Transformer>(&draft.model->architecture) : nullptr)
    {}

    void read()
    {
        dispatcher();
        attention();
        predictions();
        adapters();
        products();
        wide_layers();
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, settings_.origin(name));
    }

    void dispatcher()
    {
        constexpr std::string_view name = "model_spec.moe_comm_backend";
        const auto backend = settings_.text(name, draft_);
        if (!backend)
            return;
        std::optional<Dispatcher>& field = draft_.scenario.strategy.experts.dispatcher;
        constexpr std::string_view place = "strategy.experts.dispatcher";
        if (*backend == "standard" || *backend == "deepep" || *backend == "hybridep")
            take(name, field,
                 *backend == "deepep"     ? Dispatcher::deepep
                 : *backend == "hybridep" ? Dispatcher::hybridep
                                          : Dispatcher::all_to_all,
                 place);
        else
            draft_.flag(settings_.origin(name), "not modelled, tokens are exchanged all to all");
    }

    void attention()
    {
        constexpr std::string_view name = "model_spec.attn_backend";
        const auto backend = settings_.text(name, draft_);
        if (!backend)
            return;
        std::optional<AttentionKernel>& kernel = draft_.scenario.software.attention;
        if (*backend == "flex")
            take(name, kernel, AttentionKernel::triton, "software.attention");
        else if (*backend == "varlen" || *backend == "flex_flash")
            take(name, kernel, AttentionKernel::flash2, "software.attention");
        else if (*backend == "sdpa")
            take(name, kernel, AttentionKernel::sdpa, "software.attention");
        else
            draft_.ignore(settings_.origin(name), "no attention known here");
    }

    void predictions()
    {
        constexpr std::string_view name = "model_spec.num_mtp_layers";
        constexpr std::int64_t most = 1000;
        const auto layers = settings_.whole(name, draft_);
        if (!layers || model_ == nullptr)
            return;
        if (*layers < 0 || *layers > most)
            return draft_.refuse(settings_.origin(name), "is no number of layers", "");
        draft_.scenario.model = {};
        take(name, model_->prediction_layers, *layers, "model.prediction_layers");
    }

    // As arguments, which name them alike.
    void adapters()
    {
        const std::string at = "model_converters.LoRAConverter";
        const Json* const said = settings_.root().find("model_converters");
        const Json* const converter = said != nullptr ? said->find("LoRAConverter") : nullptr;
        if (converter == nullptr)
            return;
        Arguments arguments;
        arguments.add({"--use-lora", {}, converter->line()});
        if (const auto rank = settings_.whole(at + ".rank", draft_))
            arguments.add(
                {"--lora-rank", {std::to_string(*rank)}, settings_.origin(at + ".rank").line});
        const Json* const modules = settings_.find(at + ".target_modules");
        Argument targets{"--lora-target-modules", {}, modules != nullptr ? modules->line() : 0};
        if (modules != nullptr && modules->is_array())
            for (const Json& one : modules->items())
                if (one.is_string())
                    targets.values.push_back(one.as_string());
        if (targets.values.empty())
            draft_.flag("adapters on all matrices: that of the logits has none here");
        else
            arguments.add(std::move(targets));
        using enum AdapterTarget;
        read_adapters(
            arguments, draft_,
            {8, {q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj}, "torchtitan's"});
    }

    void products()
    {
        constexpr std::string_view name = "model_converters.Float8LinearConverter.emulate";
        if (settings_.flag(name, draft_).value_or(false))
            draft_.flag(settings_.origin(name),
                        "products are emulated in a wider format, modelled in that of 8 bit");
    }

    void wide_layers()
    {
        constexpr std::string_view name =
            "model_converters.NVFP4LinearConverter.bf16_tail_fraction";
        const Json* const fraction = settings_.find(name);
        if (fraction == nullptr || model_ == nullptr)
            return;
        const double part = fraction->is_number() ? fraction->as_double() : -1;
        if (part < 0 || part >= 1)
            return draft_.flag(settings_.origin(name), "which layers stay in bf16 is not known");
        take(name, draft_.scenario.training.formats.last_wide_layers,
             static_cast<int>(std::ceil(part * model_->layers)),
             "training.formats.last_wide_layers");
    }

    SettingTree& settings_;
    JobDraft& draft_;
    Transformer* model_;
};

} // namespace

void read_titan_registry(SettingTree& settings, JobDraft& draft)
{
    RegistryReader(settings, draft).read();
}

} // namespace trainyard
