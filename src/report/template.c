/// The page that web/ builds, inside the library; an empty one, where it could not be built, is none.
#include <stddef.h>

#include "report/report.h"

#ifdef ASI_TEMPLATE

__asm__(".pushsection .rodata\n"
        ".globl asi_template_begin\n"
        ".hidden asi_template_begin\n"
        ".globl asi_template_end\n"
        ".hidden asi_template_end\n"
        "asi_template_begin:\n"
        ".incbin \"" ASI_TEMPLATE "\"\n"
        "asi_template_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const char asi_template_begin[], asi_template_end[];

const char *asi_template(size_t *size) {
  *size = (size_t)(asi_template_end - asi_template_begin);
  return *size > 0 ? asi_template_begin : NULL;
}

#else

const char *asi_template(size_t *size) {
  *size = 0;
  return NULL;
}

#endif
