#include "hiddenite/hmm/lexical/contexts.hpp"

#include <algorithm>
#include <string>

#include "hiddenite/base/error.hpp"
#include "hiddenite/base/interrupt.hpp"
#include "hiddenite/base/random.hpp"

namespace hiddenite::hmm {

// ----------------------------------------------------------------------- tree

ContextTree::ContextTree(WordId num_words)
    : num_words_(num_words), last_(num_words), length_(num_words, 1), prefix_(num_words, NO_CONTEXT),
      suffix_(num_words, NO_CONTEXT), slots_(64, NO_CONTEXT) {
  for (WordId w = 0; w < num_words; ++w) last_[w] = w;
}

ContextTree::ContextTree(WordId num_words, const std::vector<ContextId>& parent, const std::vector<WordId>& word)
    : ContextTree(num_words) {
  if (parent.size() != word.size()) throw ModelError("the contexts do not fit: one word for each parent is expected");
  for (std::size_t i = 0; i < parent.size(); ++i) {
    const bool fits = parent[i] < size() && word[i] < num_words && length_[parent[i]] < MOST_CONTEXT_WORDS;
    if (!fits || extend(parent[i], word[i]) != num_words + i) {
      throw ModelError("the contexts do not fit: context " + std::to_string(i) + " is there already or too long");
    }
  }
  finish();
}

// Where a key is, or the free place that it would take.
std::size_t ContextTree::slot(std::uint64_t wanted) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = splitmix64(wanted) & mask;
  while (slots_[i] != NO_CONTEXT && key(prefix_[slots_[i]], last_[slots_[i]]) != wanted) i = (i + 1) & mask;
  return i;
}

void ContextTree::grow_slots() {
  slots_.assign(slots_.size() * 2, NO_CONTEXT);
  for (ContextId x = num_words_; x < size(); ++x) slots_[slot(key(prefix_[x], last_[x]))] = x;
}

ContextId ContextTree::extend(ContextId x, WordId w) {
  const std::size_t place = slot(key(x, w));
  if (slots_[place] != NO_CONTEXT) return slots_[place];
  const ContextId made = size();
  slots_[place] = made;
  last_.push_back(w);
  length_.push_back(static_cast<std::uint8_t>(length_[x] + 1));
  prefix_.push_back(x);
  suffix_.push_back(NO_CONTEXT);
  if (std::size_t{2} * (size() - num_words_) > slots_.size()) grow_slots();
  return made;
}

ContextId ContextTree::find(ContextId x, WordId w) const { return slots_[slot(key(x, w))]; }

// The suffixes of (x w) that are contexts end those of x by w. Shorter contexts first: a prefix is shorter.
void ContextTree::finish() {
  for (std::uint8_t length = 2; length <= MOST_CONTEXT_WORDS; ++length) {
    for (ContextId x = num_words_; x < size(); ++x) {
      if (length_[x] != length) continue;
      suffix_[x] = last_[x];
      for (ContextId y = suffix_[prefix_[x]]; y != NO_CONTEXT; y = suffix_[y]) {
        const ContextId found = find(y, last_[x]);
        if (found == NO_CONTEXT) continue;
        suffix_[x] = found;
        break;
      }
    }
  }
}

ContextId ContextTree::next(ContextId x, WordId w) const {
  for (; x != NO_CONTEXT; x = suffix_[x]) {
    const ContextId found = find(x, w);
    if (found != NO_CONTEXT) return found;
  }
  return w;
}

