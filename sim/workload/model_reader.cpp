#include "sim/workload/model_reader.h"

#include "sim/base/fields.h"
#include "sim/base/file_format.h"
#include "sim/workload/huggingface.h"
#include "sim/workload/layer_work.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace trainyard {
namespace {

// The native form as one table: exactly one of the two architectures is given.
struct NativeModel {
    std::string name;
    std::optional<Transformer> transformer;
    std::optional<LayerList> layer_list;
};

} // namespace

template <>
const FieldTable<NativeModel>& fields_of<NativeModel>()
{
    using N = NativeModel;
    static const auto table =
        FieldTable<N>("model", "A model: a transformer or a list of layers.")
            .field("name", &N::name, {.help = "what it is called"})
            .field("transformer", &N::transformer, {.help = "a decoder or encoder stack"})
            .field("layer_list", &N::layer_list, {.help = "anything else, as a list of layers"});
    return table;
}

namespace {

// "models/resnet-50/model.json" -> "resnet-50", "mine/qwen3.json" -> "qwen3".
std::string name_from(const std::string& file)
{
    const std::filesystem::path path(file);
    const std::string stem = path.stem().string();
    const std::string folder = path.parent_path().filename().string();
    const bool usual = stem == "config" || stem == "model";
    return !usual || folder.empty() || folder == "." || folder == ".." ? stem : folder;
}

void fill_in(Transformer& model)
{
    if (model.latent && model.head_dim == 0)
        model.head_dim = model.latent->head_dim();
    if (model.kv_heads == 0)
        model.kv_heads = model.heads;
    if (model.head_dim == 0 && model.heads > 0)
        model.head_dim = model.hidden / model.heads;
    if (model.ffn == 0)
        model.ffn = 4 * model.hidden;
}

// A product needs all three of its sizes.
void check_layers(const Reader& reader, const LayerList& list)
{
    if (list.layers.empty())
        reader.member("layers").error("\"layers\" is empty", "a model has at least one layer");
    for (std::size_t i = 0; i < list.layers.size(); ++i) {
        const NativeLayer& layer = list.layers[i];
        const bool any = layer.rows > 0 || layer.columns > 0 || layer.inner > 0;
        const bool all = layer.rows > 0 && layer.columns > 0 && layer.inner > 0;
        if (any && !all)
            reader.member("layers").element(i).error(
                fmt::format("layer \"{}\" gives a part of its matrix product", layer.name),
                "give rows, columns and inner, or none of them");
    }
}

std::optional<ImportedModel> read_native(const Reader& reader)
{
    const std::size_t before = reader.error_count();
    NativeModel native;
    fields_of<NativeModel>().read(reader, native);
    if (native.transformer.has_value() == native.layer_list.has_value() &&
        reader.error_count() == before)
        reader.error(native.transformer ? "both \"transformer\" and \"layer_list\" are given"
                                        : "neither \"transformer\" nor \"layer_list\" is given",
                     "a model has one of them");
    if (reader.error_count() != before)
        return std::nullopt;
    ImportedModel read;
    read.model.name = native.name.empty() ? name_from(reader.file()) : native.name;
    if (native.transformer) {
        check_head_size(reader.member("transformer"), *native.transformer);
        fill_in(*native.transformer);
        check_transformer(reader.member("transformer"), *native.transformer);
        read.model.architecture = *native.transformer;
    } else {
        check_layers(reader.member("layer_list"), *native.layer_list);
        read.model.architecture = *native.layer_list;
    }
    if (reader.error_count() != before)
        return std::nullopt;
    return read;
}

using Keys = std::initializer_list<const char*>;

// Where a law's problem is shown: the first of these keys that the file gives, else the whole
// model.
Reader place_of(const Reader& model, Keys keys)
{
    for (const char* key : keys)
        if (model.node().find(key) != nullptr)
            return model.member(key);
    return model;
}

void check_latent_attention(const Reader& reader, const Transformer& model)
{
    if (!model.latent)
        return;
    if (model.kv_heads != model.heads)
        place_of(reader, {"kv_heads", "num_key_value_heads"})
            .error(fmt::format("{} key heads with latent attention", model.kv_heads),
                   fmt::format("each of the {} query heads has keys of its own", model.heads));
    if (model.head_dim != model.latent->head_dim())
        place_of(reader, {"head_dim"})
            .error(fmt::format("heads of {} with latent attention", model.head_dim),
                   fmt::format("leave it out: qk_nope_head_dim + qk_rope_head_dim is {}",
                               model.latent->head_dim()));
    if (model.value_head_dim > 0)
        place_of(reader, {"value_head_dim"})
            .error("a size of value heads with latent attention",
                   "leave it out: \"v_head_dim\" of \"latent\" is it");
    if (model.qk_norm || model.parallel_blocks || model.linear_bias || model.attention_bias)
        reader.error("latent attention with biases, norms of heads or parallel blocks",
                     "supported: latent attention as DeepSeek-V2 and V3 have it");
}

void check_groups(const Reader& moe, const MixtureOfExperts& experts)
{
    if (experts.experts % experts.groups != 0)
        place_of(moe, {"groups", "n_group"})
            .error(
                fmt::format("{} groups do not divide {} experts", experts.groups, experts.experts),
                fmt::format("groups hold equally many experts"));
    if (experts.groups_per_token > experts.groups)
        place_of(moe, {"groups_per_token", "topk_group"})
            .error(fmt::format("a token goes to {} of {} groups", experts.groups_per_token,
                               experts.groups),
                   fmt::format("at most {}", experts.groups));
    else if (experts.groups > 1 && experts.experts % experts.groups == 0 &&
             experts.experts_per_token >
                 experts.experts / experts.groups * experts.groups_per_token)
        place_of(moe, {"groups_per_token", "topk_group"})
            .error(fmt::format("{} groups hold fewer experts than the {} a token is sent to",
                               experts.groups_per_token, experts.experts_per_token),
                   "raise the groups per token");
}

} // namespace

