#include "calibrate/backends/mpi/mpi_type.h"

#include "calibrate/measure/host_kernels/elements.h"

#include <array>
#include <cstddef>
#include <string>

namespace trainyard {
namespace {

template <ElementType type>
void add_into(void* from, void* sum, int* count, MPI_Datatype* /*type*/)
{
    add_elements(type, sum, sum, from, static_cast<std::size_t>(*count));
}

template <ElementType type>
MPI_Op new_sum()
{
    MPI_Op sum = MPI_OP_NULL;
    check_mpi(MPI_Op_create(&add_into<type>, 1, &sum), "MPI_Op_create");
    return sum;
}

} // namespace

void check_mpi(int code, const char* what)
{
    if (code == MPI_SUCCESS)
        return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    throw MeasureFailure{FailureKind::broken, std::string(what) + ": " + text.data(), ""};
}

MpiTypes::MpiTypes()
    : float16_sum_(new_sum<ElementType::float16>()), bfloat16_sum_(new_sum<ElementType::bfloat16>())
{}

MpiTypes::~MpiTypes()
{
    MPI_Op_free(&float16_sum_);
    MPI_Op_free(&bfloat16_sum_);
}

MPI_Datatype MpiTypes::datatype(ElementType type)
{
    switch (type) {
    case ElementType::float32:
        return MPI_FLOAT;
    case ElementType::float16:
    case ElementType::bfloat16:
        return MPI_UINT16_T;
    case ElementType::uint8:
        return MPI_UINT8_T;
    case ElementType::float8_e4m3:
        break;
    }
    return MPI_DATATYPE_NULL;
}

MPI_Op MpiTypes::sum(ElementType type) const
{
    switch (type) {
    case ElementType::float16:
        return float16_sum_;
    case ElementType::bfloat16:
        return bfloat16_sum_;
    default:
        return MPI_SUM;
    }
}

} // namespace trainyard
