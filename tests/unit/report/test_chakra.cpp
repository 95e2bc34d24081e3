// Chakra traces, read back by a reader that knows the schema alone.

#include "sim/base/build_info.h"
#include "sim/report/chakra/chakra_trace.h"
#include "sim/report/timeline/kineto_names.h"
#include "sim/study/session.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// One message's fields: numbers, and the bytes of those with a length.
struct WireMessage {
    std::multimap<std::uint64_t, std::uint64_t> numbers;
    std::multimap<std::uint64_t, std::string_view> bytes;

    std::uint64_t number(std::uint64_t field) const
    {
        const auto at = numbers.find(field);
        return at == numbers.end() ? 0 : at->second;
    }
    std::string text(std::uint64_t field) const
    {
        const auto at = bytes.find(field);
        return at == bytes.end() ? std::string() : std::string(at->second);
    }
};

std::uint64_t take_varint(std::string_view& in)
{
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (in.empty())
            throw std::runtime_error("a number ends with the file");
        const auto byte = static_cast<unsigned char>(in.front());
        in.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80)
            return value;
    }
}

std::string_view take_bytes(std::string_view& in)
{
    const std::uint64_t size = take_varint(in);
    if (size > in.size())
        throw std::runtime_error("a message ends with the file");
    const std::string_view out = in.substr(0, size);
    in.remove_prefix(size);
    return out;
}

WireMessage wire_message(std::string_view in)
{
    WireMessage out;
    while (!in.empty()) {
        const std::uint64_t tag = take_varint(in);
        if (tag % 8 != 0 && tag % 8 != 2)
            throw std::runtime_error("neither a number nor bytes");
        if (tag % 8 == 0)
            out.numbers.emplace(tag / 8, take_varint(in));
        else
            out.bytes.emplace(tag / 8, take_bytes(in));
    }
    return out;
}

struct TraceNode {
    std::uint64_t id = 0;
    std::uint64_t type = 0;
    std::uint64_t microseconds = 0;
    std::vector<std::uint64_t> waits;
    std::map<std::string, std::uint64_t> numbers;
    std::map<std::string, std::uint64_t> fields; // that each is written under
    std::string group;
};

TraceNode trace_node(std::string_view bytes)
{
    const WireMessage message = wire_message(bytes);
    TraceNode out{message.number(1), message.number(3), message.number(7), {}, {}, {}, {}};
    if (const auto packed = message.bytes.find(5); packed != message.bytes.end())
        for (std::string_view rest = packed->second; !rest.empty();)
            out.waits.push_back(take_varint(rest));
    const auto [first, last] = message.bytes.equal_range(10);
    for (auto at = first; at != last; ++at) {
        const WireMessage attribute = wire_message(at->second);
        const std::string name = attribute.text(1);
        if (name == "pg_name")
            out.group = attribute.text(29);
        for (const auto& [field, value] : attribute.numbers) {
            out.numbers[name] = value;
            out.fields[name] = field;
        }
    }
    return out;
}

std::vector<TraceNode> nodes_of(const std::string& trace)
{
    std::string_view in = trace;
    const WireMessage head = wire_message(take_bytes(in));
    CHECK(head.text(1) == "0.0.4");
    std::vector<TraceNode> out;
    while (!in.empty())
        out.push_back(trace_node(take_bytes(in)));
    return out;
}

std::vector<std::vector<TraceNode>> all_nodes(const Outcome& outcome)
{
    std::vector<std::vector<TraceNode>> out;
    for (const std::string& trace : chakra_traces(outcome))
        out.push_back(nodes_of(trace));
    return out;
}

constexpr std::uint64_t compute = 4, sent = 5, received = 6, collective = 7;

Outcome unfolded(const std::string& name)
{
    const Override fold = parse_override("run.fold=false").value();
    const ScenarioFile file =
        read_scenario_file((data_dir() / "scenarios" / name).string(), std::array{fold}).value();
    Session session;
    return session.simulate(file).value();
}

} // namespace

TEST_CASE("a trace has every op of its rank's step, and no node waits for a later one")
{
    const Outcome outcome = small_outcome();
    const auto ranks = all_nodes(outcome);
    REQUIRE(ranks.size() == 4);
    std::uint64_t ops = 0;
    for (const auto& nodes : ranks)
        for (const TraceNode& node : nodes) {
            ops += node.type != compute || node.numbers.at("is_cpu_op") == 0 ? 1 : 0;
            CHECK(std::ranges::all_of(node.waits, [&](std::uint64_t id) { return id < node.id; }));
        }
    CHECK(ops == chakra_nodes(outcome));
}