void check_head_size(const Reader& reader, const Transformer& model)
{
    if (model.head_dim == 0 && !model.latent && model.heads > 0 && model.hidden % model.heads != 0)
        place_of(reader, {"heads", "num_attention_heads", "n_head"})
            .error(
                fmt::format("hidden size {} is no multiple of {} heads", model.hidden, model.heads),
                "give \"head_dim\" when heads do not fill the hidden size");
}

namespace {

// A form of the native file, or the whole model of a config.
Reader place_of_form(const Reader& reader, std::size_t form)
{
    const Json* forms = reader.node().find("layer_forms");
    return forms != nullptr && forms->is_array() && form < forms->items().size()
               ? reader.member("layer_forms").element(form)
               : reader;
}

void check_mixer(const Reader& place, const Transformer& layer, std::string_view name)
{
    const auto of_layer = name.empty() ? std::string("the model") : fmt::format("\"{}\"", name);
    if (layer.mixer == MixerKind::attention && layer.sliding_window > 0 &&
        layer.attention_chunk > 0)
        place_of(place, {"attention_chunk", "sliding_window"})
            .error(fmt::format("{} has a window of {} and chunks of {} tokens", of_layer,
                               layer.sliding_window, layer.attention_chunk),
                   "give one of them; 0 in a form takes away what the model has");
    if (layer.mixer == MixerKind::attention && layer.output_rank > 0 &&
        layer.heads % layer.output_groups != 0)
        place_of(place, {"output_groups", "o_groups"})
            .error(fmt::format("{} groups do not divide the {} heads of {}", layer.output_groups,
                               layer.heads, of_layer),
                   fmt::format("divisors of {} work", layer.heads));
    if (layer.mixer == MixerKind::mamba && layer.recurrence &&
        (layer.recurrence->step_rank == 0 || layer.recurrence->value_dim != 1))
        place_of(place, {"recurrence"})
            .error(fmt::format("{} mixes by mamba with heads, or without \"step_rank\"", of_layer),
                   "as many heads as values, \"value_dim\": 1, and the width of the latent that "
                   "steps come from");
    if (layer.is_recurrent() && !layer.recurrence)
        place_of(place, {"mixer"})
            .error(fmt::format("{} mixes by {} without its sizes", of_layer, to_name(layer.mixer)),
                   "give \"recurrence\": key_heads, heads, key_dim and value_dim");
    else if (layer.is_recurrent() && layer.recurrence->heads % layer.recurrence->key_heads != 0)
        place_of(place, {"recurrence"})
            .error(fmt::format("{} key heads do not divide {} heads of values",
                               layer.recurrence->key_heads, layer.recurrence->heads),
                   "each key head serves as many heads of values");
    if (layer.mixer == MixerKind::attention && layer.kv_heads > 0 &&
        layer.heads % layer.kv_heads != 0)
        place_of(place, {"kv_heads", "num_key_value_heads", "num_kv_heads"})
            .error(fmt::format("{} key heads do not divide {} query heads", layer.kv_heads,
                               layer.heads),
                   fmt::format("each key head serves as many query heads: divisors of {} work",
                               layer.heads));
}

void check_form(const Reader& reader, const Transformer& model, std::size_t number)
{
    const LayerForm& form = model.layer_forms[number];
    const Reader place = place_of_form(reader, number);
    if (form.name.empty())
        place_of(place, {"name"})
            .error("a form without a name", "the pattern calls it by its name");
    else if (!model.pattern.empty() &&
             std::ranges::find(model.pattern, form.name) == model.pattern.end())
        place.error(fmt::format("no layer is of form \"{}\"", form.name),
                    "name it in \"pattern\", or leave it out");
    if (form.earlier_keys && !model.pattern.empty() && model.pattern.front() == form.name)
        place_of(place, {"earlier_keys"})
            .error("the first layer has no earlier one whose keys it could see",
                   "give it keys of its own");
    const auto same_name = [&](const LayerForm& other) { return other.name == form.name; };
    if (std::ranges::count_if(model.layer_forms, same_name) > 1)
        place.error(fmt::format("two forms are called \"{}\"", form.name),
                    "give each a name of its own");
    const bool native = reader.node().find("layer_forms") != nullptr;
    if (form.channel == ChannelKind::experts && !model.moe && !native)
        place.error("some layers have experts, whose number is not given",
                    "give \"num_experts\" and \"num_experts_per_tok\"");
    else if (form.channel == ChannelKind::experts && !model.moe)
        place_of(place, {"channel"})
            .error(fmt::format("\"{}\" has experts, the model says none", form.name),
                   "give \"moe\" with their number and size");
    if (form.channel == ChannelKind::none && form.mixer == MixerKind::none &&
        !form.cross_attention.value_or(model.cross_attention))
        place.error(fmt::format("\"{}\" has neither a mixer nor a channel part", form.name),
                    "leave such layers out");
    LayerKind kind;
    kind.form = static_cast<int>(number);
    kind.windowed = true;
    const LayerModel layer(model, kind);
    check_mixer(place, *layer, form.name);
}

// The pattern names forms that there are, and fills the layers.
void check_pattern(const Reader& reader, const Transformer& model)
{
    if (model.pattern.empty() != model.layer_forms.empty())
        place_of(reader, {"pattern", "layer_forms"})
            .error(model.pattern.empty() ? "layer forms without a pattern that says where they are"
                                         : "a pattern without the forms that it names",
                   "give both \"layer_forms\" and \"pattern\", or neither");
    if (model.shared_layers && !model.layer_forms.empty())
        place_of(reader, {"shared_layers"})
            .error("layers that share the first's parameters, but are of several forms",
                   "say \"shared\" in those forms whose layers have one set of parameters");
    std::vector<std::string> names;
    for (const LayerForm& form : model.layer_forms)
        names.push_back(form.name);
    const Json* list = reader.node().find("pattern");
    for (std::size_t i = 0; i < model.pattern.size(); ++i)
        if (std::ranges::find(names, model.pattern[i]) == names.end())
            (list != nullptr ? reader.member("pattern").element(i) : reader)
                .error(fmt::format("no form is called \"{}\"", model.pattern[i]),
                       suggestion(model.pattern[i], names));
    const auto entries = static_cast<int>(model.pattern.size());
    const bool to_the_last = entries == model.layers + model.prediction_layers;
    if (entries > 0 && model.layers % entries != 0 && !to_the_last)
        place_of(reader, {"pattern"})
            .error(fmt::format("a pattern of {} does not fill {} layers", entries, model.layers),
                   fmt::format("give {} entries, or a divisor of that", model.layers));
}

bool attends_to_encoders(const Transformer& model)
{
    return model.cross_attention ||
           std::ranges::any_of(model.layer_forms, [](const LayerForm& form) {
               return form.cross_attention.value_or(false);
           });
}

Reader encoder_place(const Reader& reader, std::size_t number)
{
    return reader.node().find("encoders") != nullptr ? reader.member("encoders").element(number)
                                                     : reader;
}

// Width of what an encoder hands on.
std::int64_t result_width(const Transformer& model, const Encoder& encoder)
{
    return encoder.projects ? model.hidden : encoder.hidden;
}

// Heads that do not fill an encoder, a name that another has, a result that is not as wide as what
// it meets: the model, or the others' results where layers attend to all of them.
void check_encoder(const Reader& place, const Transformer& model, std::size_t number)
{
    const Encoder& encoder = model.encoders[number];
    if (encoder.head_dim == 0 && encoder.heads > 0 && encoder.hidden % encoder.heads != 0)
        place.error(fmt::format("hidden size {} of encoder \"{}\" is no multiple of {} heads",
                                encoder.hidden, encoder.name, encoder.heads),
                    "give \"head_dim\" when heads do not fill the hidden size");
    const auto earlier = model.encoders.begin() + static_cast<std::ptrdiff_t>(number);
    if (std::find_if(model.encoders.begin(), earlier,
                     [&](const Encoder& other) { return other.name == encoder.name; }) != earlier)
        place_of(place, {"name"})
            .error(fmt::format("two encoders are called \"{}\"", encoder.name),
                   "give each a name of its own");
    const bool crosses = attends_to_encoders(model);
    const std::int64_t wanted =
        crosses ? result_width(model, model.encoders.front()) : model.hidden;
    if (result_width(model, encoder) != wanted)
        place_of(place, {"hidden"})
            .error(fmt::format("the result of encoder \"{}\" is {} wide, {} {}", encoder.name,
                               result_width(model, encoder),
                               crosses ? "that of others" : "the model", wanted),
                   "\"projects\": true takes it to the model's width");
}

// Attention to what no encoder makes; encoders that do not fit.
void check_encoders(const Reader& reader, const Transformer& model)
{
    if (attends_to_encoders(model) && model.encoders.empty())
        place_of(reader, {"cross_attention", "layer_forms"})
            .error("cross attention without encoders", "give \"encoders\"");
    for (std::size_t i = 0; i < model.encoders.size(); ++i)
        check_encoder(encoder_place(reader, i), model, i);
}

} // namespace

