#include "sim/study/environment_effects.h"

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/cost/algorithms/algorithm.h"
#include "sim/cost/profile_library.h"
#include "sim/study/environment.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace trainyard {
namespace {

// One TCP flow carries 5 to 10 Gb/s (constants: networks/tcp.json).
constexpr Bandwidth one_socket(0.94e9);

constexpr std::array protocol_words{std::pair{"LL", Protocol::ll},
                                    std::pair{"LL128", Protocol::ll128},
                                    std::pair{"Simple", Protocol::simple}};

// The values of a list such as "Ring,Tree" or, all but these, "^Tree".
template <class T, class Words>
std::vector<T> named_in(std::string_view text, const Words& words)
{
    const bool all_but = text.starts_with('^');
    if (all_but)
        text.remove_prefix(1);
    std::vector<T> named;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        for (const auto& [name, value] : words)
            if (same_letters(word, name))
                named.push_back(value);
    }
    if (!all_but)
        return named;
    std::vector<T> rest;
    for (const auto& [name, value] : words)
        if (std::ranges::find(named, value) == named.end())
            rest.push_back(value);
    return rest;
}

int number(std::string_view text)
{
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

class Follower {
public:
    Follower(const std::map<std::string, std::string>& environment,
             const EnvironmentContext& context)
        : environment_(environment), context_(context)
    {}

    EnvironmentEffects all()
    {
        paths_in_a_node();
        network();
        sockets();
        switches();
        channels();
        algorithms();
        kernels();
        launches();
        return std::move(out_);
    }

private:
    // Null also where the library takes another value in its place.
    const std::string* value(const char* name) const
    {
        const auto found = environment_.find(name);
        return found == environment_.end() || !is_accepted(name, found->second) ? nullptr
                                                                                : &found->second;
    }
    // A distance by its word, also where it is given as one of the numbers of old.
    std::string level(const char* name) const
    {
        constexpr std::array words{"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"};
        const std::string* const text = value(name);
        if (text == nullptr)
            return {};
        const bool number_of_old =
            text->size() == 1 && text->front() >= '0' && text->front() <= '5';
        return number_of_old ? words[static_cast<std::size_t>(text->front() - '0')] : *text;
    }
    bool is_level(const char* name, std::string_view wanted) const
    {
        return same_letters(level(name), wanted);
    }
    bool is(const char* name, std::string_view wanted) const
    {
        const std::string* text = value(name);
        return text != nullptr && same_letters(*text, wanted);
    }
    // The prediction follows the variable; says how unless nothing changes.
    void follow(const char* name, std::string change = {})
    {
        if (value(name) == nullptr)
            return;
        out_.followed.insert(name);
        if (!change.empty())
            out_.notes.push_back({"", 0, std::string("/environment/") + name,
                                  fmt::format("{}={}: {}", name, *value(name), change), "",
                                  Severity::warning});
    }

    // Levels beyond NVLink tell PCIe distances apart, which servers here do not have.
    void paths_in_a_node()
    {
        const bool nvlink = context_.device.nvlink.value() > 0;
        const bool no_p2p = is("NCCL_P2P_DISABLE", "1") || is_level("NCCL_P2P_LEVEL", "LOC") ||
                            (is_level("NCCL_P2P_LEVEL", "NVL") && !nvlink);
        const bool no_shm = is("NCCL_SHM_DISABLE", "1");
        const bool has_network = context_.network.transport != Transport::none;
        if (no_p2p && no_shm && !has_network)
            return; // NCCL would go through sockets of the node itself
        if (no_p2p)
            use_host_path();
        const char* const p2p = is("NCCL_P2P_DISABLE", "1") ? "NCCL_P2P_DISABLE" : "NCCL_P2P_LEVEL";
        if (no_p2p)
            follow(p2p, no_shm ? "devices of a node meet in no memory"
                               : "devices of a node copy through host memory");
        if (is("NCCL_P2P_DISABLE", "0"))
            follow("NCCL_P2P_DISABLE");
        if (nvlink || is_level("NCCL_P2P_LEVEL", "SYS"))
            follow("NCCL_P2P_LEVEL");
        out_.nccl.one_rank_domains = no_p2p && no_shm;
        follow("NCCL_SHM_DISABLE", no_p2p && no_shm ? "every byte goes through a NIC" : "");
    }

    void use_host_path()
    {
        const Checked<FabricClass> host = load_fabric("pcie-host");
        if (host)
            out_.nccl.host_path = *host;
    }

    void network()
    {
        const Transport transport = context_.network.transport;
        const bool verbs = transport == Transport::infiniband || transport == Transport::roce;
        if (is("NCCL_IB_DISABLE", "1") && verbs) {
            if (const Checked<NetworkClass> tcp = load_network("tcp"))
                out_.nccl.sockets = *tcp;
            follow("NCCL_IB_DISABLE", "TCP sockets over the same NICs");
        } else {
            follow("NCCL_IB_DISABLE"); // other transports do not look at it
        }
        const bool rdma = verbs || transport == Transport::efa;
        const bool off = is_level("NCCL_NET_GDR_LEVEL", "LOC") && rdma && !out_.nccl.sockets;
        out_.nccl.gpu_direct = !off;
        follow("NCCL_NET_GDR_LEVEL",
               off ? "NICs read and write host memory, devices copy from and to it" : "");
    }

    // NCCL's defaults are one thread and one socket (2 x 8 on AWS and 4 x 1 on Google's cloud).
    void sockets()
    {
        const std::string* threads = value("NCCL_SOCKET_NTHREADS");
        const std::string* each = value("NCCL_NSOCKS_PERTHREAD");
        const bool tcp = context_.network.transport == Transport::tcp || out_.nccl.sockets;
        if (threads == nullptr && each == nullptr)
            return;
        const int count =
            (threads != nullptr ? number(*threads) : 1) * (each != nullptr ? number(*each) : 1);
        if (tcp)
            out_.nccl.max_per_nic = one_socket * count;
        const std::string change =
            tcp ? fmt::format("{} sockets to a peer carry {}", count, to_text(one_socket * count))
                : "";
        follow("NCCL_SOCKET_NTHREADS", change);
        follow("NCCL_NSOCKS_PERTHREAD", threads == nullptr ? change : "");
    }

    void switches()
    {
        out_.nccl.nvls = !is("NCCL_NVLS_ENABLE", "0");
        follow("NCCL_NVLS_ENABLE", out_.nccl.nvls ? "" : "no sums in NVLink switches");
        out_.nccl.in_network_reduction = !is("NCCL_COLLNET_ENABLE", "0");
        const bool would = context_.network.in_network_reduction;
        follow("NCCL_COLLNET_ENABLE",
               out_.nccl.in_network_reduction || !would ? "" : "no sums in network switches");
    }

    void channels()
    {
        const int usual = context_.profile.hardware.fabric.sms_held;
        for (const char* name : {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"})
            if (const std::string* text = value(name)) {
                int& most = out_.nccl.most_channels;
                most = most == 0 ? number(*text) : std::min(most, number(*text));
                follow(name, number(*text) < usual
                                 ? fmt::format("collectives use {} channels in place of {}",
                                               number(*text), usual)
                                 : "");
            }
        for (const char* name : {"NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"})
            if (const std::string* text = value(name)) {
                out_.nccl.least_channels = std::max(out_.nccl.least_channels, number(*text));
                follow(name, number(*text) > usual
                                 ? fmt::format("collectives hold {} SMs in place of {}",
                                               number(*text), usual)
                                 : "");
            }
    }

    // Null also where the list differs from one collective to the other.
    const std::string* list_for_all(const char* name) const
    {
        const std::string* const text = value(name);
        return text != nullptr && text->find_first_of(";:") == std::string::npos ? text : nullptr;
    }

    void algorithms()
    {
        if (const std::string* text = list_for_all("NCCL_ALGO")) {
            out_.nccl.algorithms = named_in<const Algorithm*>(*text, nccl_algorithm_words());
            std::erase(out_.nccl.algorithms, nullptr);
            if (!out_.nccl.algorithms.empty())
                follow("NCCL_ALGO", "no other algorithms where there is one of these");
        }
        if (const std::string* text = list_for_all("NCCL_PROTO")) {
            out_.nccl.protocols = named_in<Protocol>(*text, protocol_words);
            follow("NCCL_PROTO", "no other protocols where there is one of these");
        }
    }

    // Transformer Engine takes cuDNN's attention where both are allowed, on Hopper and later, and
    // unfused attention where none is.
    void kernels()
    {
        const AttentionKernel usual = context_.profile.software.kernels.attention;
        const bool engine = usual == AttentionKernel::cudnn || usual == AttentionKernel::flash2;
        if (!engine || context_.attention_stated)
            return; // nobody reads them, or the scenario says which
        const bool flash = !is("NVTE_FLASH_ATTN", "0");
        const bool fused = !is("NVTE_FUSED_ATTN", "0");
        AttentionKernel chosen = usual;
        if (!flash && !fused)
            chosen = AttentionKernel::unfused;
        else if (!fused)
            chosen = AttentionKernel::flash2;
        else if (!flash)
            chosen = AttentionKernel::cudnn;
        if (chosen != usual)
            out_.attention = chosen;
        const std::string change =
            chosen != usual ? fmt::format("attention runs as {}", to_name(chosen)) : "";
        follow("NVTE_FLASH_ATTN", flash ? "" : change);
        follow("NVTE_FUSED_ATTN", fused ? "" : change);
    }

    void launches()
    {
        out_.blocking_launches = is("CUDA_LAUNCH_BLOCKING", "1");
        follow("CUDA_LAUNCH_BLOCKING",
               out_.blocking_launches ? "the host waits for every kernel, nothing overlaps" : "");
        const std::string* connections = value("CUDA_DEVICE_MAX_CONNECTIONS");
        if (connections == nullptr)
            return;
        out_.ordered_launches = number(*connections) == 1;
        follow("CUDA_DEVICE_MAX_CONNECTIONS",
               out_.ordered_launches
                   ? ""
                   : "products may start before the tensor-parallel communication issued ahead of "
                     "them, which then runs alone");
    }

    const std::map<std::string, std::string>& environment_;
    const EnvironmentContext& context_;
    EnvironmentEffects out_;
};

} // namespace

EnvironmentEffects effects_of(const std::map<std::string, std::string>& environment,
                              const EnvironmentContext& context)
{
    return Follower(environment, context).all();
}

} // namespace trainyard
