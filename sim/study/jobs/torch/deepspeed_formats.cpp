#include "sim/study/jobs/torch/deepspeed_formats.h"

#include "sim/study/jobs/torch/deepspeed.h"

#include <algorithm>
#include <array>

namespace trainyard {

int gradient_bytes(const Training& training)
{
    return training.fp32_gradients.value_or(false) ? 4 : storage_bytes(training.precision);
}

namespace {

// As DeepSpeed's DtypeEnum takes them.
Precision format_named(std::string_view name)
{
    constexpr std::string_view torch = "torch.";
    if (name.starts_with(torch))
        name.remove_prefix(torch.size());
    return name == "bf16" || name == "bfloat16"                    ? Precision::bf16
           : name == "fp16" || name == "float16" || name == "half" ? Precision::fp16
                                                                   : Precision::fp32;
}

class FormatReader {
public:
    FormatReader(SettingTree& settings, JobDraft& draft, bool after_trainer)
        : settings_(settings),
          draft_(draft),
          training_(draft.scenario.training),
          after_trainer_(after_trainer)
    {}

    void read()
    {
        precision();
        gradients();
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), place, settings_.origin(name));
    }

    bool enabled(std::string_view section)
    {
        return settings_.flag(std::string(section) + ".enabled", draft_).value_or(false);
    }

    // Left to the trainer: "auto".
    bool left_open(std::string_view name)
    {
        const Json* const stated = settings_.find(name);
        return stated != nullptr && !stated->is_bool();
    }

    void precision()
    {
        const bool half = enabled("fp16");
        const bool brain = enabled("bf16") || enabled("bfloat16");
        const char* const brain_name =
            settings_.find("bf16.enabled") != nullptr ? "bf16.enabled" : "bfloat16.enabled";
        if (half && brain)
            draft_.refuse(settings_.origin("fp16.enabled"), "bf16 is enabled too",
                          "enable one of them");
        else if (half)
            take("fp16.enabled", training_.precision, Precision::fp16, "training.precision");
        else if (brain)
            take(brain_name, training_.precision, Precision::bf16, "training.precision");
        else if (enabled("torch_autocast"))
            autocast();
        else if (enabled("amp"))
            amp();
        else
            unstated(brain_name);
    }

    void unstated(std::string_view brain_name)
    {
        if (after_trainer_ || left_open(brain_name))
            draft_.assume(fmt::format("{}: bf16.enabled is left to the trainer",
                                      to_name(training_.precision)));
        else if (left_open("fp16.enabled")) {
            training_.precision = Precision::fp16;
            draft_.assume("fp16: fp16.enabled is left to the trainer, and bf16 is not in it");
        } else {
            training_.precision = Precision::fp32;
            draft_.assume("fp32: neither fp16 nor bf16 is enabled");
        }
    }

    // PyTorch's autocast: products in the narrow format, parameters in fp32.
    void autocast()
    {
        constexpr std::string_view name = "torch_autocast.dtype";
        const auto type = settings_.text(name, draft_);
        settings_.find("torch_autocast.lower_precision_safe_modules");
        if (type)
            take(name, training_.precision, format_named(*type), "training.precision");
        else
            take("torch_autocast.enabled", training_.precision, Precision::fp16,
                 "training.precision");
        if (!type)
            draft_.assume("fp16, the default of torch.autocast on GPUs");
        keeps_wide_parameters("torch_autocast.enabled");
    }

    // Apex's: O1 computes in fp16 on parameters in fp32, O2 and O3 keep them in fp16.
    void amp()
    {
        constexpr std::string_view name = "amp.opt_level";
        const auto stated = settings_.text(name, draft_);
        const std::string level = stated.value_or("O1");
        const std::string_view at = stated ? name : "amp.enabled";
        if (level == "O0")
            return take(at, training_.precision, Precision::fp32, "training.precision");
        take(at, training_.precision, Precision::fp16, "training.precision");
        if (!stated)
            draft_.assume("amp.opt_level O1, Apex's default");
        if (level == "O1")
            keeps_wide_parameters(at);
        else if (level == "O3")
            draft_.flag(fmt::format("{}: without parameters in fp32, which are modelled",
                                    settings_.origin(at).setting));
    }

    void keeps_wide_parameters(std::string_view name)
    {
        wide_parameters_ = training_.precision != Precision::fp32;
        if (wide_parameters_)
            draft_.assume(settings_.origin(name),
                          fmt::format("parameters are kept in fp32 alone, modelled as in {} with a "
                                      "master in fp32: within 2 bytes of each",
                                      to_name(training_.precision)));
    }

    // Without ZeRO an optimizer of DeepSpeed's own wraps the one that updates.
    bool wrapped() const
    {
        return training_.precision == Precision::bf16 && !wide_parameters_ &&
               draft_.scenario.strategy.zero == 0;
    }

    // Summed in one format, kept in another: the wider is what both take room and time for.
    void gradients()
    {
        constexpr std::string_view accumulated = "data_types.grad_accum_dtype";
        const auto kept = settings_.text(accumulated, draft_);
        const auto wide = [](std::string_view format) {
            return format_named(format) == Precision::fp32;
        };
        if (const auto type = settings_.text("communication_data_type", draft_))
            take("communication_data_type", training_.fp32_gradients,
                 wide(*type) || (kept ? wide(*kept) : keeps_wide()), "training.fp32_gradients");
        else if (kept)
            take(accumulated, training_.fp32_gradients, wide(*kept), "training.fp32_gradients");
        else
            usual_gradients();
        if (wrapped())
            draft_.flag("bf16 at stage 0: DeepSpeed cuts the optimizer's states over the replicas, "
                        "as at stage 1 (strategy.zero); modelled whole on each");
    }

    // Where gradients are cut, what is kept of them is little beside what is summed.
    bool keeps_wide() const
    {
        return wrapped() || (wide_parameters_ && draft_.scenario.strategy.zero < 2);
    }

    void usual_gradients()
    {
        training_.fp32_gradients = keeps_wide();
        draft_.assume(wrapped() ? "gradients in fp32: with bf16 at stage 0 DeepSpeed keeps them "
                                  "so; it sums them in bf16, in half the bytes"
                      : *training_.fp32_gradients
                          ? "gradients in fp32, the format of the parameters"
                      : wide_parameters_ ? "gradients reduced in the format of products"
                                         : "gradients reduced in the format of the parameters");
    }

    SettingTree& settings_;
    JobDraft& draft_;
    Training& training_;
    bool after_trainer_;
    bool wide_parameters_ = false; // beside products in a narrower format
};

} // namespace

void read_deepspeed_formats(SettingTree& settings, JobDraft& draft, bool after_trainer)
{
    FormatReader(settings, draft, after_trainer).read();
}

} // namespace trainyard
