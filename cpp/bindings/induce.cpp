#include "hiddenite/induce/chain.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bindings.hpp"
#include "hiddenite/induce/merging.hpp"

using namespace hiddenite::induce;
using namespace nb::literals;

namespace {

using Ints = Array<std::int32_t>;
using StateArrays = nb::typed<nb::dict, nb::str, nb::object>;  // NumPy arrays

// Names of the choices, in the order of the enumeration.
const std::vector<std::string> LEXICONS = {"none", "published", "singletons", "heads"};
const std::vector<std::string> SPELLINGS = {"none", "hierarchical", "dirichlet"};
const std::vector<std::string> SAMPLERS = {"local", "sentence", "sentence-pf", "type",
                                           "one-tag", "one-tag-heuristic", "lex"};
#ifdef HIDDENITE_FAULTS
const std::vector<std::string> FAULTS = {"none", "no-correction", "no-retained", "redrawn-seats", "shared-events",
                                         "wrong-class-sign", "centred-classes", "free-proposals", "unconditional",
                                         "loose-bound"};
#endif

template <class Choice>
Choice choice(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Choice>(found - names.begin());
  std::string message = "'" + name + "' is not one of";
  for (const std::string& known : names) message += " " + known;
  throw nb::value_error(message.c_str());
}

void bind_induction_options(nb::module_& m) {
  nb::class_<InductionOptions>(m, "InductionOptions")
      .def("__init__",
           [](InductionOptions* self, unsigned tags, unsigned order, bool one_tag, const std::string& lexicon,
              const std::string& spelling, const std::string& sampler, unsigned particles, unsigned chunk,
              unsigned one_tag_trials, double chunk_share, double negligible, unsigned local_every,
              bool sample_hyperparameters, double geometric, double strength_shape, double strength_scale) {
             if (!(strength_shape > 0.0) || !(strength_scale > 0.0)) {
               throw nb::value_error("expected a positive shape and scale");
             }
             new (self) InductionOptions{
                 .tags = tags, .order = order, .one_tag = one_tag, .lexicon = choice<LexiconKind>(LEXICONS, lexicon),
                 .spelling = choice<SpellingKind>(SPELLINGS, spelling),
                 .sampler = choice<InductionSampler>(SAMPLERS, sampler),
                 .moves = {.particles = particles, .chunk = chunk, .one_tag_trials = one_tag_trials,
                           .chunk_share = chunk_share, .negligible = negligible},
                 .local_every = local_every, .sample_parameters = sample_hyperparameters,
                 .strength_prior = {strength_shape, strength_scale}, .geometric = geometric};
           },
           "tags"_a, nb::kw_only(), "order"_a = 3, "one_tag"_a = false, "lexicon"_a = "none", "spelling"_a = "none",
           "sampler"_a = "local", "particles"_a = 10, "chunk"_a = 64, "one_tag_trials"_a = 4,
           "chunk_share"_a = MoveOptions{}.chunk_share, "negligible"_a = MoveOptions{}.negligible, "local_every"_a = 1,
           "sample_hyperparameters"_a = true, "geometric"_a = 0.9, "strength_shape"_a = 1.0, "strength_scale"_a = 10.0)
#ifdef HIDDENITE_FAULTS
      .def("plant_fault",
           [](InductionOptions& options, const std::string& name) {
             options.moves.fault.plant(choice<Fault>(FAULTS, name));
           },
           "name"_a, "A deliberate error; only in builds for tests.")
#endif
      ;
  nb::class_<SweepRecord>(m, "SweepRecord")
      .def_ro("log_joint", &SweepRecord::log_joint)
      .def_ro("moved", &SweepRecord::moved)
      .def_ro("accepted", &SweepRecord::accepted)
      .def_ro("effective_size", &SweepRecord::effective_size);
}

InductionText make_text(const Input<std::int32_t>& words, const Input<std::int64_t>& offsets,
                        const Input<std::int64_t>& spelling_offsets, const Input<std::int32_t>& spelling,
                        std::int32_t num_characters) {
  InductionText text{to_vector(words), to_vector(offsets), 0,
                     {to_vector(spelling_offsets), to_vector(spelling), num_characters}};
  bool fits = are_bounds(text.offsets, text.words.size()) &&
              are_bounds(text.spellings.offsets, text.spellings.characters.size()) && num_characters >= 0;
  text.num_types = text.spellings.offsets.empty() ? 0 : text.spellings.offsets.size() - 1;
  std::vector<bool> seen(text.num_types);
  for (const std::int32_t word : text.words) {
    fits &= word >= 0 && static_cast<std::size_t>(word) < text.num_types;
    if (fits) seen[word] = true;
  }
  fits &= std::find(seen.begin(), seen.end(), false) == seen.end();
  for (const std::int32_t character : text.spellings.characters) fits &= character >= 0 && character < num_characters;
  if (!fits || text.words.empty()) {
    throw nb::value_error("expected a text in which every type occurs, and its spellings");
  }
  return text;
}

std::pair<Ints, Ints> seat_arrays(const std::vector<Seats>& seats) {
  std::vector<std::int32_t> customers, tables;
  for (const Seats& s : seats) {
    customers.push_back(s.customers);
    tables.push_back(s.tables);
  }
  return {to_array(std::move(customers)), to_array(std::move(tables))};
}

std::tuple<Array<std::int64_t>, Ints, Ints, Ints> emission_counts(InductionChain& chain) {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> tag, customers, tables;
  for (std::uint32_t w = 0; w < chain.state().num_types(); ++w) {
    for (unsigned t = 0; t < chain.options().tags; ++t) {
      const Seats seats = chain.state().emissions.seats(w, static_cast<Tag>(t));
      if (seats.customers == 0) continue;
      tag.push_back(static_cast<std::int32_t>(t));
      customers.push_back(seats.customers);
      tables.push_back(seats.tables);
    }
    begin.push_back(static_cast<std::int64_t>(tag.size()));
  }
  return {to_array(std::move(begin)), to_array(std::move(tag)), to_array(std::move(customers)),
          to_array(std::move(tables))};
}

std::tuple<Ints, Ints, Ints, Ints, Ints> spelling_counts(InductionChain& chain, unsigned level) {
  if (!chain.state().spelling || level > 1) throw nb::value_error("there is no such level of a spelling model");
  const TagSpelling& spelling = *chain.state().spelling;
  const std::vector<Seats>& counts = spelling.counts(level);
  std::vector<std::int32_t> tag, previous, next, customers, tables;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].customers == 0) continue;
    const std::size_t row = i / chain.options().tags;
    tag.push_back(static_cast<std::int32_t>(i % chain.options().tags));
    previous.push_back(level == 1 ? spelling.previous()[row] : -1);
    next.push_back(level == 1 ? spelling.next()[row] : static_cast<std::int32_t>(row));
    customers.push_back(counts[i].customers);
    tables.push_back(counts[i].tables);
  }
  return {to_array(std::move(tag)), to_array(std::move(previous)), to_array(std::move(next)),
          to_array(std::move(customers)), to_array(std::move(tables))};
}

