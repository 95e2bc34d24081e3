#include "sim/cli/command.h"

int main(int argc, char** argv)
{
    return trainyard::run_program(argc, argv);
}
