#include "sim/strategy/pipeline/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace trainyard {

namespace {

constexpr std::size_t most_letters = 1'000'000;

// Letters and bars with every repetition written out.
class Unroller {
public:
    explicit Unroller(std::string_view text)
    {
        for (const char c : text)
            if (c != ',' && std::isspace(static_cast<unsigned char>(c)) == 0)
                text_ += c;
    }

    tl::expected<std::string, std::string> run()
    {
        std::string all = sequence(0);
        if (why_.empty() && at_ < text_.size())
            why_ = fmt::format("a \")\" closes nothing at \"{}\"", text_.substr(at_));
        if (!why_.empty())
            return tl::unexpected(why_);
        return all;
    }

private:
    std::string sequence(int depth)
    {
        std::string out;
        while (why_.empty() && at_ < text_.size() && text_[at_] != ')') {
            const std::string one = item(depth);
            const std::size_t times = repetitions();
            if (one.size() * times > most_letters - std::min(out.size(), most_letters))
                why_ = "it repeats without end";
            for (std::size_t i = 0; why_.empty() && i < times; ++i)
                out += one;
        }
        return out;
    }

    std::string item(int depth)
    {
        const char c = text_[at_];
        if (c != '(') {
            if (std::string_view("EtmL|").find(c) == std::string_view::npos)
                why_ = fmt::format("\"{}\" is none of E, t, m, L, |, (, ) and *", c);
            ++at_;
            return {c};
        }
        ++at_;
        if (depth == 16) {
            why_ = "groups lie too deep in each other";
            return {};
        }
        std::string inner = sequence(depth + 1);
        if (why_.empty() && at_ == text_.size())
            why_ = "a \"(\" is never closed";
        ++at_;
        return inner;
    }

    std::size_t repetitions()
    {
        if (!why_.empty() || at_ >= text_.size() || text_[at_] != '*')
            return 1;
        std::size_t times = 0;
        const std::size_t first = ++at_;
        for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
             ++at_)
            times =
                std::min(most_letters + 1, times * 10 + static_cast<std::size_t>(text_[at_] - '0'));
        if (at_ == first)
            why_ = "no number follows a \"*\"";
        return times;
    }

    std::string text_;
    std::string why_;
    std::size_t at_ = 0;
};

// "E before anything else in the first stage, L after everything in the last"
std::string order_flaw(std::string_view letters)
{
    const auto count = [&](char c) { return std::count(letters.begin(), letters.end(), c); };
    if (count('E') != 1 || letters.front() != 'E')
        return "it does not begin with the one embedding, E";
    if (count('L') != 1 || letters.back() != 'L')
        return "it does not end with the one loss, L";
    const std::size_t first_prediction = letters.find('m');
    if (first_prediction != std::string_view::npos &&
        letters.rfind('t') != std::string_view::npos && letters.rfind('t') > first_prediction)
        return "a layer, t, comes after a prediction layer, m";
    if (first_prediction != std::string_view::npos &&
        letters.rfind('|') != std::string_view::npos && letters.rfind('|') > first_prediction)
        return "a prediction layer, m, lies apart from the loss, L, which is not modelled: it "
               "shares "
               "its matrices";
    return {};
}

Problems layout_problem(std::string message, std::string hint)
{
    return {refusal("/strategy/pipeline/layout", std::move(message), std::move(hint))};
}

