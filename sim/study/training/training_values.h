#pragma once

// What a command line says of a training, as people write it.

#include "sim/base/units.h"
#include "sim/study/training/training_request.h"

namespace trainyard {

// "2T", "500B", "1.5M", "300e9": of tokens, samples, parameters.
Parsed<double> parse_count(std::string_view text);

// "50000h/gpu", "2000 h/node": the mean time between failures of one.
struct FailureInterval {
    Seconds mean;
    bool of_node = false;
};
Parsed<FailureInterval> parse_failure_interval(std::string_view text);

// "h100=2.5/h", "2.5/h", "2.5": of a GPU and hour; "20/h/node": of a node.
struct HourlyPrice {
    std::string device; // empty: of whichever
    double price = 0;
    bool of_node = false;
};
Parsed<HourlyPrice> parse_hourly_price(std::string_view text);

// Sets what was parsed, in place of what was there, of GPUs or of nodes.
void set(FailureModel& failures, const FailureInterval& interval);
void set(PriceModel& prices, const HourlyPrice& price);

} // namespace trainyard
