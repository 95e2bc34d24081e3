#pragma once

// A TCP connection that carries JSON messages, each wait bounded.

#include "calibrate/measure/deadline.h"
#include "sim/base/json.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace trainyard {

// A file descriptor that is closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    int number() const { return number_; }
    int release();
    explicit operator bool() const { return number_ >= 0; }

private:
    int number_ = -1;
};

// Thrown when the other end is gone or sends what is no message.
struct ConnectionLost {
    std::string why;
};

// One message is a 32-bit length (little-endian) and as many bytes of JSON. Sending may be done
// from several threads, receiving from one.
class Connection {
public:
    explicit Connection(Descriptor socket);

    int descriptor() const { return socket_.number(); }

    // Throws ConnectionLost, also when the other end takes nothing for 10 seconds.
    void send(const Json& message);

    // The next message; nothing when none is complete within `limit`. Throws ConnectionLost.
    std::optional<Json> receive(Milliseconds limit);

    // Reads what there is without waiting; true when `receive` would not wait.
    bool has_message();

private:
    std::optional<Json> take();
    bool fill(Milliseconds limit);

    Descriptor socket_;
    std::mutex sending_;
    std::string received_;
    std::string ended_; // why nothing more will come; empty: it may
};

// Listens on all interfaces. Port 0: any free one. Throws WorldError.
class Listener {
public:
    explicit Listener(int port);

    int port() const { return port_; }
    int descriptor() const { return socket_.number(); }

    // Somebody who waits to be let in; nothing when there is nobody.
    std::optional<Descriptor> accept();

private:
    Descriptor socket_;
    int port_ = 0;
};

// Tries until it answers or `limit` is over: the listener may start later. Throws ConnectionLost.
Descriptor connect_to(const std::string& host, int port, Milliseconds limit);

} // namespace trainyard
