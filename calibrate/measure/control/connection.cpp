#include "calibrate/measure/control/connection.h"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

namespace trainyard {
namespace {

constexpr Milliseconds patience_to_send{10'000};
constexpr std::size_t longest_message = std::size_t{64} << 20;
constexpr std::size_t header_bytes = 4;
constexpr std::size_t most_unread = longest_message + header_bytes;

std::string system_says()
{
    return std::strerror(errno);
}

// Whether the descriptor is ready for `events` before the limit.
bool wait_for(int descriptor, short events, Milliseconds limit)
{
    const auto end = Clock::now() + limit;
    while (true) {
        pollfd one{descriptor, events, 0};
        const int ready = ::poll(&one, 1, static_cast<int>(left_until(end).count()));
        if (ready > 0)
            return true;
        if (ready == 0)
            return false;
        if (errno != EINTR)
            throw ConnectionLost{fmt::format("cannot wait for it: {}", system_says())};
    }
}

std::string header_of(std::size_t length)
{
    std::string out;
    for (std::size_t i = 0; i < header_bytes; ++i)
        out.push_back(static_cast<char>((length >> (8 * i)) & 0xff));
    return out;
}

std::size_t length_in(std::string_view header)
{
    std::size_t out = 0;
    for (std::size_t i = 0; i < header_bytes; ++i)
        out |= static_cast<std::size_t>(static_cast<unsigned char>(header[i])) << (8 * i);
    return out;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const std::string& host, int port)
{
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
    if (code != 0)
        throw ConnectionLost{fmt::format("{}: {}", host, ::gai_strerror(code))};
    return Addresses(found, &::freeaddrinfo);
}

Descriptor try_to_connect(const addrinfo& address, Milliseconds limit)
{
    Descriptor out(
        ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol));
    // A host that answers nothing is given up after `limit`, not after the system's minutes.
    const timeval span{limit.count() / 1000, 1000 * (limit.count() % 1000) + 1};
    ::setsockopt(out.number(), SOL_SOCKET, SO_SNDTIMEO, &span, sizeof span);
    if (!out || ::connect(out.number(), address.ai_addr, address.ai_addrlen) != 0) {
        if (errno == EINPROGRESS)
            errno = ETIMEDOUT; // what a limit to connect is told as
        return Descriptor();
    }
    return out;
}

} // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept
{
    if (this != &other) {
        if (number_ >= 0)
            ::close(number_);
        number_ = other.release();
    }
    return *this;
}

Descriptor::~Descriptor()
{
    if (number_ >= 0)
        ::close(number_);
}

int Descriptor::release()
{
    const int out = number_;
    number_ = -1;
    return out;
}

Connection::Connection(Descriptor socket) : socket_(std::move(socket))
{
    const int on = 1; // messages are small and waited for
    ::setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

void Connection::send(const Json& message)
{
    const std::string text = to_text(message, JsonStyle::compact);
    const std::string bytes = header_of(text.size()) + text;
    const std::lock_guard lock(sending_);
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t part = ::send(socket_.number(), bytes.data() + sent, bytes.size() - sent,
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (part >= 0)
            sent += static_cast<std::size_t>(part);
        else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            throw ConnectionLost{system_says()};
        else if (!wait_for(socket_.number(), POLLOUT, patience_to_send))
            throw ConnectionLost{"it takes no more messages"};
    }
}

// Adds what has arrived; false when nothing does before the limit.
bool Connection::fill(Milliseconds limit)
{
    std::array<char, 65536> part;
    while (true) {
        const ssize_t got = ::recv(socket_.number(), part.data(), part.size(), MSG_DONTWAIT);
        if (got > 0) {
            received_.append(part.data(), static_cast<std::size_t>(got));
            return true;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!wait_for(socket_.number(), POLLIN, limit))
                return false;
            continue;
        }
        ended_ = got == 0 ? "it closed the connection" : system_says();
        return false;
    }
}

std::optional<Json> Connection::take()
{
    if (received_.size() < header_bytes)
        return std::nullopt;
    const std::size_t length = length_in(received_);
    if (length > longest_message)
        throw ConnectionLost{"it sends what is no message of this program"};
    if (received_.size() < header_bytes + length)
        return std::nullopt;
    Checked<Json> message =
        parse_json(std::string_view(received_).substr(header_bytes, length), "message");
    if (!message)
        throw ConnectionLost{"it sends what is no message of this program"};
    received_.erase(0, header_bytes + length);
    return std::move(*message);
}

bool Connection::has_message()
{
    while (ended_.empty() && received_.size() < most_unread && fill(Milliseconds(0))) {
    }
    if (received_.size() >= header_bytes && length_in(received_) > longest_message)
        return true; // `receive` says what is wrong
    return !ended_.empty() || (received_.size() >= header_bytes &&
                               received_.size() >= header_bytes + length_in(received_));
}

std::optional<Json> Connection::receive(Milliseconds limit)
{
    const auto end = Clock::now() + limit;
    while (true) {
        if (std::optional<Json> message = take())
            return message;
        if (!ended_.empty())
            throw ConnectionLost{ended_};
        if (!fill(left_until(end)) && ended_.empty())
            return std::nullopt;
    }
}

Listener::Listener(int port)
{
    const auto fail = [port](const char* what) {
        return WorldError{fmt::format("cannot {} port {}, where ranks are to meet: {}", what, port,
                                      system_says())};
    };
    socket_ = Descriptor(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const bool six = static_cast<bool>(socket_);
    if (!six)
        socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    const int off = 0;
    ::setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (six) {
        ::setsockopt(socket_.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        auto& place = reinterpret_cast<sockaddr_in6&>(address);
        place.sin6_family = AF_INET6;
        place.sin6_addr = in6addr_any;
        place.sin6_port = htons(static_cast<std::uint16_t>(port));
        length = sizeof(sockaddr_in6);
    } else {
        auto& place = reinterpret_cast<sockaddr_in&>(address);
        place.sin_family = AF_INET;
        place.sin_addr.s_addr = htonl(INADDR_ANY);
        place.sin_port = htons(static_cast<std::uint16_t>(port));
        length = sizeof(sockaddr_in);
    }
    if (::bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), length) != 0)
        throw fail("bind to");
    if (::listen(socket_.number(), SOMAXCONN) != 0)
        throw fail("listen on");
    length = sizeof address;
    ::getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = six ? ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port)
                : ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
}

std::optional<Descriptor> Listener::accept()
{
    const int number = ::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC);
    return number < 0 ? std::nullopt : std::optional<Descriptor>(Descriptor(number));
}

Descriptor connect_to(const std::string& host, int port, Milliseconds limit)
{
    const auto end = Clock::now() + limit;
    std::string why;
    do {
        const Addresses addresses = addresses_of(host, port);
        for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next)
            if (Descriptor out = try_to_connect(*one, left_until(end)))
                return out;
        why = system_says();
        std::this_thread::sleep_for(std::min(Milliseconds(50), left_until(end)));
    } while (Clock::now() < end);
    throw ConnectionLost{fmt::format("nobody answers at {}:{}: {}", host, port, why)};
}

} // namespace trainyard
