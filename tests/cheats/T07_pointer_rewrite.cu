// SPDX-License-Identifier: Apache-2.0
// cheat: T07 a constructor walks the program headers
// task: softmax_f32
// expect: suspicious
// evidence: dl_iterate_phdr
// device: sim cuda
// defence: V16 V1 V17
// @paste softmax

#include <link.h>

namespace {

int visit(dl_phdr_info* info, size_t, void* count)
{
    *static_cast<int*>(count) += info->dlpi_phnum; // where a pointer would be rewritten
    return 0;
}

__attribute__((constructor)) void rewrite()
{
    static int count;
    dl_iterate_phdr(visit, &count);
}

} // namespace

ENTRY
{
    return honest(x, y, rows, cols, stream);
}
