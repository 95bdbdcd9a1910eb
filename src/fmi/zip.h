/// Zip archives of strangers: what is looked at before a byte is unpacked, and what is refused.
///
/// Entries are stored or deflated. Refused with a sentence: encryption, zip64, archives in parts, other compressions, links, names that lead
/// out of the archive's folder or stand there twice with different contents, more entries or bytes than an FMU has, entries that overlap or shrink suspiciously well.
#ifndef ALPHASTEP_FMI_ZIP_H
#define ALPHASTEP_FMI_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ASI_ZIP_WHY = 512,       ///< characters of a sentence without its end
  ASI_ZIP_ENTRIES = 20000, ///< the most
  ASI_ZIP_RATIO = 300,     ///< of bytes unpacked and packed, of an entry of more than ASI_ZIP_SMALL
  ASI_ZIP_SMALL = 1 << 20, ///< [bytes]
  ASI_ZIP_MOST = 1000 << 20, ///< of the archive, and of all entries unpacked [bytes]
};

typedef struct asi_zip_entry {
  const char *name;
  size_t packed, size, offset; ///< bytes in the archive, unpacked, and where they begin
  uint32_t crc;
  bool deflated;
} asi_zip_entry;

typedef struct asi_zip {
  unsigned char *bytes;
  size_t size;
  asi_zip_entry *entry; ///< files; folders are left out
  int n;
  char *names;
} asi_zip;

/// Reads the directory of an archive and checks it. False: `why` says why not; then there is nothing to close.
bool asi_zip_open(asi_zip *zip, const char *path, char why[ASI_ZIP_WHY]);
/// The same of bytes that come from malloc(), which it takes over.
bool asi_zip_take(asi_zip *zip, unsigned char *bytes, size_t size, char why[ASI_ZIP_WHY]);
void asi_zip_close(asi_zip *zip);
/// The entry of a name; NULL: there is none.
const asi_zip_entry *asi_zip_find(const asi_zip *zip, const char *name);
/// Its bytes and a zero behind them, to be freed. NULL: `why` says why not.
unsigned char *asi_zip_unpack(const asi_zip *zip, const asi_zip_entry *entry,
                              char why[ASI_ZIP_WHY]);

#endif
