#include "calibrate/measure/backend/work.h"

#include "sim/base/fields.h"
#include "sim/base/units.h"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace trainyard {

template <>
std::vector<EnumName<ElementType>> enum_names<ElementType>()
{
    using enum ElementType;
    return {{float32, "float32"},
            {float16, "float16"},
            {bfloat16, "bfloat16"},
            {uint8, "uint8"},
            {float8_e4m3, "float8_e4m3"}};
}

template <>
std::vector<EnumName<LocalKind>> enum_names<LocalKind>()
{
    using enum LocalKind;
    return {{gemm, "gemm"},
            {memory_read, "memory_read"},
            {memory_write, "memory_write"},
            {memory_copy, "memory_copy"},
            {memory_add, "memory_add"},
            {host_to_device, "host_to_device"},
            {device_to_host, "device_to_host"},
            {launch, "launch"},
            {launch_queued, "launch_queued"},
            {launch_graph, "launch_graph"},
            {issue, "issue"},
            {attention_forward, "attention_forward"},
            {attention_backward, "attention_backward"}};
}

template <>
std::vector<EnumName<Buffers>> enum_names<Buffers>()
{
    return {{Buffers::out_of_place, "out_of_place"}, {Buffers::in_place, "in_place"}};
}

template <>
const FieldTable<CollectiveWork>& fields_of<CollectiveWork>()
{
    using W = CollectiveWork;
    static const auto table =
        FieldTable<W>("collective_work", "A collective of a communicator.")
            .field("collective", &W::collective, {.help = "which"})
            .field("size", &W::size, {.help = "of the buffer, as nccl-tests counts it"})
            .field("type", &W::type, {.help = "of the elements"})
            .field("buffers", &W::buffers, {.help = "whether the output overwrites the input"})
            .field("root", &W::root, {.help = "of one-sided collectives"});
    return table;
}

template <>
const FieldTable<PairMessage>& fields_of<PairMessage>()
{
    static const auto table =
        FieldTable<PairMessage>("pair_message", "A message between two ranks.")
            .field("from", &PairMessage::from, {.help = "rank of the communicator"})
            .field("to", &PairMessage::to, {.help = "rank of the communicator"});
    return table;
}

template <>
const FieldTable<ExchangeWork>& fields_of<ExchangeWork>()
{
    static const auto table =
        FieldTable<ExchangeWork>("exchange_work", "Messages that are all under way at once.")
            .field("messages", &ExchangeWork::messages, {.help = "who sends to whom"})
            .field("size", &ExchangeWork::size, {.help = "of each"});
    return table;
}

template <>
const FieldTable<PingPongWork>& fields_of<PingPongWork>()
{
    static const auto table =
        FieldTable<PingPongWork>("ping_pong_work", "A message there and one back.")
            .field("first", &PingPongWork::first, {.help = "rank of the communicator"})
            .field("second", &PingPongWork::second, {.help = "rank of the communicator"})
            .field("size", &PingPongWork::size, {.help = "of each message"});
    return table;
}

template <>
const FieldTable<LocalWork>& fields_of<LocalWork>()
{
    using W = LocalWork;
    static const auto table =
        FieldTable<W>("local_work", "A kernel or a copy on every rank's own device.")
            .field("kind", &W::kind, {.help = "what"})
            .field("m", &W::m, {.help = "rows of a GEMM's result; tokens of attention"})
            .field("n", &W::n, {.help = "columns of a GEMM's result; heads of attention"})
            .field("k", &W::k, {.help = "inner size of a GEMM; elements of a head"})
            .field("batch", &W::batch, {.help = "how many of them in one"})
            .field("size", &W::size, {.help = "bytes read, written or copied"})
            .field("type", &W::type, {.help = "of the elements"});
    return table;
}

template <>
const FieldTable<BesideWork>& fields_of<BesideWork>()
{
    using W = BesideWork;
    static const auto table =
        FieldTable<W>("beside_work", "A collective and a kernel at once.")
            .field("collective", &W::collective, {.help = "the one"})
            .field("local", &W::local, {.help = "the other"})
            .field("times_collective", &W::times_collective, {.help = "else the kernel is timed"})
            .field("repeats", &W::repeats, {.help = "of the one not timed, per batch"});
    return table;
}

Bytes message_size(const TimedWork& work)
{
    if (const auto* collective = std::get_if<CollectiveWork>(&work))
        return collective->size;
    if (const auto* exchange = std::get_if<ExchangeWork>(&work))
        return exchange->size;
    if (const auto* ping_pong = std::get_if<PingPongWork>(&work))
        return ping_pong->size;
    const auto* beside = std::get_if<BesideWork>(&work);
    return beside != nullptr && beside->times_collective ? beside->collective.size : Bytes(0);
}

