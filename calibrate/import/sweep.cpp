#include "calibrate/import/sweep.h"

#include <array>
#include <cctype>
#include <utility>

namespace trainyard {

bool counts_one_share(CollectiveKind collective)
{
    return collective == CollectiveKind::all_gather ||
           collective == CollectiveKind::reduce_scatter || collective == CollectiveKind::all_to_all;
}

bool reduces(CollectiveKind collective)
{
    return collective == CollectiveKind::all_reduce ||
           collective == CollectiveKind::reduce_scatter || collective == CollectiveKind::reduce;
}

int element_bytes(std::string_view data_type)
{
    static constexpr std::array<std::pair<std::string_view, int>, 19> sizes{{
        {"int8", 1},     {"uint8", 1},    {"char", 1},    {"f8e4m3", 1},  {"f8e5m2", 1},
        {"fp8_e4m3", 1}, {"fp8_e5m2", 1}, {"half", 2},    {"float16", 2}, {"bfloat16", 2},
        {"bf16", 2},     {"float", 4},    {"float32", 4}, {"int32", 4},   {"int", 4},
        {"uint32", 4},   {"double", 8},   {"int64", 8},   {"uint64", 8},
    }};
    for (const auto& [name, bytes] : sizes)
        if (name == data_type)
            return bytes;
    return 0;
}

std::optional<CollectiveKind> collective_named(std::string_view name)
{
    std::string plain; // letters only, small
    for (const char c : name)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    static constexpr std::array<std::pair<std::string_view, CollectiveKind>, 9> names{{
        {"allreduce", CollectiveKind::all_reduce},
        {"allgather", CollectiveKind::all_gather},
        {"reducescatter", CollectiveKind::reduce_scatter},
        {"alltoall", CollectiveKind::all_to_all},
        {"broadcast", CollectiveKind::broadcast},
        {"reduce", CollectiveKind::reduce},
        {"barrier", CollectiveKind::barrier},
        {"sendrecv", CollectiveKind::send_receive},
        {"sendreceive", CollectiveKind::send_receive},
    }};
    for (const std::string_view ending : {"mpi", "perf"})
        if (plain.ends_with(ending))
            plain.resize(plain.size() - ending.size());
    for (const auto& [known, kind] : names)
        if (known == plain)
            return kind;
    return std::nullopt;
}

} // namespace trainyard
