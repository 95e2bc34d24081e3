# Cross-builds for 64-bit Arm (Grace nodes) and runs what was built under QEMU's user emulation:
# preset `aarch64`. tests/cross/README.md says what it takes.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Debian keeps the libraries of an architecture in a folder of its own, headers where all have them.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

find_program(TRAINYARD_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(TRAINYARD_QEMU_AARCH64)
    # The C library that comes with the cross compiler: the system itself need not have one for Arm.
    set(CMAKE_CROSSCOMPILING_EMULATOR ${TRAINYARD_QEMU_AARCH64} -L /usr/aarch64-linux-gnu)
endif()
