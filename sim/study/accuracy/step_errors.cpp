#include "sim/study/accuracy/step_errors.h"

#include "sim/base/build_info.h"
#include "sim/base/fields.h"
#include "sim/base/input_limits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace trainyard {

namespace {

constexpr FieldInfo with(std::string_view help)
{
    return {.help = help, .required = true};
}

constexpr FieldInfo factor(std::string_view help)
{
    return {.help = help, .min = 1, .max = 100, .required = true};
}

constexpr FieldInfo of_size(std::string_view help)
{
    return {.help = help, .min = 1, .max = 100};
}

constexpr FieldInfo counted(std::string_view help)
{
    return {.help = help, .min = 0, .required = true};
}

// Narrower classes say more.
int narrowness(const ErrorClass& of)
{
    return (of.generation.empty() ? 0 : 1) + (of.dispatcher_stated ? 1 : 0);
}

template <class Class>
const Class* find_class(const std::vector<Class>& among, ModelClass wanted)
{
    const auto found = std::ranges::find(among, wanted, &Class::model_class);
    return found == among.end() ? nullptr : &*found;
}

// Whatever a prediction asks for is there.
void check_whole(const Reader& reader, const std::vector<ErrorClass>& classes)
{
    for (const EnumName<ModelClass>& wanted : enum_names<ModelClass>())
        if (std::ranges::none_of(classes, [&](const ErrorClass& of) {
                return of.model_class == wanted.value && narrowness(of) == 0;
            }))
            reader.error(fmt::format("no errors of the class \"{}\" as a whole", wanted.name),
                         "trainyard validate RECORDS --calibrate-intervals writes this file");
    for (const ErrorClass& of : classes)
        if (of.low > 0 || of.high < 0)
            reader.error(
                fmt::format("errors of {} to {} leave a prediction out of its own interval", of.low,
                            of.high),
                "low <= 0 <= high");
}

} // namespace

template <>
const FieldTable<ErrorClass>& fields_of<ErrorClass>()
{
    using E = ErrorClass;
    static const auto table =
        FieldTable<E>("class", "Errors of jobs of a class.")
            .field("model_class", &E::model_class, with("of the model"))
            .field("generation", &E::generation, {.help = "of the GPU; absent: all"})
            .field(
                "dispatcher_stated", &E::dispatcher_stated,
                {.help = "whether the scenario says how experts get their tokens; absent: either"})
            .field("pooled", &E::pooled, {.help = "classes whose groups are counted too"})
            .field("low", &E::low, with("log(predicted / measured), 5 % lie below"))
            .field("high", &E::high, with("5 % lie above"))
            .field("groups", &E::groups, counted("publication, GPU, model and format"))
            .field("runs", &E::runs, counted("measured"));
    return table;
}

template <>
const FieldTable<MeasuredRange>& fields_of<MeasuredRange>()
{
    using S = MeasuredRange;
    static const auto table = FieldTable<S>("range", "Of a size.")
                                  .field("least", &S::least, counted("of a measured job"))
                                  .field("most", &S::most, counted("likewise"));
    return table;
}

template <>
const FieldTable<SeenJobs>& fields_of<SeenJobs>()
{
    using S = SeenJobs;
    static const auto table =
        FieldTable<S>("seen", "What was among the measured jobs of a class.")
            .field("model_class", &S::model_class, with("of the model"))
            .field("devices", &S::devices, with("models of GPUs"))
            .field("precisions", &S::precisions, with("number formats"))
            .field("software", &S::software, with("classes"))
            .field("largest", &S::largest, counted("devices of the largest"))
            .field("sequence_length", &S::sequence_length, {.help = "tokens"})
            .field("pass_tokens", &S::pass_tokens, {.help = "of a micro-batch on one device"})
            .field("pass_samples", &S::pass_samples, {.help = "likewise, of models without tokens"})
            .field("hidden_size", &S::hidden_size, {.help = "of transformers"});
    return table;
}

template <>
const FieldTable<Widening>& fields_of<Widening>()
{
    using W = Widening;
    static const auto table =
        FieldTable<W>("widening", "What intervals of jobs unlike the measured ones are widened by.")
            .field("device", &W::device, factor("another GPU"))
            .field("precision", &W::precision, factor("another number format"))
            .field("software", &W::software, factor("another class of software"))
            .field("doubling", &W::doubling, factor("each doubling of the devices"))
            .field("sequence_halving", &W::sequence_halving,
                   of_size("each halving of the sequence"))
            .field("sequence_doubling", &W::sequence_doubling, of_size("each doubling of it"))
            .field("pass_halving", &W::pass_halving,
                   of_size("each halving of a micro-batch on a device"))
            .field("pass_doubling", &W::pass_doubling, of_size("each doubling of it"))
            .field("hidden_halving", &W::hidden_halving, of_size("each halving of the hidden size"))
            .field("hidden_doubling", &W::hidden_doubling, of_size("each doubling of it"));
    return table;
}

template <>
const FieldTable<RatioClass>& fields_of<RatioClass>()
{
    using R = RatioClass;
    static const auto table =
        FieldTable<R>("ratio", "Errors of the ratio of two jobs.")
            .field("model_class", &R::model_class, with("of the model"))
            .field("differs", &R::differs, with("what differs between the two"))
            .field("half", &R::half,
                   {.help = "90 % lie within +- this", .min = 0, .required = true})
            .field("groups", &R::groups, counted("publication, GPU, model and format"))
            .field("pairs", &R::pairs, counted("of runs"));
    return table;
}