std::string_view sweep_word(ElementType type)
{
    switch (type) {
    case ElementType::float32:
        return "float";
    case ElementType::float16:
        return "half";
    case ElementType::bfloat16:
        return "bfloat16";
    case ElementType::uint8:
        return "uint8";
    case ElementType::float8_e4m3:
        return "f8e4m3";
    }
    return "";
}

namespace {

std::string words_of(const CollectiveWork& work)
{
    if (work.collective == CollectiveKind::barrier)
        return "barrier";
    return fmt::format("{} {} {}{}", to_name(work.collective), to_text(work.size),
                       to_name(work.type), work.buffers == Buffers::in_place ? " in place" : "");
}

std::string words_of(const ExchangeWork& work)
{
    if (work.messages.size() == 1)
        return fmt::format("{} -> {} {}", work.messages[0].from, work.messages[0].to,
                           to_text(work.size));
    if (work.messages.size() == 2 && work.messages[0].from == work.messages[1].to &&
        work.messages[0].to == work.messages[1].from)
        return fmt::format("{} <-> {} {}", work.messages[0].from, work.messages[0].to,
                           to_text(work.size));
    return fmt::format("{} messages of {}", work.messages.size(), to_text(work.size));
}

std::string words_of(const PingPongWork& work)
{
    return fmt::format("ping-pong {} - {} {}", work.first, work.second, to_text(work.size));
}

std::string words_of(const LocalWork& work)
{
    switch (work.kind) {
    case LocalKind::gemm:
        return fmt::format("gemm {} x {} x {} {}", work.m, work.n, work.k, to_name(work.type));
    case LocalKind::attention_forward:
    case LocalKind::attention_backward:
        return fmt::format("{} {} x {} tokens, {} heads of {} {}", to_name(work.kind), work.batch,
                           work.m, work.n, work.k, to_name(work.type));
    case LocalKind::launch:
    case LocalKind::launch_queued:
    case LocalKind::launch_graph:
    case LocalKind::issue:
        return std::string(to_name(work.kind));
    case LocalKind::memory_read:
    case LocalKind::memory_write:
    case LocalKind::memory_copy:
    case LocalKind::memory_add:
    case LocalKind::host_to_device:
    case LocalKind::device_to_host:
        return fmt::format("{} {}", to_name(work.kind), to_text(work.size));
    }
    return {};
}

std::string words_of(const BesideWork& work)
{
    const std::string collective = words_of(work.collective);
    const std::string local = words_of(work.local);
    return work.times_collective ? collective + " beside " + local
                                 : local + " beside " + collective;
}

// Keys of the alternatives, in the order of the variant.
constexpr std::array<std::string_view, 5> alternatives{"collective", "exchange", "ping_pong",
                                                       "local", "beside"};

template <std::size_t I>
bool read_alternative(const Reader& reader, std::size_t index, TimedWork& out)
{
    if constexpr (I == std::variant_size_v<TimedWork>) {
        return false;
    } else {
        if (index != I)
            return read_alternative<I + 1>(reader, index, out);
        using T = std::variant_alternative_t<I, TimedWork>;
        T value;
        if (!FieldValue<T>::read(reader, value))
            return false;
        out = std::move(value);
        return true;
    }
}

} // namespace

std::string describe(const TimedWork& work)
{
    return std::visit([](const auto& one) { return words_of(one); }, work);
}

std::string FieldValue<TimedWork>::type_name()
{
    return "work";
}

bool FieldValue<TimedWork>::read(const Reader& reader, TimedWork& out)
{
    const Json& node = reader.node();
    if (node.is_object() && node.members().size() == 1)
        for (std::size_t i = 0; i < alternatives.size(); ++i)
            if (node.members().front().first == alternatives[i])
                return read_alternative<0>(reader.member(alternatives[i]), i, out);
    reader.error("expected an object with one of collective, exchange, ping_pong, local, beside");
    return false;
}

Json FieldValue<TimedWork>::write(const TimedWork& value)
{
    Json out = Json::object();
    out[std::string(alternatives[value.index()])] = std::visit(
        [](const auto& one) { return FieldValue<std::decay_t<decltype(one)>>::write(one); }, value);
    return out;
}

namespace {

template <std::size_t... I>
Json alternatives_schema(std::index_sequence<I...>)
{
    Json any = Json::array();
    const auto add = [&]<std::size_t K>() {
        Json one = Json::object();
        one["type"] = "object";
        one["properties"][std::string(alternatives[K])] =
            FieldValue<std::variant_alternative_t<K, TimedWork>>::schema();
        any.push_back(std::move(one));
    };
    (add.template operator()<I>(), ...);
    return any;
}

} // namespace

Json FieldValue<TimedWork>::schema()
{
    Json out = Json::object();
    out["oneOf"] = alternatives_schema(std::make_index_sequence<std::variant_size_v<TimedWork>>());
    return out;
}

} // namespace trainyard
