#define _POSIX_C_SOURCE 200809L // open, ftruncate, fileno
#include "results/hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"

enum { MAGIC = 16, SEAL = ASI_HDF5_SEAL_SIZE, PIECE = 1 << 18 };

static _Thread_local bool lacked_memory; ///< a call has failed for want of it
static _Thread_local bool
    verified; ///< the file at hand is whole: HDF5 fails for want of memory alone

static herr_t look_for_memory(unsigned n, const H5E_error2_t *error, void *user) {
  (void)n, (void)user;
  if (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC) lacked_memory = true;
  return 0;
}

/// HDF5 calls this whenever a call fails.
static herr_t note_failure(hid_t stack, void *user) {
  // What HDF5 says may be another consequence of it.
  if (errno == ENOMEM || verified) lacked_memory = true;
  H5Ewalk2(stack, H5E_WALK_DOWNWARD, look_for_memory, user);
  return 0;
}

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void asi_hdf5_lock(void) { (void)pthread_mutex_lock(&one_at_a_time); }
void asi_hdf5_unlock(void) { (void)pthread_mutex_unlock(&one_at_a_time); }

asi_hdf5_voice asi_hdf5_hush(void) {
  asi_hdf5_voice voice = {NULL, NULL};
  H5Eget_auto2(H5E_DEFAULT, &voice.report, &voice.data);
  H5Eset_auto2(H5E_DEFAULT, note_failure, NULL);
  lacked_memory = false;
  errno = 0;
  return voice;
}

void asi_hdf5_restore(asi_hdf5_voice voice) { H5Eset_auto2(H5E_DEFAULT, voice.report, voice.data); }

bool asi_hdf5_lacks_memory(void) { return lacked_memory; }

void asi_hdf5_note_lack(void) { lacked_memory = true; }

void asi_hdf5_forget(void) { verified = false; }

hid_t asi_hdf5_access(void) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  // HDF5 crashes on much that is damaged; since 1.8 most of its own structures have checksums.
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
#if H5_VERSION_GE(1, 14, 0) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access, false, true);
#endif
  return access;
}

hid_t asi_hdf5_text_type(size_t size, H5T_cset_t set) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_cset(type, set);
  return type;
}

// ---- digests ----------------------------------------------------------------------------------------

static void serialize_seal(unsigned char *bytes, asi_archive_mode mode, uint64_t *size,
                           uint64_t *sum) {
  asi_archive words = {.mode = mode, .data = bytes + MAGIC, .size = SEAL - MAGIC};
  asi_archive_word(&words, size);
  asi_archive_word(&words, sum);
}

/// Reads `size` bytes for their digest, and writes them to a file if there is one (-1: none).
static bool pass_on(int in, int out, uint64_t size, asi_digest *digest) {
  char *piece = malloc(PIECE);
  bool ok = piece != NULL;
  if (!ok) {
    lacked_memory = true;
    errno = ENOMEM;
  }
  while (ok && digest->bytes < size) {
    const uint64_t left = size - digest->bytes;
    const ssize_t got = read(in, piece, left < PIECE ? (size_t)left : PIECE);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO; // it is shorter
    ok = got > 0 && (out < 0 || asi_file_put(out, piece, (size_t)got));
    if (ok) asi_digest_add(digest, piece, (size_t)got);
  }
  free(piece);
  return ok;
}

static void make_seal(unsigned char seal[SEAL], const asi_digest *digest) {
  uint64_t size = digest->bytes, sum = asi_digest_end(digest);
  memcpy(seal, ASI_HDF5_SEAL, MAGIC);
  serialize_seal(seal, ASI_ARCHIVE_WRITE, &size, &sum);
}

void asi_hdf5_make_seal(const void *bytes, size_t size, unsigned char seal[SEAL]) {
  asi_digest digest = asi_digest_begin();
  asi_digest_add(&digest, bytes, size);
  make_seal(seal, &digest);
}

static bool put_seal(int file, const asi_digest *digest) {
  unsigned char seal[SEAL];
  make_seal(seal, digest);
  return asi_file_put(file, seal, SEAL);
}

/// Closes a file that has been written; false: something went wrong.
static bool end_file(int file, bool ok, bool sync) {
  if (file < 0) return false;
  ok = ok && (!sync || asi_file_sync(file));
  const int number = errno;
  if (close(file) != 0) return false;
  errno = number;
  return ok;
}

bool asi_hdf5_copy(const char *from, const char *to, uint64_t size, bool seal, bool sync) {
  asi_digest digest = asi_digest_begin();
  const int in = open(from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int out = in < 0 ? -1 : asi_file_create(to);
  const bool ok = out >= 0 && pass_on(in, out, size, &digest) && (!seal || put_seal(out, &digest));
  const int number = errno;
  if (in >= 0) close(in);
  errno = number;
  return end_file(out, ok, sync);
}

bool asi_hdf5_seal(const char *path, uint64_t size, bool sync) {
  asi_digest digest = asi_digest_begin();
  const int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const bool ok = file >= 0 && ftruncate(file, (off_t)size) == 0 &&
                  pass_on(file, -1, size, &digest) && put_seal(file, &digest);
  return end_file(file, ok, sync);
}

const char *asi_hdf5_verify(const char *path, uint64_t *size) {
  const char *why = NULL;
  FILE *file = asi_file_open(path, &why);
  verified = false;
  if (file == NULL && errno == ENOMEM) lacked_memory = true;
  if (file == NULL) return why;
  const int in = fileno(file);
  unsigned char seal[SEAL] = {0};
  uint64_t told = 0, sum = 0;
  struct stat about;
  *size = fstat(in, &about) == 0 ? (uint64_t)about.st_size : 0;
  const bool sealed = *size >= SEAL && pread(in, seal, SEAL, (off_t)(*size - SEAL)) == SEAL &&
                      memcmp(seal, ASI_HDF5_SEAL, MAGIC) == 0;
  if (sealed) {
    asi_digest digest = asi_digest_begin();
    *size -= SEAL;
    serialize_seal(seal, ASI_ARCHIVE_READ, &told, &sum);
    const bool whole = pass_on(in, -1, *size, &digest);
    if (!whole || told != *size || asi_digest_end(&digest) != sum)
      why = "it is damaged: its contents are not those that were written";
  }
  fclose(file);
  verified = sealed && why == NULL;
  return why;
}
