/// Compression of numbers, see pack.h.
///
/// A block is stored, or has Huffman codes of its own. Codes longer than RFC 1951 allows are avoided by halving the counts they are
/// made from until none is.
#include "results/pack.h"

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

enum {
  LITERALS = 286, ///< 256 bytes, the end of a block, 29 classes of lengths
  END = 256,
  DISTANCES = 30,
  MATCHES = 3,      ///< distances at which there are matches
  LENGTHS = 19,     ///< symbols that code lengths are written with
  LEAST_MATCH = 8,  ///< bytes; less costs as much as literals
  MOST_MATCH = 258, ///< by RFC 1951
  MERGED =
      1
      << 13, ///< planes are put together up to this many bytes: a block has a head of some 100 bytes
  LEAST_PLANE = 64,  ///< bytes
  MOST_HEAD = 3500,  ///< bits of a block's codes: 316 lengths of at most 7 + 4
  MOST_EXTRA = 33,   ///< bits of a match besides its length's code: 5, a distance's 15 and 13
  SAMPLES = 1 << 10, ///< bytes by which a plane is judged
};

#define NOISE                                                                                      \
  7.3 // bits per byte: uniformly distributed bytes show 7.8 in SAMPLES, and savings of a tenth are worth it

// ---- bits -------------------------------------------------------------------------------------------

typedef struct bits {
  unsigned char *at;
  uint64_t waiting;
  int n; ///< bits that wait, below 32 between calls
} bits;

/// At most 32 bits.
static inline void put(bits *b, uint64_t value, int n) {
  b->waiting |= value << b->n;
  b->n += n;
  if (b->n < 32) return;
  for (int i = 0; i < 4; ++i) b->at[i] = (unsigned char)(b->waiting >> 8 * i);
  b->at += 4;
  b->waiting >>= 32;
  b->n -= 32;
}

static void fill_byte(bits *b) {
  for (; b->n > 0; b->n -= 8, b->waiting >>= 8) *b->at++ = (unsigned char)b->waiting;
  b->n = 0;
  b->waiting = 0;
}

// ---- Huffman codes ----------------------------------------------------------------------------------

/// A code for each symbol, its first bit lowest; length 0: it has none.
typedef struct codes {
  uint16_t code[LITERALS];
  uint8_t length[LITERALS];
} codes;

typedef struct leaf {
  uint32_t count;
  int symbol;
} leaf;

/// Sorts by counts, equal ones by symbols, which ascend already: by one byte after the other, the lowest first.
static void sort_leaves(leaf *list, int n) {
  leaf other[LITERALS];
  uint32_t most = 0;
  for (int i = 0; i < n; ++i) most = list[i].count > most ? list[i].count : most;
  for (int shift = 0; shift < 32 && most >> shift > 0; shift += 8) {
    int begin[257] = {0};
    for (int i = 0; i < n; ++i) ++begin[(list[i].count >> shift & 255) + 1];
    for (int i = 0; i < 256; ++i) begin[i + 1] += begin[i];
    for (int i = 0; i < n; ++i) other[begin[list[i].count >> shift & 255]++] = list[i];
    memcpy(list, other, (size_t)n * sizeof *list);
  }
}

/// Lengths by Huffman's method on sorted leaves: the two lightest trees are joined until one is left. Returns the longest.
static int measure(const leaf *list, int n, uint8_t *length) {
  uint32_t weight[2 * LITERALS];
  int parent[2 * LITERALS] = {0}, depth[2 * LITERALS], next_leaf = 0, next_tree = n, longest = 0;
  for (int i = 0; i < n; ++i) weight[i] = list[i].count;
  for (int made = n; made < 2 * n - 1; ++made) {
    weight[made] = 0;
    for (int k = 0; k < 2; ++k) {
      const bool is_leaf =
          next_leaf < n && (next_tree == made || weight[next_leaf] <= weight[next_tree]);
      const int which = is_leaf ? next_leaf++ : next_tree++;
      weight[made] += weight[which];
      parent[which] = made;
    }
  }
  depth[2 * n - 2] = 0;
  for (int i = 2 * n - 3; i >= 0; --i) depth[i] = depth[parent[i]] + 1;
  for (int i = 0; i < n; ++i) {
    length[list[i].symbol] = (uint8_t)depth[i];
    longest = depth[i] > longest ? depth[i] : longest;
  }
  return longest;
}

