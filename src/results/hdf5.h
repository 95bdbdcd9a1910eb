/// What writing and reading results.h5 share: its layout and care for the HDF5 library.
///
///     /                    attributes format = "alphastep results", format_version = 1, version, title
///     /time                [row]
///     /GROUP/QUANTITY      [row] or [row, component]: energy, momentum, solver, drift
///     /GROUP/NAME/QUANTITY the same: bodies, frames, joints, forces
///     /GROUP/QUANTITY      [row, object] or [row, object, component]: these, if there are more than 20 bodies
///     /GROUP/names         then: the names of all objects of that group
///     /GROUP/QUANTITY_of   then: the numbers of the objects of a dataset, unless it has all
///     /errors/...          estimated errors: groups and datasets as above, but steps and drift
///     /texts/NAME          texts
///
/// Datasets have the attributes `unit`, `columns` (names of the components) and `frame`, and checksums of their chunks.
///
/// Behind what HDF5 knows of, a whole file has 32 bytes more: ASI_HDF5_SEAL, the number of bytes before it and their digest,
/// little-endian. A file that another program has changed has none.
#ifndef ALPHASTEP_RESULTS_HDF5_H
#define ALPHASTEP_RESULTS_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef H5_USE_110_API
#define H5_USE_110_API 1 // what functions mean: the same with later versions
#endif
#include <hdf5.h>

#define ASI_HDF5_FORMAT "alphastep results"
/// What a block's own signal is called there.
#define ASI_HDF5_VALUE "value"
#define ASI_HDF5_ERRORS "errors"
#define ASI_HDF5_SEAL "alphastep digest" // 16 bytes
enum {
  ASI_HDF5_VERSION = 1,
  ASI_HDF5_COLUMNS = 4,
  ASI_HDF5_FEW_BODIES = 20,      ///< up to here each object has datasets of its own
  ASI_HDF5_CHUNK_OBJECTS = 1024, ///< of a dataset of many objects
  ASI_HDF5_SEAL_SIZE = 32,
};

/// What HDF5 did with its errors before we kept it silent.
typedef struct asi_hdf5_voice {
  H5E_auto2_t report;
  void *data;
} asi_hdf5_voice;

/// HDF5 prints errors unless told otherwise. In between of these two it does not.
asi_hdf5_voice asi_hdf5_hush(void);
void asi_hdf5_restore(asi_hdf5_voice voice);

/// HDF5 need not be built for threads; machines are loaded by several at a time.
void asi_hdf5_lock(void);
void asi_hdf5_unlock(void);

/// Whether a call has failed for want of memory since it was hushed.
bool asi_hdf5_lacks_memory(void);
/// Notes that memory which is taken for HDF5 is not to be had.
void asi_hdf5_note_lack(void);
/// The file that asi_hdf5_verify() has looked at is closed.
void asi_hdf5_forget(void);

/// How files are opened: without locks, so that results can be read while a run goes on.
hid_t asi_hdf5_access(void);
/// The type of a text of `size` bytes, its end included. HDF5 does not turn ASCII into UTF-8: it has to be the same in
/// the file and in memory.
hid_t asi_hdf5_text_type(size_t size, H5T_cset_t set);

/// Whether a file is what its digest says, if it has one. Returns what is wrong with it, or NULL and the bytes that HDF5 knows of.
const char *asi_hdf5_verify(const char *path, uint64_t *size);
/// Copies the first `size` bytes of a file to one that is created anew, with a digest behind them if it is to be sealed.
bool asi_hdf5_copy(const char *from, const char *to, uint64_t size, bool seal, bool sync);
/// Cuts a file off behind its first `size` bytes and puts the digest there.
bool asi_hdf5_seal(const char *path, uint64_t size, bool sync);
/// The digest that stands behind such bytes.
void asi_hdf5_make_seal(const void *bytes, size_t size, unsigned char seal[ASI_HDF5_SEAL_SIZE]);

#endif
