#include "sim/report/kernel_classes.h"

#include "sim/cost/kernel_time.h"
#include "sim/study/kernel_uses.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t index_of(KernelLimit limit)
{
    return static_cast<std::size_t>(limit);
}

std::string shape_text(const Kernel& kernel)
{
    if (kernel.kind == KernelKind::gemm) {
        const GemmShape& shape = kernel.gemm;
        const std::string product = fmt::format("{} x {} x {}", shape.m, shape.n, shape.k);
        return shape.batch > 1 ? fmt::format("{} of {}", shape.batch, product) : product;
    }
    if (kernel.kind == KernelKind::attention) {
        const AttentionShape& shape = kernel.attention;
        return fmt::format("{} x {} heads of {}, {} x {}", shape.batch, shape.heads, shape.head_dim,
                           shape.query_length, shape.key_length);
    }
    return "";
}

class Classes {
public:
    explicit Classes(const Outcome& outcome)
        : outcome_(outcome), context_(outcome.cost->compute_context())
    {}

    void add(const KernelUses& uses)
    {
        if (uses.kernel != nullptr)
            add(*uses.kernel, uses.phase, uses.count, uses.time);
        else
            of(KernelPart::other, uses.phase).time += uses.time;
    }

    std::vector<KernelClass> take()
    {
        std::vector<KernelClass> list;
        for (auto& [key, one] : classes_) {
            for (auto& [row_key, row] : rows_[key])
                one.rows.push_back(row);
            std::ranges::stable_sort(one.rows, std::ranges::greater{}, &KernelRow::time);
            list.push_back(std::move(one));
        }
        return list;
    }

private:
    using Key = std::pair<KernelPart, Phase>;

    KernelClass& of(KernelPart part, Phase phase)
    {
        KernelClass& one = classes_[{part, phase}];
        one.part = part;
        one.phase = phase;
        return one;
    }

    void add(const Kernel& kernel, Phase phase, std::uint64_t count, Seconds time)
    {
        const KernelPart part = kernel_part(kernel);
        KernelClass& one = of(part, phase);
        one.count += count;
        one.flops += hardware_flops(kernel) * static_cast<double>(count);
        one.bytes += static_cast<double>(kernel.bytes.value()) * static_cast<double>(count);
        one.time += time;
        const Seconds alone = outcome_.cost->kernel_time(kernel);
        const double gaps = alone.value() > 0 ? launch_gaps(kernel, *context_.device) / alone : 0;
        one.by[index_of(KernelLimit::launch)] += time * gaps;
        const KernelLimit limit =
            waits_for_memory(kernel, context_) ? KernelLimit::memory : KernelLimit::compute;
        one.by[index_of(limit)] += time * (1 - gaps);
        KernelRow& row = rows_[{part, phase}][{kernel.name, shape_text(kernel), kernel.precision}];
        row.name = kernel.name;
        row.shape = shape_text(kernel);
        row.precision = kernel.precision;
        row.count += count;
        row.time += time;
    }

    const Outcome& outcome_;
    ComputeContext context_;
    std::map<Key, KernelClass> classes_;
    std::map<Key, std::map<std::tuple<std::string, std::string, Precision>, KernelRow>> rows_;
};

} // namespace

std::string_view title_of(KernelPart part)
{
    static constexpr std::array<std::string_view, kernel_part_count> titles{
        "attention",    "MLP",       "experts", "norms, residuals", "products",
        "element-wise", "embedding", "head",    "states",           "other"};
    return titles[static_cast<std::size_t>(part)];
}

std::string_view title_of(Phase phase)
{
    static constexpr std::array<std::string_view, phase_count> titles{
        "forward",       "backward",       "recompute",  "optimizer",
        "gradient sync", "parameter sync", "input data", "other"};
    return titles[static_cast<std::size_t>(phase)];
}

std::string_view title_of(KernelLimit limit)
{
    static constexpr std::array<std::string_view, 3> titles{"compute", "memory", "launches"};
    return titles[index_of(limit)];
}

KernelPart kernel_part(const Kernel& kernel)
{
    switch (kernel.use) {
    case KernelUse::attention:
    case KernelUse::residual_stream:
        return kernel.norm ? KernelPart::norm : KernelPart::attention;
    case KernelUse::attention_square:
    case KernelUse::recurrence_core:
        return KernelPart::attention;
    case KernelUse::recurrence:
        return kernel.norm ? KernelPart::norm : KernelPart::attention;
    case KernelUse::mlp:
        return kernel.norm ? KernelPart::norm : KernelPart::mlp;
    case KernelUse::router:
    case KernelUse::expert:
        return KernelPart::experts;
    case KernelUse::embedding:
        return KernelPart::embedding;
    case KernelUse::head:
        return KernelPart::head;
    case KernelUse::convolution:
        return kernel.kind == KernelKind::gemm ? KernelPart::product : KernelPart::elementwise;
    case KernelUse::states:
        return KernelPart::states;
    }
    return KernelPart::other;
}

KernelLimit KernelClass::limit() const
{
    return static_cast<KernelLimit>(std::max_element(by.begin(), by.end()) - by.begin());
}

std::vector<KernelClass> kernel_classes(const Outcome& outcome, LaneId lane)
{
    Classes classes(outcome);
    for_each_kernel(outcome, lane, [&](const KernelUses& uses) { classes.add(uses); });
    return classes.take();
}

std::vector<Roof> roofs_of(const Outcome& outcome, const std::vector<KernelClass>& classes)
{
    const Profile& profile = outcome.cost->profile();
    const Device& device = profile.hardware.device;
    std::set<Precision> formats;
    for (const KernelClass& one : classes)
        if (one.flops.value() > 0)
            for (const KernelRow& row : one.rows)
                if (!row.shape.empty())
                    formats.insert(executed_precision(row.precision, device));
    std::vector<Roof> roofs;
    for (const Precision format : formats) {
        const MeasuredGemm* measured = outcome.cost->compute_context().kernels->gemm_of(format);
        const FlopRate large = measured != nullptr
                                   ? measured->rate * device.under_load.gemm_share(format)
                                   : device.peak.at(format) * device.gemm_efficiency.at(format);
        const bool known = device.gemm_surface.at(format).empty();
        roofs.push_back({format, device.peak.at(format),
                         known ? large * (device.under_load.clock * profile.installation.factor)
                               : FlopRate(0)});
    }
    std::ranges::stable_sort(roofs, std::ranges::greater{}, &Roof::peak);
    return roofs;
}

} // namespace trainyard
