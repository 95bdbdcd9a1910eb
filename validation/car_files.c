/// The files of examples/car inside the command: what they are called there, and their bytes.
#include <stddef.h>

#include "car.h"

#define CAR_FILE(number, name, path)                                                               \
  __asm__(".pushsection .rodata\n"                                                                 \
          ".globl car_file_begin_" #number "\n"                                                    \
          ".hidden car_file_begin_" #number "\n"                                                   \
          ".globl car_file_end_" #number "\n"                                                      \
          ".hidden car_file_end_" #number "\n"                                                     \
          "car_file_begin_" #number ":\n"                                                          \
          ".incbin \"" path "\"\n"                                                                 \
          "car_file_end_" #number ":\n"                                                            \
          ".byte 0\n"                                                                              \
          ".popsection\n");                                                                        \
  extern const char car_file_begin_##number[], car_file_end_##number[];
#include CAR_FILES
#undef CAR_FILE

#define CAR_FILE(number, name, path) {name, car_file_begin_##number, car_file_end_##number},
const car_file car_files[] = {
#include CAR_FILES
};
const size_t n_car_files = sizeof car_files / sizeof car_files[0];
