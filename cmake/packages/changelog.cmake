# Writes `changelog` (CHANGELOG as it is) and `changelog.Debian` (its newest entry, in the form of
# Debian) of PACKAGE in VERSION, by MAINTAINER, into the current folder.

cmake_minimum_required(VERSION 3.25)
file(COPY_FILE ${CHANGELOG} changelog)
file(STRINGS ${CHANGELOG} lines REGEX "^## |^- ")
set(entries 0)
set(changes "")
foreach(line IN LISTS lines)
    if(line MATCHES "^## ")
        math(EXPR entries "${entries} + 1")
    elseif(entries EQUAL 1)
        string(REGEX REPLACE "^- " "  * " line "${line}")
        string(APPEND changes "${line}\n")
    endif()
endforeach()
file(TIMESTAMP ${CHANGELOG} date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or SOURCE_DATE_EPOCH
file(WRITE changelog.Debian "${PACKAGE} (${VERSION}) UNRELEASED; urgency=medium

${changes}
 -- ${MAINTAINER}  ${date}
")
