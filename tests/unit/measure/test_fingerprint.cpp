#include "calibrate/measure/discover/launch.h"
#include "calibrate/measure/discover/record.h"
#include "sim/base/fields.h"
#include "sim/cost/fingerprint.h"
#include "tests/catch.h"
#include "tests/unit/measure/fake_machine.h"
#include "tests/unit/measure/simulated_nvml.h"

#include <cstdlib>

using namespace trainyard;

namespace {

MachineRecord h100_record()
{
    const FakeMachine machine;
    write_two_switch_server(machine, 4);
    simulated_nvml() = h100_server(8);
    const Found<NvmlNode> nvml = read_nvml(simulated_functions());
    REQUIRE(nvml);
    return machine_record(read_host(machine.root()), &*nvml);
}

RankLaunch launch_in(const Variables& variables)
{
    const Checked<RankLaunch> launch = launch_of(variables);
    REQUIRE(launch);
    return *launch;
}

} // namespace

TEST_CASE("the record of a machine is read as it was written")
{
    Environment here;
    here.machine = h100_record();
    CHECK(here.machine->cores == 8);
    CHECK(here.machine->ports == std::vector<std::string>{"mlx5_0 400 Gb/s", "mlx5_1 400 Gb/s"});
    REQUIRE(here.machine->gpus.size() == 8);
    CHECK(here.machine->gpus[0].nvlinks == 18);
    const Json json = fields_of<Environment>().write(here);
    Problems problems;
    Environment again;
    fields_of<Environment>().read(Reader(json, "here.json", problems), again);
    CHECK(problems.empty());
    CHECK(again == here);
    CHECK(differences(*here.machine, *again.machine).empty());
}

TEST_CASE("what changed on a machine is told in words")
{
    const MachineRecord there = h100_record();
    MachineRecord here = there;
    here.gpus[3].power_limit = 500;
    here.gpus[3].uuid = "GPU-other";
    here.gpus[4].nvlinks = 17;
    here.gpus[5].ecc = false;
    here.ports.pop_back();
    CHECK(differences(there, here) ==
          std::vector<std::string>{
              "GPU 3: another card, GPU-3 there, GPU-other here",
              "GPU 3: power limit 700 W there, 500 W here", "GPU 4: 18 NVLinks up there, 17 here",
              "GPU 5: ECC on there, off here", "network port mlx5_1 400 Gb/s there, not here"});
    here = there;
    here.gpus.resize(4);
    here.memory = Bytes(there.memory.value() * 99 / 100);
    CHECK(differences(there, here) == std::vector<std::string>{"8 GPUs there, 4 here"});
    // What one side does not know does not differ.
    here = there;
    here.governor.clear();
    here.gpus[0].power_limit = 0;
    here.gpus[0].mig.reset();
    CHECK(differences(there, here).empty());
}

TEST_CASE("what changed around a machine is told in words")
{
    Environment there;
    there.driver = "580.65.06";
    there.kernel = "6.1.0-18-amd64";
    there.launch = "processes of one host";
    Environment here = there;
    here.driver = "590.10";
    here.kernel = "6.8.0";
    here.launch = "Slurm";
    CHECK(differences(there, here) ==
          std::vector<std::string>{"driver 580.65.06 there, 590.10 here",
                                   "kernel 6.1.0-18-amd64 there, 6.8.0 here",
                                   "launched as processes of one host there, as Slurm here"});
}

TEST_CASE("only variables that change paths are kept, and no secret, host or address")
{
    const Variables kept = path_variables({
        {"NCCL_ALGO", "Tree"},
        {"NCCL_IB_HCA", "mlx5_0,mlx5_1"},
        {"NCCL_COMM_ID", "10.0.0.1:5000"},
        {"NCCL_SOCKET_IFNAME", "eth0"},
        {"NCCL_TOPO_FILE", "/home/ann/topo.xml"},
        {"NCCL_SECRET_KEY", "abc"},
        {"NCCL_DEBUG", "INFO"},
        {"UCX_TLS", "rc,cuda_copy"},
        {"UCX_AUTH", "abc"},
        {"FI_PROVIDER", "efa"},
        {"GLOO_SOCKET_IFNAME", "eth1"},
        {"GLOO_HOSTS", "a,b"},
        {"OMPI_MCA_btl", "self,tcp"},
        {"OMPI_MCA_btl_tcp_if_include", "10.1.0.0/16"},
        {"OMPI_MCA_orte_hnp_uri", "123.0;tcp://10.0.0.1:4242"},
        {"OMPI_MCA_pml_ucx_peers", "fe80::1"},
        {"CUDA_DEVICE_MAX_CONNECTIONS", "1"},
        {"CUDA_VISIBLE_DEVICES", "0,1"},
        {"CUDA_HOME", "/usr/local/cuda"},
        {"AWS_SECRET_ACCESS_KEY", "abc"},
        {"MASTER_ADDR", "10.0.0.1"},
        {"PATH", "/bin"},
    });
    const std::string out(value_left_out);
    CHECK(kept == Variables{{"NCCL_ALGO", "Tree"},
                            {"NCCL_IB_HCA", "mlx5_0,mlx5_1"},
                            {"NCCL_SOCKET_IFNAME", "eth0"},
                            {"NCCL_TOPO_FILE", out},
                            {"UCX_TLS", "rc,cuda_copy"},
                            {"FI_PROVIDER", "efa"},
                            {"GLOO_SOCKET_IFNAME", "eth1"},
                            {"GLOO_HOSTS", out},
                            {"OMPI_MCA_btl", "self,tcp"},
                            {"OMPI_MCA_btl_tcp_if_include", out},
                            {"OMPI_MCA_pml_ucx_peers", out},
                            {"CUDA_DEVICE_MAX_CONNECTIONS", "1"},
                            {"CUDA_VISIBLE_DEVICES", "0,1"}});
}

