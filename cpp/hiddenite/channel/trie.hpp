// The words of a vocabulary as a tree of characters, for channels that compare
// an observed word with all words at once.
//
// Nodes are stored in preorder with the place where their subtree ends, so that
// a walk is one loop over an array: what was computed for a prefix lies at its
// depth, and a hopeless subtree is skipped by one jump. Building takes a sort of
// the words; a node takes 20 bytes, about 2.5 nodes a word in English text.
#pragma once

#include <cstdint>
#include <vector>

#include "hiddenite/base/types.hpp"
#include "hiddenite/lm/vocabulary.hpp"

namespace hiddenite::channel {

class Trie {
 public:
  struct Node {
    char32_t label;             // the last character of the prefix
    std::uint32_t depth;        // the length of the prefix
    std::uint32_t subtree_end;  // the first node outside the subtree
    WordId word;                // the word that ends here, or NO_WORD
    std::uint32_t lengths;      // length_bit of every word in the subtree, or'ed
  };

  // All words but the special ones.
  explicit Trie(const Vocabulary& vocabulary);

  // Words of 31 characters and more share one bit.
  static std::uint32_t length_bit(std::size_t length) { return 1u << (length < 31 ? length : 31); }

  // Calls enter(node) for the nodes in preorder; where it returns false, the
  // subtree is left out. The node's prefix is the labels last entered at the
  // depths 1 .. node.depth.
  template <class Enter>
  void walk(Enter enter) const {
    for (std::uint32_t i = 0; i < nodes_.size();) i = enter(nodes_[i]) ? i + 1 : nodes_[i].subtree_end;
  }

  std::size_t num_nodes() const { return nodes_.size(); }

 private:
  std::vector<Node> nodes_;
};

}  // namespace hiddenite::channel
