#include "calibrate/measure/discover/look.h"
#include "calibrate/measure/discover/nvidia_smi.h"
#include "sim/base/files.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/support/set_variable.h"

#include <fmt/core.h>

#include <csignal>
#include <fstream>
#include <thread>

using namespace trainyard;
using testing::Folder;
using testing::SetVariable;

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* matrix = R"(	GPU0	GPU1	CPU Affinity	NUMA Affinity
GPU0	 X 	NV12	0-31	0
GPU1	NV12	 X 	0-31	0

Legend:
  X    = Self
)";

// A folder that is all of PATH, with a shell script called nvidia-smi.
class FakeSmi {
public:
    explicit FakeSmi(const std::string& script) : path_("PATH", folder_.path().string())
    {
        const fs::path file = folder_.path() / "nvidia-smi";
        std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
        fs::permissions(file, fs::perms::owner_all);
    }

    fs::path file(const char* name) const { return folder_.path() / name; }

private:
    Folder folder_;
    SetVariable path_;
};

std::string printing(const std::string& text)
{
    return "/bin/cat <<'END'\n" + text + "END";
}

// Killed, and nobody's child any more.
bool is_gone(int process)
{
    for (int i = 0; i < 200; ++i) {
        if (::kill(process, 0) != 0)
            return true;
        std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
}

LookSettings without_nvml()
{
    LookSettings out;
    out.nvml_files = {"libno-such-library.so.1"};
    out.smi_limit = milliseconds(20'000);
    return out;
}

} // namespace

TEST_CASE("nvidia-smi gives its matrix, with the arguments that ask for it")
{
    const FakeSmi smi("echo \"$@\" > "
                      "\"${0%/*}/asked\"\n" +
                      printing(matrix));
    const SmiAnswer answer = ask_nvidia_smi();
    CHECK(answer.matrix == matrix);
    CHECK(answer.lacks.empty());
    CHECK(read_file(smi.file("asked")) == "topo -m\n");
}

TEST_CASE("where PATH has no nvidia-smi there is nothing, and nothing to say")
{
    const Folder empty;
    const SetVariable path("PATH", empty.path().string());
    CHECK(ask_nvidia_smi() == SmiAnswer{});
}

TEST_CASE("an nvidia-smi that fails or prints something else says so in its own words")
{
    {
        const FakeSmi smi("echo; echo 'NVIDIA-SMI has failed because it could not talk to the "
                          "driver'; exit 9");
        CHECK(ask_nvidia_smi().lacks == "nvidia-smi topo -m ended with code 9: NVIDIA-SMI has "
                                        "failed because it could not talk to the driver");
    }
    {
        const FakeSmi smi("echo No devices were found");
        CHECK(ask_nvidia_smi() ==
              SmiAnswer{"", "nvidia-smi topo -m printed no matrix: No devices were found"});
    }
    {
        const FakeSmi smi("kill -SEGV $$");
        CHECK(ask_nvidia_smi().lacks == "nvidia-smi topo -m was killed by signal 11");
    }
    {
        const FakeSmi smi("echo broken >&2; exit 1");
        CHECK(ask_nvidia_smi().lacks == "nvidia-smi topo -m ended with code 1: broken");
    }
}

TEST_CASE("an nvidia-smi that hangs is ended, and its time is bounded")
{
    const auto [how, script] = GENERATE(table<std::string, std::string>({
        {"silent", "exec /bin/sleep 3600"},
        {"with its output closed", "exec >/dev/null 2>&1 /bin/sleep 3600"},
        {"talking without end", "while :; do echo more and more; done"},
        {"deaf", "trap '' TERM INT; exec /bin/sleep 3600"},
    }));
    INFO(how);
    const FakeSmi smi("echo $$ > \"${0%/*}/process\"\n" + script);
    const SmiAnswer answer = ask_nvidia_smi(milliseconds(700));
    CHECK(answer.matrix.empty());
    CHECK(answer.lacks == "nvidia-smi topo -m did not end within 0.7 s: the driver may hang");
    CHECK(is_gone(std::stoi(read_file(smi.file("process")))));
}

TEST_CASE("where NVML cannot be opened nvidia-smi tells the GPUs, and doubts say what is not known")
{
    const FakeSmi smi(printing(matrix));
    const NodeLook look = look_at_node(without_nvml());
    CHECK_FALSE(look.sources.smi_matrix.empty());
    CHECK_FALSE(look.sources.nvml);
    CHECK_THAT(look.doubts.back(),
               StartsWith("whether the GPUs are idle and sound is not known: "));
    const Checked<DiscoveredNode> node = discover_node(look.sources);
    REQUIRE(node);
    CHECK(node->map.gpus.size() == 2);
    CHECK(node->classes[0][1] == "NV12");
}

TEST_CASE("without NVML and nvidia-smi the look ends with why, and processors are asked no GPUs")
{
    const Folder empty;
    const SetVariable path("PATH", empty.path().string());
    const NodeLook look = look_at_node(without_nvml());
    CHECK_FALSE(look.sources.nvml);
    CHECK(look.sources.smi_matrix.empty());
    CHECK_THAT(look.no_nvml, ContainsSubstring("libno-such-library.so.1"));

    const FakeSmi smi("touch \"${0%/*}/asked\"; exit 1");
    LookSettings processors = without_nvml();
    processors.gpus = false;
    processors.cpu_ranks = 3;
    CHECK(look_at_node(processors).sources.cpu_ranks == 3);
    CHECK(look_at_node(processors).no_nvml.empty());
    CHECK_FALSE(fs::exists(smi.file("asked")));
}
