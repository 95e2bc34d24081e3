#include "sim/strategy/lower/layer_memory.h"

#include <algorithm>
#include <optional>

namespace trainyard {

namespace {

std::optional<std::size_t> find_last(const WorkList& items, std::string_view name)
{
    for (std::size_t i = items.size(); i > 0; --i)
        if (name_of(items[i - 1]) == name)
            return i - 1;
    return std::nullopt;
}

// The last of several items; `otherwise` where none is there.
std::size_t place_of(const WorkList& items, std::string_view names, std::size_t otherwise)
{
    std::optional<std::size_t> last;
    for (std::size_t begin = 0; begin < names.size();) {
        const std::size_t end = std::min(names.find('|', begin), names.size());
        if (const auto found = find_last(items, names.substr(begin, end - begin)))
            last = std::max(last.value_or(0), *found);
        begin = end + 1;
    }
    return last.value_or(otherwise);
}

bool appears(const WorkList& items, std::string_view names)
{
    return place_of(items, names, items.size()) < items.size();
}

std::size_t begin_of(const WorkList& items, std::string_view names)
{
    return place_of(items, names, 0);
}

std::size_t end_of(const WorkList& items, std::string_view names)
{
    return place_of(items, names, items.size() - 1);
}

} // namespace

LayerMemory::LayerMemory(const StageLayer& layer, const LayerWork& work, std::int64_t unfilled)
    : layer_(layer), work_(work), tensors_(work.tensors)
{
    if (unfilled > 0)
        tensors_.push_back({.name = "unfilled_logits_gradient",
                            .bytes = unfilled,
                            .use = TensorUse::gradient,
                            .made_by = "logits_weight_gradient",
                            .until = "logits_weight_gradient",
                            .logits = true,
                            .length_power = 0});
}

bool LayerMemory::kept(const LayerTensor& tensor) const
{
    switch (tensor.use) {
    case TensorUse::input:
        return true;
    case TensorUse::kept:
        return layer_.recompute != Recompute::full;
    case TensorUse::again:
        return layer_.recompute == Recompute::none;
    default:
        return false;
    }
}

bool LayerMemory::regained(const LayerTensor& tensor) const
{
    return (tensor.use == TensorUse::kept || tensor.use == TensorUse::again) && !kept(tensor);
}

Tensor LayerMemory::tensor(const LayerTensor& tensor) const
{
    MemoryKind kind = MemoryKind::workspace;
    if (tensor.logits)
        kind = MemoryKind::logits;
    else if (kept(tensor))
        kind = MemoryKind::activations;
    return {.name = tensor.name,
            .kind = kind,
            .bytes = tensor.bytes,
            .scope = TensorScope::layer_of_micro_batch,
            .length_power = static_cast<std::uint8_t>(tensor.length_power)};
}

ItemChanges LayerMemory::forward() const
{
    const WorkList& items = work_.forward;
    ItemChanges changes(items.size());
    if (items.empty() || work_.backward.empty())
        return changes;
    for (const LayerTensor& t : tensors_) {
        if (t.use == TensorUse::gradient)
            continue;
        changes.before[begin_of(items, t.made_by)].push_back(allocates(tensor(t)));
        if (!kept(t))
            changes.after[end_of(items, t.until)].push_back(frees(tensor(t)));
    }
    return changes;
}

ItemChanges LayerMemory::recompute(const WorkList& items) const
{
    ItemChanges changes(items.size());
    if (items.empty() || work_.backward.empty())
        return changes;
    for (const LayerTensor& t : tensors_) {
        const bool passes = t.use == TensorUse::forward && appears(items, t.made_by);
        if (!passes && !regained(t))
            continue;
        changes.before[begin_of(items, t.made_by)].push_back(allocates(tensor(t)));
        if (!regained(t))
            changes.after[end_of(items, t.until)].push_back(frees(tensor(t)));
    }
    return changes;
}

// Weights' gradients in another list keep what they read: the tensor itself or its cast.
void LayerMemory::put_off(const LayerTensor& t, const WorkList& items,
                          std::optional<std::size_t> made, ItemChanges& changes) const
{
    Tensor operand = tensor(t);
    if (t.operand != t.bytes) {
        operand.name += " cast";
        operand.bytes = t.operand;
        if (made) {
            const std::size_t last = place_of(items, t.until, items.size() - 1);
            changes.before[last].push_back(allocates(operand));
            changes.after[last].push_back(frees(tensor(t)));
        }
    }
    if (appears(items, t.put_off))
        changes.after[place_of(items, t.put_off, 0)].push_back(frees(operand));
}

ItemChanges LayerMemory::backward(const WorkList& items) const
{
    const WorkList& whole = work_.backward;
    ItemChanges changes(items.size());
    if (whole.empty() || work_.forward.empty())
        return changes;
    const bool split = items.size() < whole.size();
    const auto here = [&](std::size_t place) { return find_last(items, name_of(whole[place])); };
    for (const LayerTensor& t : tensors_) {
        const bool gradient = t.use == TensorUse::gradient;
        const auto made = gradient ? here(begin_of(whole, t.made_by)) : std::nullopt;
        if (made)
            changes.before[*made].push_back(allocates(tensor(t)));
        if (split && appears(whole, t.put_off)) {
            put_off(t, items, made, changes);
            continue;
        }
        if (gradient || kept(t) || regained(t))
            if (const auto at = here(end_of(whole, gradient ? t.until : t.kept_until)))
                changes.after[*at].push_back(frees(tensor(t)));
    }
    return changes;
}

std::vector<Tensor> LayerMemory::offloaded() const
{
    std::vector<Tensor> out;
    if (layer_.offloaded && !work_.forward.empty() && !work_.backward.empty())
        for (const LayerTensor& t : tensors_)
            if (t.use != TensorUse::gradient && kept(t))
                out.push_back(tensor(t));
    return out;
}

std::int64_t LayerMemory::kept_bytes() const
{
    std::int64_t sum = 0;
    if (!layer_.offloaded && !work_.forward.empty() && !work_.backward.empty())
        for (const LayerTensor& t : tensors_)
            if (t.use != TensorUse::gradient && kept(t))
                sum += t.bytes;
    return sum;
}

} // namespace trainyard
