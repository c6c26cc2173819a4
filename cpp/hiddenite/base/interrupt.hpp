// Stopping work that nobody waits for any more: Ctrl-C, a client that has left.
//
// A call from outside is a Call. The thread that made it asks its `poll` now and then whether to stop; the
// threads that help it (parallel.hpp) see what it was told. Loops that may run for long call
// check_interrupt() once a piece of work, a position or a sweep: some nanoseconds each time, and 20 ms between
// two polls. cancel_calls() ends all calls that are under way, from any thread; a CallDeadline ends those of one
// thread, when its time is over or somebody cancels it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
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

// How long the calls of a thread may take: of the thread that has entered it, until it leaves.
class CallDeadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CallDeadline(double seconds) {
    using std::chrono::duration;
    if (seconds < 1e9) end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(duration<double>(seconds));
  }

  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }  // from any thread
  bool is_over() const { return cancelled_.load(std::memory_order_relaxed) || Clock::now() >= end_; }

  void enter() { current_ = this; }
  static void leave() { current_ = nullptr; }
  static const CallDeadline* current() { return current_; }

 private:
  static inline thread_local const CallDeadline* current_ = nullptr;

  Clock::time_point end_ = Clock::time_point::max();
  std::atomic<bool> cancelled_{false};
};

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
    const CallDeadline* const deadline = CallDeadline::current();
    if (!(deadline && deadline->is_over()) && !poll_()) return;
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

// The same in a loop of many small turns: once in 4,096 of them.
inline void check_interrupt_at(std::size_t turn) {
  if (turn % 4096 == 0) check_interrupt();
}

// The same where turns differ: once in about a million units of work.
class WorkMeter {
 public:
  void add(std::size_t work) {
    work_ += work;
    if (work_ < std::size_t{1} << 20) return;
    work_ = 0;
    check_interrupt();
  }

 private:
  std::size_t work_ = 0;
};

}  // namespace hiddenite::base
