// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/fd.h"

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace espalier::tests {

/// What a client asked for.
struct ServedRequest {
    std::string method, target, body;
    std::map<std::string, std::string> headers; ///< names in lower case
};

/// How the server answers: real bytes, whole or in pieces, with a good end or none.
struct Reply {
    enum class End {
        Proper,
        NoLastChunk, ///< the connection closes in the middle of the body
        Reset,       ///< a TCP reset behind the body
        Hang,        ///< nothing more, and the connection stays open
    };
    int status = 200;
    std::string body;
    std::string contentType = "text/event-stream";
    std::vector<std::string> headers; ///< further lines, without line ends
    std::vector<std::size_t> cuts;    ///< chunk boundaries within the body; empty: one chunk
    bool everyByte = false;           ///< a chunk a byte
    bool silent = false;              ///< not even a status line
    int pauseMilliseconds = 0;        ///< between chunks
    End end = End::Proper;
};

/// An HTTP/1.1 server on the loopback that plays a script. Threads: one for accepting, one for each connection;
/// `script` is called on those under a lock. Owns all of them; the destructor ends them.
class ScriptedServer
{
public:
    using Script = std::function<Reply(const ServedRequest& request, std::size_t ordinal)>;

    explicit ScriptedServer(Script script);
    /// One reply after the other; the last one again and again.
    explicit ScriptedServer(std::vector<Reply> replies);
    ~ScriptedServer();

    std::string url() const; ///< http://127.0.0.1:PORT
    std::vector<ServedRequest> requests() const;

private:
    void accept();
    void serve(int fd);
    bool answer(int fd, const Reply& reply);

    Script m_script;
    UniqueFd m_listener;
    int m_port = 0;
    std::atomic<bool> m_stop{false};
    mutable std::mutex m_mutex;
    std::vector<ServedRequest> m_requests;
    std::list<std::thread> m_connections;
    std::thread m_accepter;
};

} // namespace espalier::tests
