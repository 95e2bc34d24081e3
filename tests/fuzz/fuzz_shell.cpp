#include "sim/study/jobs/shell/launch.h"
#include "tests/fuzz/input.h"

using namespace trainyard;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const Checked<ShellScript> script =
        read_shell(traced(fuzz::text_of(data, size)), "fuzz.sh", {});
    if (!script) {
        fuzz::require(!script.error().empty(), "a refused script has a reason");
        return 0;
    }
    for (const ShellCommand& command : script->commands)
        for (const TracedText& word : command.words)
            fuzz::require(word.lines.size() == word.text.size(), "every letter has a line");
    find_launch(*script);
    return 0;
}
