#pragma once

// What coordinator and ranks say to one another.
//
// The coordinator commands, a rank replies under the command's number: with what was asked, or with
// a failure. Beside that, ranks leave and fetch small values (Rendezvous), and answer "where are
// you" while a command runs.

#include "calibrate/measure/backend/backend.h"
#include "calibrate/measure/discover/node_report.h"

#include <optional>

namespace trainyard {

enum class CommandKind : std::uint8_t {
    facts,   // of the rank's back end
    cannot,  // why it cannot time each of `works`
    join,    // makes communicator `group` of `spec`
    leave,   // ends communicator `group`
    prepare, // `work` in communicator `group`
    run,     // `batches` of `ops`
    check,   // wrong elements of one op
    node,    // what the rank's host is made of
    quit
};

struct RankCommand {
    int number = 0;
    CommandKind kind = CommandKind::quit;
    int group = 0;
    GroupSpec spec;
    std::vector<TimedWork> works; // of prepare, the first
    int batches = 0;
    int ops = 0;

    bool operator==(const RankCommand&) const = default;
};

struct RankReply {
    int number = 0;
    std::optional<BackendFacts> facts;
    std::vector<std::string> cannot;
    std::vector<double> seconds; // of each batch; of join, what it took
    bool covered = true;         // of all batches
    std::optional<std::int64_t> wrong;
    std::optional<NodeReport> node;
    std::optional<MeasureFailure> failure;

    bool operator==(const RankReply&) const = default;
};

// Whether a rank of a job of `ranks` can be there.
bool is_place_among(const LaunchPlace& place, std::size_t ranks);

// A rank's first words.
struct RankHello {
    LaunchPlace place;
    std::string host;
    int process = 0; // id
    std::string token;

    bool operator==(const RankHello&) const = default;
};

// Where a rank is: which command it works on, and how many of its batches it has begun.
struct RankStatus {
    int number = 0; // the command's
    int entered = 0;
    std::string doing; // for people

    bool operator==(const RankStatus&) const = default;
};

struct RankMessage {
    std::optional<RankHello> hello;
    std::optional<RankCommand> command;
    std::optional<RankReply> reply;
    std::optional<std::string> put;   // key of `value`
    std::optional<std::string> get;   // key; the answer has `put` and `value`
    std::optional<std::string> value; // hexadecimal digits
    std::optional<int> abort;         // a communicator's number: what waits in it is to throw
    std::optional<RankStatus> status; // asked for by an empty message

    bool operator==(const RankMessage&) const = default;
};

Json to_json(const RankMessage& message);

// Throws ConnectionLost for what is no such message.
RankMessage message_from(const Json& json);

// Bytes as JSON can carry them. from_hex throws ConnectionLost.
std::string to_hex(std::string_view bytes);
std::string from_hex(std::string_view digits);

template <>
std::vector<EnumName<CommandKind>> enum_names<CommandKind>();

} // namespace trainyard
