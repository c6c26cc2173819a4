#include "hiddenite/correct/noisy_lattice.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "hiddenite/base/text.hpp"

namespace hiddenite::correct {

namespace {

constexpr std::size_t MAX_STRAY = 3;  // candidates of a word with a stray mark

struct DraftWord {
  WordId id;
  std::string text;
  double log_weight;
};

struct DraftChain {
  std::uint32_t first, end;
  std::vector<std::string> words;
  double log_weight;
};

// A mark that stands for itself in running text.
bool is_usual_mark(const std::string& text) {
  static const std::string usual = ".,;:!?'\"()-&";
  return text.size() > 1 || usual.find(text) != usual.npos || static_cast<unsigned char>(text[0]) >= 0x80;
}

}  // namespace

struct NoisyLatticeBuilder::Draft {
  EditSearch& search;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<DraftWord>> words;  // by tokens
  std::vector<DraftChain> chains;
  double left_out = LOG_ZERO;

  void add(std::uint32_t first, std::uint32_t end, WordId id, const std::string& text, double log_weight) {
    std::vector<DraftWord>& slot = words[{first, end}];
    for (DraftWord& word : slot) {
      if (word.text != text && (word.id != id || id == UNKNOWN)) continue;
      word.log_weight = std::max(word.log_weight, log_weight);
      return;
    }
    slot.push_back({id, text, log_weight});
  }

  NoisyLattice finish(const WordLexicon& lexicon, std::uint32_t num_tokens) const;
};

// Nodes of chains are numbered behind the node that the chain begins at.
NoisyLattice NoisyLatticeBuilder::Draft::finish(const WordLexicon& lexicon, std::uint32_t num_tokens) const {
  std::vector<std::uint32_t> inner(num_tokens + 1, 0);  // nodes of chains that begin at each token
  for (const DraftChain& chain : chains) inner[chain.first] += static_cast<std::uint32_t>(chain.words.size()) - 1;
  std::vector<std::uint32_t> node(num_tokens + 1, 0), next_inner(num_tokens + 1, 0);
  for (std::uint32_t i = 0; i < num_tokens; ++i) node[i + 1] = node[i] + 1 + inner[i];
  for (std::uint32_t i = 0; i <= num_tokens; ++i) next_inner[i] = node[i] + 1;
  struct Edge {
    Span span;
    NoisySlot slot;
    const std::vector<DraftWord>* words;
    const std::string* word;  // of a chain
    double log_weight;
  };
  std::vector<Edge> edges;
  for (const auto& [tokens, slot] : words) {
    edges.push_back({{node[tokens.first], node[tokens.second]}, {tokens.first, tokens.second, 0}, &slot, nullptr, 0.0});
  }
  std::uint32_t number = 0;
  for (const DraftChain& chain : chains) {
    ++number;
    std::uint32_t from = node[chain.first];
    for (std::size_t k = 0; k < chain.words.size(); ++k) {
      const std::uint32_t to = k + 1 == chain.words.size() ? node[chain.end] : next_inner[chain.first]++;
      const double log_weight = k == 0 ? chain.log_weight : 0.0;
      edges.push_back({{from, to}, {chain.first, chain.end, number}, nullptr, &chain.words[k], log_weight});
      from = to;
    }
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.span.to != b.span.to ? a.span.to < b.span.to : a.span.from < b.span.from;
  });
  NoisyLattice result;
  result.left_out = left_out;
  for (const Edge& edge : edges) {
    const auto add = [&](WordId id, const std::string& text, double log_weight) {
      if (id == UNKNOWN) {
        result.reading.add_unknown(text, log_weight);
      } else {
        result.reading.add(id, log_weight);
      }
    };
    if (edge.words) {
      for (const DraftWord& word : *edge.words) add(word.id, word.text, word.log_weight);
    } else {
      const WordId id = lexicon.model_word(*edge.word);
      add(id, *edge.word, edge.log_weight + (id == UNKNOWN ? lexicon.log_spell(*edge.word) : 0.0));
    }
    result.reading.close_slot();
    result.reading.spans.push_back(edge.span);
    result.slots.push_back(edge.slot);
  }
  return result;
}

bool NoisyLatticeBuilder::is_known(const NoisyToken& token) const {
  return words_.lexicon().find(token.text) != WordLexicon::ABSENT;
}