std::vector<WordId> ContextTree::words(ContextId x) const {
  std::vector<WordId> result;
  for (; x != NO_CONTEXT; x = prefix_[x]) result.push_back(last_[x]);
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<ContextId> token_contexts(const ContextTree& tree, const TokenText& text) {
  std::vector<ContextId> result;
  result.reserve(text.tokens.size() + text.num_sentences());
  for (std::size_t s = 0; s < text.num_sentences(); ++s) {
    ContextId x = SENTENCE_BEGIN;
    for (const WordId w : text.sentence(s)) {
      result.push_back(x);
      x = tree.next(x, w);
    }
    result.push_back(x);
  }
  return result;
}

// ---------------------------------------------------------------------- table

LexicalShare LexicalTable::share(const ContextTree& tree, ContextId x, WordId w) const {
  LexicalShare result;
  for (; x != NO_CONTEXT; x = tree.suffix(x)) {
    if (!is_listed(x)) continue;
    const WordId* const first = word.data() + begin[x];
    const WordId* const last = word.data() + begin[x + 1];
    const WordId* const found = std::lower_bound(first, last, w);
    if (found != last && *found == w) {
      result.listed += result.left * static_cast<double>(probability[static_cast<std::size_t>(found - word.data())]);
    }
    result.left *= static_cast<double>(back_off[x]);
  }
  return result;
}

double LexicalTable::left(const ContextTree& tree, ContextId x) const {
  double result = 1.0;
  for (; x != NO_CONTEXT; x = tree.suffix(x)) result *= static_cast<double>(back_off[x]);
  return result;
}

void LexicalTable::check(const ContextTree& tree) const {
  const auto require = [](bool fits, const char* what) {
    if (!fits) throw ModelError(std::string("the lexical table does not fit: ") + what);
  };
  require(begin.size() == std::size_t{tree.size()} + 1 && begin[0] == 0, "one list a context is expected");
  require(word.size() == begin.back() && probability.size() == begin.back(), "words and probabilities");
  require(back_off.size() == tree.size(), "back-off weights");
  for (ContextId x = 0; x < tree.size(); ++x) {
    require(begin[x] <= begin[x + 1], "lists overlap");
    double sum = static_cast<double>(back_off[x]);
    require(sum >= 0.0 && sum <= 1.0 + 1e-5, "a back-off weight is no probability");
    for (std::uint64_t i = begin[x]; i < begin[x + 1]; ++i) {
      require(word[i] < tree.num_words() && (i == begin[x] || word[i - 1] < word[i]), "the words of a list");
      require(probability[i] >= 0.0f, "a number is no probability");
      sum += static_cast<double>(probability[i]);
    }
    require(std::abs(sum - 1.0) < 1e-4, "a list and its back-off weight do not add up to 1");
  }
}

// --------------------------------------------------------------------- counts

namespace {

// Runs through tokens, </s> included, with the context before each.
template <class Visit>
void each_token(const ContextTree& tree, const TokenText& text, Visit visit) {
  std::size_t t = 0;
  for (std::size_t s = 0; s < text.num_sentences(); ++s) {
    ContextId x = SENTENCE_BEGIN;
    for (const WordId w : text.sentence(s)) {
      visit(t++, x, w);
      x = tree.next(x, w);
    }
    visit(t++, x, SENTENCE_END);
  }
}

}  // namespace

ContextId LexicalCounts::listed_from(ContextId x) const {
  while (x != NO_CONTEXT && !listed_[x]) x = tree_.suffix(x);
  return x;
}

LexicalCounts::LexicalCounts(const ContextTree& tree, std::vector<bool> listed, const TokenText& text,
                             const ContextDiscounts& discounts)
    : tree_(tree), listed_(std::move(listed)), discounts_(discounts) {
  if (listed_.size() != tree.size()) throw ModelError("found another number of contexts than the tree has");
  // By length, as a longer context gives its words to a shorter one.
  std::array<std::vector<std::uint64_t>, MOST_CONTEXT_WORDS> keys;
  const auto add = [&](ContextId x, WordId w) {
    if (x != NO_CONTEXT) keys[tree.length(x) - 1].push_back((std::uint64_t{x} << 32) | w);
  };
  each_token(tree, text, [&](std::size_t, ContextId x, WordId w) { add(listed_from(x), w); });
  std::vector<std::pair<std::uint64_t, std::uint32_t>> counted;
  for (std::size_t k = MOST_CONTEXT_WORDS; k-- > 0;) {
    check_interrupt();
    std::sort(keys[k].begin(), keys[k].end());
    for (std::size_t i = 0, j = 0; i < keys[k].size(); i = j) {
      while (j < keys[k].size() && keys[k][j] == keys[k][i]) ++j;
      counted.emplace_back(keys[k][i], static_cast<std::uint32_t>(j - i));
      const auto x = static_cast<ContextId>(keys[k][i] >> 32);
      const ContextId shorter = tree.suffix(x);
      if (shorter != NO_CONTEXT) add(listed_from(shorter), static_cast<WordId>(keys[k][i]));
    }
  }
  std::sort(counted.begin(), counted.end());
  begin_.assign(std::size_t{tree.size()} + 1, 0);
  total_.assign(tree.size(), 0);
  entries_.reserve(counted.size());
  for (const auto& [k, n] : counted) {
    const auto x = static_cast<ContextId>(k >> 32);
    entries_.push_back({static_cast<WordId>(k), n});
    ++begin_[x + 1];
    total_[x] += n;
  }
  for (std::size_t x = 0; x < tree.size(); ++x) begin_[x + 1] += begin_[x];
}

const LexicalCounts::Entry* LexicalCounts::find(ContextId x, WordId w) const {
  const Entry* const first = entries_.data() + begin_[x];
  const Entry* const last = entries_.data() + begin_[x + 1];
  const Entry* const found =
      std::lower_bound(first, last, w, [](const Entry& entry, WordId word) { return entry.word < word; });
  return found != last && found->word == w ? found : nullptr;
}

std::vector<std::uint64_t> LexicalCounts::totals() const { return total_; }

LexicalTable LexicalCounts::table() const {
  LexicalTable result;
  result.begin = begin_;
  result.back_off.assign(tree_.size(), 1.0f);
  result.word.reserve(entries_.size());
  result.probability.reserve(entries_.size());
  for (ContextId x = 0; x < tree_.size(); ++x) {
    const double n = static_cast<double>(total_[x]), types = static_cast<double>(begin_[x + 1] - begin_[x]);
    for (std::uint64_t i = begin_[x]; i < begin_[x + 1]; ++i) {
      result.word.push_back(entries_[i].word);
      result.probability.push_back(static_cast<float>((entries_[i].count - discount(x)) / n));
    }
    if (n > 0.0) result.back_off[x] = static_cast<float>(discount(x) * types / n);
  }
  return result;
}

std::vector<LexicalShare> LexicalCounts::leave_one_out(const TokenText& text) const {
  std::vector<LexicalShare> result(text.tokens.size() + text.num_sentences());
  each_token(tree_, text, [&](std::size_t t, ContextId context, WordId w) {
    bool own = true;  // the token's count is among those of x
    for (ContextId x = listed_from(context); x != NO_CONTEXT; x = listed_from(tree_.suffix(x))) {
      const Entry* const entry = find(x, w);
      double count = entry == nullptr ? 0.0 : entry->count, n = static_cast<double>(total_[x]);
      double types = static_cast<double>(begin_[x + 1] - begin_[x]);
      const bool last_of_kind = own && entry != nullptr && entry->count == 1;
      if (own) {
        count -= 1.0;
        n -= 1.0;
        types -= last_of_kind ? 1.0 : 0.0;
      }
      own = last_of_kind;
      if (n > 0.0) {
        LexicalShare& share = result[t];
        share.listed += share.left * std::max(count - discount(x), 0.0) / n;
        share.left *= discount(x) * types / n;
      }
      if (tree_.suffix(x) == NO_CONTEXT) break;
    }
  });
  return result;
}

}  // namespace hiddenite::hmm
