#pragma once

// Element types and their sums, as MPI takes them.

#include "calibrate/measure/backend/backend.h"

#include <mpi.h>

namespace trainyard {

// Throws MeasureFailure (broken) where `code` is no success; `what` failed.
void check_mpi(int code, const char* what);

// MPI has no 16-bit floating-point types: their elements are integers of 16 bits to it, summed by
// functions of ours. Made once, for as long as MPI runs.
class MpiTypes {
public:
    MpiTypes();
    MpiTypes(const MpiTypes&) = delete;
    MpiTypes& operator=(const MpiTypes&) = delete;
    ~MpiTypes();

    static MPI_Datatype datatype(ElementType type);
    MPI_Op sum(ElementType type) const;

private:
    MPI_Op float16_sum_ = MPI_OP_NULL;
    MPI_Op bfloat16_sum_ = MPI_OP_NULL;
};

} // namespace trainyard
