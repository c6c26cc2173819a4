#include "hiddenite/correct/corrections.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>

#include "hiddenite/base/parallel.hpp"

namespace hiddenite::correct {

namespace {

constexpr double EPSILON = 1e-6;  // the share of all weight that marginals may leave out
constexpr std::size_t MAX_ALTERNATIVES = 4;
constexpr double LEAST_ALTERNATIVE = 1e-4;

std::vector<std::size_t> slot_sizes(const Reading& reading) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < reading.length(); ++i) sizes.push_back(reading.begin[i + 1] - reading.begin[i]);
  return sizes;
}

Candidates candidates_of(const Reading& reading) {
  return Candidates::from_csr(reading.begin, reading.words, reading.log_weights, true, reading.spans);
}

std::string seen_text(const Corrections::Sentence& sentence, std::uint32_t first, std::uint32_t end) {
  std::string text;
  for (std::uint32_t i = first; i < end; ++i) {
    if (i > first && sentence[i].has(NoisyToken::SPACE)) text += ' ';
    text += sentence[i].text;
  }
  return text;
}

// The runs of a path that differ from what was seen. pick(step) is the candidate taken in that slot.
template <class Pick>
std::vector<SentenceChange> changes_of(const Corrections::Sentence& sentence, const NoisyLattice& lattice,
                                       const Vocabulary& vocabulary, const Route& route, std::size_t num_steps,
                                       Pick pick) {
  std::vector<SentenceChange> changes;
  for (std::size_t step = 0; step < num_steps;) {
    const NoisySlot slot = lattice.slots[slot_of_step(route, step)];
    SentenceChange change{slot.first, slot.end, {{}, 0.0}, {}, true};
    for (bool more = true; more; ++step) {
      const std::size_t s = slot_of_step(route, step);
      change.choice.words.emplace_back(lattice.reading.word(vocabulary, s, pick(step)));
      more = slot.chain != 0 && step + 1 < num_steps &&
             lattice.slots[slot_of_step(route, step + 1)].chain == slot.chain;
    }
    const bool is_same = change.choice.words.size() == 1
                             ? change.choice.words[0] == seen_text(sentence, slot.first, slot.end)
                             : false;
    if (!is_same) changes.push_back(std::move(change));
  }
  return changes;
}

// All readings of a run of tokens with their marginals; that of a chain is that of each of its edges.
std::vector<ReadingChoice> choices_of(const NoisyLattice& lattice, const Vocabulary& vocabulary,
                                      const std::vector<std::vector<double>>& marginals, std::uint32_t first,
                                      std::uint32_t end) {
  std::vector<ReadingChoice> choices;
  std::map<std::uint32_t, ReadingChoice> chains;
  for (std::size_t s = 0; s < lattice.slots.size(); ++s) {
    const NoisySlot& slot = lattice.slots[s];
    if (slot.first != first || slot.end != end) continue;
    if (slot.chain != 0) {
      ReadingChoice& chain = chains[slot.chain];
      chain.words.emplace_back(lattice.reading.word(vocabulary, s, 0));
      chain.prob = marginals[s][0];
      continue;
    }
    for (std::size_t c = 0; c < marginals[s].size(); ++c) {
      choices.push_back({{std::string(lattice.reading.word(vocabulary, s, c))}, marginals[s][c]});
    }
  }
  for (auto& [_, chain] : chains) choices.push_back(std::move(chain));
  std::stable_sort(choices.begin(), choices.end(),
                   [](const ReadingChoice& a, const ReadingChoice& b) { return a.prob > b.prob; });
  return choices;
}

void add_probs(std::vector<ReadingChoice> choices, SentenceChange& change) {
  for (ReadingChoice& choice : choices) {
    if (choice.words == change.choice.words) {
      change.choice.prob = std::max(change.choice.prob, choice.prob);
    } else if (change.alternatives.size() < MAX_ALTERNATIVES && choice.prob >= LEAST_ALTERNATIVE) {
      change.alternatives.push_back(std::move(choice));
    }
  }
}

}  // namespace

