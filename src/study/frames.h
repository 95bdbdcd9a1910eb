/// What processes that share a study say to each other.
///
/// A stream of frames, each a kind and a number of bytes, words of 64 bits, little-endian, and then so many bytes:
///
///   guest   JOIN word word         the first half of the secret
///   host    HELLO word word        the second half: it is the one that was looked for
///           WELCOME head           what the study is known by (keep.c); when there is one
///   guest   ASK                    for a run
///   host    RUN number
///   guest   RECORD record          the run as in state.bin
///           LEAVE                  it goes away by itself
///   host    END                    there are no more runs
#ifndef ALPHASTEP_STUDY_FRAMES_H
#define ALPHASTEP_STUDY_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum asi_frame_kind {
  ASI_FRAME_JOIN = 1,
  ASI_FRAME_HELLO,
  ASI_FRAME_WELCOME,
  ASI_FRAME_ASK,
  ASI_FRAME_RUN,
  ASI_FRAME_RECORD,
  ASI_FRAME_LEAVE,
  ASI_FRAME_END,
} asi_frame_kind;

enum {
  ASI_FRAME_HEAD = 16,   ///< bytes before those of a frame
  ASI_FRAME_SECRET = 16, ///< bytes of half the secret
};

typedef struct asi_frame {
  asi_frame_kind kind;
  const unsigned char *bytes;
  size_t size;
} asi_frame;

/// Bytes that have come and are not yet used up.
typedef struct asi_frame_reader {
  unsigned char *bytes;
  size_t used, room, taken; ///< taken: of the frame that was read last
} asi_frame_reader;

/// What came of a look at a socket.
typedef enum asi_frame_state {
  ASI_FRAME_THERE,
  ASI_FRAME_NONE_YET,
  ASI_FRAME_GONE
} asi_frame_state;

/// Sends a frame, whole. False: the other side is gone, or does not read.
bool asi_frame_send(int socket, asi_frame_kind kind, const void *bytes, size_t size);
bool asi_frame_send_number(int socket, asi_frame_kind kind, uint64_t number);
/// The number of a frame that has one; UINT64_MAX: it has none.
uint64_t asi_frame_number(const asi_frame *frame);

/// The next frame, which stands until the next call. A frame of more than `most` bytes is none of ours: GONE, as for want of memory.
asi_frame_state asi_frame_next(asi_frame_reader *reader, int socket, size_t most, asi_frame *out);
void asi_frame_reader_free(asi_frame_reader *reader);

/// Settings of a socket whose other side may lose its power: that is noticed in half a minute. Small frames go at once.
void asi_frame_settle(int socket);

#endif
