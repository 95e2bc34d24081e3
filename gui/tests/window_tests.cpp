// The tests of the window: window_tests NAME [argument of Qt Test ...]

#include "gui/tests/window_test.h"

#include <cstdio>
#include <filesystem>
#include <map>

namespace trainyard::gui {

namespace {

std::map<std::string, WindowTest::Run>& known_tests()
{
    static std::map<std::string, WindowTest::Run> tests;
    return tests;
}

} // namespace

WindowTest::WindowTest(const char* file, Run run)
{
    known_tests().emplace(std::filesystem::path(file).stem().string(), run);
}

} // namespace trainyard::gui

int main(int argc, char** argv)
{
    const auto& tests = trainyard::gui::known_tests();
    const auto found = argc > 1 ? tests.find(argv[1]) : tests.end();
    if (found == tests.end()) {
        std::fputs("window_tests NAME [argument of Qt Test ...]; the names:\n", stderr);
        for (const auto& [name, run] : tests) {
            std::fprintf(stderr, "    %s\n", name.c_str());
        }
        return 2;
    }
    argv[1] = argv[0];
    return found->second(argc - 1, argv + 1);
}
