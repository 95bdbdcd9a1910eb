/// The shared libraries that every FMU has, and the project's licence, inside libalphastep-io; nothing, where they are not built.
#include <stddef.h>

#include "fmu/plan.h"

#ifdef ASI_EXPORTED_BINARY

// Folders of binaries, as each version of the standard calls this machine.
#if defined(__linux__) && defined(__x86_64__)
#define PLATFORM "linux64", "x86_64-linux"
#elif defined(__linux__) && defined(__i386__)
#define PLATFORM "linux32", "x86-linux"
#elif defined(__linux__) && defined(__aarch64__)
#define PLATFORM NULL, "aarch64-linux"
#else
#define PLATFORM NULL, NULL
#endif

#define EMBED(name, file)                                                                          \
  __asm__(".pushsection .rodata\n"                                                                 \
          ".globl " #name "_begin\n"                                                               \
          ".hidden " #name "_begin\n"                                                              \
          ".globl " #name "_end\n"                                                                 \
          ".hidden " #name "_end\n" #name "_begin:\n"                                              \
          ".incbin \"" file "\"\n" #name "_end:\n"                                                 \
          ".byte 0\n"                                                                              \
          ".popsection\n");                                                                        \
  extern const unsigned char name##_begin[], name##_end[];

EMBED(asi_exported_here, ASI_EXPORTED_BINARY)
EMBED(asi_exported_license, ASI_EXPORTED_LICENSE)
#ifdef ASI_EXPORTED_WINDOWS
EMBED(asi_exported_windows, ASI_EXPORTED_WINDOWS)
#endif

static const asi_exported_binary binaries[] = {
    {{PLATFORM}, ".so", asi_exported_here_begin, asi_exported_here_end},
#ifdef ASI_EXPORTED_WINDOWS
    {{"win64", "x86_64-windows"}, ".dll", asi_exported_windows_begin, asi_exported_windows_end},
#endif
};

const asi_exported_binary *asi_exported_binaries(int *n) {
  *n = (int)(sizeof binaries / sizeof binaries[0]);
  return binaries;
}

const unsigned char *asi_exported_license(size_t *size) {
  *size = (size_t)(asi_exported_license_end - asi_exported_license_begin);
  return asi_exported_license_begin;
}

#else

const asi_exported_binary *asi_exported_binaries(int *n) {
  *n = 0;
  return NULL;
}

const unsigned char *asi_exported_license(size_t *size) {
  *size = 0;
  return NULL;
}

#endif
