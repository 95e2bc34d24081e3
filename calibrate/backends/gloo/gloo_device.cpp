#include "calibrate/backends/gloo/gloo_device.h"

#include "calibrate/measure/backend/host_name.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gloo/transport/tcp/device.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

namespace trainyard {
namespace {

struct AddressList {
    AddressList(const AddressList&) = delete;
    AddressList& operator=(const AddressList&) = delete;
    explicit AddressList(const std::string& host)
    {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host.c_str(), nullptr, &hints, &first) != 0)
            first = nullptr;
    }
    ~AddressList()
    {
        if (first != nullptr)
            freeaddrinfo(first);
    }
    addrinfo* first = nullptr;
};

bool is_loopback(const sockaddr* address)
{
    if (address->sa_family == AF_INET)
        return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// Whether a socket of this host can have the address.
bool is_ours(const addrinfo& address)
{
    const int descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol);
    if (descriptor < 0)
        return false;
    const bool bound = bind(descriptor, address.ai_addr, address.ai_addrlen) == 0;
    close(descriptor);
    return bound;
}

enum class Reach : std::uint8_t { nowhere, this_host, other_hosts };

// How far the first address of this host's name reaches; Gloo takes the first that it can bind.
Reach reach_of(const std::string& host)
{
    const AddressList addresses(host);
    for (const addrinfo* at = addresses.first; at != nullptr; at = at->ai_next)
        if (is_ours(*at))
            return is_loopback(at->ai_addr) ? Reach::this_host : Reach::other_hosts;
    return Reach::nowhere;
}

// An interface that is up and leaves this host.
std::optional<std::string> outward_interface()
{
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0)
        return std::nullopt;
    std::optional<std::string> found;
    for (const ifaddrs* at = all; at != nullptr && !found; at = at->ifa_next)
        if (at->ifa_addr != nullptr && at->ifa_addr->sa_family == AF_INET &&
            (at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_LOOPBACK) == 0)
            found = at->ifa_name;
    freeifaddrs(all);
    return found;
}

struct Choice {
    gloo::transport::tcp::attr attributes;
    std::string warning;
};

Choice choose(const LaunchPlace& place)
{
    Choice choice;
    if (const char* named = std::getenv("GLOO_SOCKET_IFNAME"); named != nullptr && *named != 0) {
        const std::string all = named;
        choice.attributes.iface = all.substr(0, all.find(','));
        if (choice.attributes.iface != all)
            choice.warning = fmt::format("of GLOO_SOCKET_IFNAME={} only {} is used", all,
                                         choice.attributes.iface);
        return choice;
    }
    const std::string host = host_name();
    const Reach reach = reach_of(host);
    const bool one_host = place.ranks <= place.local_ranks;
    if (reach == Reach::other_hosts || (reach == Reach::this_host && one_host)) {
        choice.attributes.hostname = host;
        return choice;
    }
    if (one_host) {
        choice.attributes.iface = "lo";
        return choice;
    }
    const std::optional<std::string> outward = outward_interface();
    if (!outward)
        throw MeasureFailure{FailureKind::missing, "no network interface reaches the other hosts",
                             "name one in GLOO_SOCKET_IFNAME"};
    choice.attributes.iface = *outward;
    choice.warning = fmt::format("the name of this host is no address that others reach: {} is "
                                 "used (GLOO_SOCKET_IFNAME names another)",
                                 *outward);
    return choice;
}

} // namespace

GlooDevice open_gloo_device(const LaunchPlace& place)
{
    const Choice choice = choose(place);
    const std::string name =
        choice.attributes.iface.empty() ? choice.attributes.hostname : choice.attributes.iface;
    try {
        return {gloo::transport::tcp::CreateDevice(choice.attributes), name, choice.warning};
    } catch (const std::exception& error) {
        throw MeasureFailure{FailureKind::missing,
                             fmt::format("Gloo cannot listen on {}: {}", name, error.what()),
                             "name a network interface in GLOO_SOCKET_IFNAME"};
    }
}

} // namespace trainyard
