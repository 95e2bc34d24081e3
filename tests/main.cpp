#if TRAINYARD_CATCH2_MAJOR < 3
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#else
#include <catch2/catch_session.hpp>
#endif

int main(int argc, char** argv)
{
    return Catch::Session().run(argc, argv);
}
