// Runs golden cases:  golden [--update] CASE...
//
// A case's command runs in a new folder, in which `scenarios`, `topologies` and `data` (of this
// folder) lead to those of the source tree and `trainyard` is the program just built. --update
// takes over what was printed.

#include "tests/golden/case.h"
#include "tests/golden/match.h"
#include "tests/support/folder.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <cstdlib>
#include <iterator>
#include <set>
#include <stdexcept>

namespace trainyard::golden {
namespace {

namespace fs = std::filesystem;
using testing::Folder;

enum class Mode { compare, update };

std::string content_of(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> names_in(const fs::path& folder)
{
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        names.insert(entry.path().lexically_relative(folder).string());
    return names;
}

// The folder's name differs from run to run: outputs show it as "$PWD".
std::string without_folder(std::string text, const std::string& folder)
{
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
        text.replace(at, folder.size(), "$PWD");
    return text;
}

Outputs run(const Case& golden)
{
    const Folder place;
    const Folder outputs;
    const fs::path work = place.path() / "work";
    fs::create_directories(place.path() / "bin");
    fs::create_symlink(TRAINYARD_GOLDEN_PROGRAM, place.path() / "bin" / "trainyard");
    for (const auto& [name, content] : golden.files) {
        fs::create_directories((work / name).parent_path());
        std::ofstream(work / name, std::ios::binary) << content;
    }
    fs::create_directories(work);
    for (const char* shipped : {"scenarios", "topologies", "tests/golden/data"})
        if (const fs::path name = work / fs::path(shipped).filename(); !fs::exists(name))
            fs::create_directory_symlink(fs::path(TRAINYARD_GOLDEN_SOURCE) / shipped, name);
    const std::set<std::string> before = names_in(work);

    ::setenv("PATH",
             fmt::format("{}:{}", (place.path() / "bin").string(), std::getenv("PATH")).c_str(), 1);
    ::setenv("LC_ALL", "C", 1);
    const fs::path out = outputs.path() / "out";
    const fs::path err = outputs.path() / "err";
    const int status =
        std::system(fmt::format("cd '{}' && {{ {}\n}} </dev/null >'{}' 2>'{}'", work.string(),
                                golden.command, out.string(), err.string())
                        .c_str());
    Outputs result;
    result.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = without_folder(content_of(out), work.string());
    result.err = without_folder(content_of(err), work.string());
    for (const std::string& name : names_in(work))
        if (!before.contains(name))
            result.wrote += name + '\n';
    return result;
}

// The sections that differ, as expected and as they were.
std::string differences(const Case& golden, const Outputs& actual)
{
    std::string text;
    const auto compare = [&](const char* name, const std::string& expected,
                             const std::string& found) {
        if (!matches(expected, found, golden.tolerance))
            text +=
                fmt::format("--- {}: expected\n{}--- {}: found\n{}", name, expected, name, found);
    };
    const Outputs& expected = golden.expected;
    if (expected.exit != actual.exit)
        text += fmt::format("--- exit: expected {}, found {}\n", expected.exit, actual.exit);
    compare("stdout", expected.out, actual.out);
    compare("stderr", expected.err, actual.err);
    compare("wrote", expected.wrote, actual.wrote);
    return text;
}

// Takes over what changed; sections that still match keep their wildcards.
void update(Case& golden, const Outputs& actual)
{
    const auto take = [&golden](std::string& expected, const std::string& found) {
        if (!matches(expected, found, golden.tolerance))
            expected = found;
    };
    golden.expected.exit = actual.exit;
    take(golden.expected.out, actual.out);
    take(golden.expected.err, actual.err);
    take(golden.expected.wrote, actual.wrote);
}

bool run_case(const fs::path& file, Mode mode)
{
    Case golden = parse_case(content_of(file));
    const Outputs actual = run(golden);
    const std::string differing = differences(golden, actual);
    if (differing.empty())
        return true;
    if (mode == Mode::update) {
        update(golden, actual);
        std::ofstream(file, std::ios::binary) << to_text(golden);
        fmt::print("{}: updated\n", file.string());
        return true;
    }
    fmt::print("{}: {}$ {}\n{}", file.string(), golden.about, golden.command, differing);
    return false;
}

} // namespace
} // namespace trainyard::golden

int main(int argc, char** argv)
{
    using namespace trainyard::golden;
    const bool update = argc > 1 && std::string_view(argv[1]) == "--update";
    int failures = 0;
    for (int i = update ? 2 : 1; i < argc; ++i)
        try {
            failures += run_case(argv[i], update ? Mode::update : Mode::compare) ? 0 : 1;
        } catch (const std::exception& error) {
            fmt::print("{}: {}\n", argv[i], error.what());
            ++failures;
        }
    if (argc < (update ? 3 : 2))
        fmt::print("usage: golden [--update] CASE...\n");
    return failures == 0 && argc >= (update ? 3 : 2) ? EXIT_SUCCESS : EXIT_FAILURE;
}
