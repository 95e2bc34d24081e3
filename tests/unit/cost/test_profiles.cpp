#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/cost/part_files.h"
#include "sim/cost/profile_schema.h"
#include "tests/support/folder.h"
#include "tests/unit/cost/support.h"

#include <filesystem>
#include <functional>
#include <set>

using namespace trainyard;
using namespace trainyard::literals;
using trainyard::testing::Folder;

namespace {

std::string profile_with(const std::string& device)
{
    return R"({"format": "trainyard.profile/1", "hardware": {"device": )" + device +
           R"(, "network": "ndr400"}, "software": "mcore-2024"})";
}

Problems problems_of(const std::string& text)
{
    const Folder folder;
    const auto profile = load_profile(folder.file("mine.json", text));
    return profile ? profile->warnings : profile.error();
}

} // namespace

TEST_CASE("every shipped profile loads without a complaint and survives writing and reading")
{
    const std::vector<std::string> names = known_profiles();
    CHECK(names.size() >= 12);
    const Folder folder;
    for (const std::string& name : names) {
        INFO(name);
        const auto profile = load_profile(name);
        REQUIRE(profile);
        CHECK(profile->warnings.empty());
        CHECK(profile->profile.name == name);
        const auto again =
            load_profile(folder.file(name + ".json", to_text(to_json(profile->profile))));
        if (!again)
            FAIL(render(again.error(), ""));
        CHECK(again->profile == profile->profile);
    }
}

TEST_CASE("every constant of the shipped parts has a source and a grade")
{
    const auto check_all = [](const ProvenanceMap& constants, const Json& written) {
        for (const auto& [path, origin] : constants) {
            INFO(path);
            CHECK_FALSE(origin.source.empty());
        }
        // Whatever a file states as a number or a quantity is a constant with provenance.
        const std::function<void(const Json&, const std::string&)> walk =
            [&](const Json& node, const std::string& at) {
                for (const Json::Member& member : node.members()) {
                    const std::string path = at.empty() ? member.first : at + "." + member.first;
                    INFO(path);
                    if (member.second.is_object() && member.second.find("value") == nullptr)
                        walk(member.second, path);
                    else if (!member.second.is_object() && !member.second.is_array())
                        CHECK_FALSE(magnitude(member.second).has_value());
                }
            };
        walk(written, "");
    };
    for (const std::string& name : known_devices()) {
        const Profile profile = assembled(name);
        check_all(provenance_of(profile), to_json(profile)["hardware"]["device"]);
        check_all({}, to_json(profile)["hardware"]["fabric"]);
    }
    for (const std::string& name : known_networks())
        check_all({}, to_json(assembled("H100", name))["hardware"]["network"]);
    for (const std::string& name : known_software()) {
        Profile profile = assembled("H100", "ndr400", name);
        check_all(profile.software.provenance, to_json(profile)["software"]);
    }
}

TEST_CASE("a topology's names find their device and network, whatever their spelling")
{
    CHECK(assembled("h100_sxm5_80").hardware.device.name == "H100-SXM5-80GB");
    CHECK(assembled("H100 SXM5 80GB").hardware.device.name == "H100-SXM5-80GB");
    CHECK(assembled("gb200_186", "ib_ndr").hardware.network.name == "ib-ndr");
    CHECK(assembled("A100", "ib_hdr").hardware.network.name == "ib-hdr");
    CHECK(assembled("A100", "roce_100").hardware.network.name == "roce-100");
}

TEST_CASE("whatever device or network the shipped topologies name has constants of its own")
{
    std::set<std::string> devices;
    std::set<std::string> networks;
    const std::function<void(const Json&)> walk = [&](const Json& node) {
        if (node.is_array())
            for (const Json& item : node.items())
                walk(item);
        if (!node.is_object())
            return;
        if (const Json* device = node.find("device"); device != nullptr && device->is_string())
            devices.insert(device->as_string());
        if (node.find("transport") != nullptr && node.find("name") != nullptr)
            networks.insert(node.find("name")->as_string());
        for (const Json::Member& member : node.members())
            walk(member.second);
    };
    for (const char* file : {"nodes.json", "networks.json"})
        walk(read_json_file((data_dir() / "topologies" / "presets" / file).string()).value());
    CHECK(devices.size() >= 10);
    for (const std::string& device : devices) {
        INFO(device);
        const Device found = assembled(device).hardware.device;
        CHECK(answers_to(found.name, found.aliases, device));
    }
    CHECK(networks.size() >= 10);
    for (const std::string& network : networks) {
        INFO(network);
        const NetworkClass found = assembled("H100", network).hardware.network;
        CHECK(answers_to(found.name, found.aliases, network));
    }
}

