# Writes `changelog` (CHANGELOG as it is) and `changelog.Debian` (which refers to it) of PACKAGE in
# VERSION, by MAINTAINER, into the current folder.

cmake_minimum_required(VERSION 3.25)
file(COPY_FILE ${CHANGELOG} changelog)
file(TIMESTAMP ${CHANGELOG} date "%a, %d %b %Y %H:%M:%S +0000" UTC) # or SOURCE_DATE_EPOCH
file(WRITE changelog.Debian "${PACKAGE} (${VERSION}) UNRELEASED; urgency=medium

  * A new version: changelog.gz says what it brings.

 -- ${MAINTAINER}  ${date}
")
