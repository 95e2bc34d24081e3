#include "calibrate/measure/control/messages.h"

#include "calibrate/measure/control/connection.h"
#include "sim/base/fields.h"

#include <fmt/core.h>

namespace trainyard {

template <>
std::vector<EnumName<CommandKind>> enum_names<CommandKind>()
{
    using enum CommandKind;
    return {{facts, "facts"}, {cannot, "cannot"},   {join, "join"},
            {leave, "leave"}, {prepare, "prepare"}, {run, "run"},
            {check, "check"}, {node, "node"},       {quit, "quit"}};
}

template <>
const FieldTable<RankCommand>& fields_of<RankCommand>()
{
    using C = RankCommand;
    static const auto table = FieldTable<C>("command", "What a rank is to do.")
                                  .field("number", &C::number, {.help = "that the reply repeats"})
                                  .field("kind", &C::kind, {.help = "what", .required = true})
                                  .field("group", &C::group, {.help = "the communicator's number"})
                                  .field("spec", &C::spec, {.help = "of the communicator to make"})
                                  .field("works", &C::works, {.help = "what is to be timed"})
                                  .field("batches", &C::batches, {.help = "to time"})
                                  .field("ops", &C::ops, {.help = "of each batch"});
    return table;
}

template <>
const FieldTable<RankReply>& fields_of<RankReply>()
{
    using R = RankReply;
    static const auto table =
        FieldTable<R>("reply", "What a rank answers to a command.")
            .field("number", &R::number, {.help = "of the command"})
            .field("facts", &R::facts, {.help = "of its back end"})
            .field("cannot", &R::cannot, {.help = "why work cannot be timed"})
            .field("seconds", &R::seconds, {.help = "of each batch, or of the command"})
            .field("covered", &R::covered, {.help = "whether the other ran the whole time"})
            .field("wrong", &R::wrong, {.help = "elements"})
            .field("node", &R::node, {.help = "the rank's host"})
            .field("failure", &R::failure, {.help = "instead of an answer"});
    return table;
}

template <>
const FieldTable<RankHello>& fields_of<RankHello>()
{
    using H = RankHello;
    static const auto table = FieldTable<H>("hello", "Who a rank is.")
                                  .field("place", &H::place, {.help = "in the job"})
                                  .field("host", &H::host, {.help = "its machine"})
                                  .field("process", &H::process, {.help = "its id"})
                                  .field("token", &H::token, {.help = "of the run"});
    return table;
}

template <>
const FieldTable<RankStatus>& fields_of<RankStatus>()
{
    using S = RankStatus;
    static const auto table = FieldTable<S>("status", "Where a rank is.")
                                  .field("number", &S::number, {.help = "of its command"})
                                  .field("entered", &S::entered, {.help = "batches begun"})
                                  .field("doing", &S::doing, {.help = "for people"});
    return table;
}

template <>
const FieldTable<RankMessage>& fields_of<RankMessage>()
{
    using M = RankMessage;
    static const auto table = FieldTable<M>("message", "Between coordinator and ranks.")
                                  .field("hello", &M::hello, {.help = "a rank's first words"})
                                  .field("command", &M::command, {.help = "to a rank"})
                                  .field("reply", &M::reply, {.help = "of a rank"})
                                  .field("put", &M::put, {.help = "key of a value left"})
                                  .field("get", &M::get, {.help = "key of a value wanted"})
                                  .field("value", &M::value, {.help = "in hexadecimal digits"})
                                  .field("abort", &M::abort, {.help = "number of a communicator"})
                                  .field("status", &M::status, {.help = "of a rank"});
    return table;
}

bool is_place_among(const LaunchPlace& place, std::size_t ranks)
{
    const auto is_among = [ranks](int rank) {
        return rank >= 0 && static_cast<std::size_t>(rank) < ranks;
    };
    return is_among(place.rank) && is_among(place.local_rank);
}

Json to_json(const RankMessage& message)
{
    return fields_of<RankMessage>().write(message);
}

RankMessage message_from(const Json& json)
{
    Problems problems;
    RankMessage out;
    if (!FieldValue<RankMessage>::read(Reader(json, "message", problems), out))
        throw ConnectionLost{
            fmt::format("it sends what is no message of this program ({}{})",
                        problems.front().pointer.empty() ? "" : problems.front().pointer + ": ",
                        problems.front().message)};
    return out;
}

std::string to_hex(std::string_view bytes)
{
    std::string out;
    out.reserve(2 * bytes.size());
    for (const char byte : bytes)
        out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return out;
}

std::string from_hex(std::string_view digits)
{
    const auto digit = [](char c) {
        if (c >= '0' && c <= '9')
            return c - '0';
        if (c >= 'a' && c <= 'f')
            return c - 'a' + 10;
        throw ConnectionLost{"it sends a value that is no hexadecimal number"};
    };
    if (digits.size() % 2 != 0)
        throw ConnectionLost{"it sends a value that is cut"};
    std::string out;
    for (std::size_t i = 0; i < digits.size(); i += 2)
        out.push_back(static_cast<char>(16 * digit(digits[i]) + digit(digits[i + 1])));
    return out;
}

} // namespace trainyard
