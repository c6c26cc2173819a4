// What the bounds on positions in a row (refine.hpp, paper.hpp) share.
#pragma once

#include "hiddenite/exact/bound/relaxation.hpp"

namespace hiddenite::exact {

class RowRelaxation : public Relaxation {
 public:
  double log_offset() const override { return candidates_.log_offset; }
  double log_weight(const WordPath& path) const override;
  double upper_of(double log_q) const override;
  WordPath spelled(const WordPath& path, Random& random) const override;
  [[noreturn]] void throw_empty() const override;

 protected:
  // The table and the candidates must outlive this.
  RowRelaxation(const NgramTable& table, const Candidates& candidates) : table_(table), candidates_(candidates) {}

  const NgramTable& table_;
  const Candidates& candidates_;
};

}  // namespace hiddenite::exact
