#include "sim/traces/execution/execution_protobuf.h"

#include "sim/traces/execution/trace_builder.h"
#include "sim/traces/execution/wire_reader.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

constexpr std::uint64_t largest_message = std::uint64_t{64} << 20U;

// Numbers of et_def.proto's fields.
struct MetadataWire {
    enum Number : std::uint32_t { version = 1, about = 2 };
};
struct NodeWire {
    enum Number : std::uint32_t {
        id = 1,
        name = 2,
        type = 3,
        ctrl_deps = 4,
        data_deps = 5,
        duration_micros = 7,
        inputs = 8,
        outputs = 9,
        attributes = 10
    };
};
struct AttributeWire {
    enum Number : std::uint32_t {
        name = 1,
        int32_value = 7,
        int64_value = 9,
        uint32_value = 11,
        uint64_value = 13,
        sint32_value = 15,
        sint64_value = 17,
        bool_value = 27,
        string_value = 29
    };
};

// Packed, as proto3 writes lists, or one by one.
bool take_numbers(NodeDraft& draft, NodeField to, const WireField& field)
{
    if (!field.has_bytes) {
        draft.count(to, field.value);
        return true;
    }
    WireReader packed(field.bytes);
    while (!packed.ended()) {
        const std::optional<std::uint64_t> value = packed.varint();
        if (!value)
            return false;
        draft.count(to, *value);
    }
    return true;
}

bool take_values(NodeDraft& draft, NodeField to, std::string_view message)
{
    constexpr std::array<NodeField, 3> parts{NodeField::values, NodeField::shapes,
                                             NodeField::types};
    WireReader reader(message);
    while (const std::optional<WireField> field = reader.next())
        if (field->has_bytes && field->number >= 1 && field->number <= parts.size())
            *draft.list(to, parts[field->number - 1]) = field->bytes;
    return !reader.damaged();
}

bool take_attribute(NodeDraft& draft, std::string_view message)
{
    WireReader reader(message);
    NodeField to = NodeField::other;
    std::optional<WireField> value;
    while (const std::optional<WireField> field = reader.next())
        if (field->number == AttributeWire::name && field->has_bytes)
            to = node_field(field->bytes);
        else if (field->number > AttributeWire::name)
            value = field;
    if (!value || to <= NodeField::attributes)
        return !reader.damaged();
    switch (value->number) {
    case AttributeWire::string_value:
        draft.text(to, value->bytes);
        break;
    case AttributeWire::int32_value:
    case AttributeWire::int64_value:
        draft.number(to, static_cast<std::int64_t>(value->value));
        break;
    case AttributeWire::sint32_value:
    case AttributeWire::sint64_value: // zigzag: odd ones are below zero
        if (value->value % 2 == 0)
            draft.count(to, value->value / 2);
        break;
    case AttributeWire::uint32_value:
    case AttributeWire::uint64_value:
    case AttributeWire::bool_value:
        draft.count(to, value->value);
        break;
    default:
        break;
    }
    return !reader.damaged();
}

std::optional<NodeDraft> node_in(std::string_view message)
{
    NodeDraft draft;
    WireReader reader(message);
    bool whole = true;
    while (const std::optional<WireField> field = reader.next()) {
        switch (field->number) {
        case NodeWire::id:
            draft.id = field->value;
            break;
        case NodeWire::name:
            draft.name = field->bytes;
            break;
        case NodeWire::type:
            draft.count(NodeField::type, field->value);
            break;
        case NodeWire::ctrl_deps:
            whole = whole && take_numbers(draft, NodeField::parent, *field);
            break;
        case NodeWire::data_deps:
            whole = whole && take_numbers(draft, NodeField::waits, *field);
            break;
        case NodeWire::duration_micros:
            draft.microseconds = field->value;
            break;
        case NodeWire::inputs:
            whole = whole && take_values(draft, NodeField::inputs, field->bytes);
            break;
        case NodeWire::outputs:
            whole = whole && take_values(draft, NodeField::outputs, field->bytes);
            break;
        case NodeWire::attributes:
            whole = whole && take_attribute(draft, field->bytes);
            break;
        default:
            break;
        }
    }
    if (!whole || reader.damaged())
        return std::nullopt;
    if (!draft.id) // proto3 leaves a zero out
        draft.id = 0;
    return draft;
}

bool is_metadata(std::string_view message)
{
    WireReader reader(message);
    while (const std::optional<WireField> field = reader.next())
        if (!field->has_bytes ||
            (field->number != MetadataWire::version && field->number != MetadataWire::about))
            return false;
    return !reader.damaged();
}

// Messages of a stream, one after the other.
class MessageStream {
public:
    explicit MessageStream(JsonStream& stream) : stream_(stream) {}

    // False at the end, and where `problem` says why not.
    bool next(std::string& message, std::string& problem)
    {
        begun_ = stream_.bytes();
        if (stream_.ended())
            return false;
        std::uint64_t size = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (stream_.ended() || shift > 28) {
                problem = stream_.ended() ? "ends within a message's size" : "no message's size";
                return false;
            }
            const auto byte = static_cast<unsigned char>(take());
            size |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80)
                break;
        }
        if (size > largest_message) {
            problem = fmt::format("a message of {} bytes, {} at most", size, largest_message);
            return false;
        }
        message.clear();
        while (message.size() < size && !stream_.ended())
            message += take();
        if (message.size() < size)
            problem = fmt::format("ends within a message of {} bytes", size);
        return problem.empty();
    }
    std::uint64_t begun() const { return begun_; }

private:
    char take()
    {
        const char c = stream_.current();
        stream_.advance();
        return c;
    }

    JsonStream& stream_;
    std::uint64_t begun_ = 0;
};

} // namespace

bool begins_as_execution_protobuf(std::string_view begun)
{
    std::size_t head = 0; // bytes of the first message's size
    while (head < begun.size() && static_cast<unsigned char>(begun[head]) >= 0x80)
        ++head;
    begun.remove_prefix(std::min(head, begun.size()));
    if (begun.empty() || head > 3)
        return false;
    const auto size = static_cast<std::size_t>(begun.front());
    begun.remove_prefix(1);
    if (head == 0 && begun.size() >= size)
        return is_metadata(begun.substr(0, size));
    // A long one, or one that is cut: by the first tag of its fields.
    return !begun.empty() && (begun.front() == '\x0a' || begun.front() == '\x12');
}

Checked<ExecutionTrace> read_execution_protobuf(JsonStream& stream, const std::string& file)
{
    MessageStream messages(stream);
    ExecutionBuilder builder(file, GraphForm::nodes);
    std::string message;
    std::string problem;
    bool first = true;
    while (problem.empty() && messages.next(message, problem)) {
        if (std::exchange(first, false)) {
            if (!is_metadata(message))
                problem = "does not begin with what the trace is of (GlobalMetadata)";
            continue;
        }
        const std::optional<NodeDraft> draft = node_in(message);
        problem = draft ? builder.add(*draft) : "no node of Chakra's schema";
    }
    if (!problem.empty())
        return tl::unexpected(Problems{
            {file, 0, "",
             fmt::format("node {}, at byte {}: {}", builder.size() + 1, messages.begun(), problem),
             "a whole trace of mlcommons/chakra's protobuf is expected", Severity::error}});
    if (builder.size() == 0)
        return rejected(file, "holds no node of an execution trace", "record a step with it");
    return builder.take();
}

} // namespace trainyard
