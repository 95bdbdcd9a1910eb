#include "results/hdf5.h"

asi_hdf5_voice asi_hdf5_hush(void) {
  asi_hdf5_voice voice = {NULL, NULL};
  H5Eget_auto2(H5E_DEFAULT, &voice.report, &voice.data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return voice;
}

void asi_hdf5_restore(asi_hdf5_voice voice) { H5Eset_auto2(H5E_DEFAULT, voice.report, voice.data); }

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
