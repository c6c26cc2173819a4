// The core without Python, in several threads: what each room answers with one thread and with four, and asked by
// four threads at a time, must be the same. It is built with ThreadSanitizer (`make tsan-core`), which sees every
// access that no lock orders.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "hiddenite/align/alignment.hpp"
#include "hiddenite/align/em.hpp"
#include "hiddenite/base/error.hpp"
#include "hiddenite/base/parallel.hpp"
#include "hiddenite/base/random.hpp"
#include "hiddenite/channel/keypad.hpp"
#include "hiddenite/exact/engine.hpp"
#include "hiddenite/hmm/clusters.hpp"
#include "hiddenite/hmm/em.hpp"
#include "hiddenite/hmm/log_bilinear.hpp"
#include "hiddenite/hmm/score.hpp"
#include "hiddenite/induce/chain.hpp"
#include "hiddenite/lm/arpa.hpp"
#include "hiddenite/lm/compiled.hpp"
#include "hiddenite/lm/kneser_ney.hpp"
#include "hiddenite/lm/score.hpp"

namespace base = hiddenite::base;
namespace lm = hiddenite::lm;
namespace channel = hiddenite::channel;
namespace exact = hiddenite::exact;
namespace align = hiddenite::align;
namespace hmm = hiddenite::hmm;
namespace induce = hiddenite::induce;

namespace {

constexpr int MANY = 4;

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "core_test: %s\n", what.c_str());
  std::exit(1);
}

// The question with one thread, with several, and from several threads at once.
void check_any_threads(const std::string& name, const std::function<std::string(int threads)>& ask) {
  const std::string expected = ask(1);
  require(!expected.empty(), name + " gave no answer");
  require(ask(MANY) == expected, name + " depends on the number of threads");
  std::vector<std::string> found(MANY);
  std::vector<std::thread> askers;
  for (int i = 0; i < MANY; ++i) askers.emplace_back([&, i] { found[i] = ask(2); });
  for (std::thread& asker : askers) asker.join();
  for (const std::string& answer : found) require(answer == expected, name + " depends on who else asks");
  std::printf("core_test: %s\n", name.c_str());
}

// ------------------------------------------------------------------- texts

std::string random_text(std::uint64_t seed, int sentences, int words, int longest) {
  base::Random random(seed, 0);
  std::string text;
  for (int s = 0; s < sentences; ++s) {
    const auto length = 1 + static_cast<int>(random.uniform() * longest);
    for (int i = 0; i < length; ++i) {
      const double u = random.uniform();
      text += std::string(i > 0, ' ') + "w" + std::to_string(static_cast<int>(u * u * words));
    }
    text += '\n';
  }
  return text;
}

base::LineReader lines_of(std::string_view text) {
  return base::LineReader([text]() mutable { return std::exchange(text, {}); }, "text");
}

template <class Numbers>
void append(std::string& out, const Numbers& numbers) {
  for (const auto x : numbers) {
    char buffer[32];
    out.append(buffer, static_cast<std::size_t>(std::snprintf(buffer, sizeof buffer, "%.17g ", static_cast<double>(x))));
  }
}

lm::NgramTable train(std::string_view text, int order) {
  lm::TrainOptions options;
  options.order = order;
  lm::KneserNeyTrainer trainer(options);
  base::LineReader lines = lines_of(text);
  trainer.add(lines);
  return trainer.finish().table;
}

std::string arpa_of(const lm::NgramTable& table) {
  std::string text;
  lm::write_arpa(table, true, [&](std::string_view piece) { text += piece; });
  return text;
}

// ------------------------------------------------------------------- rooms

void check_language_models(const std::string& text) {
  check_any_threads("training, writing and reading a model", [&](int) {
    const std::string arpa = arpa_of(train(text, 3));
    base::LineReader lines = lines_of(arpa);
    require(arpa_of(lm::read_arpa(lines).table) == arpa, "a model is read as it was written");
    return arpa;
  });
  const lm::NgramTable table = train(text, 4);
  check_any_threads("scores", [&](int threads) {
    std::string out;
    append(out, lm::score_text(table, text, threads, "text", 1).log_prob);
    return out;
  });
}

