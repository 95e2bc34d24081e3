# Checks the folders below ROOT against what their CMakeLists.txt declare (DECLARED): the linker sees
# only the calls that cross an arrow, this sees every #include; and a source that nobody lists is dead.
# Two headers may not define types of one name: the linker would take the members of one for both.
# A report gets results and runs nothing: the session reaches none of its files, by no way round.

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
        if(file MATCHES "\\.h$")
            file(STRINGS ${ROOT}/${place}/${file} lines
                REGEX "^(namespace|struct|class|enum class) [A-Za-z_:]+( [:{].*)?$")
            foreach(line IN LISTS lines)
                if(line MATCHES "^namespace ([a-z_:]+)")
                    set(namespace ${CMAKE_MATCH_1})
                elseif(line MATCHES "^(struct|class|enum class) ([A-Za-z_]+)")
                    string(REPLACE "::" "_" type ${namespace}_${CMAKE_MATCH_2})
                    if(DEFINED defined_${type})
                        message(SEND_ERROR "${CMAKE_MATCH_2} is defined in ${place}/${file} and in "
                            "${defined_${type}}")
                    endif()
                    set(defined_${type} ${place}/${file})
                endif()
            endforeach()
        endif()
        if(file MATCHES "\\.cpp$" AND NOT file IN_LIST sources_${folder}
                AND NOT "${folder}/${file}" STREQUAL "cli/main.cpp")
            message(SEND_ERROR "${place}/CMakeLists.txt does not list ${file}")
        endif()
    endforeach()
endforeach()

file(GLOB_RECURSE files RELATIVE ${ROOT}
    ${ROOT}/sim/study/*.h ${ROOT}/sim/report/*.h ${ROOT}/sim/report/*.cpp)
set(leading sim/study/session.h)
while(leading)
    list(POP_FRONT leading header)
    foreach(file IN LISTS files)
        file(STRINGS ${ROOT}/${file} includes REGEX "^#include \"${header}\"")
        if(includes)
            list(REMOVE_ITEM files ${file})
            list(APPEND leading ${file})
        endif()
        if(includes AND file MATCHES "^sim/report/")
            message(SEND_ERROR "${file} may not include ${header}, which leads to the session")
        endif()
    endforeach()
endwhile()
