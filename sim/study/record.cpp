#include "sim/study/record.h"

#include "sim/base/file_format.h"
#include "sim/base/input_limits.h"
#include "sim/study/inputs.h"
#include "sim/study/stated_step_time.h"

#include <fmt/core.h>

#include <cmath>

namespace trainyard {

namespace {

void take_source(MemberTaker from, RecordSource& to)
{
    from.take("key", to.key)
        .take("title", to.title)
        .take("release", to.release)
        .take("date", to.date)
        .take("table", to.table);
}

void take_hardware(MemberTaker from, RecordHardware& to)
{
    from.take("gpu", to.gpu)
        .take("gpu_family", to.gpu_family)
        .take("gpus_per_node", to.gpus_per_node)
        .take("nvlink_domain", to.nvlink_domain)
        .take("network", to.network)
        .take("nic_gbps_per_gpu", to.nic_gbps_per_gpu);
}

void take_model(MemberTaker from, RecordModel& to)
{
    from.take("name", to.name)
        .take("arch", to.architecture)
        .take("hidden", to.hidden)
        .take("layers", to.layers)
        .take("heads", to.heads)
        .take("kv_heads", to.kv_heads)
        .take("head_dim", to.head_dim)
        .take("ffn", to.ffn)
        .take("vocab", to.vocabulary)
        .take("params_total", to.parameters)
        .take("gated_mlp", to.gated_mlp)
        .take("attention", to.attention)
        .take("sliding_window", to.sliding_window)
        .take("experts", to.experts)
        .take("topk", to.experts_per_token)
        .take("moe_ffn", to.expert_ffn)
        .take("moe_layers", to.moe_layers)
        .take("shared_expert_ffn", to.shared_expert_ffn)
        .take("mtp", to.multi_token_prediction)
        .take("hf_config", to.config);
}

void take_parallel(MemberTaker from, RecordParallel& to)
{
    from.take("tp", to.tp)
        .take("pp", to.pp)
        .take("vpp", to.vpp)
        .take("cp", to.cp)
        .take("ep", to.ep)
        .take("etp", to.etp)
        .take("zero_stage", to.zero_stage)
        .take("shard_group", to.shard_group)
        .take("dp_kind", to.dp_kind)
        .take("cp_comm", to.cp_comm)
        .take("schedule", to.schedule)
        .take("sequence_parallel", to.sequence_parallel)
        .take("dp", to.dp);
}

void take_recipe(MemberTaker from, RecordRecipe& to)
{
    from.take("activation_offload_layers", to.activation_offload_layers)
        .take("recompute_layers", to.recompute_layers)
        .take("recompute_modules", to.recompute_modules)
        .take("moe_dispatcher", to.moe_dispatcher)
        .take("expert_overlap", to.expert_overlap)
        .take("cuda_graphs", to.cuda_graphs)
        .take("cuda_graph_scope", to.cuda_graph_scope)
        .take("fused_grouped_mlp", to.fused_grouped_mlp);
}

// Tables spell the same switch in several ways; the more special one counts.
void take_overlap(MemberTaker from, RecordOverlap& to)
{
    from.take("dp", to.dp)
        .take("dp_grad_reduce", to.dp)
        .take("async_tp", to.tp)
        .take("tp_comm", to.tp)
        .take("tp", to.tp)
        .take("pp", to.pp)
        .take("torch_compile", to.torch_compile)
        .take("pp_schedule", to.pp_schedule);
}

void take_measured(MemberTaker from, MeasuredRecord& to)
{
    std::optional<double> allocated;
    std::optional<double> reserved;
    std::optional<bool> out_of_memory;
    from.take("peak_allocated_GiB", allocated)
        .take("peak_reserved_GiB", reserved)
        .take("out_of_memory", out_of_memory);
    to.out_of_memory = out_of_memory.value_or(false);
    if (reserved)
        to.peak_reserved = *reserved * std::ldexp(1.0, 30);
    if (allocated)
        to.peak_memory = *allocated * std::ldexp(1.0, 30);
}

// A scenario of the record's own, kept as written. Its problems are the record's.
Json own_scenario(const Reader& entry, Problems& problems)
{
    const Json* const scenario = entry.node().find("scenario");
    if (scenario == nullptr || scenario->is_null())
        return {};
    if (const auto read = scenario_from(*scenario, entry.file()); !read)
        for (Diagnostic problem : read.error()) {
            problem.pointer = entry.pointer() + "/scenario" + problem.pointer;
            problems.push_back(std::move(problem));
        }
    return *scenario;
}

MeasuredRecord take_record(const Reader& reader)
{
    MeasuredRecord record;
    record.line = reader.node().line();
    StatedStepTime step_time;
    MemberTaker from(reader);
    from.take("id", record.id)
        .take("quality", record.quality)
        .take("task", record.task)
        .take("n_gpus", record.gpus)
        .take("seq_len", record.sequence_length)
        .take("global_batch", record.global_batch)
        .take("micro_batch", record.micro_batch)
        .take("precision", record.precision)
        .take("precision_published", record.precision_published)
        .take("grad_dtype", record.gradient_type)
        .take("recompute", record.recompute)
        .take("framework", record.framework)
        .take("flags", record.flags)
        .take("notes", record.notes)
        .inside("source", [&](MemberTaker t) { take_source(t, record.source); })
        .inside("hardware", [&](MemberTaker t) { take_hardware(t, record.hardware); })
        .inside("model", [&](MemberTaker t) { take_model(t, record.model); })
        .inside("parallel", [&](MemberTaker t) { take_parallel(t, record.parallel); })
        .inside("recipe", [&](MemberTaker t) { take_recipe(t, record.recipe); })
        .inside("overlap", [&](MemberTaker t) { take_overlap(t, record.overlap); })
        .inside("derived", [&](MemberTaker t) { step_time.take(t); })
        .inside("measured", [&](MemberTaker t) {
            step_time.take(t);
            take_measured(t, record);
        });
    record.step_time = step_time.seconds();
    return record;
}

// The list of records in `root`, or null with the reason reported.
const Json* record_list(const Reader& root)
{
    const Json& node = root.node();
    if (node.is_array())
        return &node;
    if (!node.is_object()) {
        root.error(fmt::format("expected a list of records, found {}", node.kind_name()));
        return nullptr;
    }
    if (!expect_format(root, records_format))
        return nullptr;
    const Json* list = node.find("records");
    if (list == nullptr) {
        root.error("this object is no list of records and has no \"records\"",
                   "a file of measured runs is [{\"id\": ..., \"model\": ..., ...}, ...]");
        return nullptr;
    }
    if (!list->is_array()) {
        root.member("records").error(
            fmt::format("expected a list of records, found {}", list->kind_name()));
        return nullptr;
    }
    return list;
}

constexpr std::size_t most_aliens = 100; // in a list that is still one of records

// What makes a list entry a record at all.
bool looks_like_record(const Json& entry)
{
    return entry.is_object() && (entry.find("id") != nullptr || entry.find("model") != nullptr);
}

} // namespace

Checked<RecordFile> records_from(const Json& json, const std::string& file)
{
    Problems problems;
    const Reader root(json, file, problems);
    const Json* list = record_list(root);
    if (list == nullptr)
        return tl::unexpected(problems);
    const Reader entries = list == &json ? root : root.member("records");

    RecordFile out;
    out.file = file;
    std::size_t alien = 0;
    for (std::size_t i = 0; i < list->items().size(); ++i) {
        Problems found;
        const Reader again(json, file, found);
        const Reader entry = (list == &json ? again : again.member("records")).element(i);
        if (!looks_like_record(entry.node())) {
            entry.error(fmt::format("{} here is no record: it has neither \"id\" nor \"model\"",
                                    entry.node().kind_name()));
            out.unreadable.push_back({fmt::format("#{}", i), found});
            if (++alien > most_aliens) {
                entries.error(fmt::format("more than {} entries of this list are no records of "
                                          "measured runs",
                                          most_aliens),
                              "each has \"id\", \"model\" and what was measured");
                return tl::unexpected(problems);
            }
            continue;
        }
        MeasuredRecord record = take_record(entry);
        if (record.id.empty())
            record.id = fmt::format("#{}", i);
        record.file = file;
        record.scenario = own_scenario(entry, found);
        if (found.empty())
            out.records.push_back(std::move(record));
        else
            out.unreadable.push_back({record.id, std::move(found)});
    }
    if (alien == list->items().size()) {
        entries.error(alien == 0 ? "the list of records is empty"
                                 : "nothing in this list is a record of a measured run");
        return tl::unexpected(problems);
    }
    return out;
}

Checked<RecordFile> read_records(const std::string& path)
{
    const Checked<Json> json = read_json_file(path, record_limits);
    if (!json)
        return tl::unexpected(json.error());
    return records_from(*json, path);
}

} // namespace trainyard
