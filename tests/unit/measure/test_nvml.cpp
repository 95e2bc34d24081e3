#include "calibrate/measure/discover/visible_gpus.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/measure/simulated_nvml.h"

#include <algorithm>

using namespace trainyard;

namespace {

NvmlNode read_simulated(SimulatedNvml state)
{
    simulated_nvml() = std::move(state);
    const Found<NvmlNode> node = read_nvml(simulated_functions());
    CHECK(simulated_nvml().open_sessions == 0);
    REQUIRE(node);
    return *node;
}

MeasureFailure failure_of(SimulatedNvml state)
{
    simulated_nvml() = std::move(state);
    const Found<NvmlNode> node = read_nvml(simulated_functions());
    CHECK(simulated_nvml().open_sessions == 0);
    REQUIRE_FALSE(node);
    return node.error();
}

std::string only_doubt(const SimulatedNvml& state)
{
    const std::vector<std::string> found = doubts(read_simulated(state));
    REQUIRE(found.size() == 1);
    return found.front();
}

} // namespace

TEST_CASE("an H100 server is read whole and gives no doubt")
{
    const NvmlNode node = read_simulated(h100_server(8));
    CHECK(node.driver == "580.65.06");
    CHECK(node.cuda == "13.0");
    REQUIRE(node.gpus.size() == 8);
    const NvmlGpu& gpu = node.gpus[5];
    CHECK(gpu.address == "0000:84:00.0");
    CHECK(gpu.number == "0x2330");
    CHECK(gpu.capability == 90);
    CHECK(gpu.memory == Bytes(80ULL << 30));
    CHECK(gpu.power_limit == 700);
    CHECK(gpu.ecc == true);
    CHECK(gpu.mig == false);
    REQUIRE(gpu.links.size() == 18);
    CHECK(gpu.links[17].end == NvlinkEnd::nvswitch);
    CHECK(gpu.links[17].remote == "0000:c1:00.0");
    CHECK_THAT(gpu.links[17].rate.value(), WithinRel(26.562e9, 1e-12));
    CHECK(node.levels[0][3] == 10);
    CHECK(node.levels[4][3] == 50);
    CHECK(doubts(node).empty());
}

TEST_CASE("without a driver the message says what is missing and what to do")
{
    const auto none = NvmlLibrary::open({"libno-such-library.so.1"});
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == FailureKind::missing);
    CHECK_THAT(none.error().message,
               ContainsSubstring("driver is not installed: its library libno-such-library.so.1"));
    CHECK_THAT(none.error().fix, ContainsSubstring("start it with --gpus all"));

    // One that is there, but of another architecture or cut.
    const testing::Folder folder;
    const auto cut =
        NvmlLibrary::open({"libno-such-library.so.1", folder.file("libnvidia-ml.so.1", "\x7f"
                                                                                       "ELF")});
    REQUIRE_FALSE(cut);
    CHECK_THAT(cut.error().message, StartsWith("NVML cannot be opened: " + folder.path().string()));
    CHECK_THAT(cut.error().fix, ContainsSubstring("architecture"));

    // A library that opens but is none, or of a driver before 450.
    const auto other = NvmlLibrary::open({"libno-such-library.so.1", "libm.so.6"});
    REQUIRE_FALSE(other);
    CHECK_THAT(other.error().message, ContainsSubstring("libm.so.6 is no NVML"));

    SimulatedNvml unloaded;
    unloaded.init = nvml::driver_not_loaded;
    CHECK_THAT(failure_of(unloaded).fix, ContainsSubstring("modprobe nvidia"));
}

TEST_CASE("a driver newer than its kernel module, no permission, and no GPU are told apart")
{
    SimulatedNvml state;
    state.init = nvml::library_driver_mismatch;
    const MeasureFailure mismatch = failure_of(state);
    CHECK_THAT(mismatch.message, ContainsSubstring("Driver/library version mismatch (error 18)"));
    CHECK_THAT(mismatch.fix, ContainsSubstring("reboot"));

    state = h100_server(2);
    for (SimulatedGpu& gpu : state.gpus)
        gpu.opens = nvml::no_permission;
    const MeasureFailure refused = failure_of(state);
    CHECK(refused.kind == FailureKind::refused);
    CHECK_THAT(refused.fix, ContainsSubstring("/dev/nvidia"));

    CHECK_THAT(failure_of({}).message, ContainsSubstring("sees no GPU"));
    state.count = nvml::operating_system;
    CHECK_THAT(failure_of(state).message, ContainsSubstring("count the GPUs"));
}

TEST_CASE("one GPU that is lost leaves the others, and a doubt")
{
    SimulatedNvml state = h100_server(4);
    state.gpus[2].opens = nvml::gpu_is_lost;
    const NvmlNode node = read_simulated(state);
    CHECK(node.gpus.size() == 3);
    CHECK(node.gpus[2].index == 3);
    const std::vector<std::string> found = doubts(node);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], ContainsSubstring("GPU 2 cannot be opened"));
}