// The lexicon's classes; without a lexicon the tags in use.
std::pair<Array<std::int64_t>, Ints> classes(InductionChain& chain) {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> tag;
  for (std::uint32_t w = 0; w < chain.state().num_types(); ++w) {
    for (unsigned t = 0; t < chain.options().tags; ++t) {
      const auto id = static_cast<Tag>(t);
      const bool has = chain.state().lexicon ? chain.state().lexicon->of(w).has(id)
                                             : chain.state().emissions.seats(w, id).customers > 0;
      if (has) tag.push_back(static_cast<std::int32_t>(t));
    }
    begin.push_back(static_cast<std::int64_t>(tag.size()));
  }
  return {to_array(std::move(begin)), to_array(std::move(tag))};
}

StateArrays state_arrays(const InductionChain& chain) {
  ChainSnapshot s = chain.snapshot();
  StateArrays arrays;
  arrays["counters"] = to_array(std::vector<std::int64_t>{static_cast<std::int64_t>(s.sweeps),
                                                          static_cast<std::int64_t>(s.num_kept)});
  arrays["tags"] = to_array(std::move(s.tags));
  arrays["classes"] = to_array(std::move(s.classes));
  arrays["heads"] = to_array(std::move(s.heads));
  arrays["parameters"] = to_array(std::move(s.parameters));
  arrays["class_sets"] = to_array(std::move(s.class_sets));
  arrays["kept"] = to_array(std::move(s.kept));
  for (std::size_t i = 0; i < s.seats.size(); ++i) {
    arrays[("seats" + std::to_string(i)).c_str()] = to_array(std::move(s.seats[i]));
  }
  return arrays;
}

