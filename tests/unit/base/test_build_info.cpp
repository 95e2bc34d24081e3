#include "sim/base/build_info.h"
#include "tests/catch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

TEST_CASE("the version has three parts")
{
    CHECK(std::count(trainyard::version().begin(), trainyard::version().end(), '.') == 2);
}

TEST_CASE("a program in the build tree reads its data from the source tree")
{
    CHECK(std::filesystem::exists(trainyard::data_dir() / "topologies"));
    CHECK(std::filesystem::exists(trainyard::data_dir() / "scenarios"));
    CHECK(std::filesystem::exists(trainyard::data_dir() / "calibrate" / "profiles"));
}

TEST_CASE("TRAINYARD_DATA overrides where data are read from")
{
    ::setenv("TRAINYARD_DATA", "/elsewhere", 1);
    CHECK(trainyard::data_dir() == "/elsewhere");
    ::unsetenv("TRAINYARD_DATA");
}
