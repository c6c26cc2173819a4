#include <algorithm>
#include <cmath>

#include "hiddenite/base/parallel.hpp"
#include "hiddenite/lm/arpa.hpp"
#include "hiddenite/lm/log10_text.hpp"

namespace hiddenite::lm {

namespace {

// The text of a range of n-grams of one level.
class RowWriter {
 public:
  RowWriter(const NgramTable& table, bool with_max_columns)
      : table_(table), with_max_columns_(with_max_columns) {}

  std::string write(int n, NodeId begin, NodeId end) {
    std::string context;
    NodeId context_end = begin;  // nodes before this share the text of the context
    NodeId parent = n == 1 ? ROOT : table_.parent(begin);
    table_.for_each_ngram(n, begin, end, [&](NodeId node, std::span<const WordId> words) {
      if (n == 1 && words[0] == UNKNOWN && !table_.unknown_is_listed) return;
      if (!with_max_columns_ && is_implied(node)) return;
      if (node >= context_end) {
        context.clear();
        for (const WordId w : words.first(n - 1)) {
          context += table_.vocabulary.word(w);
          context += ' ';
        }
        while (table_.first_child[parent + 1] <= node) ++parent;
        context_end = table_.first_child[parent + 1];
      }
      write_row(n, node, context);
    });
    return std::move(text_);
  }

 private:
  bool is_implied(NodeId node) const {
    return std::binary_search(table_.implied.begin(), table_.implied.end(), node);
  }

  void write_row(int n, NodeId node, const std::string& context) {
    const bool is_begin = n == 1 && table_.word[node] == SENTENCE_BEGIN;
    append_log10(text_, is_begin ? static_cast<float>(table_.begin_log_prob) : table_.log_prob[node]);
    text_ += '\t';
    text_ += context;
    text_ += table_.vocabulary.word(table_.word[node]);
    if (n < table_.order) {
      text_ += '\t';
      append_log10(text_, table_.log_backoff[node]);
    }
    if (with_max_columns_) {
      text_ += '\t';
      append_log10(text_, table_.log_max_prob[node]);
      text_ += '\t';
      append_log10(text_, n < table_.order ? table_.log_max_backoff[node] : 0.0f);
    }
    text_ += '\n';
  }

  const NgramTable& table_;
  bool with_max_columns_;
  std::string text_;
};

// Blocks of rows are written on all cores and given to the sink in order.
void write_level(const NgramTable& table, int n, bool with_max_columns, const TextSink& sink) {
  constexpr NodeId block = 1 << 15;
  const NodeId begin = table.level_begin[n], end = table.level_begin[n + 1];
  const auto num_threads = static_cast<NodeId>(resolve_threads(0));
  std::vector<std::string> texts(num_threads);
  for (NodeId first = begin; first < end;) {
    const NodeId blocks = std::min(num_threads, (end - first + block - 1) / block);
    parallel_for(blocks, 0, [&](std::size_t i, int) {
      const NodeId from = first + static_cast<NodeId>(i) * block;
      texts[i] = RowWriter(table, with_max_columns).write(n, from, std::min(end, from + block));
    });
    for (NodeId i = 0; i < blocks; ++i) sink(texts[i]);
    first = end - first <= blocks * block ? end : first + blocks * block;
  }
}

}  // namespace

void write_arpa(const NgramTable& table, bool with_max_columns, const TextSink& sink) {
  const auto num_implied = [&](int n) {
    const auto first = [&](int m) {
      return std::lower_bound(table.implied.begin(), table.implied.end(), table.level_begin[m]);
    };
    return static_cast<std::size_t>(first(n + 1) - first(n));
  };
  std::string header = "\\data\\\n";
  for (int n = 1; n <= table.order; ++n) {
    std::size_t rows = table.num_ngrams(n);
    if (n == 1 && !table.unknown_is_listed) --rows;
    if (!with_max_columns) rows -= num_implied(n);
    header += "ngram " + std::to_string(n) + "=" + std::to_string(rows) + "\n";
  }
  sink(header);
  for (int n = 1; n <= table.order; ++n) {
    sink("\n\\" + std::to_string(n) + "-grams:\n");
    write_level(table, n, with_max_columns, sink);
  }
  sink("\n\\end\\\n");
}

}  // namespace hiddenite::lm