// One table and one engine, made by nobody's thread in particular: checksums and index are made on first use.
void check_inference(const std::string& text) {
  std::string file;
  lm::write_compiled(train(text, 3), false, [&](std::string_view piece) { file += piece; });
  const std::size_t size = file.size();
  const auto release = [](char* p) { ::operator delete[](p, std::align_val_t{64}); };
  const std::unique_ptr<char[], decltype(release)> bytes(new (std::align_val_t{64}) char[size], release);
  std::copy(file.begin(), file.end(), bytes.get());
  const lm::NgramTable table = lm::open_compiled({bytes.get(), size}, "compiled");
  const channel::KeypadNoise noise(16.0);
  const channel::KeypadChannel keypad(table, noise, 12);
  const std::string keys = channel::encode_text(noise, text, std::nullopt, "text", 1);
  std::vector<std::string_view> records = base::split_lines(keys);
  records.resize(std::min<std::size_t>(records.size(), 100));
  using Kind = exact::Task::Kind;
  using exact::Method;
  const std::map<std::string, std::pair<Kind, Method>> questions{
      {"decode", {Kind::DECODE, Method::AUTO}},        {"decode by refine", {Kind::DECODE, Method::REFINE}},
      {"k-best", {Kind::KBEST, Method::AUTO}},         {"samples", {Kind::SAMPLE, Method::AUTO}},
      {"samples by refine", {Kind::SAMPLE, Method::REFINE}}, {"marginals", {Kind::MARGINALS, Method::AUTO}},
      {"expected errors", {Kind::MBR, Method::AUTO}},
  };
  for (const auto& [name, question] : questions) {
    const exact::Engine engine(table);
    exact::Task task;
    task.kind = question.first;
    task.method = question.second;
    task.count = 5;
    check_any_threads(name, [&](int threads) {
      std::string out;
      for (const exact::Answer& answer : exact::answer_lines(engine, keypad, records, task, 0, threads)) {
        out += answer.error + ": ";
        append(out, answer.log_weights);
        for (const auto& row : answer.marginals) append(out, row);
      }
      return out;
    });
  }
}

void check_alignment(const std::string& source, const std::string& target) {
  align::GibbsOptions options;
  options.model1_sweeps = options.hmm_sweeps = 2;
  options.fertility_sweeps = 4;
  align::GibbsOptions three = options;
  three.chains = 3;
  check_any_threads("training an aligner", [&](int threads) {
    align::AlignmentTrainer trainer(source, target, "source", "target", three, true, 1, 3);
    std::string out;
    for (std::uint32_t sweep = 0; sweep < options.sweeps(); ++sweep) append(out, std::vector{trainer.sweep(threads)});
    align::AlignmentEm em(source, target, "source", "target", options);
    for (const auto model : {align::AlignmentEm::Model::MODEL1, align::AlignmentEm::Model::HMM}) {
      append(out, std::vector{em.iterate(model, threads)});
    }
    return out;
  });
  align::AlignmentTrainer trainer(source, target, "source", "target", options, true, 1, 1);
  for (std::uint32_t sweep = 0; sweep < options.sweeps(); ++sweep) trainer.sweep(1);
  const align::AlignmentModel model(trainer.tables(), options, true);
  align::AlignTask task;
  task.num_best = 2;
  task.num_samples = 10;
  check_any_threads("alignments", [&](int threads) {
    std::string out;
    for (const align::AlignAnswer& answer : align::align_lines(model, source, target, task, 0, threads)) {
      for (const align::DirectionAnswer& direction : answer.directions) {
        if (direction.best) append(out, direction.best->log_weights);
        append(out, direction.probabilities);
      }
    }
    return out;
  });
}

