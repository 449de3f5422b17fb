// HTTP as far as one page needs it: GET of the page, and of whether it has changed, one connection
// at a time.
#include "report_serve.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "command.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

class Handle {
 public:
  explicit Handle(int number) : number_(number) {}
  ~Handle() {
    if (number_ >= 0) close(number_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator int() const { return number_; }

 private:
  int number_;
};

// Up to the empty line after the headers; shorter when the other side is slow or says too much.
std::string read_request(int connection) {
  constexpr size_t kLongest = 16 << 10;
  const timeval patience{2, 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::string request;
  char piece[4096];
  while (request.size() < kLongest && request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t n = recv(connection, piece, sizeof piece, 0);
    if (n <= 0) break;
    request.append(piece, static_cast<size_t>(n));
  }
  return request;
}

void answer(int connection, std::string_view status, std::string_view type, std::string_view body) {
  const std::string head = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
      status, type, body.size());
  for (std::string_view text : {std::string_view(head), body})
    while (!text.empty()) {
      const ssize_t n = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      text.remove_prefix(static_cast<size_t>(n));
    }
}

// Another name for this machine may be that of a page elsewhere, whose script then reads this one.
bool names_this_machine(const std::string& request, int port) {
  for (const char* name : {"127.0.0.1", "localhost"})
    for (const char* field : {"\r\nHost: ", "\r\nhost: "})
      if (request.find(fmt::format("{}{}:{}\r\n", field, name, port)) != std::string::npos) return true;
  return false;
}

// What distinguishes two states of a file: its time, and its text where that is not long, since
// two changes may have one time.
struct FileState {
  std::filesystem::file_time_type time;
  uintmax_t size = 0;
  std::string text;
  bool operator==(const FileState&) const = default;
};
FileState state_of(const std::string& path) {
  constexpr uintmax_t kLongestRead = 1 << 20;
  std::error_code failed;
  FileState state{std::filesystem::last_write_time(path, failed), std::filesystem::file_size(path, failed), {}};
  if (failed || state.size > kLongestRead) return state;
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  state.text = text.str();
  return state;
}

class Server {
 public:
  explicit Server(const ServedPages& pages) : pages_(pages), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(pages.port));
    socklen_t length = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || bind(listener_, plain, length) != 0 || listen(listener_, 16) != 0 ||
        getsockname(listener_, plain, &length) != 0)
      throw UserError(
          fmt::format("port {} of 127.0.0.1 cannot be served: {}\nhelp: another --serve PORT; 0 takes any "
                      "that is free",
                      pages.port, std::strerror(errno)));
    port_ = ntohs(address.sin_port);
  }

  int port() const { return port_; }

  [[noreturn]] void run() {
    for (;;) {
      const Handle connection(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
      if (connection >= 0) serve(connection);
    }
  }

 private:
  void serve(int connection) {
    const std::string request = read_request(connection);
    if (!names_this_machine(request, port_)) return answer(connection, "403 Forbidden", "text/plain", "forbidden\n");
    if (FileState now = state_of(pages_.watched); version_ == 0 || now != made_of_) {
      made_of_ = std::move(now);
      page_ = pages_.make(++version_);
    }
    if (request.rfind("GET / ", 0) == 0) return answer(connection, "200 OK", "text/html", page_);
    constexpr std::string_view kChanges = "GET /changes?";
    if (request.rfind(kChanges, 0) != 0) return answer(connection, "404 Not Found", "text/plain", "not found\n");
    const bool same = request.rfind(fmt::format("{}{} ", kChanges, version_), 0) == 0;
    answer(connection, "200 OK", "text/plain", same ? "same" : "changed");
  }

  const ServedPages& pages_;
  const Handle listener_;
  int port_ = 0, version_ = 0;
  FileState made_of_;
  std::string page_;
};

}  // namespace

int serve_pages(const ServedPages& pages) {
  Server server(pages);
  fmt::print("page: http://127.0.0.1:{}/ (until interrupted)\n", server.port());
  std::fflush(stdout);
  server.run();
}

}  // namespace smelt::tool