Problems lay_out_as_said(Job& job, const Transformer& model)
{
    const std::string& text = job.strategy.pipeline.layout;
    const auto stages = parse_layout(text);
    if (!stages)
        return layout_problem(fmt::format("\"{}\" is no layout: {}", text, stages.error()),
                              "E embedding, t layer, m prediction layer, L loss, | next stage, "
                              "(tt|)*4 repeats, e.g. Ett|(ttt|)*6tL");
    const std::int64_t virtual_stages = std::int64_t{job.strategy.pp} * job.strategy.vpp;
    if (static_cast<std::int64_t>(stages->size()) != virtual_stages)
        return layout_problem(fmt::format("the layout has {} stages for {} (pp x vpp)",
                                          stages->size(), virtual_stages),
                              fmt::format("give {} stages, with {} bars between them",
                                          virtual_stages, virtual_stages - 1));
    int layers = 0;
    std::vector<int> counts;
    for (const StageLetters& stage : *stages) {
        layers += stage.layers;
        counts.push_back(stage.layers);
    }
    const int prediction = stages->back().prediction_layers;
    if (layers != model.layers || prediction != model.prediction_layers)
        return layout_problem(
            fmt::format("the layout has {} layers and {} prediction layers, the model {} and {}",
                        layers, prediction, model.layers, model.prediction_layers),
            fmt::format("give {} t and {} m", model.layers, model.prediction_layers));
    job.strategy.stage_layers = std::move(counts);
    return {};
}

Problems lay_out_evenly(Job& job, const Transformer& model)
{
    const PipelineOptions& options = job.strategy.pipeline;
    const int first = options.account_for_embedding ? 1 : 0;
    const int last = options.account_for_loss ? 1 : 0;
    const int stages = job.strategy.pp * job.strategy.vpp;
    const auto works = [&](int count) {
        return (model.layers + first + last) % count == 0 &&
               (model.layers + first + last) / count >= (count == 1 ? first + last : 1);
    };
    if (!works(stages))
        return {refusal(
            options.account_for_embedding ? "/strategy/pipeline/account_for_embedding"
                                          : "/strategy/pipeline/account_for_loss",
            fmt::format("{} stages do not divide the {} layers and {} that embedding "
                        "and loss count as",
                        stages, model.layers, first + last),
            sizes_that_work("virtual stages (pp x vpp)", model.layers + first + last, works) +
                "; or say what each stage holds in pipeline.layout")};
    std::vector<int> layers(static_cast<std::size_t>(stages),
                            (model.layers + first + last) / stages);
    layers.front() -= first;
    layers.back() -= last;
    job.strategy.stage_layers = std::move(layers);
    return {};
}

} // namespace

tl::expected<std::vector<StageLetters>, std::string> parse_layout(std::string_view text)
{
    const tl::expected<std::string, std::string> letters = Unroller(text).run();
    if (!letters)
        return tl::unexpected(letters.error());
    if (letters->empty())
        return tl::unexpected(std::string("it is empty"));
    if (std::string why = order_flaw(*letters); !why.empty())
        return tl::unexpected(std::move(why));
    std::vector<StageLetters> stages(1);
    for (const char letter : *letters) {
        if (letter == '|')
            stages.emplace_back();
        stages.back().embedding |= letter == 'E';
        stages.back().layers += letter == 't';
        stages.back().prediction_layers += letter == 'm';
        stages.back().loss |= letter == 'L';
    }
    const auto nothing = std::ranges::find_if(stages, &StageLetters::empty);
    if (nothing != stages.end())
        return tl::unexpected(
            fmt::format("stage {} holds nothing, which is not modelled", nothing - stages.begin()));
    return stages;
}

Problems lay_out(Job& job)
{
    const PipelineOptions& options = job.strategy.pipeline;
    const bool accounts = options.account_for_embedding || options.account_for_loss;
    const auto* model = std::get_if<Transformer>(&job.model.architecture);
    if (options.layout.empty() && !accounts)
        return {};
    if (model == nullptr)
        return {refusal("/strategy/pipeline", "a list of layers has no pipeline to lay out",
                        "leave out layout, account_for_embedding and account_for_loss")};
    if (!job.strategy.stage_layers.empty() || (accounts && !options.layout.empty()))
        return {refusal("/strategy/pipeline",
                        "the layers of stages are said more than once: by stage_layers, by "
                        "pipeline.layout, by account_for_embedding or account_for_loss",
                        "keep one of them")};
    return options.layout.empty() ? lay_out_evenly(job, *model) : lay_out_as_said(job, *model);
}

} // namespace trainyard
