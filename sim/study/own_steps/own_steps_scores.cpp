#include "sim/study/own_steps/own_steps_scores.h"

#include "sim/base/parallel.h"
#include "sim/study/quantile.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

namespace trainyard {
namespace {

// A record with all that a fit needs of it.
struct Answered {
    std::string id;
    std::string machine; // source, device and network
    std::string architecture;
    JobClass job;
    ModelClass model_class = ModelClass::dense;
    double log_measured = 0;
    std::vector<double> prior;
    RateLimits limits;
    StepResponse response;

    // log(predicted / measured) with the rates of a fit.
    double error(std::span<const double> changes) const
    {
        return response.log_time + response.log_change(changes) - log_measured;
    }
};

using Members = std::vector<const Answered*>;

// The profiles of all records: most of a source share one.
class Bases {
public:
    std::shared_ptr<ChangedProfiles> of(const Profile& profile)
    {
        Json base = to_json(profile);
        const std::string text = to_text(base, JsonStyle::compact);
        const std::lock_guard lock(mutex_);
        std::shared_ptr<ChangedProfiles>& found = made_[text];
        if (found == nullptr)
            found = std::make_shared<ChangedProfiles>(std::move(base));
        return found;
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<ChangedProfiles>> made_;
};

tl::expected<Answered, std::string> answer(const MeasuredRecord& record, Session& session,
                                           Bases& bases)
{
    auto asked = ask_record(record, {}, session);
    if (!asked)
        return tl::unexpected(asked.error());
    RateTrials trials(session, bases.of(asked->profile));
    const std::vector<double> none(own_rates().size(), 0.0);
    Checked<StepResponse> response = trials.response(asked->step.question, none);
    if (!response)
        return tl::unexpected(first_problem(response.error()));
    Answered out;
    out.id = record.id;
    out.machine = fmt::format("{}, {}, {}", record.source.key, asked->profile.hardware.device.name,
                              asked->profile.hardware.network.name);
    out.architecture = record.model.architecture.empty() ? "not stated" : record.model.architecture;
    out.job = asked->step.job;
    out.model_class = asked->step.model_class;
    out.log_measured = std::log(*record.step_time);
    for (const OwnRate& rate : own_rates())
        out.prior.push_back(prior_spread(rate, trials.base()));
    out.limits = trials.limits();
    out.response = std::move(*response);
    return out;
}

// Calls `visit` with the indices of every `size` of `count`, or of evenly spread ones.
void for_each_choice(std::size_t count, std::size_t size,
                     const std::function<void(std::span<const std::size_t>)>& visit)
{
    if (size == 0 || size >= count)
        return;
    double all = 1;
    for (std::size_t i = 0; i < size; ++i)
        all *= static_cast<double>(count - i) / static_cast<double>(i + 1);
    const double each = std::max(1.0, all / static_cast<double>(most_own_step_fits));
    std::vector<std::size_t> chosen(size);
    std::iota(chosen.begin(), chosen.end(), 0);
    double next = 0;
    for (double at = 0;; ++at) {
        if (at >= next) {
            visit(chosen);
            next += each;
        }
        std::size_t i = size;
        while (i > 0 && chosen[i - 1] == count - size + i - 1)
            --i;
        if (i == 0)
            return;
        ++chosen[i - 1];
        for (; i < size; ++i)
            chosen[i] = chosen[i - 1] + 1;
    }
}

// Sums up fits and what they say of others.
class Tally {
public:
    explicit Tally(std::string name) { score_.name = std::move(name); }

    void stated(const Members& members)
    {
        const std::vector<double> none(own_rates().size(), 0.0);
        for (const Answered* member : members)
            stated_ += std::abs(std::expm1(member->error(none)));
        score_.records += members.size();
    }

    void add(const Members& own, const Members& others)
    {
        if (others.empty())
            return;
        std::vector<StepResponse> responses;
        std::vector<double> measured;
        RateFitOptions options;
        for (const Answered* step : own) {
            options.unexplained =
                std::max(options.unexplained, fit_options(step->model_class).unexplained);
            responses.push_back(step->response);
            measured.push_back(step->log_measured);
        }
        const RateFit fit =
            fit_rates(responses, measured, own.front()->prior, own.front()->limits, options);
        double sum = 0;
        for (const Answered* other : others) {
            const double error = other->error(fit.changes);
            sum += std::abs(std::expm1(error));
            inside_ += std::abs(error) <= fit.reach ? 1 : 0;
        }
        told_ += static_cast<double>(others.size());
        widths_.push_back(std::exp(2 * fit.reach));
        fitted_ += sum / static_cast<double>(others.size());
        ++score_.fits;
    }