void check_transformer(const Reader& reader, const Transformer& model)
{
    const std::size_t before = reader.error_count();
    check_pattern(reader, model);
    check_encoders(reader, model);
    if (reader.error_count() != before)
        return;
    if (model.pattern.empty())
        check_mixer(reader, model, "");
    for (std::size_t i = 0; i < model.layer_forms.size(); ++i)
        check_form(reader, model, i);
    check_latent_attention(reader, model);
    if (model.position == PositionKind::learned && model.max_positions == 0)
        reader.error("learned positions without their number", "give \"max_positions\"");
    if (!model.moe)
        return;
    const Reader moe = place_of(reader, {"moe"});
    if (model.moe->experts_per_token > model.moe->experts)
        place_of(moe, {"experts_per_token", "num_experts_per_tok", "num_experts_per_token"})
            .error(fmt::format("a token is sent to {} of {} experts", model.moe->experts_per_token,
                               model.moe->experts),
                   fmt::format("at most {}", model.moe->experts));
    check_groups(moe, *model.moe);
    if (model.moe->leading_dense_layers > model.layers)
        place_of(moe, {"leading_dense_layers", "first_k_dense_replace", "mlp_only_layers"})
            .error(fmt::format("{} leading dense layers of {} layers",
                               model.moe->leading_dense_layers, model.layers),
                   fmt::format("at most {}", model.layers));
}

