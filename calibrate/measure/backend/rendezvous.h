#pragma once

// Where ranks leave small values for one another (NCCL's id, addresses) before they can
// communicate.

#include <chrono>
#include <string>

namespace trainyard {

class Rendezvous {
public:
    Rendezvous() = default;
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;
    virtual ~Rendezvous() = default;

    // Any bytes. A key is put once.
    virtual void put(const std::string& key, const std::string& value) = 0;

    // Waits until somebody puts it. Throws MeasureFailure (timed_out, aborted).
    virtual std::string get(const std::string& key, std::chrono::milliseconds limit) = 0;
};

} // namespace trainyard