static unsigned reversed(unsigned code, int length) {
  unsigned out = 0;
  for (int i = 0; i < length; ++i) out |= (code >> i & 1u) << (length - 1 - i);
  return out;
}

/// Canonical codes of at most `most` bits for symbols that occur; there are at least two.
static void make_codes(const uint32_t *count, int symbols, int most, codes *out) {
  leaf list[LITERALS] = {{0}};
  int n = 0;
  memset(out, 0, sizeof *out);
  for (int i = 0; i < symbols; ++i)
    if (count[i] > 0) list[n++] = (leaf){count[i], i};
  sort_leaves(list, n);
  while (measure(list, n, out->length) > most)
    for (int i = 0; i < n; ++i) list[i].count = (list[i].count + 1) / 2;
  unsigned next = 0;
  for (int length = 1; length <= most; ++length, next <<= 1)
    for (int i = 0; i < symbols; ++i)
      if (out->length[i] == length) out->code[i] = (uint16_t)reversed(next++, length);
}

/// The lengths of all codes, zeros in runs, by codes of their own.
static void put_lengths(bits *b, const codes *literals, const uint8_t *distances) {
  static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
  uint8_t all[LITERALS + DISTANCES], symbol[LITERALS + DISTANCES], extra[LITERALS + DISTANCES];
  uint32_t count[LENGTHS] = {0};
  codes own;
  const int n = LITERALS + DISTANCES;
  int written = 0, used = LENGTHS;
  memcpy(all, literals->length, LITERALS);
  memcpy(all + LITERALS, distances, DISTANCES);
  for (int i = 0, run; i < n; i += run) {
    for (run = 1; all[i] == 0 && i + run < n && run < 138 && all[i + run] == 0;) ++run;
    if (run < 3) run = 1;
    symbol[written] = run == 1 ? all[i] : run < 11 ? 17 : 18;
    extra[written] = (uint8_t)(run == 1 ? 0 : run < 11 ? run - 3 : run - 11);
    ++count[symbol[written++]];
  }
  make_codes(count, LENGTHS, 7, &own);
  while (own.length[order[used - 1]] == 0) --used;
  put(b, LITERALS - 257, 5);
  put(b, DISTANCES - 1, 5);
  put(b, (uint64_t)used - 4, 4);
  for (int i = 0; i < used; ++i) put(b, own.length[order[i]], 3);
  for (int i = 0; i < written; ++i) {
    put(b, own.code[symbol[i]], own.length[symbol[i]]);
    if (symbol[i] == 17) put(b, extra[i], 3);
    if (symbol[i] == 18) put(b, extra[i], 7);
  }
}

// ---- matches ----------------------------------------------------------------------------------------

static int log2_of(size_t x) {
  int n = 0;
  while (x >>= 1) ++n;
  return n;
}

/// A length or a distance: its class and what is added to it.
typedef struct step {
  int symbol, bits;
  uint64_t extra;
} step;

static step step_of_length(int length) {
  const int l = length - 3;
  if (length == MOST_MATCH) return (step){285, 0, 0};
  if (l < 8) return (step){257 + l, 0, 0};
  const int n = log2_of((size_t)l);
  return (step){257 + 4 * (n - 1) + (l >> (n - 2) & 3), n - 2,
                (uint64_t)(l & ((1 << (n - 2)) - 1))};
}

static step step_of_distance(size_t distance) {
  const size_t d = distance - 1;
  if (d < 4) return (step){(int)d, 0, 0};
  const int n = log2_of(d);
  return (step){2 * n + (int)(d >> (n - 1) & 1), n - 1, d & (((size_t)1 << (n - 1)) - 1)};
}

/// How many bytes from `at` on are the same `distance` before, as far as `end`; fewer than LEAST_MATCH count as none.
static int match(const unsigned char *at, const unsigned char *end, size_t distance) {
  const long most = end - at < MOST_MATCH ? (long)(end - at) : MOST_MATCH;
  if (most < LEAST_MATCH || memcmp(at, at - distance, LEAST_MATCH) != 0) return 0;
  int n = LEAST_MATCH;
  while (n + 8 <= most && memcmp(at + n, at + n - distance, 8) == 0) n += 8;
  while (n < most && at[n] == at[n - (ptrdiff_t)distance]) ++n;
  return n;
}

