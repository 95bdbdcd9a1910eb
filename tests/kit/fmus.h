/// FMUs in tests: unpacked as an importer would, with their functions and value references.
#ifndef TESTS_FMUS_H
#define TESTS_FMUS_H

#include <stddef.h>

typedef struct fmus_unpacked {
  char folder[600];  ///< of what was in the archive
  char *description; ///< modelDescription.xml
  char token[64];    ///< GUID or instantiation token
  void *library;
} fmus_unpacked;

/// Unpacks an FMU into a new folder and loads its library; fails the test if that cannot be done.
void fmus_unpack(const char *fmu, fmus_unpacked *out);
/// Unloads it and removes the folder.
void fmus_remove(fmus_unpacked *f);
/// The value reference of a variable; fails the test if there is none.
unsigned fmus_reference(const fmus_unpacked *f, const char *name);
/// A function of the library, put into a pointer of its type: fmus_function(f, "fmi2DoStep", &step, sizeof step).
void fmus_function(const fmus_unpacked *f, const char *name, void *pointer, size_t size);

#endif