template <class T>
std::vector<T> part(const StateArrays& arrays, const std::string& name) {
  if (!arrays.contains(name.c_str())) throw nb::value_error(("the saved chain has no array " + name).c_str());
  return to_vector(nb::cast<Input<T>>(arrays[name.c_str()]));
}

void restore_arrays(InductionChain& chain, const StateArrays& arrays) {
  ChainSnapshot s;
  const std::vector<std::int64_t> counters = part<std::int64_t>(arrays, "counters");
  if (counters.size() != 2 || counters[0] < 0 || counters[1] < 0) throw nb::value_error("broken counters");
  s.sweeps = static_cast<std::uint64_t>(counters[0]);
  s.num_kept = static_cast<std::uint64_t>(counters[1]);
  s.tags = part<std::int32_t>(arrays, "tags");
  s.classes = part<std::int32_t>(arrays, "classes");
  s.heads = part<std::int32_t>(arrays, "heads");
  s.parameters = part<double>(arrays, "parameters");
  s.class_sets = part<std::int32_t>(arrays, "class_sets");
  s.kept = part<std::uint16_t>(arrays, "kept");
  for (std::size_t i = 0; arrays.contains(("seats" + std::to_string(i)).c_str()); ++i) {
    s.seats.push_back(part<std::int32_t>(arrays, "seats" + std::to_string(i)));
  }
  chain.restore(s);
  chain.state().check();
}

