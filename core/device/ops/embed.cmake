# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=file -DOUTPUT=file.cpp -DNAMESPACE=a::b -DSYMBOL=name -P embed.cmake: the bytes of a file as a C++ array
# `const char name[]`, with a zero after the last one, and their number as `const unsigned long nameSize`.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "// Generated: ${SYMBOL}.
namespace ${NAMESPACE} {
extern const char ${SYMBOL}[];
extern const unsigned long ${SYMBOL}Size;
const char ${SYMBOL}[] = {${bytes}0};
const unsigned long ${SYMBOL}Size = ${size};
}
")
