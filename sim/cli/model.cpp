#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/report/model/model_text.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_import.h"

#include <CLI/CLI.hpp>

namespace trainyard {
namespace {

struct ModelOptions {
    std::vector<std::string> models;
    std::optional<std::int64_t> sequence_length;
    bool json = false;

    ModelSummary summary_of(const Model& model) const
    {
        return summarize(model, sequence_length.value_or(usual_sequence_length(model)));
    }
};

Checked<ImportedModel> model_named(const std::string& name)
{
    if (name.empty())
        return rejected("", "no model is named",
                        "a file, a folder with one, or a shipped model's name");
    ScenarioFile beside;
    beside.base = std::filesystem::current_path();
    return find_input(source_from(name, beside.base), InputKind::model, beside)
        .and_then([&](const Input& input) { return import_model(input.json, input.file); });
}

int run_model_show(const ModelOptions& options)
{
    Json all = Json::array();
    for (const std::string& name : options.models) {
        const Checked<ImportedModel> read = model_named(name);
        if (!read)
            return refuse(read.error(), "nothing was shown.");
        const ModelSummary summary = options.summary_of(read->model);
        if (options.json)
            all.push_back(to_json(summary, *read));
        else
            print_data((&name == &options.models.front() ? "" : "\n") + describe(summary, *read));
    }
    if (options.json)
        print_data(to_text(options.models.size() == 1 ? all.items().front() : all) + "\n");
    return exit_ok;
}

int run_model_list(const ModelOptions& options)
{
    std::vector<ModelSummary> models;
    Json all = Json::array();
    for (const std::string& name : shipped_inputs(InputKind::model)) {
        const Checked<ImportedModel> read = model_named(name);
        if (!read)
            return refuse(read.error(), "nothing was listed.");
        models.push_back(options.summary_of(read->model));
        models.back().name = name;
        all.push_back(to_json(models.back(), *read));
    }
    print_data(options.json ? to_text(all) + "\n" : model_table(models));
    return exit_ok;
}

} // namespace

void add_model(CLI::App& program, Command& chosen)
{
    CLI::App* const model = program.add_subcommand("model", "Look at models: show, list");
    model->require_subcommand(1);
    model->footer("Examples: trainyard model show llama-3.1-70b\n"
                  "          trainyard model show my/config.json --sequence-length 32768\n"
                  "          trainyard model list");
    auto options = std::make_shared<ModelOptions>();
    const auto add_common = [&](CLI::App* part) {
        part->add_option("--sequence-length", options->sequence_length,
                         "tokens of the sequences that attention's operations are counted in "
                         "(4096, or as many as the model has positions)")
            ->check(CLI::Range(1, 1 << 24));
        part->add_flag("--json", options->json, "print as JSON");
    };

    CLI::App* const show = model->add_subcommand(
        "show", "Layers by kind, parameters, operations of a token, keys and values, memory");
    show->add_option("model", options->models,
                     "a config.json, a model.json, a folder with one, or a shipped model's name")
        ->required()
        ->type_name("FILE|NAME");
    add_common(show);
    show->callback([&chosen, options] { chosen = [options] { return run_model_show(*options); }; });

    CLI::App* const list =
        model->add_subcommand("list", "The shipped models: parameters, layers by kind");
    add_common(list);
    list->callback([&chosen, options] { chosen = [options] { return run_model_list(*options); }; });
}

} // namespace trainyard
