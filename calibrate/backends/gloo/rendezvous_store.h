#pragma once

// Gloo's store of addresses, on ours.

#include "calibrate/measure/backend/rendezvous.h"

#include <gloo/rendezvous/store.h>

namespace trainyard {

class RendezvousStore : public gloo::rendezvous::Store {
public:
    RendezvousStore(Rendezvous& rendezvous, std::chrono::milliseconds limit)
        : rendezvous_(rendezvous), limit_(limit)
    {}

    void set(const std::string& key, const std::vector<char>& data) override
    {
        rendezvous_.put(key, std::string(data.begin(), data.end()));
    }

    std::vector<char> get(const std::string& key) override
    {
        const std::string value = rendezvous_.get(key, limit_);
        return {value.begin(), value.end()};
    }

    void wait(const std::vector<std::string>& keys) override { wait(keys, limit_); }

    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& limit) override
    {
        for (const std::string& key : keys)
            rendezvous_.get(key, limit);
    }

private:
    Rendezvous& rendezvous_;
    std::chrono::milliseconds limit_;
};

} // namespace trainyard
