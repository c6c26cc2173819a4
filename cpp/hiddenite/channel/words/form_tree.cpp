#include "hiddenite/channel/words/form_tree.hpp"

#include "hiddenite/base/error.hpp"

namespace hiddenite::channel {

void FormTree::build(const std::vector<std::string_view>& sorted) {
  struct Share {  // the strings of a node
    std::uint32_t begin, end;
  };
  nodes_.assign(1, Node{0, ABSENT, 0});
  std::vector<Share> level{{0, static_cast<std::uint32_t>(sorted.size())}}, next;
  std::size_t node = 0;
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    next.clear();
    for (const Share share : level) {
      nodes_[node++].first_child = static_cast<std::uint32_t>(nodes_.size());
      std::uint32_t i = share.begin;
      if (i < share.end && sorted[i].size() == depth) ++i;  // ends here
      while (i < share.end) {
        const char byte = sorted[i][depth];
        const std::uint32_t number = sorted[i].size() == depth + 1 ? i : ABSENT;
        const std::uint32_t begin = i;
        while (i < share.end && sorted[i][depth] == byte) ++i;
        nodes_.push_back({0, number, static_cast<unsigned char>(byte)});
        next.push_back({begin, i});
      }
    }
    level.swap(next);
    if (nodes_.size() >= ABSENT) throw ModelError("the lexicon's forms have more than 4 billion prefixes");
  }
  nodes_.push_back({static_cast<std::uint32_t>(nodes_.size()), ABSENT, 0});
}

}  // namespace hiddenite::channel
