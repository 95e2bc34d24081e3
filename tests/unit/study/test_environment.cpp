// Launch variables that a prediction follows.

#include "sim/cost/algorithms/ring.h"
#include "sim/cost/algorithms/tree.h"
#include "sim/cost/profile_library.h"
#include "sim/study/environment.h"
#include "sim/study/environment_effects.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

using Variables = std::map<std::string, std::string>;

const Profile& profile()
{
    static const Profile value = [] {
        ProfileRequest request;
        request.device = "H100";
        request.software = "mcore-2025";
        return assemble(request).value();
    }();
    return value;
}

EnvironmentEffects effects(const Variables& environment,
                           Transport transport = Transport::infiniband, double nvlink = 450e9)
{
    DeviceAttachment device;
    device.nvlink = Bandwidth(nvlink);
    NodeNetwork network;
    network.transport = transport;
    return effects_of(environment, {profile(), device, network, false});
}

// A job on two nodes whose step is long enough to show what communication costs.
SimTime step_time_under(const Variables& environment, int tp = 8)
{
    Scenario scenario;
    scenario.model.path = "llama-3.1-8b";
    scenario.training.sequence_length = 4096;
    scenario.training.global_batch = 4;
    scenario.strategy.tp = tp;
    scenario.topology.path = "h100-8x8-ndr400";
    scenario.strategy.dp = 16 / tp;
    scenario.environment = environment;
    Session session;
    return session.simulate(scenario_in_memory(scenario, ".", "test"))->result->step_time;
}

} // namespace

TEST_CASE("nothing set changes nothing")
{
    const EnvironmentEffects none = effects({});
    CHECK(none.nccl == NcclSettings{});
    CHECK(none.notes.empty());
    CHECK(none.ordered_launches);
    CHECK_FALSE(none.blocking_launches);
}

TEST_CASE("a distance is the same by its word and by the number that stood for it before NCCL 2.5")
{
    // 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and 5 SYS
    CHECK(effects({{"NCCL_NET_GDR_LEVEL", "0"}}).nccl ==
          effects({{"NCCL_NET_GDR_LEVEL", "LOC"}}).nccl);
    CHECK_FALSE(effects({{"NCCL_NET_GDR_LEVEL", "0"}}).nccl.gpu_direct);
    CHECK(effects({{"NCCL_NET_GDR_LEVEL", "3"}}).nccl == NcclSettings{});
    CHECK(effects({{"NCCL_P2P_LEVEL", "0"}}).nccl == effects({{"NCCL_P2P_LEVEL", "LOC"}}).nccl);
    CHECK(effects({{"NCCL_P2P_LEVEL", "5"}}, Transport::infiniband, 0).followed ==
          effects({{"NCCL_P2P_LEVEL", "SYS"}}, Transport::infiniband, 0).followed);
}

TEST_CASE("a value that the library replaces by its own changes nothing")
{
    for (const auto& [name, value] : Variables{{"NCCL_MAX_NCHANNELS", "0"},
                                               {"NCCL_MIN_CTAS", "1000"},
                                               {"NCCL_SOCKET_NTHREADS", "many"},
                                               {"NCCL_NTHREADS", "16"}})
    {
        INFO(name);
        CHECK(effects({{name, value}}, Transport::tcp).nccl == NcclSettings{});
        CHECK(check_environment({{name, value}}).front().severity == Severity::warning);
    }
}

TEST_CASE("each variable that is followed says what it did, and its warning is gone")
{
    const Variables all{{"NCCL_P2P_DISABLE", "1"},     {"NCCL_IB_DISABLE", "1"},
                        {"NCCL_NVLS_ENABLE", "0"},     {"NCCL_MAX_NCHANNELS", "4"},
                        {"NCCL_ALGO", "^Tree"},        {"NCCL_PROTO", "Simple"},
                        {"CUDA_LAUNCH_BLOCKING", "1"}, {"CUDA_DEVICE_MAX_CONNECTIONS", "8"},
                        {"NVTE_FUSED_ATTN", "0"},      {"NCCL_SOCKET_NTHREADS", "4"}};
    const EnvironmentEffects out = effects(all);
    CHECK(out.notes.size() == all.size());
    CHECK(out.followed.size() == all.size());
    CHECK(check_environment(all, out.followed).empty());
    CHECK(out.nccl.host_path);
    CHECK(out.nccl.sockets);
    CHECK(out.nccl.max_per_nic->value() == Approx(4 * 0.94e9));
    CHECK_FALSE(out.nccl.nvls);
    CHECK(out.nccl.most_channels == 4);
    CHECK(std::ranges::count(out.nccl.algorithms, &algorithms::tree) == 0);
    CHECK(std::ranges::count(out.nccl.algorithms, &algorithms::ring) == 1);
    CHECK(out.nccl.protocols == std::vector<Protocol>{Protocol::simple});
    CHECK(out.blocking_launches);
    CHECK_FALSE(out.ordered_launches);
    CHECK(out.attention == AttentionKernel::flash2);
}

