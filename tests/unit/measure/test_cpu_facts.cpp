#include "calibrate/measure/discover/cpu_facts.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

using namespace trainyard;
using trainyard::testing::Folder;

TEST_CASE("a processor is read as the system shows it")
{
    const Folder folder;
    folder.file("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU 9000\nphysical id\t: 0\n"
                                "flags\t\t: fpu avx2 hypervisor\n\nprocessor\t: 1\n"
                                "model name\t: Some CPU 9000\nphysical id\t: 1\n");
    folder.file("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    600 kB\n");
    folder.file("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    folder.file("sys/devices/system/cpu/cpu0/cache/index3/size", "32M\n");
    folder.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    folder.file("sys/devices/system/cpu/online", "0-3,8,10\n");
    const CpuFacts facts = read_cpu_facts(folder.path());
    CHECK(facts.model == "Some CPU 9000");
    CHECK(facts.packages == 2);
    CHECK(facts.last_cache == Bytes(32 << 20));
    CHECK(facts.memory == Bytes(1000 << 10));
    CHECK(facts.governor == "powersave");
    CHECK(facts.virtual_machine);
    CHECK(facts.cores == 6);
    CHECK(facts.own_cores >= 1);
    CHECK(facts.cores_granted == 0);
    CHECK(free_memory(folder.path()) == Bytes(600 << 10));
}

TEST_CASE("an Arm processor is known by its numbers")
{
    const Folder folder;
    folder.file("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
    CHECK(read_cpu_facts(folder.path()).model == "Arm Neoverse V2");
}

TEST_CASE("a container's limits hold where they are below the host's")
{
    const Folder folder;
    folder.file("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 600 kB\n");
    folder.file("sys/fs/cgroup/cpu.max", "150000 100000\n");
    folder.file("sys/fs/cgroup/memory.max", "512000\n");
    folder.file("sys/fs/cgroup/memory.current", "200000\n");
    folder.file("sys/devices/system/cpu/online", "0-63\n");
    folder.file("sys/fs/cgroup/cpuset.cpus.effective", "4-7\n");
    CHECK(read_cpu_facts(folder.path()).cores == 4);
    CHECK(read_cpu_facts(folder.path()).cores_granted == 1.5);
    CHECK(read_cpu_facts(folder.path()).memory == Bytes(512000));
    CHECK(free_memory(folder.path()) == Bytes(312000));

    folder.file("sys/fs/cgroup/cpu.max", "max 100000\n");
    folder.file("sys/fs/cgroup/memory.max", "max\n");
    CHECK(read_cpu_facts(folder.path()).cores_granted == 0);
    CHECK(read_cpu_facts(folder.path()).memory == Bytes(1000 << 10));
    CHECK(free_memory(folder.path()) == Bytes(600 << 10));
}

TEST_CASE("nothing is known of a system that shows nothing")
{
    const Folder folder;
    const CpuFacts facts = read_cpu_facts(folder.path());
    CHECK(facts.model.empty());
    CHECK(facts.memory == Bytes(0));
    CHECK(facts.last_cache == Bytes(0));
    CHECK(doubts(facts, facts.cores).empty());
}

TEST_CASE("what makes times doubtful is said")
{
    CpuFacts facts;
    facts.cores = 4;
    facts.governor = "performance";
    CHECK(doubts(facts, 4).empty());
    CHECK(doubts(facts, 5).size() == 1);
    facts.cores_granted = 2;
    facts.governor = "schedutil";
    facts.virtual_machine = true;
    CHECK(doubts(facts, 5).size() == 4);
    CHECK(doubts(facts, 2).size() == 2);
}