// ---- blocks -----------------------------------------------------------------------------------------

static void put_stored(bits *b, const unsigned char *byte, size_t size, bool last) {
  put(b, last, 3);
  fill_byte(b);
  put(b, size, 16);
  put(b, ~size & 0xffff, 16);
  fill_byte(b);
  memcpy(b->at, byte, size);
  b->at += size;
}

/// The longest match at one of the distances; 0: there is none. `known` bytes precede it.
static int find_match(const unsigned char *at, const unsigned char *end, size_t known,
                      const size_t *distance, int *which) {
  int length = 0;
  for (int k = 0; k < MATCHES; ++k) {
    const int found = known >= distance[k] ? match(at, end, distance[k]) : 0;
    if (found > length) length = found, *which = k;
  }
  return length;
}

/// Cuts a block into bytes and matches, and counts what codes are made for. `before` bytes precede the block.
/// A token is a byte, or 256 (1 + k) + a length less 3: a match at the k-th distance. It is looked for at every fourth byte.
static int find_tokens(asi_packer *p, const unsigned char *byte, size_t size, size_t before,
                       const size_t *distance, uint32_t *count, uint32_t *far_count) {
  const unsigned char *at = byte, *end = byte + size;
  uint32_t each[4][256] = {{0}}; // counts that do not wait for each other
  int n = 0, which = 0;
  while (at < end) {
    const int length = find_match(at, end, before + (size_t)(at - byte), distance, &which);
    if (length > 0) {
      p->token[n++] = (uint16_t)(256 * (1 + which) + length - 3);
      ++count[step_of_length(length).symbol];
      ++far_count[step_of_distance(distance[which]).symbol];
      at += length;
    } else {
      const int next = end - at > 4 ? 4 : (int)(end - at);
      for (int k = 0; k < next; ++k) ++each[k][p->token[n++] = *at++];
    }
  }
  for (int i = 0; i < 256; ++i) count[i] += each[0][i] + each[1][i] + each[2][i] + each[3][i];
  return n;
}

/// Whether codes take less than the bytes themselves, whatever their head and matches take.
static bool is_shorter(const uint32_t *count, const codes *own, size_t size) {
  size_t sum = MOST_HEAD;
  for (int i = 0; i < LITERALS; ++i)
    sum += count[i] * ((size_t)own->length[i] + (i > END ? MOST_EXTRA : 0));
  return sum < 8 * size;
}

static void put_coded(asi_packer *p, bits *b, const unsigned char *byte, size_t size, size_t before,
                      const size_t *distance, bool last) {
  uint32_t count[LITERALS] = {[END] = 1}, far_count[DISTANCES] = {1, 1}; // two codes at least
  codes own, far_own;
  step far[MATCHES];
  const int n = find_tokens(p, byte, size, before, distance, count, far_count);
  for (int k = 0; k < MATCHES; ++k) far[k] = step_of_distance(distance[k]);
  make_codes(count, LITERALS, 15, &own);
  make_codes(far_count, DISTANCES, 15, &far_own);
  if (!is_shorter(count, &own, size)) {
    put_stored(b, byte, size, last);
    return;
  }
  put(b, 4 | last, 3);
  put_lengths(b, &own, far_own.length);
  bits to = *b;
  for (int i = 0; i < n; ++i) {
    const int token = p->token[i];
    if (token < 256) {
      const int next = i + 1 < n && p->token[i + 1] < 256 ? p->token[++i] : -1; // two at a time
      const uint64_t more = next < 0 ? 0 : (uint64_t)own.code[next] << own.length[token];
      put(&to, own.code[token] | more, own.length[token] + (next < 0 ? 0 : own.length[next]));
      continue;
    }
    const step length = step_of_length((token & 255) + 3), *distant = &far[token / 256 - 1];
    put(&to, own.code[length.symbol], own.length[length.symbol]);
    put(&to, length.extra, length.bits);
    put(&to, far_own.code[distant->symbol], far_own.length[distant->symbol]);
    put(&to, distant->extra, distant->bits);
  }
  put(&to, own.code[END], own.length[END]);
  *b = to;
}

/// log2(n), between powers of two by a straight line.
static double about_log2(uint32_t n) {
  const int whole = log2_of(n);
  return whole - 1 + (double)n / (double)(1u << whole);
}

