#include "sim/study/own_steps/measured_steps.h"

#include "sim/cost/profile_library.h"
#include "sim/study/cost_part.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {
namespace {

Diagnostic problem_of(const MeasuredRecord& record, std::size_t index, std::string member,
                      std::string message, std::string hint)
{
    return {record.file,
            record.line,
            fmt::format("/{}{}{}", index, member.empty() ? "" : "/", member),
            std::move(message),
            std::move(hint),
            Severity::error};
}

// What differs between the machines of two records: in words, and the member that says it.
struct Difference {
    std::string member;
    std::string words;
};

std::optional<Difference> difference(const Profile& first, const Profile& other,
                                     const std::string& first_id)
{
    const Hardware& a = first.hardware;
    const Hardware& b = other.hardware;
    if (a.device.name != b.device.name)
        return Difference{"hardware", fmt::format("on {}, where \"{}\" ran on {}", b.device.name,
                                                  first_id, a.device.name)};
    if (a.network.name != b.network.name)
        return Difference{"hardware/network",
                          fmt::format("over network {}, where \"{}\" ran over {}", b.network.name,
                                      first_id, a.network.name)};
    if (first.name != other.name)
        return Difference{"scenario/profile",
                          fmt::format("with profile \"{}\", where \"{}\" has \"{}\"", other.name,
                                      first_id, first.name)};
    return std::nullopt;
}

// Takes one record after the other.
class Taker {
public:
    Taker(const std::string& base, Session& session) : base_(base), session_(session) {}

    void take(const MeasuredRecord& record, std::size_t index)
    {
        if (record.step_time.value_or(0) <= 0) {
            problems.push_back(problem_of(record, index, "measured",
                                          fmt::format("\"{}\" has no measured step", record.id),
                                          "give \"measured\": {\"step_time_s\": ...}, or leave "
                                          "the record out"));
            return;
        }
        auto asked = ask_record(record, base_, session_);
        if (!asked) {
            problems.push_back(
                problem_of(record, index, "",
                           fmt::format("\"{}\" cannot be simulated: {}", record.id, asked.error()),
                           "mend the record, or give it a whole \"scenario\""));
            return;
        }
        if (const auto [first, fresh] = taken_.try_emplace(record.id, record.line); !fresh) {
            problems.push_back(
                problem_of(record, index, "id",
                           fmt::format("\"{}\" is there twice, first on line {}: one measurement "
                                       "would count as two",
                                       record.id, first->second),
                           "leave one out, or give a second measurement another id"));
            return;
        }
        if (const auto& before = asked->profile.own_steps;
            before && std::ranges::find(before->ids, record.id) != before->ids.end())
        {
            problems.push_back(problem_of(record, index, "id",
                                          fmt::format("profile \"{}\" was fitted to \"{}\" already",
                                                      asked->profile.name, record.id),
                                          "fit all steps together on the profile from before"));
            return;
        }
        if (!first_) {
            first_ = std::move(asked->profile);
            first_id_ = record.id;
        } else if (const auto other = difference(*first_, asked->profile, first_id_)) {
            problems.push_back(problem_of(record, index, other->member,
                                          fmt::format("\"{}\" ran {}", record.id, other->words),
                                          "fit each machine's steps apart"));
            return;
        }
        for (const std::string& text : asked->assumptions)
            steps.notes.push_back(fmt::format("{}: {}", record.id, text));
        steps.steps.push_back(std::move(asked->step));
    }

    MeasuredSteps finished()
    {
        steps.base = to_json(*first_);
        steps.base_name = first_->name;
        steps.before = first_->own_steps;
        steps.device = first_->hardware.device.name;
        steps.network = first_->hardware.network.name;
        return std::move(steps);
    }

    MeasuredSteps steps;
    Problems problems;

private:
    const std::string& base_;
    Session& session_;
    std::optional<Profile> first_;
    std::string first_id_;
    std::map<std::string, int> taken_; // line of each id
};

} // namespace

double MeasuredStep::error() const
{
    return std::log(measured.value() / predicted.value());
}

tl::expected<AskedRecord, std::string> ask_record(const MeasuredRecord& record,
                                                  const std::string& base, Session& session)
{
    RecordQuestion question = question_of(record, session);
    if (!question.skipped.empty())
        return tl::unexpected(question.skipped);
    if (!base.empty()) {
        question.file.scenario.profile = base;
        question.file.json["profile"] = base;
    }
    const Checked<Outcome> outcome = session.simulate(question.file);
    if (!outcome)
        return tl::unexpected(first_problem(outcome.error()));
    Checked<Profile> profile = stated_constants(question.file, outcome->cost->profile());
    if (!profile)
        return tl::unexpected(first_problem(profile.error()));
    // The framework of a record that names no profile is its own, not that of a profile fitted
    // later.
    if (question.file.scenario.profile.empty() && question.file.json.find("software") == nullptr)
        question.file.json["software"] = Json::object();
    AskedRecord out;
    out.step.id = record.id;
    out.step.file = record.file;
    out.step.line = record.line;
    out.step.measured = Seconds(record.step_time.value_or(0));
    out.step.predicted = outcome->step_time.value;
    out.step.job = job_class(outcome->scenario, outcome->job);
    out.step.model_class = class_of(outcome->job.model);
    out.step.question = std::move(question.file);
    out.profile = std::move(*profile);
    out.assumptions = std::move(question.assumptions);
    return out;
}

Checked<MeasuredSteps> measured_steps(std::span<const RecordFile> files, const std::string& base,
                                      Session& session, const WorkControl& work)
{
    std::size_t count = 0;
    Problems problems;
    for (const RecordFile& file : files) {
        count += file.records.size();
        for (const UnreadableRecord& bad : file.unreadable)
            problems.insert(problems.end(), bad.problems.begin(), bad.problems.end());
    }
    if (!problems.empty())
        return tl::unexpected(problems);
    const std::string where = files.empty() ? std::string() : files.front().file;
    if (count == 0)
        return rejected(where, "no record in it", "one to ten measured steps are needed");
    if (count > most_own_steps)
        return tl::unexpected(Problems{
            {where, 0, "", fmt::format("{} records, {} at most", count, most_own_steps),
             "keep those most like the jobs to predict; `validate --own-steps` scores many",
             Severity::error}});
    if (!base.empty())
        if (Checked<ProfileFile> read = load_profile(base); !read)
            return tl::unexpected(read.error());
    Taker taker(base, session);
    for (const RecordFile& file : files)
        for (std::size_t i = 0; i < file.records.size(); ++i) {
            work.check();
            taker.take(file.records[i], i);
        }
    if (!taker.problems.empty())
        return tl::unexpected(taker.problems);
    return taker.finished();
}

} // namespace trainyard
