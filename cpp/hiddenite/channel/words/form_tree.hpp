// Strings as a tree of bytes, each with a number: all prefixes of a text that
// are among them are found in one walk, which ends where no string goes on.
//
// The children of a node lie side by side in order of their byte. A node takes
// 12 bytes; building takes one pass over the sorted strings for each depth.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace hiddenite::channel {

class FormTree {
 public:
  static constexpr std::uint32_t ABSENT = std::numeric_limits<std::uint32_t>::max();

  // Strings in ascending order, none twice or empty; their numbers are their places.
  void build(const std::vector<std::string_view>& sorted);

  // Calls visit(length, number) for each prefix of the text that is one of the strings, the shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit visit) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == ABSENT) return;
      if (nodes_[node].number != ABSENT) visit(i + 1, nodes_[node].number);
    }
  }
  // The number of the string, or ABSENT.
  std::uint32_t find(std::string_view text) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size() && node != ABSENT; ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
    }
    return node == ABSENT ? ABSENT : nodes_[node].number;
  }

 private:
  struct Node {
    std::uint32_t first_child;  // its children end where those of the next node begin
    std::uint32_t number;       // of the string that ends here, or ABSENT
    unsigned char byte;
  };
  std::uint32_t child(std::uint32_t node, unsigned char byte) const {
    std::uint32_t first = nodes_[node].first_child, size = nodes_[node + 1].first_child - first;
    while (size > 4) {
      const std::uint32_t half = size / 2;
      const bool below = nodes_[first + half].byte <= byte;
      first += below ? half : 0;
      size -= half;
    }
    for (; size > 0; ++first, --size) {
      if (nodes_[first].byte == byte) return first;
    }
    return ABSENT;
  }

  std::vector<Node> nodes_;  // level by level; one more than there are
};

}  // namespace hiddenite::channel