TEST_CASE("an unnamed network is chosen by transport and rate")
{
    ProfileRequest request;
    request.device = "A100";
    request.software = "mcore-2024";
    const auto chosen = [&](Transport transport, Bandwidth rate) {
        request.network.transport = transport;
        request.network.nic_rate = rate;
        return assemble(request)->hardware.network.name;
    };
    CHECK(chosen(Transport::infiniband, 25_GBps) == "ib-hdr");
    CHECK(chosen(Transport::infiniband, 50_GBps) == "ib-ndr");
    CHECK(chosen(Transport::infiniband, 100_GBps) == "ib-xdr");
    CHECK(chosen(Transport::roce, 12.5_GBps) == "roce-100");
    CHECK(chosen(Transport::efa, 12.5_GBps) == "efa-v1");
    CHECK(chosen(Transport::tcp, 12.5_GBps) == "tcp");
}

TEST_CASE("an unknown device lists the known ones")
{
    ProfileRequest request;
    request.device = "H1000-SXM5-80GB";
    request.software = "mcore-2024";
    const auto profile = assemble(request);
    REQUIRE_FALSE(profile);
    CHECK(profile.error()[0].message == "unknown device \"H1000-SXM5-80GB\"");
    CHECK_THAT(profile.error()[0].hint, ContainsSubstring("did you mean \"H100-SXM5-80GB\""));
    CHECK_THAT(profile.error()[0].hint, ContainsSubstring("A100-SXM4-80GB"));
    const auto named = load_profile("h100-sxm-ndr401");
    REQUIRE_FALSE(named);
    CHECK_THAT(named.error()[0].hint, ContainsSubstring("h100-sxm-ndr400"));
}

TEST_CASE("a user's profile changes some constants of a shipped device and inlines the rest")
{
    const Folder folder;
    const auto profile = load_profile(folder.file("mine.json", R"({
        "format": "trainyard.profile/1",
        // bare values are welcome
        "hardware": {"device": {"base": "H100", "hbm_efficiency": 0.7,
                                "gemm_efficiency": {"bf16": {"value": 0.75, "grade": "measured",
                                                             "source": "our node"}}},
                     "network": {"name": "ours", "latency": "9 us", "efficiency": 0.9}},
        "software": {"base": "mcore-2025", "step_overhead": "1 ms"},
        "installation": {"factor": 0.97, "environment": {"nccl": "2.28.3"}}})"));
    if (!profile)
        FAIL(render(profile.error(), ""));
    const Hardware& hardware = profile->profile.hardware;
    CHECK(hardware.device.name == "H100-SXM5-80GB");
    CHECK(hardware.device.hbm_efficiency == 0.7);
    CHECK(hardware.device.gemm_efficiency.bf16 == 0.75);
    CHECK(hardware.device.provenance.at("gemm_efficiency.bf16").grade == Grade::measured);
    CHECK(hardware.device.gemm_efficiency.fp8 ==
          assembled("H100").hardware.device.gemm_efficiency.fp8);
    CHECK(hardware.network.latency == 9_us);
    CHECK(hardware.fabric.name == "nvlink4");
    CHECK_FALSE(hardware.knots.empty());
    CHECK(profile->profile.software.step_overhead == 1_ms);
    CHECK(profile->profile.installation.environment.nccl == "2.28.3");
    CHECK(profile->profile.name == "mine");
}

TEST_CASE("parts beside a profile are found before the shipped ones")
{
    const Folder folder;
    folder.file("software/mine.json",
                R"({"format": "trainyard.software/1", "name": "mine",
                     "host_per_kernel_forward": "7 us"})");
    const auto profile = load_profile(folder.file(
        "p.json", R"({"hardware": {"device": "H100", "network": "ndr400"}, "software": "mine"})"));
    REQUIRE(profile);
    CHECK(profile->profile.software.host_per_kernel_forward == 7_us);
}