std::optional<ImportedModel> import_model(const Reader& reader)
{
    const Json& node = reader.node();
    if (!node.is_object()) {
        reader.error(fmt::format("expected a model, found {}", node.kind_name()),
                     "an object with \"format\" or \"model_type\"");
        return std::nullopt;
    }
    if (node.find("format") != nullptr)
        return expect_format(reader, model_format) ? read_native(reader) : std::nullopt;
    if (is_huggingface_config(node)) {
        std::optional<ImportedModel> read = read_huggingface(reader);
        if (read && read->model.name.empty())
            read->model.name = name_from(reader.file());
        return read;
    }
    reader.error("this is no model: neither the native form nor a Hugging Face config.json",
                 fmt::format("a native model says \"format\": \"{}\", a config.json has a "
                             "\"model_type\"",
                             model_format));
    return std::nullopt;
}

Checked<ImportedModel> import_model(const Json& json, const std::string& file)
{
    Problems problems;
    std::optional<ImportedModel> read = import_model(Reader(json, file, problems));
    if (!read)
        return tl::unexpected(problems);
    return *read;
}

Checked<Model> read_model(const Json& json, const std::string& file)
{
    return import_model(json, file).map([](ImportedModel&& read) { return read.model; });
}

Json write_model(const Model& model)
{
    NativeModel native;
    native.name = model.name;
    if (const auto* transformer = std::get_if<Transformer>(&model.architecture))
        native.transformer = *transformer;
    else
        native.layer_list = std::get<LayerList>(model.architecture);
    Json out = Json::object();
    out["format"] = model_format;
    const Json written = fields_of<NativeModel>().write(native);
    for (const Json::Member& member : written.members())
        out[member.first] = member.second;
    return out;
}

Json model_schema()
{
    return fields_of<NativeModel>().schema();
}

} // namespace trainyard