TEST_CASE("each launcher tells the place in its own variables")
{
    CHECK(launch_in({{"PATH", "/bin"}}) == RankLaunch{});
    CHECK(launch_in({{"RANK", "5"},
                     {"WORLD_SIZE", "16"},
                     {"LOCAL_RANK", "1"},
                     {"LOCAL_WORLD_SIZE", "4"}}) ==
          RankLaunch{LaunchStyle::torchrun, {5, 16, 1, 4}});
    CHECK(launch_in({{"OMPI_COMM_WORLD_RANK", "3"},
                     {"OMPI_COMM_WORLD_SIZE", "4"},
                     {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}) ==
          RankLaunch{LaunchStyle::open_mpi, {3, 4, 1, 2}});
    CHECK(launch_in({{"PMI_RANK", "1"},
                     {"PMI_SIZE", "2"},
                     {"MPI_LOCALRANKID", "1"},
                     {"MPI_LOCALNRANKS", "2"}}) == RankLaunch{LaunchStyle::pmi, {1, 2, 1, 2}});
    const Variables slurm{{"SLURM_PROCID", "6"},
                          {"SLURM_NTASKS", "8"},
                          {"SLURM_LOCALID", "2"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"}};
    CHECK(launch_in(slurm) == RankLaunch{LaunchStyle::slurm, {6, 8, 2, 4}});
}

TEST_CASE("launchers inside others, and scripts that only look like a launch")
{
    // mpirun inside a job of Slurm: its own variables count.
    Variables both{{"SLURM_PROCID", "0"},         {"SLURM_NTASKS", "8"},
                   {"SLURM_STEP_ID", "0"},        {"OMPI_COMM_WORLD_RANK", "3"},
                   {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "3"}};
    CHECK(launch_in(both).style == LaunchStyle::open_mpi);
    // A batch script outside srun, and words that others use too.
    CHECK(launch_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}) == RankLaunch{});
    CHECK(launch_in({{"WORLD_SIZE", "8"}}) == RankLaunch{});
    CHECK(launch_in({{"PMIX_RANK", "3"}}) == RankLaunch{}); // of how many is not said
}

TEST_CASE("launch variables that contradict each other are problems that name them")
{
    const auto message = [](const Variables& variables) {
        const Checked<RankLaunch> launch = launch_of(variables);
        REQUIRE_FALSE(launch);
        return launch.error().front().message;
    };
    CHECK(message({{"RANK", "8"}, {"WORLD_SIZE", "8"}}) == "RANK is 8, but WORLD_SIZE is 8");
    CHECK(message({{"OMPI_COMM_WORLD_RANK", "1"}}) ==
          "OMPI_COMM_WORLD_RANK is set, OMPI_COMM_WORLD_SIZE is not");
    CHECK(message({{"RANK", "-1"}, {"WORLD_SIZE", "8"}}) == "RANK is \"-1\": no number of ranks");
    CHECK(message({{"RANK", "1"}, {"WORLD_SIZE", "99999999999999999999"}}) ==
          "WORLD_SIZE is \"99999999999999999999\": no number of ranks");
    CHECK_THAT(
        message(
            {{"RANK", "1"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "4"}, {"LOCAL_WORLD_SIZE", "2"}}),
        StartsWith("LOCAL_RANK is 4"));
}

TEST_CASE("a process has variables")
{
    ::setenv("TRAINYARD_TEST_VARIABLE", "a=b", 1);
    CHECK(own_variables().at("TRAINYARD_TEST_VARIABLE") == "a=b");
}
