// Large arrays in large pages.
//
// Random access to a table of many megabytes spends much of its time on the
// translation of addresses. Where the system lets a program ask for larger
// pages, a table that does so is read an eighth faster and filled with fewer
// page faults. Nothing else changes.
#pragma once

#include <cstdint>
#include <vector>

#include "hiddenite/base/column.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace hiddenite::base {

// values.assign(size, value), in memory that is new and in large pages if possible.
template <class T>
void assign_large(std::vector<T>& values, std::size_t size, T value) {
  std::vector<T>().swap(values);
  values.reserve(size);
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto begin = (reinterpret_cast<std::uintptr_t>(values.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(values.data() + size) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // or do without
#endif
  values.assign(size, value);
}

template <class T>
void assign_large(Column<T>& column, std::size_t size, T value) {
  column = Column<T>();  // its memory is free before more is asked for
  std::vector<T> values;
  assign_large(values, size, value);
  column = std::move(values);
}

}  // namespace hiddenite::base