TEST_CASE("an old NVML without some functions is read as far as it goes")
{
    simulated_nvml() = h100_server(2);
    nvml::Functions old = simulated_functions();
    old.mig_mode = nullptr;
    old.processes = nullptr;
    old.fields = nullptr;
    old.common_ancestor = nullptr;
    old.error_string = nullptr;
    old.driver_version = nullptr;
    const Found<NvmlNode> node = read_nvml(old);
    REQUIRE(node);
    CHECK(node->gpus[0].mig == std::nullopt);
    CHECK(node->gpus[0].links[0].rate == Bandwidth(0));
    CHECK(node->levels[0][1] == -1);
    CHECK(node->gpus[0].lacks.size() == 2);
}

TEST_CASE("what makes a GPU's numbers doubtful is said, each with its number")
{
    SimulatedNvml state = h100_server(2);
    state.gpus[1].mig = 1;
    CHECK_THAT(only_doubt(state), StartsWith("GPU 1 is cut into MIG instances"));

    state = h100_server(2);
    state.gpus[0].processes = {4711, 4712};
    CHECK_THAT(only_doubt(state), StartsWith("GPU 0 is used by 2 other processes (4711, 4712)"));
    CHECK(doubts(read_simulated(state), {4711, 4712}).empty());
    CHECK(read_simulated(state).gpus[0].processes[0].memory == Bytes(1ULL << 30));
    CHECK(read_simulated(state).gpus[0].processes[1].memory == std::nullopt);

    state = h100_server(2);
    state.gpus[1].busy = 40;
    CHECK_THAT(only_doubt(state), StartsWith("GPU 1 is 40 % busy"));

    state = h100_server(2);
    state.gpus[0].slow_reasons = nvml::slow_hardware_thermal;
    CHECK_THAT(only_doubt(state), StartsWith("GPU 0 runs at 1200 of 1980 MHz: it is too hot"));

    state = h100_server(2);
    state.gpus[0].power_limit = 500'000;
    CHECK_THAT(only_doubt(state), StartsWith("GPU 0 may take 500 W; 700 W is usual"));

    state = h100_server(2);
    state.gpus[0].lanes = 8;
    CHECK_THAT(only_doubt(state), StartsWith("GPU 0 has 8 PCIe lanes where it could have 16"));

    state = h100_server(2);
    state.gpus[1].links[3].active = state.gpus[1].links[4].active = false;
    CHECK_THAT(only_doubt(state), StartsWith("2 of 18 NVLinks of GPU 1 are down (numbers 3, 4)"));

    state = h100_server(2);
    state.gpus[1].name = "NVIDIA H100 PCIe";
    CHECK_THAT(only_doubt(state), StartsWith("GPU 1 is a NVIDIA H100 PCIe"));

    state = h100_server(2);
    state.gpus[1].memory = nvml::no_permission;
    CHECK_THAT(only_doubt(state), StartsWith("GPU 1: memory: "));
}

TEST_CASE("a PCIe link that slows down while idle is no doubt, under load it is")
{
    SimulatedNvml state = h100_server(2);
    state.gpus[0].generation = 1;
    CHECK(doubts(read_simulated(state)).empty());
    state.gpus[0].busy = 3;
    CHECK_THAT(only_doubt(state), ContainsSubstring("generation 1 under load"));
}

TEST_CASE("hostile answers of a library end reading")
{
    SimulatedNvml state = h100_server(2);
    state.growing_processes = true;
    state.gpus[0].name = std::string(1000, '\x07');
    state.gpus[0].address = std::string(40, '9'); // fills its field, without an end
    state.gpus[1].links.resize(1000);
    const NvmlNode node = read_simulated(state);
    CHECK(node.gpus[0].address.empty());
    CHECK(node.gpus[0].name.find('\x07') == std::string::npos);
    CHECK(node.gpus[1].links.size() == 64);
    CHECK(node.gpus[0].processes.empty());
    CHECK_FALSE(node.gpus[0].lacks.empty());
}

TEST_CASE("C2C links that are up are counted, and trays of one NVLink domain name it alike")
{
    SimulatedNvml state = h100_server(2);
    state.gpus[0].c2c = {true, true, false, true, true};
    state.gpus[0].domain = 7;
    state.gpus[1].domain = 7;
    state.gpus[1].clique = 2;
    const NvmlNode node = read_simulated(state);
    CHECK(node.gpus[0].c2c_links == 4);
    CHECK_THAT(node.gpus[0].c2c_rate.value(), WithinRel(44.712e9, 1e-12));
    CHECK(node.gpus[1].c2c_links == 0);
    CHECK(node.gpus[0].nvlink_domain == "00000007000000000000000000000000.1");
    CHECK(node.gpus[1].nvlink_domain == "00000007000000000000000000000000.2");
    CHECK(read_simulated(h100_server(1)).gpus[0].nvlink_domain.empty());
}

TEST_CASE("GPUs are counted as CUDA_VISIBLE_DEVICES lets CUDA see them")
{
    CHECK(visible_gpus("0,1,2,3", 8) == 4);
    CHECK(visible_gpus(" 3 , 2 ", 8) == 2);
    CHECK(visible_gpus("", 8) == 0);
    CHECK(visible_gpus("-1", 8) == 0);
    CHECK(visible_gpus("NoDevFiles", 8) == 0);
    CHECK(visible_gpus("0,-1,1", 8) == 1); // CUDA stops at what names none
    CHECK(visible_gpus("0,8,1", 8) == 1);
    CHECK(visible_gpus("0,0", 8) == 1);
    CHECK(visible_gpus("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,MIG-x", 8) == 2);
    CHECK(visible_gpus("0,1", 1) == 1);
}
