/// Compression of numbers, fast: a zlib stream (RFC 1950 and 1951) that any inflate reads.
///
/// Bytes of numbers are shuffled first, as HDF5's filter does: the first bytes of all numbers, then the second ones, a plane for
/// each. Planes of signs and exponents shrink, those of the last digits are noise. A plane that looks like noise is stored, the
/// others are made of Huffman codes and of matches at three distances only: the byte before, the same component of the object
/// before, and of the row before. zlib, which looks for matches everywhere, takes several times as long for no less room.
#ifndef ALPHASTEP_RESULTS_PACK_H
#define ALPHASTEP_RESULTS_PACK_H

#include <stddef.h>
#include <stdint.h>

enum { ASI_PACK_BLOCK = 1 << 15 }; ///< the most bytes of a block

/// Room to work in.
typedef struct asi_packer {
  uint16_t token[ASI_PACK_BLOCK];
} asi_packer;

/// The most bytes that `size` bytes become.
size_t asi_pack_bound(size_t size);
/// Compresses `size` bytes, planes of `plane` bytes each; `columns` numbers belong to an object, `stride` to a row.
/// Returns how many bytes there are in `out`, which has room for asi_pack_bound().
size_t asi_pack(asi_packer *p, const unsigned char *byte, size_t size, size_t plane, size_t columns,
                size_t stride, unsigned char *out);

/// Planes of n numbers of `width` bytes, the lowest byte first.
void asi_shuffle(const void *numbers, size_t n, size_t width, unsigned char *out);

#endif
