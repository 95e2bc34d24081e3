#include "sim/traces/execution/trace_builder.h"

#include "sim/base/json.h"
#include "sim/base/utf8.h"
#include "sim/base/words.h"
#include "sim/traces/execution/call_message.h"
#include "sim/traces/execution/op_rules.h"
#include "sim/traces/execution/tensor_text.h"
#include "sim/traces/trace_words.h"

#include <fmt/core.h>

#include <filesystem>
#include <limits>

namespace trainyard {
namespace {

constexpr std::size_t most_nodes = 20'000'000;        // some 4 GB
constexpr std::uint64_t longest = 31'556'952'000'000; // microseconds: a year
constexpr std::size_t longest_shapes = 4096;          // characters that are kept

bool is_product(DeviceWork work)
{
    return work == DeviceWork::gemm || work == DeviceWork::convolution ||
           work == DeviceWork::attention;
}

// CollectiveCommType of et_def.proto; gathers to one rank and scatters have no word here.
std::optional<CollectiveKind> collective_numbered(std::uint64_t type)
{
    using enum CollectiveKind;
    static constexpr std::array<std::optional<CollectiveKind>, 10> kinds{
        {all_reduce, reduce, all_gather, std::nullopt, std::nullopt, broadcast, all_to_all,
         reduce_scatter, reduce_scatter, barrier}};
    return type < kinds.size() ? kinds[type] : std::nullopt;
}

int small_count(std::uint64_t value)
{
    return value <= most_trace_ranks ? static_cast<int>(value) : 0;
}

// By the custom of Chakra's tools the file of rank 3 is called "NAME.3.et".
std::optional<int> rank_in_name(const std::string& file)
{
    const std::string stem = std::filesystem::path(file).stem().string();
    const std::size_t dot = stem.rfind('.');
    if (dot == stem.npos)
        return std::nullopt;
    const auto rank = to_number<int>(std::string_view(stem).substr(dot + 1));
    return rank && *rank >= 0 ? rank : std::nullopt;
}

} // namespace

ExecutionBuilder::ExecutionBuilder(std::string file, GraphForm form)
{
    trace_.file = std::move(file);
    trace_.calls = form == GraphForm::calls;
}

std::string ExecutionBuilder::add(const NodeDraft& draft)
{
    if (!draft.id)
        return "a node without an id";
    if (!ids_.insert(*draft.id).second)
        return fmt::format("node {} is there twice", *draft.id);
    if (trace_.nodes.size() == most_nodes)
        return fmt::format("more than {} nodes", most_nodes);
    GraphNode node;
    node.id = *draft.id;
    node.parent = draft.parent.value_or(node.id);
    node.name = trace_.names.intern(printable_lines(draft.name));
    if (!draft.phase.empty())
        node.phase = from_name<Phase>(draft.phase);
    if (draft.microseconds.value_or(0) > longest)
        return fmt::format("node {} takes {} us, more than a year", node.id, *draft.microseconds);
    node.duration = TraceTime(static_cast<std::int64_t>(draft.microseconds.value_or(0)) * 1000);
    trace_.any_duration = trace_.any_duration || draft.microseconds.has_value();
    if (trace_.calls)
        describe_call(node, draft);
    else
        describe_node(node, draft);
    pass_tensors(node, draft);
    if (node.role == NodeRole::op && is_product(node.work) && !draft.in_shapes.empty() &&
        draft.in_shapes.size() <= longest_shapes)
        node.shapes = trace_.names.intern(draft.in_shapes);
    trace_.nodes.push_back(node);
    return "";
}

void ExecutionBuilder::describe_call(GraphNode& node, const NodeDraft& draft)
{
    if (draft.name == "## process_group:init ##") {
        add_groups(draft);
    } else if (draft.name == "record_param_comms") {
        add_call_transfer(node, draft);
        parents_of_messages_.emplace(node.id, node.parent);
    } else if (const auto message = backend_message(draft, trace_.groups)) {
        backend_messages_.emplace_back(trace_.nodes.size(), *message);
    } else if (!draft.backend.empty()) { // of a compiler: its name is the kernel's
        node.role = NodeRole::op;
        node.work = work_of_kernel(draft.name);
    } else if (!draft.schema.empty()) {
        const std::optional<DeviceWork> work = work_of_op(draft.name, draft.schema);
        node.role = work ? NodeRole::op : NodeRole::around;
        node.work = work.value_or(DeviceWork::other);
        node.flops = work ? flops_of_op(draft.name, draft.in_shapes, draft.out_shapes) : 0;
    }
}

void ExecutionBuilder::describe_node(GraphNode& node, const NodeDraft& draft)
{
    node.flops = draft.operations;
    node.bytes = draft.tensor_size;
    node.on_host = draft.on_host;
    const ChakraNodeType type = draft.type.value_or(ChakraNodeType::invalid);
    if (type == ChakraNodeType::invalid || type == ChakraNodeType::metadata)
        return;
    node.role = draft.on_host ? NodeRole::host : NodeRole::op;
    if (draft.on_host)
        return;
    if (type == ChakraNodeType::compute)
        node.work = work_of_kernel(draft.name);
    else if (type == ChakraNodeType::load || type == ChakraNodeType::store)
        node.work = DeviceWork::copy;
    else
        add_node_transfer(node, draft);
}

void ExecutionBuilder::keep_transfer(GraphNode& node, TraceTransfer transfer)
{
    node.role = NodeRole::op;
    node.work = DeviceWork::communication;
    node.transfer = static_cast<std::uint32_t>(trace_.transfers.size());
    trace_.transfers.push_back(std::move(transfer));
}

void ExecutionBuilder::add_call_transfer(GraphNode& node, const NodeDraft& draft)
{
    std::optional<CallMessage> message = call_message(draft);
    if (!message)
        return; // waiting for one, or setting up
    if (message->unnamed_group) {
        const auto known = group_names_.find(*message->unnamed_group);
        if (known != group_names_.end())
            message->transfer.group = known->second;
        else
            unnamed_groups_.insert(*message->unnamed_group);
        int& size = group_sizes_[*message->unnamed_group];
        size = std::max(size, message->transfer.ranks);
        in_unnamed_.emplace_back(trace_.transfers.size(), *message->unnamed_group);
    }
    const bool of_all = message->transfer.purpose == "default_pg" ||
                        (message->unnamed_group && unnamed_groups_.size() <= 1);
    if (of_all && message->rank)
        ranks_.insert(*message->rank);
    keep_transfer(node, std::move(message->transfer));
}

void ExecutionBuilder::add_node_transfer(GraphNode& node, const NodeDraft& draft)
{
    TraceTransfer transfer;
    const bool sends = draft.type == ChakraNodeType::send;
    if (draft.type == ChakraNodeType::collective) {
        transfer.kind = draft.comm_type             ? collective_numbered(*draft.comm_type)
                        : !draft.collective.empty() ? collective_called(draft.collective)
                                                    : collective_of_kernel(draft.name);
        transfer.group = draft.group.empty() ? std::string(every_rank) : draft.group;
    } else {
        transfer.kind = CollectiveKind::send_receive;
        const auto own = sends ? draft.comm_source : draft.comm_target;
        const auto peer = sends ? draft.comm_target : draft.comm_source;
        transfer.peer = peer ? small_count(*peer) : -1;
        if (own)
            ranks_.insert(small_count(*own));
    }
    transfer.bytes = draft.comm_size.value_or(0);
    transfer.ranks = small_count(draft.group_size);
    transfer.purpose = draft.purpose;
    transfer.dtype = draft.dtype;
    keep_transfer(node, std::move(transfer));
}

void ExecutionBuilder::add_groups(const NodeDraft& draft)
{
    const std::vector<std::string_view> members = members_of(draft.in_values);
    if (members.empty())
        return;
    const Checked<Json> json = parse_json(unquoted(members.front()), trace_.file);
    if (!json || !json->is_array())
        return; // PyTorch cuts long ones
    for (const Json& entry : json->items()) {
        const auto text_of = [&](std::string_view key) {
            const Json* const found = entry.find(key);
            return found != nullptr && found->is_string() ? found->as_string() : std::string();
        };
        const auto count_of = [&](std::string_view key) -> std::uint64_t {
            const Json* const found = entry.find(key);
            return found != nullptr && found->is_integer() && found->as_integer() >= 0
                       ? static_cast<std::uint64_t>(found->as_integer())
                       : 0;
        };
        if (!entry.is_object() || text_of("pg_name").empty())
            continue;
        TraceGroup group{
            text_of("pg_name"), text_of("pg_desc"), small_count(count_of("group_size")), {}};
        if (const Json* const ranks = entry.find("ranks"); ranks != nullptr && ranks->is_array())
            for (const Json& rank : ranks->items())
                if (rank.is_integer() && rank.as_integer() >= 0)
                    group.ranks.push_back(
                        small_count(static_cast<std::uint64_t>(rank.as_integer())));
        if (group.purpose == "default_pg" && group.size > 0)
            trace_.world = group.size;
        group_names_[count_of("backend_id")] = group.name;
        trace_.groups.push_back(std::move(group));
    }
}

// Which tensors there are, and in calls what an op waits for: the ops that last wrote what it
// reads. What an op within it wrote, that one wrote.
void ExecutionBuilder::pass_tensors(GraphNode& node, const NodeDraft& draft)
{
    const std::vector<TensorReference> in = tensors_in(draft.in_values);
    const std::vector<TensorReference> out = tensors_in(draft.out_values);
    bool on_host = !in.empty() || !out.empty();
    for (const std::vector<TensorReference>* const tensors : {&in, &out})
        for (const TensorReference& tensor : *tensors) {
            on_host = on_host && tensor.on_host;
            tensors_.insert(tensor.id);
            trace_.tensor_numbers = (trace_.tensor_numbers ^ tensor.id) * 0x100000001b3; // FNV
            double& bytes = storages_[tensor.storage];
            bytes = std::max(bytes, tensor.bytes());
        }
    node.first_wait = trace_.waits.size();
    if (!trace_.calls) {
        trace_.waits.insert(trace_.waits.end(), draft.waits.begin(), draft.waits.end());
    } else if (node.on_host = on_host; node.role == NodeRole::op) {
        for (const TensorReference& tensor : in)
            if (const auto at = writers_.find(tensor.storage);
                at != writers_.end() && at->second != node.id && at->second < node.id)
                trace_.waits.push_back(at->second);
        const bool in_place = draft.schema.find('!') != draft.schema.npos && !in.empty();
        const auto write = [&](std::uint64_t storage) {
            std::uint64_t& writer = writers_[storage];
            writer = std::max(writer, node.id); // those within it have later ids
        };
        for (const TensorReference& tensor : out)
            write(tensor.storage);
        if (in_place || node.work == DeviceWork::communication)
            for (const TensorReference& tensor : in_place ? std::vector{in.front()} : in)
                write(tensor.storage);
    }
    std::sort(trace_.waits.begin() + static_cast<std::ptrdiff_t>(node.first_wait),
              trace_.waits.end());
    trace_.waits.erase(
        std::unique(trace_.waits.begin() + static_cast<std::ptrdiff_t>(node.first_wait),
                    trace_.waits.end()),
        trace_.waits.end());
    node.wait_count = static_cast<std::uint32_t>(trace_.waits.size() - node.first_wait);
}

// A backend's own node is a transfer where it neither lies within a call that describes it nor has
// one within.
void ExecutionBuilder::take_backend_messages()
{
    std::unordered_set<std::uint64_t> around;
    for (const auto& [id, parent] : parents_of_messages_)
        around.insert(parent);
    for (auto& [place, message] : backend_messages_) {
        GraphNode& node = trace_.nodes[place];
        if (!parents_of_messages_.contains(node.parent) && !around.contains(node.id))
            keep_transfer(node, std::move(message));
    }
}

ExecutionTrace ExecutionBuilder::take()
{
    take_backend_messages();
    if (ranks_.size() == 1 && (!trace_.calls || unnamed_groups_.size() <= 1))
        trace_.rank = *ranks_.begin();
    else if (!trace_.calls)
        trace_.rank = rank_in_name(trace_.file);
    // What one collective says of the group's size holds of the others.
    for (const auto& [transfer, group] : in_unnamed_)
        trace_.transfers[transfer].ranks = group_sizes_[group];
    trace_.tensors = tensors_.size();
    for (const auto& [storage, bytes] : storages_)
        trace_.tensor_bytes += bytes;
    return std::move(trace_);
}

} // namespace trainyard
