// The field tables of the native model form.

#include "sim/base/fields.h"
#include "sim/workload/model.h"

namespace trainyard {
namespace {

// Far beyond any model; keep products of sizes within 64 bits.
constexpr double largest_size = 1 << 24;
constexpr double largest_count = 1e12;

} // namespace

template <>
const FieldTable<MixtureOfExperts>& fields_of<MixtureOfExperts>()
{
    using M = MixtureOfExperts;
    static const auto table =
        FieldTable<M>("mixture_of_experts", "Experts in place of a layer's MLP.")
            .field("experts", &M::experts,
                   {.help = "experts per layer", .min = 1, .max = largest_size, .required = true})
            .field("experts_per_token", &M::experts_per_token,
                   {.help = "experts a token is sent to",
                    .min = 1,
                    .max = largest_size,
                    .required = true})
            .field("expert_ffn", &M::expert_ffn,
                   {.help = "feed-forward size of one expert",
                    .min = 1,
                    .max = largest_size,
                    .required = true})
            .field("shared_expert_ffn", &M::shared_expert_ffn,
                   {.help = "feed-forward size of all shared experts together; 0: none",
                    .min = 0,
                    .max = largest_size})
            .field("shared_expert_gate", &M::shared_expert_gate,
                   {.help = "a learned gate on the shared experts' output"})
            .field("identity_experts", &M::identity_experts,
                   {.help = "experts that pass a token on as it is, chosen by the router too",
                    .min = 0,
                    .max = largest_size})
            .field("latent_width", &M::latent_width,
                   {.help = "width of what experts read and write, between two projections of "
                            "every token; 0: the hidden size",
                    .min = 0,
                    .max = largest_size})
            .field("leading_dense_layers", &M::leading_dense_layers,
                   {.help = "layers before the first that may be MoE", .min = 0, .max = 10000})
            .field("every", &M::every,
                   {.help = "every n-th layer after those is MoE", .min = 1, .max = 10000})
            .field("groups", &M::groups,
                   {.help = "groups that the experts form; 1: none", .min = 1, .max = largest_size})
            .field(
                "groups_per_token", &M::groups_per_token,
                {.help = "groups whose experts a token may go to", .min = 1, .max = largest_size});
    return table;
}

template <>
const FieldTable<LatentAttention>& fields_of<LatentAttention>()
{
    using L = LatentAttention;
    const auto size = [](std::string_view help) {
        return FieldInfo{.help = help, .min = 1, .max = largest_size, .required = true};
    };
    static const auto table =
        FieldTable<L>("latent_attention", "Multi-head latent attention.")
            .field("q_lora_rank", &L::q_lora_rank,
                   {.help = "width of the queries' latent; 0: they come from the input",
                    .min = 0,
                    .max = largest_size})
            .field("kv_lora_rank", &L::kv_lora_rank, size("width of the keys' and values' latent"))
            .field("qk_nope_head_dim", &L::qk_nope_head_dim,
                   size("part of a query or key head without position"))
            .field("qk_rope_head_dim", &L::qk_rope_head_dim,
                   size("part of a query or key head that the position turns"))
            .field("v_head_dim", &L::v_head_dim, size("size of a value head"));
    return table;
}

template <>
const FieldTable<Recurrence>& fields_of<Recurrence>()
{
    using R = Recurrence;
    const auto size = [](std::string_view help) {
        return FieldInfo{.help = help, .min = 1, .max = largest_size, .required = true};
    };
    static const auto table =
        FieldTable<R>("recurrence", "A mixer that carries a state from token to token.")
            .field("key_heads", &R::key_heads, size("heads of keys; Mamba-2: groups of B and C"))
            .field("heads", &R::heads, size("heads of values, each with a state"))
            .field("key_dim", &R::key_dim, size("size of a key head; Mamba-2: of the state"))
            .field("value_dim", &R::value_dim, size("size of a value head"))
            .field(
                "convolution", &R::convolution,
                {.help = "taps of the short convolution before it; 0: none", .min = 0, .max = 4096})
            .field("chunk", &R::chunk,
                   {.help = "tokens that are computed at once", .min = 1, .max = 65536})
            .field("step_rank", &R::step_rank,
                   {.help = "Mamba-1: width of the latent that step sizes come from",
                    .min = 0,
                    .max = largest_size})
            .field("whole_gate", &R::whole_gate,
                   {.help = "Kimi delta attention: one matrix makes the gate, no narrow pair"});
    return table;
}

template <>
const FieldTable<SparseIndexer>& fields_of<SparseIndexer>()
{
    using I = SparseIndexer;
    const auto size = [](std::string_view help) {
        return FieldInfo{.help = help, .min = 1, .max = largest_size, .required = true};
    };
    static const auto table =
        FieldTable<I>("sparse_indexer", "Picks the keys that a query attends to.")
            .field("heads", &I::heads, size("heads that score the keys"))
            .field("head_dim", &I::head_dim, size("size of such a head"))
            .field("keys_per_query", &I::keys_per_query, size("keys that are picked"));
    return table;
}

template <>
const FieldTable<Encoder>& fields_of<Encoder>()
{
    using E = Encoder;
    const auto size = [](std::string_view help) {
        return FieldInfo{.help = help, .min = 1, .max = largest_size, .required = true};
    };
    const auto other = [](std::string_view help) {
        return FieldInfo{.help = help, .min = 0, .max = largest_size};
    };
    static const auto table =
        FieldTable<E>("encoder", "A stack in front of the model with a sequence of its own.")
            .field("name", &E::name, {.help = "what it is called"})
            .field("tokens", &E::tokens, size("its tokens beside each sequence of the model"))
            .field("hidden", &E::hidden, size("hidden size"))
            .field("layers", &E::layers,
                   {.help = "layers", .min = 1, .max = 10000, .required = true})
            .field("heads", &E::heads, size("attention heads"))
            .field("head_dim", &E::head_dim, other("size of a head; 0: hidden / heads"))
            .field("ffn", &E::ffn, size("feed-forward size"))
            .field("input_elements", &E::input_elements,
                   other("numbers of one token's input, embedded by a matrix; 0: looked up in the "
                         "model's vocabulary"))
            .field("positions", &E::positions, other("learned positions; 0: none"))
            .field("gated_mlp", &E::gated_mlp, {.help = "SwiGLU or GeGLU: three matrices"})
            .field("linear_bias", &E::linear_bias, {.help = "bias on every matrix of a layer"})
            .field("norm", &E::norm, {.help = "kind of norm"})
            .field("activation", &E::activation, {.help = "activation function of the MLP"})
            .field("projects", &E::projects,
                   {.help = "a matrix takes the result to the model's width"});
    return table;
}

template <>
const FieldTable<LayerForm>& fields_of<LayerForm>()
{
    using F = LayerForm;
    const auto size = [](std::string_view help) {
        return FieldInfo{.help = help, .min = 1, .max = largest_size};
    };
    static const auto table =
        FieldTable<F>("layer_form", "A kind of layer: what differs from the model's own fields.")
            .field("name", &F::name, {.help = "as the pattern calls it", .required = true})
            .field("mixer", &F::mixer, {.help = "what lets tokens see each other"})
            .field("channel", &F::channel,
                   {.help = "what is done to each token; absent: as \"moe\" says for the layer"})
            .field("recurrence", &F::recurrence, {.help = "sizes of a recurrent mixer"})
            .field("latent", &F::latent, {.help = "latent attention in these layers"})
            .field("indexer", &F::indexer, {.help = "sparse attention in these layers"})
            .field("heads", &F::heads, size("query heads"))
            .field("kv_heads", &F::kv_heads, size("key and value heads"))
            .field("head_dim", &F::head_dim, size("size of a head"))
            .field("sliding_window", &F::sliding_window,
                   {.help = "keys a query sees at most; 0: all", .min = 0})
            .field("attention_chunk", &F::attention_chunk,
                   {.help = "tokens of pieces that see themselves only; 0: one piece", .min = 0})
            .field("ffn", &F::ffn, size("feed-forward size of the dense MLP"))
            .field("position", &F::position, {.help = "kind of position"})
            .field("shared_key_value", &F::shared_key_value,
                   {.help = "one projection makes keys and values"})
            .field("cross_attention", &F::cross_attention,
                   {.help = "attends to what the encoders made, after the mixer"})
            .field("key_compression", &F::key_compression,
                   {.help = "tokens whose keys are made one", .min = 1, .max = 65536})
            .field("earlier_keys", &F::earlier_keys,
                   {.help = "attends to keys and values that an earlier layer made"})
            .field("shared", &F::shared,
                   {.help = "all layers of this form have the parameters of its first"});
    return table;
}

namespace {

// Counts and sizes.
FieldTable<Transformer> with_sizes(FieldTable<Transformer> table)
{
    using T = Transformer;
    return std::move(table)
        .field("hidden", &T::hidden,
               {.help = "hidden size", .min = 1, .max = largest_size, .required = true})
        .field("layers", &T::layers,
               {.help = "transformer layers", .min = 1, .max = 10000, .required = true})
        .field("heads", &T::heads,
               {.help = "query heads", .min = 1, .max = largest_size, .required = true})
        .field("kv_heads", &T::kv_heads,
               {.help = "key and value heads; 0: as many as query heads",
                .min = 0,
                .max = largest_size})
        .field("head_dim", &T::head_dim,
               {.help = "size of a head; 0: hidden / heads", .min = 0, .max = largest_size})
        .field("value_head_dim", &T::value_head_dim,
               {.help = "size of a head of values where it differs; 0: as head_dim",
                .min = 0,
                .max = largest_size})
        .field("ffn", &T::ffn,
               {.help = "feed-forward size of a dense layer; 0: 4 x hidden",
                .min = 0,
                .max = largest_size})
        .field(
            "vocabulary", &T::vocabulary,
            {.help = "tokens of the vocabulary", .min = 1, .max = largest_size, .required = true})
        .field("embedding_width", &T::embedding_width,
               {.help = "width of the vocabulary's table where narrower than the model; 0: as wide",
                .min = 0,
                .max = largest_size})
        .field(
            "input_elements", &T::input_elements,
            {.help = "numbers of one token's input, embedded by a matrix; 0: tokens are looked up",
             .min = 0,
             .max = largest_size})
        .field("max_positions", &T::max_positions,
               {.help = "rows of the learned position embedding", .min = 0, .max = largest_size})
        .field("sliding_window", &T::sliding_window,
               {.help = "keys a query sees at most, in layers with a window; 0: none", .min = 0})
        .field(
            "full_attention_every", &T::full_attention_every,
            {.help = "with a window: every n-th layer sees all keys; 0: no layer does", .min = 0})
        .field("attention_chunk", &T::attention_chunk,
               {.help = "tokens of a sequence's pieces that see themselves only; 0: one piece",
                .min = 0});
}

// How the blocks of a layer are built.
FieldTable<Transformer> with_structure(FieldTable<Transformer> table)
{
    using T = Transformer;
    return std::move(table)
        .field("causal", &T::causal, {.help = "a decoder; false: an encoder"})
        .field("gated_mlp", &T::gated_mlp, {.help = "SwiGLU or GeGLU: three matrices"})
        .field("parallel_blocks", &T::parallel_blocks,
               {.help = "attention and MLP read one input and their sum is added once"})
        .field("attention_bias", &T::attention_bias, {.help = "bias on Q, K, V"})
        .field("attention_output_bias", &T::attention_output_bias,
               {.help = "bias on the projection after attention"})
        .field("mlp_bias", &T::mlp_bias, {.help = "bias on the MLP's matrices"})
        .field("clamped_activation", &T::clamped_activation,
               {.help = "what goes into a gated MLP's activation is clamped"})
        .field("linear_bias", &T::linear_bias, {.help = "bias on every matrix of a layer"})
        .field("head_bias", &T::head_bias, {.help = "bias on the logits"})
        .field("qk_norm", &T::qk_norm, {.help = "norms on the heads of Q and K"})
        .field("attention_sinks", &T::attention_sinks,
               {.help = "a learned logit per head takes part in the softmax"})
        .field("attention_gate", &T::attention_gate,
               {.help = "a gate, from the layer's input, on attention's result"})
        .field("shared_key_value", &T::shared_key_value,
               {.help = "one projection makes keys and values"})
        .field("query_rank", &T::query_rank,
               {.help = "width of a latent that queries come from; 0: none",
                .min = 0,
                .max = largest_size})
        .field("output_rank", &T::output_rank,
               {.help = "width of a latent that each group of heads' results go through; 0: none",
                .min = 0,
                .max = largest_size})
        .field("output_groups", &T::output_groups,
               {.help = "groups of heads, with a latent each", .min = 1, .max = largest_size})
        .field(
            "key_compression", &T::key_compression,
            {.help = "tokens whose keys are made one; 1: each has its own", .min = 1, .max = 65536})
        .field("cross_attention", &T::cross_attention,
               {.help = "layers attend to what the encoders made, after their mixer"})
        .field("global_projections", &T::global_projections,
               {.help = "a few tokens that see all others have matrices of their own"})
        .field("shared_layers", &T::shared_layers,
               {.help = "all layers have the parameters of the first"})
        .field("layer_embedding_width", &T::layer_embedding_width,
               {.help = "width of a table in which each layer looks its tokens up; 0: none",
                .min = 0,
                .max = largest_size});
}

// Mixers other than plain attention, and layers of several kinds.
FieldTable<Transformer> with_pattern(FieldTable<Transformer> table)
{
    using T = Transformer;
    return std::move(table)
        .field("mixer", &T::mixer, {.help = "what lets tokens see each other"})
        .field("recurrence", &T::recurrence, {.help = "sizes of a recurrent mixer"})
        .field("indexer", &T::indexer, {.help = "sparse attention: picks the keys of a query"})
        .field("encoders", &T::encoders, {.help = "stacks in front with sequences of their own"})
        .field("layer_forms", &T::layer_forms,
               {.help = "kinds of layer, each with what differs from the fields here"})
        .field("pattern", &T::pattern,
               {.help = "names of the layers' forms from the first on, repeated to fill them all"});
}

// Embeddings, logits, norms and what every layer shares.
FieldTable<Transformer> with_ends(FieldTable<Transformer> table)
{
    using T = Transformer;
    return std::move(table)
        .field("tied_embeddings", &T::tied_embeddings,
               {.help = "input embedding and logits share one matrix"})
        .field("dropout", &T::dropout, {.help = "dropout after attention, MLP and softmax"})
        .field("bert_heads", &T::bert_heads,
               {.help = "pooler, masked-token transform, next-sentence head"})
        .field("head_fraction", &T::head_fraction,
               {.help = "share of the tokens that reach the logits", .min = 0, .max = 1})
        .field("token_types", &T::token_types,
               {.help = "rows of the token type embedding", .min = 0, .max = largest_size})
        .field("norms_per_layer", &T::norms_per_layer,
               {.help = "1: one norm feeds attention and MLP; 2: one each; 4: after them too",
                .min = 1,
                .max = 4})
        .field("embedding_norm", &T::embedding_norm, {.help = "a norm after the embeddings"})
        .field("final_norm", &T::final_norm, {.help = "a norm before the logits"})
        .field("norm", &T::norm, {.help = "kind of norm"})
        .field("position", &T::position, {.help = "kind of position"})
        .field("activation", &T::activation, {.help = "activation function of the MLP"})
        .field("moe", &T::moe, {.help = "experts; absent: a dense model"})
        .field("latent", &T::latent,
               {.help = "multi-head latent attention; kv_heads and head_dim follow from it"})
        .field("prediction_layers", &T::prediction_layers,
               {.help = "layers after the last that predict one token further each",
                .min = 0,
                .max = 100});
}

} // namespace

template <>
const FieldTable<Transformer>& fields_of<Transformer>()
{
    static const auto table = with_pattern(with_ends(with_structure(
        with_sizes(FieldTable<Transformer>("transformer", "A decoder or encoder stack.")))));
    return table;
}

template <>
const FieldTable<NativeLayer>& fields_of<NativeLayer>()
{
    using L = NativeLayer;
    static const auto table =
        FieldTable<L>("layer", "One layer, per sample.")
            .field("name", &L::name, {.help = "what it is called", .required = true})
            .field("repeat", &L::repeat,
                   {.help = "times it follows itself", .min = 1, .max = 100000})
            .field("parameters", &L::parameters,
                   {.help = "trained numbers", .min = 0, .max = largest_count})
            .field("rows", &L::rows,
                   {.help = "rows of its matrix product per sample (output pixels of a "
                            "convolution); 0: it has none",
                    .min = 0,
                    .max = largest_size})
            .field("columns", &L::columns,
                   {.help = "columns of its matrix product (output channels)",
                    .min = 0,
                    .max = largest_size})
            .field("inner", &L::inner,
                   {.help = "inner size of its matrix product (input channels x kernel)",
                    .min = 0,
                    .max = largest_size})
            .field("output_elements", &L::output_elements,
                   {.help = "numbers it hands on, per sample", .min = 0, .max = largest_count})
            .field(
                "activation_elements", &L::activation_elements,
                {.help = "numbers kept for backward, per sample", .min = 0, .max = largest_count})
            .field(
                "memory_passes", &L::memory_passes,
                {.help = "times its output crosses device memory, forward", .min = 0, .max = 1e4})
            .field(
                "memory_passes_backward", &L::memory_passes_backward,
                {.help = "times its output crosses device memory, backward", .min = 0, .max = 1e4})
            .field("kernels", &L::kernels,
                   {.help = "kernels launched forward", .min = 0, .max = 1e4})
            .field("kernels_backward", &L::kernels_backward,
                   {.help = "kernels launched backward", .min = 0, .max = 1e4});
    return table;
}

template <>
const FieldTable<LayerList>& fields_of<LayerList>()
{
    static const auto table =
        FieldTable<LayerList>("layer_list", "A model as a list of layers, front to back.")
            .field("layers", &LayerList::layers, {.help = "the layers", .required = true})
            .field("sample_elements", &LayerList::sample_elements,
                   {.help = "numbers of one input sample", .min = 0, .max = largest_count});
    return table;
}

} // namespace trainyard