void NoisyLatticeBuilder::add_token(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const {
  const NoisyToken& token = tokens[i];
  if (!token.has(NoisyToken::WORD)) {
    draft.add(i, i + 1, words_.lexicon().model_word(token.text), token.text, 0.0);
    return;
  }
  const std::shared_ptr<const MeantWords> meant = words_.meant(token.text, draft.search);
  const int kind = token.has(NoisyToken::CAPITAL);
  std::vector<DraftWord>& slot = draft.words[{i, i + 1}];
  for (const MeantWord& word : meant->words) slot.push_back({word.id, word.text, word.log_weight[kind]});
  for (const MeantPhrase& phrase : meant->phrases) draft.chains.push_back({i, i + 1, phrase.words, phrase.log_weight});
  draft.left_out = std::max(draft.left_out, meant->left_out);
  if (!token.others.empty()) add_others(token, i, draft);
}

// The mixture over a recogniser's readings; that of the word as it stands is already there.
void NoisyLatticeBuilder::add_others(const NoisyToken& token, std::uint32_t i, Draft& draft) const {
  std::vector<DraftWord>& slot = draft.words[{i, i + 1}];
  double own = 1.0;
  for (const auto& [text, share] : token.others) own -= share;
  const double log_own = std::log(std::max(own, 1e-6));
  for (DraftWord& word : slot) word.log_weight += log_own;
  for (DraftChain& chain : draft.chains) chain.log_weight += chain.first == i && chain.end == i + 1 ? log_own : 0.0;
  const int kind = token.has(NoisyToken::CAPITAL);
  for (const auto& [text, share] : token.others) {
    const std::shared_ptr<const MeantWords> meant = words_.meant(text, draft.search);
    const double log_share = std::log(share);
    for (const MeantWord& word : meant->words) {
      const double log_weight = log_share + word.log_weight[kind];
      const auto has_text = [&](const DraftWord& one) { return one.text == word.text; };
      const auto same = std::find_if(slot.begin(), slot.end(), has_text);
      if (same == slot.end()) {
        slot.push_back({word.id, word.text, log_weight});
      } else {
        const double most = std::max(same->log_weight, log_weight), least = std::min(same->log_weight, log_weight);
        same->log_weight = most + std::log1p(std::exp(least - most));
      }
    }
    draft.left_out = std::max(draft.left_out, meant->left_out);
  }
}

// The joined word itself if it is known; with `wide`, what it may be a slip of too.
void NoisyLatticeBuilder::add_joined(const std::string& joined, std::uint32_t first, std::uint32_t end,
                                     double log_rate, bool wide, Draft& draft) const {
  const std::uint32_t place = words_.lexicon().find(joined);
  if (place != WordLexicon::ABSENT) {
    const LexiconWord& word = words_.lexicon().words()[place];
    draft.add(first, end, word.id, word.text, log_rate + std::log1p(-words_.rates().word) + word.log_spell);
  }
  if (!wide) return;
  const std::shared_ptr<const MeantWords> meant = words_.meant(joined, draft.search);
  for (std::size_t k = 1; k < meant->words.size() && k <= options_.max_merged; ++k) {
    draft.add(first, end, meant->words[k].id, meant->words[k].text, log_rate + meant->words[k].log_weight[0]);
  }
  draft.left_out = std::max(draft.left_out, meant->left_out_of(options_.max_merged + 1));
}

void NoisyLatticeBuilder::add_merges(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const {
  if (i + 1 >= tokens.size()) return;
  const NoisyToken &a = tokens[i], &b = tokens[i + 1];
  if (!a.has(NoisyToken::WORD) || !b.has(NoisyToken::WORD) || !b.has(NoisyToken::SPACE)) return;
  const std::string joined = a.text + b.text;
  const auto length = static_cast<double>(count_characters(joined));
  const bool wide = length <= 20 && (!is_known(a) || !is_known(b));
  add_joined(joined, i, i + 2, std::log(words_.rates().merge) - std::log(length - 1.0), wide, draft);
}

// word mark word: a compound, a hyphen that was not meant, or a mark that has come into a word.
void NoisyLatticeBuilder::add_across_mark(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const {
  if (i + 2 >= tokens.size()) return;
  const NoisyToken &a = tokens[i], &mark = tokens[i + 1], &b = tokens[i + 2];
  const bool is_glued = !mark.has(NoisyToken::WORD) && !mark.has(NoisyToken::SPACE);
  if (!a.has(NoisyToken::WORD) || !b.has(NoisyToken::WORD) || !is_glued || count_characters(mark.text) > 2) return;
  const bool is_hyphen = mark.text == "-";
  const std::string compound = a.text + "-" + b.text;
  const WordId id = is_hyphen ? words_.lexicon().model_word(compound) : UNKNOWN;
  if (!b.has(NoisyToken::SPACE)) {
    if (id != UNKNOWN) draft.add(i, i + 3, id, compound, 0.0);
    if (!options_.is_scanned) return;
    const bool wide = !is_known(a) || !is_known(b);
    if (!is_hyphen || wide) {
      add_joined(a.text + b.text, i, i + 3, std::log(words_.rates().glue), wide && !is_usual_mark(mark.text), draft);
    }
    return;
  }
  if (!options_.is_scanned) return;
  if (!is_hyphen) {  // a hyphen that was misread
    const bool both = !is_known(a) && !is_known(b);
    add_joined(a.text + b.text, i, i + 3, std::log(words_.rates().glue), both, draft);
    return;
  }
  if (id != UNKNOWN) draft.add(i, i + 3, id, compound, std::log1p(-words_.rates().hyphen));
  add_joined(a.text + b.text, i, i + 3, std::log(words_.rates().hyphen), !is_known(a) || !is_known(b), draft);
}

// A token of one or two characters that stands for nothing goes with the word behind it, or before it at the end.
void NoisyLatticeBuilder::add_spurious(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const {
  if (!options_.is_scanned || tokens.size() < 2) return;
  const NoisyToken& token = tokens[i];
  const std::size_t length = count_characters(token.text);
  const bool is_word = token.has(NoisyToken::WORD);
  const bool is_letter = length == 1 && token.text != "a" && token.text != "i";
  const bool is_digit = token.text[0] >= '0' && token.text[0] <= '9';
  const bool is_odd = is_word ? !is_known(token) || is_letter : !is_usual_mark(token.text) && !is_digit;
  const bool is_short = length <= 2 && is_odd;
  if (!is_short) return;
  const bool is_last = i + 1 == tokens.size();
  const std::uint32_t neighbour = is_last ? i - 1 : i + 1, first = is_last ? i - 1 : i;
  if (!tokens[neighbour].has(NoisyToken::WORD)) return;
  const double log_rate = std::log(words_.rates().spurious) - std::log(30.0) * static_cast<double>(length);
  const std::shared_ptr<const MeantWords> meant = words_.meant(tokens[neighbour].text, draft.search);
  for (std::size_t k = 0; k < meant->words.size() && k < options_.max_merged; ++k) {
    draft.add(first, first + 2, meant->words[k].id, meant->words[k].text, log_rate + meant->words[k].log_weight[0]);
  }
  draft.left_out = std::max(draft.left_out, meant->left_out_of(options_.max_merged));
}

// A mark behind a word that stands for nothing.
void NoisyLatticeBuilder::add_stray_mark(const std::vector<NoisyToken>& tokens, std::uint32_t i, Draft& draft) const {
  if (!options_.is_scanned || i + 1 >= tokens.size() || !tokens[i].has(NoisyToken::WORD)) return;
  const NoisyToken& mark = tokens[i + 1];
  const bool is_mark = !mark.has(NoisyToken::WORD) && !mark.has(NoisyToken::SPACE) && mark.text.size() == 1 &&
                       std::string(".,;:'-~*").find(mark.text) != std::string::npos;
  if (!is_mark || i + 2 == tokens.size() || !tokens[i + 2].has(NoisyToken::SPACE)) return;
  const double log_rate = std::log(words_.rates().glue / 4.0);  // it could have been another mark
  const std::shared_ptr<const MeantWords> meant = words_.meant(tokens[i].text, draft.search);
  for (std::size_t k = 0; k < meant->words.size() && k < MAX_STRAY; ++k) {
    draft.add(i, i + 2, meant->words[k].id, meant->words[k].text, log_rate + meant->words[k].log_weight[0]);
  }
  draft.left_out = std::max(draft.left_out, meant->left_out_of(MAX_STRAY));
}

NoisyLattice NoisyLatticeBuilder::build(const std::vector<NoisyToken>& tokens, EditSearch& search) const {
  Draft draft{search, {}, {}};
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    add_token(tokens, i, draft);
    add_merges(tokens, i, draft);
    add_across_mark(tokens, i, draft);
    add_spurious(tokens, i, draft);
    add_stray_mark(tokens, i, draft);
  }
  return draft.finish(words_.lexicon(), static_cast<std::uint32_t>(tokens.size()));
}

}  // namespace hiddenite::correct
