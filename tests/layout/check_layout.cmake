# Checks the folders below ROOT against what their CMakeLists.txt declare (DECLARED): the linker sees
# only the calls that cross an arrow, this sees every #include; and a source that nobody lists is dead.

cmake_minimum_required(VERSION 3.25)
include(${DECLARED})

foreach(folder IN LISTS folders)
    set(place ${place_${folder}})
    file(GLOB_RECURSE files RELATIVE ${ROOT}/${place} ${ROOT}/${place}/*.h ${ROOT}/${place}/*.cpp)
    foreach(file IN LISTS files)
        file(STRINGS ${ROOT}/${place}/${file} includes REGEX "^#include \"(sim|calibrate)/")
        foreach(line IN LISTS includes)
            string(REGEX REPLACE "^#include \"(sim|calibrate)/([^/]*)/.*" "\\2" used "${line}")
            if(NOT used IN_LIST reach_${folder})
                message(SEND_ERROR "${place}/${file} may not include from ${used}: ${line}")
            endif()
        endforeach()
        if(file MATCHES "\\.cpp$" AND NOT file IN_LIST sources_${folder}
                AND NOT "${folder}/${file}" STREQUAL "cli/main.cpp")
            message(SEND_ERROR "${place}/CMakeLists.txt does not list ${file}")
        endif()
    endforeach()
endforeach()
