#include "hiddenite/channel/trie.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "hiddenite/base/characters.hpp"
#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

namespace {

// The words' ids in lexicographic order; that of UTF-8 bytes is that of characters.
std::vector<WordId> lexicographic_order(const Vocabulary& vocabulary) {
  std::vector<WordId> order(vocabulary.size() - NUM_SPECIAL_WORDS);
  std::iota(order.begin(), order.end(), NUM_SPECIAL_WORDS);
  std::sort(order.begin(), order.end(),
            [&](WordId a, WordId b) { return vocabulary.word(a) < vocabulary.word(b); });
  return order;
}

}  // namespace

Trie::Trie(const Vocabulary& vocabulary) {
  std::u32string prefix;             // of the last word
  std::vector<std::uint32_t> open;   // the nodes of its characters
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      Node& node = nodes_[open.back()];
      node.subtree_end = static_cast<std::uint32_t>(nodes_.size());
      if (open.size() > 1) nodes_[open[open.size() - 2]].lengths |= node.lengths;
    }
  };
  for (const WordId w : lexicographic_order(vocabulary)) {
    std::u32string word = to_characters(vocabulary.word(w));
    const auto [end, _] = std::mismatch(prefix.begin(), prefix.end(), word.begin(), word.end());
    close_to(static_cast<std::size_t>(end - prefix.begin()));
    while (open.size() < word.size()) {
      open.push_back(static_cast<std::uint32_t>(nodes_.size()));
      const auto depth = static_cast<std::uint32_t>(open.size());
      nodes_.push_back({word[depth - 1], depth, 0, NO_WORD, 0});
    }
    if (nodes_.size() >= std::numeric_limits<std::uint32_t>::max()) {
      throw ModelError("the vocabulary's words have more than 4 billion prefixes");
    }
    nodes_[open.back()].word = w;
    nodes_[open.back()].lengths = length_bit(word.size());
    prefix = std::move(word);
  }
  close_to(0);
}

}  // namespace hiddenite::channel