void bind_induction_chain(nb::module_& m) {
  nb::class_<InductionChain>(m, "InductionChain", "One Markov chain of part-of-speech induction.")
      .def("__init__",
           [](InductionChain* self, InductionOptions options, const Input<std::int32_t>& words,
              const Input<std::int64_t>& offsets, const Input<std::int64_t>& spelling_offsets,
              const Input<std::int32_t>& spelling, std::int32_t num_characters, const Input<std::int32_t>& tags,
              std::uint64_t seed, std::uint64_t stream) {
             options.seed = seed;
             options.stream = stream;
             InductionText text = make_text(words, offsets, spelling_offsets, spelling, num_characters);
             const std::vector<std::int32_t> first = to_vector(tags);
             const WithoutGil release;
             new (self) InductionChain(options, std::move(text), first);
           },
           "options"_a, nb::kw_only(), "words"_a, "offsets"_a, "spelling_offsets"_a, "spelling"_a, "num_characters"_a,
           "tags"_a, "seed"_a, "stream"_a = 0)
      .def("undo_sweep", &InductionChain::undo_sweep, nb::call_guard<WithoutGil>(),
           "Take back the last sweep, unless it was kept.")
      .def("sweep", &InductionChain::sweep, nb::call_guard<WithoutGil>())
      .def("keep", &InductionChain::keep, "Adds the present tags to the counts of `max_marginal`.")
      .def("tags", [](const InductionChain& chain) { return to_array(chain.tags()); })
      .def("max_marginal",
           [](const InductionChain& chain) {
             std::vector<std::int32_t> tags;
             std::vector<float> share;
             chain.max_marginal(tags, share);
             return std::pair(to_array(std::move(tags)), to_array(std::move(share)));
           },
           "Each token's most frequent tag among the kept samples, and its share of them.")
      .def("classes", &classes, "(begin, tag): word i may have tag[begin[i]:begin[i + 1]].")
      .def("hyperparameters",
           [](InductionChain& chain) {
             std::map<std::string, std::pair<double, double>> values;
             for (const auto& [name, process] : chain.processes()) {
               values[name] = {process->discount, process->strength};
             }
             return values;
           },
           "(discount, strength) by process.")
      .def("set_hyperparameters",
           [](InductionChain& chain, const std::map<std::string, std::pair<double, double>>& values) {
             for (const auto& [name, value] : values) {
               const auto processes = chain.processes();
               const auto known = [&name = name](const auto& process) { return process.first == name; };
               if (std::none_of(processes.begin(), processes.end(), known)) {
                 throw nb::key_error(name.c_str());
               }
               chain.set_parameters(name, value.first, value.second);
             }
           },
           "values"_a)
      .def("log_joint", &InductionChain::log_joint, nb::call_guard<WithoutGil>())
      .def("transition_counts",
           [](InductionChain& chain, unsigned level) {
             if (level >= chain.options().order) throw nb::value_error("there is no such level of tag n-grams");
             return seat_arrays(chain.state().transitions.counts(level));
           },
           "level"_a, "(customers, tables) by n-gram code, most distant tag first.")
      .def("emission_counts", &emission_counts, "(begin, tag, customers, tables) by word.")
      .def("spelling_counts", &spelling_counts, "level"_a, "(tag, previous, next, customers, tables).")
      .def("effective_sizes",
           [](const InductionChain& chain) {
             std::vector<double> mean;
             std::vector<std::int64_t> blocks;
             for (std::size_t bin = 0; bin < SweepStatistics::BINS; ++bin) {
               blocks.push_back(chain.statistics().blocks[bin]);
               mean.push_back(blocks[bin] > 0 ? chain.statistics().ess[bin] / static_cast<double>(blocks[bin]) : NAN);
             }
             return std::pair(to_array(std::move(mean)), to_array(std::move(blocks)));
           },
           "Mean effective sample size of the particles and number of blocks; entry i: types of 2^(i-1) to 2^i - 1 "
           "tokens.")
      .def("state", &state_arrays)
      .def("restore", &restore_arrays, "state"_a)
      .def("check", [](InductionChain& chain) { chain.state().check(); }, "Raises where a count is broken.");
}

using Merge = std::tuple<std::int32_t, std::int32_t, double>;

void bind_merging(nb::module_& m) {
  m.def("merge_tags",
        [](const Input<std::int32_t>& tags, const Input<std::int64_t>& offsets, unsigned num_tags, unsigned target,
           const std::vector<std::int32_t>& kinds) {
          const std::vector<std::int32_t> of_token = to_vector(tags);
          const std::vector<std::int64_t> bounds = to_vector(offsets);
          if (!are_bounds(bounds, of_token.size())) throw nb::value_error("expected the bounds of sentences");
          MergedTags found;
          {
            const WithoutGil release;
            found = merge_tags(of_token, bounds, num_tags, target, kinds);
          }
          std::vector<Merge> merges;
          for (const TagMerge& merge : found.merges) merges.emplace_back(merge.kept, merge.gone, merge.loss);
          return std::pair(to_array(std::move(found.of_tag)), std::move(merges));
        },
        "tags"_a, "offsets"_a, "num_tags"_a, "target"_a, "kinds"_a = std::vector<std::int32_t>{},
        "(tag of each tag, merges as (kept, gone, loss)): greedily, by least loss of mutual information; tags of "
        "one kind first.");
}

}  // namespace

void bind_induce(nb::module_& m) {
  bind_merging(m);
  bind_induction_options(m);
  bind_induction_chain(m);
}
