/// Frames over a stream, see frames.h.
#define _DEFAULT_SOURCE // TCP_USER_TIMEOUT
#include "study/frames.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/archive.h"

enum {
  PIECE = 4096,
  QUIET = 10,     ///< after so long without a word the other side is asked whether it is there [s]
  AGAIN = 5,      ///< and again [s]
  TIMES = 4,      ///< so often
  UNHEARD = 30000 ///< what was sent has to be received by then [ms]
};

void asi_frame_settle(int socket) {
  const int on = 1, quiet = QUIET, again = AGAIN, times = TIMES;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#ifdef TCP_KEEPIDLE
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &quiet, sizeof quiet);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &again, sizeof again);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
#endif
#ifdef TCP_USER_TIMEOUT
  const unsigned unheard = UNHEARD;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard, sizeof unheard);
#endif
}

static void put_words(unsigned char *to, const uint64_t *word, size_t n) {
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = to, .size = 8 * n};
  for (size_t i = 0; i < n; ++i) {
    uint64_t copy = word[i];
    asi_archive_word(&a, &copy);
  }
}

static uint64_t get_word(const unsigned char *bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
}

static bool send_all(int socket, const unsigned char *bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = send(socket, bytes, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes += n;
    size -= (size_t)n;
  }
  return true;
}

bool asi_frame_send(int socket, asi_frame_kind kind, const void *bytes, size_t size) {
  unsigned char head[ASI_FRAME_HEAD];
  put_words(head, (uint64_t[]){(uint64_t)kind, size}, 2);
  return send_all(socket, head, sizeof head) && (size == 0 || send_all(socket, bytes, size));
}

bool asi_frame_send_number(int socket, asi_frame_kind kind, uint64_t number) {
  unsigned char bytes[8];
  put_words(bytes, &number, 1);
  return asi_frame_send(socket, kind, bytes, sizeof bytes);
}

uint64_t asi_frame_number(const asi_frame *frame) {
  return frame->size == 8 ? get_word(frame->bytes) : UINT64_MAX;
}

/// Whether there is a whole frame among the bytes; `need`: how many there have to be.
static bool look(const asi_frame_reader *r, size_t most, asi_frame *out, size_t *need) {
  *need = ASI_FRAME_HEAD;
  if (r->used < ASI_FRAME_HEAD) return false;
  const uint64_t size = get_word(r->bytes + 8);
  *need = size > most ? SIZE_MAX : ASI_FRAME_HEAD + (size_t)size;
  if (r->used < *need) return false;
  *out = (asi_frame){(asi_frame_kind)get_word(r->bytes), r->bytes + ASI_FRAME_HEAD, (size_t)size};
  return true;
}

static bool make_room(asi_frame_reader *r, size_t need) {
  const size_t room = need > PIECE ? need : PIECE;
  if (room <= r->room) return true;
  unsigned char *more = realloc(r->bytes, room);
  if (more == NULL) return false;
  r->bytes = more;
  r->room = room;
  return true;
}

asi_frame_state asi_frame_next(asi_frame_reader *r, int socket, size_t most, asi_frame *out) {
  size_t need;
  if (r->taken > 0) memmove(r->bytes, r->bytes + r->taken, r->used -= r->taken);
  r->taken = 0;
  while (!look(r, most, out, &need)) {
    if (need == SIZE_MAX || !make_room(r, need)) return ASI_FRAME_GONE;
    const ssize_t n = recv(socket, r->bytes + r->used, r->room - r->used, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return ASI_FRAME_NONE_YET;
    if (n <= 0) return ASI_FRAME_GONE;
    r->used += (size_t)n;
  }
  r->taken = need;
  return ASI_FRAME_THERE;
}

void asi_frame_reader_free(asi_frame_reader *r) { free(r->bytes); }
