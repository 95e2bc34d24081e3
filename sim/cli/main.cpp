#include "sim/base/build_info.h"

#include <CLI/CLI.hpp>

#include <string>

int main(int argc, char** argv)
{
    CLI::App app{"Simulator and capacity planner for distributed training", "trainyard"};
    app.set_version_flag("--version", std::string(trainyard::version()));
    CLI11_PARSE(app, argc, argv);
    return 0;
}
