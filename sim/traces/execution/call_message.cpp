#include "sim/traces/execution/call_message.h"

#include "sim/base/words.h"
#include "sim/traces/execution/tensor_text.h"
#include "sim/traces/kernel_rules.h"
#include "sim/traces/trace_words.h"

#include <algorithm>
#include <span>

namespace trainyard {
namespace {

std::uint64_t bytes_of(const std::vector<TensorReference>& tensors)
{
    double sum = 0;
    for (const TensorReference& tensor : tensors)
        sum += tensor.bytes();
    return static_cast<std::uint64_t>(std::min(sum, 9e18));
}

bool is_text(std::string_view member)
{
    return !member.empty() && (member.front() == '\'' || member.front() == '"');
}

// The other end of a message; this rank in the group; of a broadcast its root.
void take_rank(CallMessage& out, std::string_view member)
{
    const std::optional<std::uint64_t> rank = to_number<std::uint64_t>(member);
    if (!rank || *rank > most_trace_ranks)
        return;
    const std::optional<CollectiveKind> kind = out.transfer.kind;
    if (kind == CollectiveKind::send_receive)
        out.transfer.peer = static_cast<int>(*rank);
    else if (kind && kind != CollectiveKind::broadcast && kind != CollectiveKind::reduce)
        out.rank = static_cast<int>(*rank);
}

void take_group(CallMessage& out, std::string_view member)
{
    out.unnamed_group = to_number<std::uint64_t>(member);
    const std::vector<std::string_view> words = members_of(member);
    if (words.size() == 2 && out.transfer.group.empty()) {
        out.transfer.group = unquoted(words[0]);
        out.transfer.purpose = unquoted(words[1]);
    }
}

void take_size(CallMessage& out, std::span<const std::string_view> behind_name)
{
    constexpr std::size_t splits = 2;
    std::optional<std::uint64_t> size;
    if (behind_name.size() > splits)
        size = to_number<std::uint64_t>(behind_name.back());
    else if (!behind_name.empty() && members_of(behind_name.front()).size() > 1)
        size = members_of(behind_name.front()).size();
    if (size && *size > 0 && *size <= most_trace_ranks && out.transfer.ranks == 0)
        out.transfer.ranks = static_cast<int>(*size);
}

std::uint64_t whole_bytes(const NodeDraft& draft, const TraceTransfer& transfer)
{
    if (!transfer.kind)
        return 0;
    constexpr std::uint64_t most = std::uint64_t{1}
                                   << 58U; // elements: beyond, bytes have no number
    const auto element = static_cast<std::uint64_t>(torch_element_bytes(transfer.dtype));
    if (draft.in_elements && draft.out_elements && element > 0) {
        const std::uint64_t stated =
            whole_elements(*transfer.kind, *draft.in_elements, *draft.out_elements);
        return stated < most ? stated * element : 0;
    }
    const std::uint64_t in = bytes_of(tensors_in(draft.in_values));
    const std::uint64_t out = bytes_of(tensors_in(draft.out_values));
    // The list of outputs may be the input.
    const auto ranks = static_cast<std::uint64_t>(transfer.ranks);
    const std::uint64_t gathered = out > in ? out : in < (most >> 24U) ? in * ranks : 0;
    return whole_elements(*transfer.kind, in, gathered);
}

// "GenericList[Tensor(float)]"
std::string element_type(std::string_view types)
{
    constexpr std::string_view opening = "Tensor(";
    const std::size_t tensor = types.find(opening);
    if (tensor == types.npos)
        return "";
    types.remove_prefix(tensor + opening.size());
    return std::string(types.substr(0, types.find(')')));
}

} // namespace

std::optional<CallMessage> call_message(const NodeDraft& draft)
{
    const std::vector<std::string_view> members = members_of(draft.in_values);
    const auto name = std::find_if(members.begin(), members.end(), is_text);
    const std::string called = !draft.collective.empty() ? draft.collective
                               : name != members.end()   ? unquoted(*name)
                                                         : "";
    CallMessage out;
    out.transfer.kind = collective_called(called);
    if (!moves_data(called))
        return std::nullopt;
    out.transfer.dtype = draft.dtype;
    out.transfer.group = draft.group;
    out.transfer.purpose = draft.purpose;
    out.transfer.ranks =
        draft.group_size <= most_trace_ranks ? static_cast<int>(draft.group_size) : 0;
    if (out.transfer.dtype.empty())
        out.transfer.dtype = element_type(draft.in_types);
    if (name != members.end()) {
        const auto place = static_cast<std::size_t>(name - members.begin());
        if (place >= 1)
            take_rank(out, members[place - 1]);
        if (place >= 2)
            take_group(out, members[place - 2]);
        take_size(out, std::span(members).subspan(place + 1));
    }
    out.transfer.bytes = whole_bytes(draft, out.transfer);
    return out;
}

std::optional<TraceTransfer> backend_message(const NodeDraft& draft,
                                             const std::vector<TraceGroup>& groups)
{
    TraceTransfer out;
    if (!draft.schema.empty() || work_of_kernel(draft.name) != DeviceWork::communication)
        return std::nullopt;
    out.kind = collective_called(draft.name);
    if (!moves_data(draft.name))
        return std::nullopt;
    out.dtype = element_type(draft.in_types);
    if (groups.size() == 1) { // there is no other that it could be of
        out.ranks = groups.front().size;
        out.group = groups.front().name;
        out.purpose = groups.front().purpose;
        out.members = groups.front().ranks;
    }
    out.bytes = whole_bytes(draft, out);
    return out;
}

std::string unquoted(std::string_view text)
{
    std::string out;
    if (text.size() < 2 || !is_text(text))
        return std::string(text);
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '\\' && i + 2 < text.size())
            ++i;
        out += text[i];
    }
    return out;
}

} // namespace trainyard
