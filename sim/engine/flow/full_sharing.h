#pragma once

// Solves all rates anew at every settlement: the twin of RippleSharing.

#include "sim/engine/flow/link_sharing.h"
#include "sim/engine/sharing.h"

#include <vector>

namespace trainyard::engine {

class FullSharing final : public LinkSharing {
public:
    explicit FullSharing(std::span<const ByteRate> capacities);

    std::uint32_t add(std::uint32_t owner, ByteRate ceiling,
                      std::span<const LinkUse> links) override;
    void remove(std::uint32_t flow) override;
    void set_capacity(LinkId link, ByteRate capacity) override;
    std::span<const RateChange> settle() override;
    ByteRate rate(std::uint32_t flow) const override { return flows_[flow].rate; }
    void watch_loads() override;
    void note_loads() override;
    double busiest_share(LinkId link) const override;

private:
    struct Flow {
        ByteRate rate{};
        std::uint32_t owner = 0;
        std::uint32_t place = 0; // in active_
    };

    std::span<const ByteRate> at_start_;
    std::vector<ByteRate> capacities_;
    FairSharing solver_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> active_; // flows, beside demands_
    std::vector<Demand> demands_;
    std::vector<RateChange> changes_;
    std::vector<u128> busiest_; // by LinkId; empty: not watched
    bool changed_ = false;
    bool solved_ = false; // since loads were noted
};

} // namespace trainyard::engine
