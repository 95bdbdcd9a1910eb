/// Files on Windows, where FMUs read theirs and write none. Names are UTF-8, as in URIs; Windows' own functions would take them for names in the
/// code page of the user.
#include "base/file.h"

#include <errno.h>
#include <io.h>
#include <string.h>
#include <windows.h>

#include "base/error.h"

FILE *asi_file_open(const char *path, const char **why) {
  wchar_t wide[1024];
  *why = "its name is too long, or no UTF-8";
  errno = ENOENT;
  if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, 1024)) return NULL;
  const DWORD about = GetFileAttributesW(wide);
  *why = "it is no file, but a folder or a device";
  if (about != INVALID_FILE_ATTRIBUTES &&
      (about & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE)))
    return NULL;
  FILE *file = _wfopen(wide, L"rb");
  *why = file ? NULL : strerror(errno);
  return file;
}

bool asi_file_identity(FILE *file, unsigned long long *device, unsigned long long *number) {
  BY_HANDLE_FILE_INFORMATION about;
  if (!GetFileInformationByHandle((HANDLE)_get_osfhandle(_fileno(file)), &about)) return false;
  *device = about.dwVolumeSerialNumber;
  *number = (unsigned long long)about.nFileIndexHigh << 32 | about.nFileIndexLow;
  return true;
}

as_status asi_draft_open(asi_draft *o, const char *path, as_error *error) {
  *o = (asi_draft){.file = NULL};
  return asi_fail_write(path, ENOSYS, error);
}

as_status asi_draft_close(asi_draft *o, as_status status, bool sync, as_error *error) {
  (void)o, (void)sync, (void)error;
  return status;
}
