# SPDX-License-Identifier: Apache-2.0
# cmake -DINPUT=file -DOUTPUT=file.cpp -DSYMBOL=name -P embed.cmake: the bytes of a text file as a terminated C++ array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "// Generated from ${SYMBOL}.\nnamespace espalier::ops {\nextern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {${bytes}0};\n}\n")