    OwnStepsScore score()
    {
        if (score_.fits == 0)
            return score_;
        std::sort(widths_.begin(), widths_.end());
        score_.as_stated = stated_ / static_cast<double>(score_.records);
        score_.fitted = fitted_ / static_cast<double>(score_.fits);
        score_.covered = inside_ / told_;
        score_.high_over_low = quantile(widths_, 0.5);
        return score_;
    }

private:
    OwnStepsScore score_;
    double stated_ = 0;
    double fitted_ = 0;
    double inside_ = 0;
    double told_ = 0;
    std::vector<double> widths_;
};

// Members by index, and all others.
std::pair<Members, Members> split(const Members& members, std::span<const std::size_t> chosen)
{
    std::pair<Members, Members> out;
    for (std::size_t i = 0; i < members.size(); ++i)
        (std::find(chosen.begin(), chosen.end(), i) != chosen.end() ? out.first : out.second)
            .push_back(members[i]);
    return out;
}

OwnStepsScore machine_score(const std::string& name, const Members& members, std::size_t size)
{
    Tally tally(name);
    tally.stated(members);
    for_each_choice(members.size(), size, [&](std::span<const std::size_t> chosen) {
        const auto [own, others] = split(members, chosen);
        tally.add(own, others);
    });
    return tally.score();
}

// Each first step with those like it, of which the further ones are taken.
void add_alike(const Members& members, std::size_t size, std::map<std::string, Tally>& tallies)
{
    Members with_like;
    for (const Answered* first : members) {
        Members like;
        for (const Answered* other : members)
            if (other != first && alike(first->job, other->job))
                like.push_back(other);
        if (like.size() < size)
            continue;
        with_like.push_back(first);
        Tally& tally = tallies.try_emplace(first->architecture, first->architecture).first->second;
        tally.stated({first});
        if (size == 1) {
            tally.add({first}, like);
            continue;
        }
        for_each_choice(like.size(), size - 1, [&](std::span<const std::size_t> chosen) {
            auto [own, others] = split(like, chosen);
            own.insert(own.begin(), first);
            tally.add(own, others);
        });
    }
}

std::vector<const MeasuredRecord*> wanted(std::span<const RecordFile> files,
                                          const std::string& only)
{
    std::vector<const MeasuredRecord*> out;
    for (const RecordFile& file : files)
        for (const MeasuredRecord& record : file.records)
            if (record.step_time && !record.out_of_memory &&
                (record.id.find(only) != std::string::npos ||
                 record.source.key.find(only) != std::string::npos))
                out.push_back(&record);
    return out;
}

} // namespace

OwnStepsScores own_steps_scores(std::span<const RecordFile> files, int own_steps,
                                const std::string& only, const WorkControl& work)
{
    const std::vector<const MeasuredRecord*> records = wanted(files, only);
    std::vector<tl::expected<Answered, std::string>> answers(records.size());
    Session session;
    Bases bases;
    std::mutex reporting;
    std::size_t done = 0;
    for_each_index(records.size(), usable_threads(), [&](std::size_t i) {
        work.check();
        answers[i] = answer(*records[i], session, bases);
        const std::lock_guard lock(reporting);
        work.report("own steps", static_cast<double>(++done), static_cast<double>(records.size()));
    });

    OwnStepsScores out;
    out.own_steps = own_steps;
    std::map<std::string, Members> machines;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (answers[i])
            machines[answers[i]->machine].push_back(&*answers[i]);
        else
            out.skipped.push_back(fmt::format("{}: {}", records[i]->id, answers[i].error()));
    const auto size = static_cast<std::size_t>(own_steps);
    std::map<std::string, Tally> tallies;
    for (const auto& [name, members] : machines) {
        if (members.size() > size)
            out.machines.push_back(machine_score(name, members, size));
        add_alike(members, size, tallies);
    }
    for (auto& [name, tally] : tallies)
        out.alike.push_back(tally.score());
    return out;
}

} // namespace trainyard
