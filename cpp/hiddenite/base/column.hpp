// An array that a table owns, or that lies in a file mapped into memory.
//
// A table that was estimated or read from text owns its columns. A compiled one
// looks at a file that all processes of a machine share, and owns nothing. Both
// are read through the same pointer, so the inner loops are the same. Only the
// builders write, and only to what they own; a mapped column is read-only memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "hiddenite/rooms.hpp"

namespace hiddenite::base {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>, "what lies in a file is plain data");

 public:
  Column() = default;
  Column(std::vector<T> values) : own_(std::move(values)) { refresh(); }
  // Memory that somebody else keeps.
  static Column view(std::span<const T> values) {
    Column column;
    column.data_ = const_cast<T*>(values.data());
    column.size_ = values.size();
    return column;
  }

  Column(const Column& other) : own_(other.own_), data_(other.data_), size_(other.size_) {
    if (!own_.empty()) refresh();
  }
  Column(Column&& other) noexcept
      : own_(std::move(other.own_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Column& operator=(Column other) noexcept {
    own_.swap(other.own_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& back() const { return data_[size_ - 1]; }
  T& back() { return data_[size_ - 1]; }
  std::span<const T> span() const { return {data_, size_}; }
  std::size_t bytes() const { return std::max(own_.capacity(), size_) * sizeof(T); }

  void push_back(const T& value) { append({&value, 1}); }
  void append(std::span<const T> values) {
    assert(own_.size() == size_);
    own_.insert(own_.end(), values.begin(), values.end());
    refresh();
  }

  friend bool operator==(const Column& a, const Column& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void refresh() { data_ = own_.data(), size_ = own_.size(); }

  std::vector<T> own_;  // empty: a view
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hiddenite::base
