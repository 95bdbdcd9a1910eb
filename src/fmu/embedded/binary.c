/// The shared library that every FMU has, and the project's licence, inside libalphastep-io; nothing, where they are not built.
#include <stddef.h>

#include "fmu/plan.h"

#ifdef ASI_FMU_BINARY

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

EMBED(asi_fmu_binary, ASI_FMU_BINARY)
EMBED(asi_fmu_license, ASI_FMU_LICENSE)

const unsigned char *asi_fmu_binary(size_t *size) {
  *size = (size_t)(asi_fmu_binary_end - asi_fmu_binary_begin);
  return asi_fmu_binary_begin;
}

const unsigned char *asi_fmu_license(size_t *size) {
  *size = (size_t)(asi_fmu_license_end - asi_fmu_license_begin);
  return asi_fmu_license_begin;
}

#else

const unsigned char *asi_fmu_binary(size_t *size) {
  *size = 0;
  return NULL;
}

const unsigned char *asi_fmu_license(size_t *size) {
  *size = 0;
  return NULL;
}

#endif
