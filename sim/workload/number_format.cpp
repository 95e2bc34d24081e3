#include "sim/workload/number_format.h"

namespace trainyard {

bool is_narrow(Precision precision)
{
    switch (precision) {
    case Precision::fp8:
    case Precision::fp8_block:
    case Precision::mxfp8:
    case Precision::nvfp4:
        return true;
    default:
        return false;
    }
}

double operand_bytes(Precision precision)
{
    switch (precision) {
    case Precision::fp8:
        return 1;
    case Precision::fp8_block:
        return 1 + 4.0 / 128;
    case Precision::mxfp8:
        return 1 + 1.0 / 32;
    case Precision::nvfp4:
        return 0.5 + 1.0 / 16;
    default:
        return storage_bytes(precision);
    }
}

int cast_reads(Precision precision)
{
    return precision == Precision::nvfp4 ? 3 : 1;
}

bool casts_beside_producer(Precision precision)
{
    return precision != Precision::nvfp4;
}

bool gathers_parameters(Precision precision)
{
    return precision == Precision::fp8 || precision == Precision::mxfp8;
}

} // namespace trainyard
