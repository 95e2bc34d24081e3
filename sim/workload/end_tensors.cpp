// Tensors of what comes before the layers and after them: the embedding, the head and its loss.

#include "sim/workload/parameters.h"
#include "sim/workload/passing_tensors.h"
#include "sim/workload/saved_tensors.h"

namespace trainyard {

namespace {

// The logits and what LossKernel says of them. Kernels of the loss make and free one fp32 tensor
// after the other: two stand beside the log-probabilities (PyTorch's cross_entropy: gradients of
// nll_loss and of log_softmax) before the gradient in the width of the products is made.
void add_logits(PassingTensors& add, LayerTensors& tensors, const LayerShape& s,
                std::int64_t tokens)
{
    constexpr std::string_view products = "logits_input_gradient|logits_weight_gradient";
    const std::int64_t number = tokens * vocabulary_per_rank(s);
    const std::int64_t logits = s.width * number;
    if (number <= 0)
        return;
    const auto keep = [&](std::string_view name, std::int64_t bytes, std::string_view made_by,
                          std::string_view kept_until) {
        tensors.push_back({.name = std::string(name),
                           .bytes = bytes,
                           .use = TensorUse::input,
                           .made_by = made_by,
                           .kept_until = kept_until});
    };
    switch (s.partition.kernels.loss_kernel()) {
    case LossKernel::in_place:
        return keep(logits_tensor, logits, "logits", products);
    case LossKernel::fused:
        keep(logits_tensor, logits, "logits", "loss_backward");
        return add.gradient("logits_gradient", logits, "loss_backward", products);
    case LossKernel::softmax:
        keep("softmax", 4 * number, "loss", "loss_backward");
        add.forward(std::string(logits_tensor), logits, "logits", "loss");
        return add.gradient("logits_gradient", logits, "loss_backward", products);
    case LossKernel::log_softmax:
        add.forward(std::string(logits_tensor), logits, "logits", "loss");
        keep("log_probabilities", 4 * number, "loss", "loss_backward");
        add.gradient("log_probability_gradient", 4 * number, "loss_backward", "loss_backward");
        if (cuts_vocabulary(s)) // by hand: (gradient + exp(log-probabilities)) * scale
            add.gradient("probabilities", 4 * number, "loss_backward", "loss_backward");
        if (s.width >= 4)
            return add.gradient("logits_gradient", logits, "loss_backward", products);
        add.forward("fp32_logits", 4 * number, "loss", "loss");
        add.gradient("fp32_logits_gradient", 4 * number, "loss_backward", "loss_backward");
        return add.gradient("logits_gradient", logits, "logits_input_gradient", products);
    }
}

} // namespace

// Token ids of 8 bytes; what the norm reads; dropout's mask.
std::vector<LayerTensor> embedding_tensors(const LayerShape& s)
{
    LayerTensors tensors = {{.name = "token_ids", .bytes = 8 * s.tokens, .use = TensorUse::input}};
    if (s.model.embedding_norm)
        tensors.push_back({.name = "embedding_norm_input",
                           .bytes = s.width * s.split_tokens * s.hidden,
                           .use = TensorUse::input,
                           .made_by = "embedding",
                           .kept_until = "embedding_norm_backward"});
    if (s.model.dropout)
        tensors.push_back({.name = "embedding_mask",
                           .bytes = s.split_tokens * s.hidden,
                           .use = TensorUse::input});
    PassingTensors add(s, tensors);
    add.gradient("output_gradient", add.split(), "", "");
    if (s.sequence_parallel) {
        add.forward("embedding_parts", add.whole(), "embedding", "embedding_scatter");
        add.gradient("gathered_output_gradient", add.whole(), "embedding_gradient_gather", "");
    }
    return tensors;
}

// What the norm reads, what the logits are made from (unless their matrix is frozen), and the
// logits.
std::vector<LayerTensor> head_tensors(const LayerShape& s, std::int64_t tokens)
{
    LayerTensors tensors;
    const auto keep = [&](std::string_view name, std::int64_t bytes, std::string_view made_by,
                          std::string_view kept_until) {
        if (bytes > 0)
            tensors.push_back({.name = std::string(name),
                               .bytes = bytes,
                               .use = TensorUse::input,
                               .made_by = made_by,
                               .kept_until = kept_until});
    };
    const std::int64_t states = s.width * s.split_tokens * s.hidden;
    if (s.model.final_norm)
        keep("final_norm_input", states, "", "final_norm_backward");
    if (!s.partition.lora)
        keep("logits_input", s.width * s.kept_tokens * s.hidden, "final_norm",
             "logits_input_gradient|logits_weight_gradient");
    if (s.model.bert_heads)
        keep("masked_token_states", 3 * s.width * tokens * logits_width(s.model),
             "masked_token_transform",
             "masked_token_transform_input_gradient|masked_token_transform_weight_gradient");
    PassingTensors add(s, tensors);
    add_logits(add, tensors, s, tokens);
    if (s.kept_tokens < s.tokens && tokens > 0) {
        add.forward("gathered_logits_input", add.whole(), "logits_input_gather", "logits");
        add.gradient("gathered_logits_input_again", add.whole(), "logits_input_gather_again",
                     "logits_weight_gradient");
    }
    if (tokens > 0)
        add.gradient("head_input_gradient", add.whole(), "logits_input_gradient",
                     s.sequence_parallel ? "logits_input_gradient_reduce" : "");
    add.gradient("output_gradient", add.split(), "final_norm_backward", "");
    for (LayerTensor& tensor : tensors)
        tensor.logits = true;
    return tensors;
}

} // namespace trainyard
