#include "sim/report/collectives.h"

#include <algorithm>

namespace trainyard {

std::string title_of(CollectiveKind kind)
{
    std::string name(to_name(kind));
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

std::string title_of(GroupKind kind)
{
    std::string name(to_name(kind));
    if (kind != GroupKind::embedding && kind != GroupKind::world)
        for (char& letter : name)
            letter = static_cast<char>(letter - 'a' + 'A');
    return name;
}

} // namespace trainyard