SentenceCorrection Corrections::correct_one(const Sentence& sentence, EditSearch& search, Workspace& workspace) const {
  SentenceCorrection result;
  if (sentence.empty()) return result;
  const NoisyLattice lattice = builder_.build(sentence, search);
  const Reading& reading = lattice.reading;
  const Candidates candidates = candidates_of(reading);
  const Decoded best = workspace.walker(true).decode(candidates, true, Deadline());
  result.exact = best.certificate.exact();
  result.lower = best.log_weight + candidates.log_offset;
  result.upper = result.exact ? result.lower : best.certificate.upper() + candidates.log_offset;
  result.states = best.certificate.states();
  result.left_out = lattice.left_out;
  const Vocabulary& vocabulary = engine_.table().vocabulary;
  result.changes = changes_of(sentence, lattice, vocabulary, best.route, best.path.size(), [&](std::size_t step) {
    const Slot& slot = candidates.slots[slot_of_step(best.route, step)];
    return slot.candidate[slot.begin[best.path[step]]];
  });
  if (result.changes.empty()) return result;
  FullPosterior& posterior = workspace.posterior(true);
  posterior.observe(candidates, Deadline(), EPSILON);
  const std::vector<std::vector<double>> marginals = posterior.marginals(slot_sizes(reading));
  result.error_bound = posterior.bounds().error();
  for (SentenceChange& change : result.changes) {
    add_probs(choices_of(lattice, vocabulary, marginals, change.first, change.end), change);
    for (std::uint32_t i = change.first; i < change.end; ++i) {
      const bool is_word = sentence[i].has(NoisyToken::WORD);
      if (is_word && words_.lexicon().find(sentence[i].text) == WordLexicon::ABSENT) change.was_known = false;
    }
  }
  return result;
}

std::vector<SentenceCorrection> Corrections::correct(const std::vector<Sentence>& sentences, int threads) const {
  std::vector<SentenceCorrection> results(sentences.size());
  engine_.index(true);
  const std::size_t num_threads = std::min(static_cast<std::size_t>(resolve_threads(threads)), sentences.size());
  std::deque<Engine::Loan> loans;
  std::vector<EditSearch> searches(num_threads);
  for (std::size_t t = 0; t < num_threads; ++t) loans.emplace_back(engine_);
  parallel_for(sentences.size(), threads, [&](std::size_t i, int thread) {
    const auto t = static_cast<std::size_t>(thread);
    results[i] = correct_one(sentences[i], searches[t], loans[t].workspace());
  });
  return results;
}

std::vector<SentenceDraw> Corrections::sample(const Sentence& sentence, std::uint64_t count, std::uint64_t seed,
                                              std::uint64_t stream) const {
  std::vector<SentenceDraw> draws;
  if (sentence.empty()) return draws;
  EditSearch search;
  Engine::Loan loan(engine_);
  const NoisyLattice lattice = builder_.build(sentence, search);
  const Reading& reading = lattice.reading;
  const Candidates candidates = candidates_of(reading);
  FullPosterior& posterior = loan.workspace().posterior(true);
  posterior.observe(candidates, Deadline());
  Random random(seed, stream);
  for (const DrawnPath& drawn : posterior.sample(count, random)) {
    draws.push_back({changes_of(sentence, lattice, engine_.table().vocabulary, drawn.route, drawn.candidates.size(),
                                [&](std::size_t step) { return drawn.candidates[step]; }),
                     drawn.count});
  }
  return draws;
}

std::vector<MeantPair> Corrections::expect(const std::vector<Sentence>& sentences, double least, int threads) const {
  std::vector<std::vector<MeantPair>> found(sentences.size());
  const std::size_t num_threads = std::min(static_cast<std::size_t>(resolve_threads(threads)), sentences.size());
  std::deque<Engine::Loan> loans;
  std::vector<EditSearch> searches(num_threads);
  for (std::size_t t = 0; t < num_threads; ++t) loans.emplace_back(engine_);
  parallel_for(sentences.size(), threads, [&](std::size_t i, int thread) {
    if (sentences[i].empty()) return;
    const auto t = static_cast<std::size_t>(thread);
    const NoisyLattice lattice = builder_.build(sentences[i], searches[t]);
    const Reading& reading = lattice.reading;
    const Candidates candidates = candidates_of(reading);
    FullPosterior& posterior = loans[t].workspace().posterior(true);
    posterior.observe(candidates, Deadline(), EPSILON);
    const std::vector<std::vector<double>> marginals = posterior.marginals(slot_sizes(reading));
    for (std::size_t s = 0; s < lattice.slots.size(); ++s) {
      const NoisySlot& slot = lattice.slots[s];
      if (slot.chain != 0 || slot.end != slot.first + 1 || !sentences[i][slot.first].has(NoisyToken::WORD)) continue;
      for (std::size_t c = 0; c < marginals[s].size(); ++c) {
        if (marginals[s][c] < least) continue;
        found[i].push_back({sentences[i][slot.first].text,
                            std::string(reading.word(engine_.table().vocabulary, s, c)), marginals[s][c]});
      }
    }
  });
  std::vector<MeantPair> result;
  for (std::vector<MeantPair>& pairs : found) std::move(pairs.begin(), pairs.end(), std::back_inserter(result));
  return result;
}

NoisyLattice Corrections::lattice(const Sentence& sentence) const {
  EditSearch search;
  return builder_.build(sentence, search);
}

}  // namespace hiddenite::correct