// Words of even numbers belong to one group of states, all others to another.
hmm::HmmShape two_groups(const lm::Vocabulary& words, std::uint32_t states) {
  hmm::HmmShape shape{{0, states / 2, states}, {}, {0}, {}, true};
  for (lm::WordId w = 0; w < words.size(); ++w) {
    const bool emitted = w != lm::SENTENCE_BEGIN;
    shape.word_group.push_back(emitted ? w % 2 : hmm::NO_GROUP);
    shape.set_begin.push_back(shape.set_begin.back() + (emitted ? states / 2 : 0));
  }
  return shape;
}

void check_hidden_markov_models(const std::string& text) {
  lm::Vocabulary words;
  const lm::TokenText tokens = lm::TokenText::read(text, "text", 1, words);
  check_any_threads("classes of words", [&](int threads) {
    hmm::ExchangeClustering clustering(tokens, words.size(), 8, std::vector<hmm::ClassId>(words.size(), hmm::NO_CLASS));
    for (int pass = 0; pass < 2; ++pass) clustering.pass(threads);
    std::string out;
    append(out, clustering.classes());
    return out;
  });
  check_any_threads("training a hidden Markov model", [&](int threads) {
    hmm::HmmEm em(tokens, two_groups(words, 16), hmm::EmOptions{}, 1);
    std::string out;
    for (int turn = 0; turn < 3; ++turn) append(out, std::vector{em.iterate(threads)});
    hmm::LogBilinear bilinear(em.shape(), hmm::BilinearOptions{}, 1);
    append(out, std::vector{bilinear.fit(em.total(), em.prior(), 2, threads)});
    const hmm::SparseHmm chain = em.chain(hmm::Smoothing{}, threads);
    append(out, hmm::token_log_probs(chain, tokens, threads));
    return out;
  });
}

void check_induction(const std::string& text) {
  lm::Vocabulary words;
  const lm::TokenText tokens = lm::TokenText::read(text, "text", 1, words);
  induce::InductionText numbered;
  for (const lm::WordId w : tokens.tokens) {
    numbered.words.push_back(static_cast<std::int32_t>(w - lm::NUM_SPECIAL_WORDS));
  }
  numbered.offsets.assign(tokens.begin.begin(), tokens.begin.end());
  numbered.num_types = words.size() - lm::NUM_SPECIAL_WORDS;
  numbered.spellings.offsets.assign(numbered.num_types + 1, 0);
  using Sampler = induce::InductionSampler;
  for (const Sampler sampler : {Sampler::LOCAL, Sampler::SENTENCE, Sampler::SENTENCE_PARTICLES, Sampler::TYPE}) {
    induce::InductionOptions options;
    options.tags = 4;
    options.sampler = sampler;
    check_any_threads("induction", [&](int) {
      induce::InductionChain chain(options, numbered, std::vector<std::int32_t>(numbered.words.size(), 0));
      std::string out;
      for (int sweep = 0; sweep < 2; ++sweep) append(out, std::vector{chain.sweep().log_joint});
      return out;
    });
  }
}

// A call that is cancelled from outside ends with Interrupted, in all its threads; later calls run.
void check_interruption() {
  std::atomic<bool> begun{false};
  bool interrupted = false;
  std::thread caller([&] {
    const base::Call call([] { return false; });
    try {
      base::parallel_for(1 << 20, MANY, [&](std::size_t, int) {
        begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    } catch (const base::Interrupted&) {
      interrupted = true;
    }
  });
  while (!begun) std::this_thread::yield();
  base::cancel_calls();
  caller.join();
  require(interrupted, "a call was not cancelled");
  const base::Call call([] { return false; });
  std::atomic<int> sum{0};
  base::parallel_for(100, MANY, [&](std::size_t, int) { ++sum; });
  require(sum == 100, "a call after a cancelled one");
  std::printf("core_test: interruption\n");
}

}  // namespace

int main() {
  const std::string text = random_text(1, 300, 60, 8);
  check_language_models(text);
  check_inference(text);
  check_alignment(random_text(2, 40, 20, 6), random_text(3, 40, 20, 6));
  check_hidden_markov_models(text);
  check_induction(random_text(4, 60, 20, 6));
  check_interruption();
  std::printf("core_test: all rooms answer the same with any number of threads\n");
}
