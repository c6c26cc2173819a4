// What the exact methods answer.
#pragma once

#include <vector>

#include "hiddenite/channel/candidates.hpp"
#include "hiddenite/exact/proof.hpp"

namespace hiddenite::exact {

// So many terms at most are added up for a path: word by word its back-offs, probability and channel weight.
inline std::size_t num_terms(const NgramTable& table, const Candidates& candidates) {
  return candidates.num_positions() * (static_cast<std::size_t>(table.order) + 2);
}

// Weights are above the candidates' offset.
struct Decoded {
  WordPath path;
  double log_weight;  // path_log_weight(path)
  Certificate certificate;
  Route route{};
};

struct KBest {
  // Candidates by their place in the slots as given; best first.
  std::vector<std::vector<std::uint32_t>> paths;
  std::vector<double> log_weights;
  Certificate certificate;    // exact: these are the k best. The bounds are those of the first
  std::vector<Route> routes;  // [path]; none: paths of a chain
};

}  // namespace hiddenite::exact
