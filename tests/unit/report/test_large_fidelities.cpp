#include "tests/support/fidelity_law.h"

using namespace trainyard::test;

TEST_CASE("network fidelities agree on clusters of many nodes, and say where transfers meet")
{
    check_fidelities("llama3-70b-h100-64.json");
    check_fidelities("llama3-405b-gb200-nvl72.json");
}
