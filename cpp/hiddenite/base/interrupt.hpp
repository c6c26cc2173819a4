// Stopping work that nobody waits for any more: Ctrl-C, a client that has left.
//
// A call from outside is a Call. The thread that made it asks its `poll` now and then whether to stop; the
// threads that help it (parallel.hpp) see what it was told. Loops that may run for long call
// check_interrupt() once a piece of work, a position or a sweep: some nanoseconds each time, and 20 ms between
// two polls. cancel_calls() ends all calls that are under way, from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

inline std::atomic<std::uint64_t> num_cancellations{0};
inline void cancel_calls() { ++num_cancellations; }

class Call {
 public:
  using Poll = bool (*)();  // true: stop. Asked by the calling thread alone

  // Work of this thread belongs to this call from now on.
  explicit Call(Poll poll) : poll_(poll), before_(current_), before_is_own_(is_own_) {
    current_ = this;
    is_own_ = true;
  }
  ~Call() {
    current_ = before_;
    is_own_ = before_is_own_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static Call* current() { return current_; }
  // A helping thread works for somebody else's call for a while.
  class Help {
   public:
    explicit Help(Call* call) {
      current_ = call;
      is_own_ = false;
    }
    ~Help() { current_ = nullptr; }
    Help(const Help&) = delete;
    Help& operator=(const Help&) = delete;
  };

  void check() {
    if (stopped_.load(std::memory_order_relaxed) || num_cancellations.load(std::memory_order_relaxed) != begun_) {
      throw Interrupted();
    }
    if (!is_own_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - polled_ < std::chrono::milliseconds(20)) return;
    polled_ = now;
    if (!poll_()) return;
    stopped_ = true;
    throw Interrupted();
  }

 private:
  static inline thread_local Call* current_ = nullptr;
  static inline thread_local bool is_own_ = false;  // this thread made the current call

  Poll poll_;
  Call* before_;
  bool before_is_own_;
  std::uint64_t begun_ = num_cancellations.load();
  std::chrono::steady_clock::time_point polled_ = std::chrono::steady_clock::now();
  std::atomic<bool> stopped_{false};
};

// Throws Interrupted if the call that this thread works for is to stop.
inline void check_interrupt() {
  if (Call* const call = Call::current()) call->check();
}

}  // namespace hiddenite::base