TEST_CASE("each word of NCCL_ALGO asks for the algorithm it means, and ^ for all others")
{
    for (const auto& [name, algorithm] : nccl_algorithm_words()) {
        const std::string word(name);
        INFO(word);
        CHECK(is_accepted("NCCL_ALGO", word));
        const auto asked = effects({{"NCCL_ALGO", word}}).nccl.algorithms;
        const auto others = effects({{"NCCL_ALGO", "^" + word}}).nccl.algorithms;
        CHECK(asked.size() == (algorithm != nullptr ? 1 : 0));
        for (const Algorithm* any : all_algorithms()) {
            const bool has_word = !any->nccl_words.front().empty();
            CHECK(std::ranges::count(asked, any) == (any == algorithm ? 1 : 0));
            CHECK((std::ranges::count(others, any) > 0) == (has_word && any != algorithm));
        }
    }
}

TEST_CASE("what cannot be followed keeps its warning")
{
    const Variables some{{"NCCL_BUFFSIZE", "8388608"},
                         {"NCCL_NTHREADS", "256"},
                         {"NCCL_CROSS_NIC", "1"},
                         {"NCCL_ALGO", "PAT"},
                         {"NCCL_NET_PLUGIN", "x"}};
    const EnvironmentEffects out = effects(some);
    CHECK(out.followed.empty());
    CHECK(check_environment(some, out.followed).size() == some.size());
}

TEST_CASE("a variable without effect here is silent")
{
    const Variables calm{{"NCCL_P2P_DISABLE", "0"},
                         {"NCCL_P2P_LEVEL", "NVL"},
                         {"NCCL_SHM_DISABLE", "1"},
                         {"NCCL_MAX_NCHANNELS", "64"},
                         {"CUDA_DEVICE_MAX_CONNECTIONS", "1"},
                         {"NVTE_FLASH_ATTN", "0"}};
    const EnvironmentEffects out = effects(calm);
    CHECK(out.notes.empty());
    CHECK(check_environment(calm, out.followed).empty());
    CHECK(effects({{"NCCL_IB_DISABLE", "1"}}, Transport::efa).notes.empty());
    CHECK_FALSE(effects({{"NCCL_IB_DISABLE", "1"}}, Transport::efa).nccl.sockets);
}

TEST_CASE("peer copies at NVLink level only are none on a PCIe server")
{
    CHECK(effects({{"NCCL_P2P_LEVEL", "NVL"}}, Transport::infiniband, 0).nccl.host_path);
    const Variables level{{"NCCL_P2P_LEVEL", "PXB"}}; // which pairs share a switch is not known
    CHECK(check_environment(level, effects(level, Transport::infiniband, 0).followed).size() == 1);
}

TEST_CASE("Transformer Engine without fused kernels runs attention unfused")
{
    CHECK(effects({{"NVTE_FLASH_ATTN", "0"}, {"NVTE_FUSED_ATTN", "0"}}).attention ==
          AttentionKernel::unfused);
}

TEST_CASE("variables that close paths make a step longer, never shorter")
{
    const SimTime usual = step_time_under({});
    for (const Variables& environment :
         {Variables{{"NCCL_P2P_DISABLE", "1"}}, Variables{{"NCCL_IB_DISABLE", "1"}},
          Variables{{"NCCL_NET_GDR_LEVEL", "LOC"}}, Variables{{"NCCL_MAX_NCHANNELS", "2"}},
          Variables{{"NCCL_PROTO", "LL"}}, Variables{{"CUDA_LAUNCH_BLOCKING", "1"}},
          Variables{{"CUDA_DEVICE_MAX_CONNECTIONS", "32"}}})
    {
        INFO(environment.begin()->first);
        CHECK(step_time_under(environment) >= usual);
    }
    CHECK(step_time_under({{"NCCL_P2P_DISABLE", "1"}}).value() > 2 * usual.value());
}

TEST_CASE("communicators made in every iteration lengthen each step by their creation")
{
    Scenario scenario;
    scenario.model.path = "gpt2-xl";
    scenario.training.sequence_length = 1024;
    scenario.training.global_batch = 8;
    scenario.topology.path = "h100-1x8";
    scenario.software.framework = "torch-ddp";
    Session session;
    const auto step = [&] {
        return to_seconds(
                   session.simulate(scenario_in_memory(scenario, ".", "test"))->result->step_time)
            .value();
    };
    const double once = step();
    scenario.software.communicators = CommunicatorLife::every_iteration;
    // One communicator of 8 ranks: 1.37 s + 8 x 0.084 s.
    CHECK(step() - once == Approx(1.37 + 8 * 0.084).epsilon(0.01));
}
