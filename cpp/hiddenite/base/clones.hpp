// Loops over rows of floats are compiled twice, for any machine and for wider vectors; the loader picks.
// Nothing is fused or reordered, so both give the same bits.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(HIDDENITE_NO_CLONES)
#define HIDDENITE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define HIDDENITE_CLONES
#endif
