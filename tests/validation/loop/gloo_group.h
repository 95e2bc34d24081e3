#pragma once

#include "tests/validation/loop/group.h"

#include <gloo/context.h>

#include <memory>
#include <string>

namespace trainyard::loop {

// Over TCP, on the interface that GLOO_SOCKET_IFNAME names, else the loopback.
class GlooGroup final : public Group {
public:
    // Ranks meet in the folder `store`, which is empty before.
    GlooGroup(int rank, int ranks, const std::string& store);

    int rank() const override;
    int ranks() const override;
    void sum(std::span<float> values) override;
    void largest(std::span<double> values) override;

private:
    std::shared_ptr<gloo::Context> context_;
    std::uint32_t tag_ = 0;
};

} // namespace trainyard::loop