TEST_CASE("attributes are written under the numbers of et_def.proto's types")
{
    // int32 7, int64 9, uint64 13, bool 27 (schema/protobuf/et_def.proto of mlcommons/chakra).
    const std::map<std::string, std::uint64_t> numbers{
        {"is_cpu_op", 27}, {"num_ops", 9},  {"tensor_size", 13}, {"comm_type", 9},
        {"comm_size", 9},  {"comm_src", 7}, {"comm_dst", 7},     {"comm_tag", 7}};
    std::map<std::string, std::uint64_t> written;
    for (const auto& nodes : all_nodes(unfolded("llama2-7b-tp2-pp2-dp2.json")))
        for (const TraceNode& node : nodes)
            written.insert(node.fields.begin(), node.fields.end());
    CHECK(written == numbers);
}

TEST_CASE("what one rank sends another receives, under one tag and as many bytes")
{
    const Outcome outcome = unfolded("llama2-7b-tp2-pp2-dp2.json");
    using Message = std::array<std::uint64_t, 4>; // from, to, tag, bytes
    std::vector<Message> sends;
    std::vector<Message> receives;
    for (const auto& nodes : all_nodes(outcome))
        for (const TraceNode& node : nodes)
            if (node.type == sent || node.type == received)
                (node.type == sent ? sends : receives)
                    .push_back({node.numbers.at("comm_src"), node.numbers.at("comm_dst"),
                                node.numbers.at("comm_tag"), node.numbers.at("comm_size")});
    std::ranges::sort(sends);
    std::ranges::sort(receives);
    CHECK_FALSE(sends.empty());
    CHECK(sends == receives);
    CHECK(std::ranges::adjacent_find(sends, {}, [](const Message& m) {
              return std::array{m[0], m[1], m[2]};
          }) == sends.end());
}

TEST_CASE("members of a group have its collectives in one order, with the program's bytes")
{
    const Outcome outcome = unfolded("llama3-8b-h100-8.json");
    using Sequence = std::vector<std::array<std::uint64_t, 2>>; // type, bytes
    std::map<std::string, std::vector<Sequence>> groups;
    std::uint64_t written = 0;
    for (const auto& nodes : all_nodes(outcome)) {
        std::map<std::string, Sequence> mine;
        for (const TraceNode& node : nodes)
            if (node.type == collective) {
                mine[node.group].push_back(
                    {node.numbers.at("comm_type"), node.numbers.at("comm_size")});
                written += node.numbers.at("comm_size");
            }
        for (auto& [name, sequence] : mine)
            groups[name].push_back(std::move(sequence));
    }
    CHECK_FALSE(groups.empty());
    for (const auto& [name, members] : groups)
        for (const Sequence& member : members)
            CHECK(member == members.front());
    std::uint64_t stated = 0;
    const Program& program = outcome.plan->program;
    for (const Lane& lane : outcome.binding->lanes)
        for (const BlockUse& use : program.roles[lane.role.value].order)
            for (const Op& op : program.blocks[use.block.value].ops)
                if (op.kind == OpKind::collective) {
                    const Group& group = outcome.binding->groups[lane.groups[op.group.value].value];
                    stated += message_elements(program.labels[op.label.value].collective,
                                               outcome.plan->transfers[op.cost.value].bytes,
                                               static_cast<int>(group.ranks), 1)
                                  .in;
                }
    CHECK(written == stated);
}

TEST_CASE("a trace replayed without communication takes as long as its compute")
{
    const Outcome outcome = small_outcome();
    const auto ranks = all_nodes(outcome);
    std::map<std::uint64_t, std::uint64_t> ends;
    std::uint64_t last = 0;
    for (const TraceNode& node : ranks.front()) {
        std::uint64_t start = 0;
        for (const std::uint64_t id : node.waits)
            start = std::max(start, ends.at(id));
        ends[node.id] = start + node.microseconds;
        last = std::max(last, ends[node.id]);
    }
    // Two forwards, two backwards, the update, and the host's first launch.
    CHECK(last >= 62'000);
    CHECK(last <= 62'010);
}