template <>
const FieldTable<OwnStepClass>& fields_of<OwnStepClass>()
{
    using O = OwnStepClass;
    static const auto table =
        FieldTable<O>("own_step", "Errors that are left after one own step.")
            .field("model_class", &O::model_class, with("of the model"))
            .field("half", &O::half,
                   {.help = "90 % lie within +- this", .min = 0, .required = true})
            .field("groups", &O::groups, counted("publication, GPU, model and format"))
            .field("pairs", &O::pairs, counted("of runs"));
    return table;
}

template <>
const FieldTable<FitOptimism>& fields_of<FitOptimism>()
{
    using F = FitOptimism;
    static const auto table =
        FieldTable<F>("optimism", "Errors of runs that the fit did not see over those in sample.")
            .field("model_class", &F::model_class, with("of the model"))
            .field("factor", &F::factor, factor("what errors in sample are multiplied by"))
            .field("runs", &F::runs, counted("predicted by fits that did not see their source"));
    return table;
}

template <>
const FieldTable<PeakErrors>& fields_of<PeakErrors>()
{
    using P = PeakErrors;
    static const auto table =
        FieldTable<P>("memory", "How far predicted peaks of memory were off.")
            .field("share", &P::share,
                   {.help = "that intervals hold: less than nine in ten of fewer than 9 groups",
                    .min = 0,
                    .max = 1})
            .field("classes", &P::classes, with("by class of job"))
            .field("seen", &P::seen, with("what was measured"))
            .field("widening", &P::widening, with("for what was not"));
    return table;
}

template <>
const FieldTable<StepErrors>& fields_of<StepErrors>()
{
    using S = StepErrors;
    static const auto table =
        FieldTable<S>("step_errors", "How far predicted step times and peaks of memory were off.")
            .field("classes", &S::classes, with("by class of job"))
            .field("seen", &S::seen, with("what was measured"))
            .field("widening", &S::widening, with("for what was not"))
            .field("ratios", &S::ratios, with("of two jobs"))
            .field("own_steps", &S::own_steps, with("after one own step"))
            .field("optimism", &S::optimism, with("of errors in sample"))
            .field("memory", &S::memory, {.help = "of the peak of memory; absent: not known"});
    return table;
}

std::span<const MeasuredSize> measured_sizes()
{
    using J = JobTraits;
    using S = SeenJobs;
    using W = Widening;
    static constexpr std::array sizes{
        MeasuredSize{&J::sequence_length,
                     &S::sequence_length,
                     {"sequences of less than {} tokens", &W::sequence_halving},
                     {"sequences of more than {} tokens", &W::sequence_doubling}},
        MeasuredSize{&J::pass_tokens,
                     &S::pass_tokens,
                     {"micro-batches of less than {} tokens on a device", &W::pass_halving},
                     {"micro-batches of more than {} tokens on a device", &W::pass_doubling}},
        MeasuredSize{&J::pass_samples,
                     &S::pass_samples,
                     {"micro-batches of less than {} samples", &W::pass_halving},
                     {"micro-batches of more than {} samples", &W::pass_doubling}},
        MeasuredSize{&J::hidden_size,
                     &S::hidden_size,
                     {"hidden sizes below {}", &W::hidden_halving},
                     {"hidden sizes above {}", &W::hidden_doubling}}};
    return sizes;
}

bool ErrorClass::takes(const JobTraits& job) const
{
    return model_class == job.model_class && (generation.empty() || generation == job.generation) &&
           (!dispatcher_stated || *dispatcher_stated == job.dispatcher_stated);
}

const ErrorClass* class_for(const std::vector<ErrorClass>& classes, const JobTraits& job)
{
    const ErrorClass* narrowest = nullptr;
    for (const ErrorClass& of : classes)
        if (of.takes(job) && (narrowest == nullptr || narrowness(of) > narrowness(*narrowest)))
            narrowest = &of;
    return narrowest;
}

const SeenJobs* seen_of(const std::vector<SeenJobs>& seen, ModelClass model_class)
{
    return find_class(seen, model_class);
}

const ErrorClass& StepErrors::class_for(const JobTraits& job) const
{
    const ErrorClass* const narrowest = trainyard::class_for(classes, job);
    assert(narrowest != nullptr);
    return *narrowest;
}

double StepErrors::optimism_of(ModelClass model_class) const
{
    const FitOptimism* found = find_class(optimism, model_class);
    return found != nullptr ? found->factor : 1;
}

Json to_json(const StepErrors& errors)
{
    Json out = Json::object();
    out["format"] = step_errors_format;
    const Json fields = fields_of<StepErrors>().write(errors);
    for (const Json::Member& member : fields.members())
        out[member.first] = member.second;
    return out;
}

Checked<StepErrors> step_errors_from(const Json& json, const std::string& file)
{
    StepErrors out;
    Problems problems;
    const Reader reader(json, file, problems);
    if (check_format(reader, step_errors_format)) {
        fields_of<StepErrors>().read(reader, out);
        if (!has_errors(problems))
            check_whole(reader, out.classes);
        if (!has_errors(problems) && !out.memory.classes.empty())
            check_whole(reader.member("memory"), out.memory.classes);
    }
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    return out;
}

std::filesystem::path step_errors_file()
{
    return data_dir() / "calibrate" / "accuracy" / "step_errors.json";
}

const StepErrors& shipped_step_errors()
{
    static const StepErrors errors = [] {
        const std::string path = step_errors_file().string();
        const Checked<Json> json = read_json_file(path, input_limits);
        const Checked<StepErrors> read =
            json ? step_errors_from(*json, path) : tl::unexpected(json.error());
        if (!read)
            throw WorldError{render(read.error(), "intervals of step times are not known.")};
        return *read;
    }();
    return errors;
}

} // namespace trainyard