/// Whether bytes are worth coding: what they are by their frequencies, or how many are found again at a distance.
static bool is_worth(const unsigned char *byte, size_t size, size_t before,
                     const size_t *distance) {
  uint32_t count[256] = {0}, n = 0, same[MATCHES] = {0};
  const size_t each = size / SAMPLES + 1;
  double sum = 0.0;
  for (size_t i = 0; i < size; i += each, ++n) {
    ++count[byte[i]];
    for (int k = 0; k < MATCHES; ++k)
      same[k] += before + i >= distance[k] && byte[i] == *(byte + i - distance[k]);
  }
  for (int i = 0; i < 256; ++i)
    if (count[i] > 1) sum += (double)count[i] * about_log2(count[i]);
  for (int k = 0; k < MATCHES; ++k)
    if (2 * same[k] > n) return true;
  return n > 0 && about_log2(n) - sum / n < NOISE;
}

// ---- streams ----------------------------------------------------------------------------------------

size_t asi_pack_bound(size_t size) {
  return size + size / 8 +
         64; // no block takes more than its bytes and 6, and has at least LEAST_PLANE
}

size_t asi_pack(asi_packer *p, const unsigned char *byte, size_t size, size_t plane, size_t columns,
                size_t stride, unsigned char *out) {
  bits b = {.at = out};
  size_t distance[MATCHES] = {1, columns, stride};
  for (int k = 0; k < MATCHES; ++k)
    if (distance[k] == 0 || distance[k] > ASI_PACK_BLOCK) distance[k] = 1;
  if (plane == 0 || plane > ASI_PACK_BLOCK) plane = ASI_PACK_BLOCK;
  if (plane < LEAST_PLANE) plane = LEAST_PLANE;
  *b.at++ = 0x78; // deflate, distances up to 32768
  *b.at++ = 0x01; // fast; makes both together a multiple of 31
  for (size_t from = 0, end; from < size || from == 0; from = end) {
    end = from + plane < size ? from + plane : size;
    const bool worth = is_worth(byte + from, end - from, from, distance);
    while (end < size && end + plane <= from + MERGED &&
           is_worth(byte + end, end + plane < size ? plane : size - end, end, distance) == worth)
      end = end + plane < size ? end + plane : size;
    if (worth)
      put_coded(p, &b, byte + from, end - from, from, distance, end == size);
    else
      put_stored(&b, byte + from, end - from, end == size);
    if (end == size) break;
  }
  fill_byte(&b);
  const uLong sum = adler32_z(adler32_z(0, NULL, 0), byte, size);
  for (int i = 3; i >= 0; --i) *b.at++ = (unsigned char)(sum >> 8 * i);
  return (size_t)(b.at - out);
}

// ---- planes -----------------------------------------------------------------------------------------

/// Exchanges bytes of two words: of `a` those that `mask` has, `shift` bits higher, with those of `b`.
static void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t mask) {
  const uint64_t both = (*a >> shift ^ *b) & mask;
  *b ^= both;
  *a ^= both << shift;
}

/// Eight numbers of eight bytes: a matrix of bytes that is transposed by halves, quarters and eighths.
static void transpose(uint64_t x[8]) {
  for (int i = 0; i < 4; ++i) exchange(&x[i], &x[i + 4], 32, 0x00000000ffffffff);
  for (int i = 0; i < 8; i += i % 2 ? 3 : 1) exchange(&x[i], &x[i + 2], 16, 0x0000ffff0000ffff);
  for (int i = 0; i < 8; i += 2) exchange(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ff);
}

void asi_shuffle(const void *numbers, size_t n, size_t width, unsigned char *out) {
  const unsigned char *from = numbers;
  const uint16_t one = 1;
  const bool lowest_first = *(const unsigned char *)&one == 1;
  size_t i = 0;
  if (width == 8 && lowest_first)
    for (uint64_t x[8]; i + 8 <= n; i += 8) {
      memcpy(x, from + 8 * i, sizeof x);
      transpose(x);
      for (size_t k = 0; k < 8; ++k) memcpy(out + k * n + i, &x[k], 8);
    }
  for (; i < n; ++i)
    for (size_t k = 0; k < width; ++k)
      out[k * n + i] = from[i * width + (lowest_first ? k : width - 1 - k)];
}
