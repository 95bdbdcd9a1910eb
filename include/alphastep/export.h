/// Marks what the shared library exports; everything else is hidden.
#ifndef ALPHASTEP_EXPORT_H
#define ALPHASTEP_EXPORT_H

#if defined(__GNUC__)
#define AS_API __attribute__((visibility("default")))
#else
#define AS_API
#endif

#endif