TEST_CASE("bad profiles are refused at the place and with the reason")
{
    struct Case {
        std::string text;
        const char* pointer;
        const char* message;
    };
    const auto device = [](const std::string& constants) {
        return profile_with(R"({"base": "H100", )" + constants + "}");
    };
    const std::vector<Case> cases{
        {device(R"("hbm_bandwidth": "3350 us")"), "/hardware/device/hbm_bandwidth", ""},
        {device(R"("hbm_bandwidth": 3350)"), "/hardware/device/hbm_bandwidth", "no unit"},
        {device(R"("hbm_efficiency": 1.4)"), "/hardware/device/hbm_efficiency", "too large"},
        {device(R"("gemm_k_half": -3)"), "/hardware/device/gemm_k_half", "too small"},
        {device(R"("gemm_eficiency": {})"), "/hardware/device/gemm_eficiency", "unknown key"},
        {device(R"("launch_gap": {"value": "2 us", "grade": "guessed"})"),
         "/hardware/device/launch_gap/grade", "guessed"},
        {device(R"("launch_gap": {"value": "2 us", "low": "3 us"})"),
         "/hardware/device/launch_gap/low", "does not hold"},
        {device(R"("launch_gap": {"value": "2 us", "hihg": "3 us"})"),
         "/hardware/device/launch_gap/hihg", "unknown key"},
        {device(R"("launch_gap": {"grade": "measured"})"), "/hardware/device/launch_gap",
         "\"value\" is missing"},
        {profile_with(R"({"name": "X"})"), "/hardware/device", "\"sms\" is missing"},
        {profile_with(R"("H1OO")"), "/hardware/device", "unknown device"},
        {device(R"("fabric": "")"), "/hardware", "no fabric"},
        {profile_with("3"), "/hardware/device", "expected an object"},
        {R"({"format": "trainyard.scenario/1"})", "/format", "is another kind of file"},
        {R"({"format": "trainyard.profile/2"})", "/format", "is of another version"},
        {R"({"software": "mcore-2024"})", "", "\"hardware\" is missing"},
        {R"({"hardware": {"device": "H100", "network": "ndr400", "knots": [
             {"collective": "all_reduce", "ranks_per_domain": 2, "domains": 1, "source": "me",
              "samples": {"columns": ["size [B]", "time [us]"], "rows": [[2, 1], [1, 2]]}}]}})",
         "/hardware/knots/0/samples/rows/1", "not sorted"},
        {"[1, 2]", "", "expected an object"},
        {"", "", "empty"},
        {"{\"hardware\": ", "", "truncated"},
    };
    for (const Case& bad : cases) {
        INFO(bad.text);
        const Problems problems = problems_of(bad.text);
        REQUIRE(has_errors(problems));
        const auto hit = std::find_if(problems.begin(), problems.end(), [&](const Diagnostic& p) {
            return p.pointer == bad.pointer && p.severity == Severity::error &&
                   p.message.find(bad.message) != std::string::npos;
        });
        if (hit == problems.end())
            FAIL(render(problems, ""));
    }
    CHECK_THROWS_AS(load_profile("/nowhere/x.json"), WorldError);
}

TEST_CASE("kernels of another chip are refused where they are named, a sibling's are not")
{
    const auto with_kernels = [](const std::string& kernels) {
        return problems_of(R"({"format": "trainyard.profile/1", "hardware": {"device": "H100",
            "network": "ndr400", "kernels": ")" +
                           kernels + R"("}, "software": "mcore-2024"})");
    };
    CHECK(with_kernels("h200").empty());
    const Problems other = with_kernels("b200");
    REQUIRE(other.size() == 1);
    CHECK(other[0].pointer == "/hardware/kernels");
    CHECK(other[0].file.ends_with("mine.json"));
    CHECK(other[0].severity == Severity::error);
    CHECK_FALSE(other[0].hint.empty());
    // Named by a device's own file.
    const Folder folder;
    std::string text = read_file(data_dir() / "calibrate/profiles/devices/h100-sxm5-80.json");
    const std::string own = R"("kernels": "h100")";
    text.replace(text.find(own), own.size(), R"("kernels": "a100")");
    folder.file("devices/other.json", text);
    const auto profile = load_profile(folder.file("mine.json", profile_with(R"("other")")));
    REQUIRE_FALSE(profile);
    CHECK(profile.error()[0].pointer == "/kernels");
    CHECK(profile.error()[0].file.ends_with("other.json"));
}

TEST_CASE("devices of before under_load had a clock still load")
{
    const Folder folder;
    const auto clock_of = [&](const std::string& constants) {
        return load_profile(
            folder.file("mine.json", profile_with(R"({"base": "H100", )" + constants + "}")));
    };
    const auto old = clock_of(R"("sustained_clock": {"value": 0.9, "source": "measured here"})");
    REQUIRE(old);
    CHECK(old->profile.hardware.device.under_load.clock == 0.9);
    CHECK(old->profile == clock_of(R"("under_load": {"clock": {"value": 0.9,
                                      "source": "measured here"}})")
                              ->profile);
    // Of two clocks one is too many.
    CHECK_FALSE(clock_of(R"("sustained_clock": 0.9, "under_load": {"clock": 0.8})"));
    const Profile profile = assembled("H100-SXM5-80GB");
    CHECK(with_override(profile, "hardware.device.sustained_clock", Json(0.8)) ==
          with_override(profile, "hardware.device.under_load.clock", Json(0.8)));
}

