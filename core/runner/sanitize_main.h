// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace espalier::runner {

/// `espalier-worker sanitize FOLDER --device cuda:N --runtime PATH`: one process under compute-sanitizer. Makes the
/// calls that FOLDER/request.json states to FOLDER/library.so, each on plain cudaMalloc buffers of exactly the stated
/// size (so that the tool knows every bound), and ends. No result is read: the tool's report is what counts.
/// request.json: {"entry", "calls": [[{"kind": "input", "bytes", "file"} | {"kind": "output", "bytes"} |
/// {"kind": "scalar", "type", "bits"}]]}; `type` is a ValueKind, `bits` decimal digits. Exit code: 0, 20 where a call
/// returned an error, 21 where something of ours failed.
int sanitizeMain(int argc, char** argv);

} // namespace espalier::runner
