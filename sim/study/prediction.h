#pragma once

// How far a step time can be off.

#include "sim/base/vocabulary.h"
#include "sim/workload/model.h"

#include <string>

namespace trainyard {

// A number with its 90 % interval and how far it can be trusted.
struct Prediction {
    Seconds value;
    Seconds low;
    Seconds high;
    Grade grade = Grade::datasheet;
    std::string basis; // where the interval comes from

    bool operator==(const Prediction&) const = default;
};

// The interval of the model's class: nine in ten predictions of runs whose source was left out of
// the fit lie within +-28 % (dense decoders), +-48 % (mixtures of experts) or +-40 %
// (encoders, CNNs) of the measured time, so the measured time lies in [value / (1 + slow),
// value / (1 - fast)].
Prediction predict_step_time(Seconds value, const Model& model, Grade grade);

} // namespace trainyard