TEST_CASE("implausible constants warn and are taken")
{
    const auto warned = [](const std::string& constant, const std::string& hint) {
        const Problems problems =
            problems_of(profile_with(R"({"base": "H100", )" + constant + "}"));
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].severity == Severity::warning);
        CHECK_THAT(problems[0].hint, ContainsSubstring(hint));
    };
    warned(R"("hbm_bandwidth": "80 TB/s")", "8 TB/s");
    warned(R"("peak": {"fp8": "900 TFLOP/s"})", "double");
    const Problems nic = problems_of(
        R"({"hardware": {"device": "H100", "network": {"base": "ndr400", "line_rate": "400 GB/s"}},
            "software": "mcore-2024"})");
    REQUIRE(nic.size() == 1);
    CHECK_THAT(nic[0].hint, ContainsSubstring("400 Gb/s is usual"));
}

TEST_CASE("an override changes one constant, with or without a provenance, and nothing else")
{
    const Profile profile = assembled("H100");
    const auto changed = with_override(profile, "hardware.device.gemm_efficiency.bf16", 0.6);
    REQUIRE(changed);
    CHECK(changed->hardware.device.gemm_efficiency.bf16 == 0.6);
    CHECK(changed->hardware.device.gemm_efficiency.fp8 ==
          profile.hardware.device.gemm_efficiency.fp8);
    CHECK(provenance_of(*changed).count("hardware.device.gemm_efficiency.bf16") == 0);
    Json constant = Json::object();
    constant["value"] = "12 us";
    constant["grade"] = "measured";
    constant["source"] = "here";
    const auto software = with_override(profile, "software.host_per_kernel_forward", constant);
    REQUIRE(software);
    CHECK(software->software.host_per_kernel_forward == 12_us);
    CHECK(provenance_of(*software).at("software.host_per_kernel_forward").source == "here");
    CHECK(with_override(profile, "software.kernels.head_launches", 3)
              ->software.kernels.head_launches == 3);
}

TEST_CASE("an override that makes no sense is refused with its path")
{
    const Profile profile = assembled("H100");
    const auto unknown = with_override(profile, "hardware.device.gemm_eficiency.bf16", 0.6);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error()[0].pointer == "/hardware/device/gemm_eficiency");
    CHECK_FALSE(with_override(profile, "hardware.device.hbm_bandwidth", 3).has_value());
    CHECK_FALSE(with_override(profile, "hardware.gpu.sms", 3).has_value());
    CHECK_FALSE(with_override(profile, "installation.factor", -1).has_value());
}

TEST_CASE("each part can be checked on its own, by what its format says it is")
{
    const std::filesystem::path shipped = shipped_profiles().front();
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shipped))
        if (entry.path().extension() == ".json") {
            INFO(entry.path());
            CHECK(check_profile_file(entry.path().string()).empty());
            ++files;
        }
    CHECK(files > 50);
    const Folder folder;
    const Problems problems = check_profile_file(folder.file(
        "n.json", R"({"format": "trainyard.network/1", "name": "x", "latency": "3 MB"})"));
    REQUIRE_FALSE(problems.empty());
    CHECK(problems[0].pointer == "/latency");
}

TEST_CASE("the schema allows a constant in both forms and a part by name, in place or on a base")
{
    const Json schema = profile_schema();
    const auto at = [](const Json& node, std::initializer_list<const char*> path) {
        const Json* here = &node;
        for (const char* key : path) {
            REQUIRE(here->find(key) != nullptr);
            here = here->find(key);
        }
        return *here;
    };
    const Json device = at(schema, {"properties", "hardware", "properties", "device", "anyOf"});
    REQUIRE(device.items().size() == 2);
    CHECK(device.items()[0].find("type")->as_string() == "string");
    const Json fields = at(device.items()[1], {"properties"});
    CHECK(fields.find("base") != nullptr);
    const Json forms = at(fields, {"hbm_bandwidth", "anyOf"});
    REQUIRE(forms.items().size() == 2);
    CHECK(forms.items()[1].find("properties")->find("grade") != nullptr);
    CHECK(at(fields, {"peak", "properties", "bf16"}).find("anyOf") != nullptr);
    CHECK(at(fields, {"name"}).find("anyOf") == nullptr); // a name is no constant
}

TEST_CASE("two-node profiles exist for InfiniBand, RoCE and TCP")
{
    for (const char* name : {"a100-sxm-hdr200", "a100-sxm-roce100", "a100-sxm-tcp"})
        CHECK(load_profile(name).has_value());
}
