#include "tests/validation/loop/options.h"

#include <CLI/CLI.hpp>

namespace trainyard::loop {

ParsedLoopOptions parse_loop_options(int argc, char** argv)
{
    LoopOptions options;
    BucketLimits buckets;
    bool overlap = false;
    TrainingPlan& plan = options.plan;
    CLI::App app{"Trains a perceptron on several ranks and prints what its steps took, as JSON"};
    app.add_option("--widths", plan.sizes.widths, "of the input and of each layer's output")
        ->delimiter(',')
        ->required()
        ->check(CLI::PositiveNumber);
    app.add_option("--batch", plan.sizes.batch, "samples of a rank")
        ->required()
        ->check(CLI::PositiveNumber);
    app.add_flag("--overlap", overlap, "all-reduce buckets beside backward");
    app.add_option("--bucket", buckets.others, "bytes of a bucket")->check(CLI::PositiveNumber);
    app.add_option("--first-bucket", buckets.first, "bytes of the first bucket")
        ->check(CLI::PositiveNumber);
    app.add_option("--steps", plan.steps)->check(CLI::PositiveNumber);
    app.add_option("--warm-up", plan.warm_up, "steps before them")->check(CLI::PositiveNumber);
    app.add_option("--ranks", options.ranks)->check(CLI::Range(1, 64));
    app.add_option("--limit", options.limit, "seconds until it is given up")
        ->check(CLI::Range(1, 3600));
    CLI::Option* store = app.add_option("--store", options.store, "a folder where ranks meet");
    app.add_option("--rank", options.rank, "only this one is started here")
        ->check(CLI::NonNegativeNumber)
        ->needs(store);
    try {
        app.parse(argc, argv);
        if (plan.sizes.widths.size() < 2)
            throw CLI::ValidationError("--widths", "needs an input and an output");
    } catch (const CLI::ParseError& error) {
        return {std::nullopt, app.exit(error)};
    }
    if (overlap)
        plan.overlap = buckets;
    return {options, 0};
}

} // namespace trainyard::loop
