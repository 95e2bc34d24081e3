// A library that has only NCCL's version, the one given when it is compiled.

extern "C" int ncclGetVersion(int* version)
{
    *version = TRAINYARD_BARE_VERSION;
    return 0;
}
