/// Orders the unknowns of a system by the graph of bodies and joints.
///
/// A multiplier has a zero on the diagonal until a body it acts on is eliminated; an order that does not
/// know this (AMD, METIS) predicts little fill and gets much. So:
///
/// 1. Leaves are pruned again and again: a body held by a single joint, then that joint. Chains and trees
///    are finished with this, without fill.
/// 2. In the core that remains, bodies that are not coupled directly come first, all of them, then the
///    joints in AMD's order of the joint graph (a Schur complement onto the joints).
/// 3. If core bodies are coupled to each other (springs, or joints with curvature), AMD orders the mixed
///    graph, and a joint that would come before one of its bodies waits for it.
/// 4. Or no leaves are pruned: all bodies that are not coupled directly come first, then AMD orders what is left, where
///    nodes that share such a body are neighbours. A body between two joints then waits for nothing, and the joints
///    after it are fewer unknowns to go through one by one; but a body with many joints couples them all.
/// 5. States and outputs that touch little of the mechanism come before it, the others and outputs that depend on themselves after it.
#include "core/kinematics/ordering.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/minimum_degree.h"

/// Nodes 0 ... n_bodies-1 are bodies, the others joints. Neighbours are stored as compressed lists.
typedef struct graph {
  int n_bodies;
  int n_nodes;
  int *start; ///< n_nodes + 1
  int *
      neighbour; ///< bodies of a joint, joints and coupled bodies of a body; sorted, without doubles
} graph;

typedef struct edge {
  int from, to;
} edge;

/// A growing list of edges.
typedef struct edge_list {
  edge *edges;
  size_t count, capacity;
  bool failed;
} edge_list;

static void add_edge(edge_list *list, int a, int b) {
  if (a == b || list->failed) return;
  if (list->count + 2 > list->capacity) {
    const size_t capacity = 2 * list->capacity + 64;
    edge *grown = realloc(list->edges, capacity * sizeof *grown);
    if (grown == NULL) {
      list->failed = true;
      return;
    }
    list->edges = grown;
    list->capacity = capacity;
  }
  list->edges[list->count++] = (edge){a, b};
  list->edges[list->count++] = (edge){b, a};
}

/// The same, but for what was added last: entries of a block name the same nodes one after the other.
static void add_other_edge(edge_list *list, int a, int b) {
  const edge *last = list->count > 0 ? &list->edges[list->count - 1] : NULL;
  if (last == NULL || last->from != b || last->to != a) add_edge(list, a, b);
}

static int end_of(const edge *e, bool by_from) { return by_from ? e->from : e->to; }

/// Sorts edges by one of their nodes, and leaves others in their order. `first` has room for n_nodes + 1.
static void sort_by(const edge *in, size_t count, int n_nodes, bool by_from, size_t *first,
                    edge *out) {
  memset(first, 0, ((size_t)n_nodes + 1) * sizeof *first);
  for (size_t i = 0; i < count; ++i) ++first[end_of(&in[i], by_from) + 1];
  for (int i = 0; i < n_nodes; ++i) first[i + 1] += first[i];
  for (size_t i = 0; i < count; ++i) out[first[end_of(&in[i], by_from)]++] = in[i];
}

/// The neighbours of each of n nodes, sorted, as compressed lists; the list of edges is gone then.
static as_status list_neighbours(edge_list *list, int n, bool doubles, int **start, int **neighbour,
                                 as_error *error) {
  edge *sorted = asi_calloc(list->count, sizeof *sorted);
  size_t *first = asi_calloc((size_t)n + 1, sizeof *first);
  *start = asi_calloc((size_t)n + 1, sizeof(int));
  *neighbour = asi_calloc(list->count, sizeof(int));
  const bool ok = !list->failed && sorted && first && *start && *neighbour;
  if (ok && list->count > 0) {
    sort_by(list->edges, list->count, n, false, first, sorted);
    sort_by(sorted, list->count, n, true, first, list->edges);
    int count = 0;
    for (size_t i = 0; i < list->count; ++i) {
      const edge *e = &list->edges[i];
      if (!doubles && i > 0 && e[-1].from == e->from && e[-1].to == e->to) continue;
      (*neighbour)[count++] = e->to;
      ++(*start)[e->from + 1];
    }
    for (int i = 0; i < n; ++i) (*start)[i + 1] += (*start)[i];
  }
  free(sorted);
  free(first);
  free(list->edges);
  *list = (edge_list){0};
  return ok ? AS_OK : asi_fail_memory(error);
}

/// Joins the node of each row of a constraint block to the bodies of its columns.
static void add_joint_edges(edge_list *list, const as_problem *p, as_block block, const int *node) {
  const asi_pattern *pattern = &p->pattern[block];
  if (!(p->present & AS_BLOCK_BIT(block))) return;
  for (int j = 0; j < pattern->cols; ++j)
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k)
      add_other_edge(list, p->body_of[j], node[pattern->row[k]]);
}

static void add_body_edges(edge_list *list, const as_problem *p, as_block block) {
  const asi_pattern *pattern = &p->pattern[block];
  if (!(p->present & AS_BLOCK_BIT(block))) return;
  for (int j = 0; j < pattern->cols; ++j)
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k)
      if (p->body_of[pattern->row[k]] < p->body_of[j])
        add_other_edge(list, p->body_of[pattern->row[k]], p->body_of[j]);
}

static as_status build_graph(graph *g, const as_problem *p, const int *lambda_node,
                             const int *psi_node, as_error *error) {
  edge_list list = {0};
  add_joint_edges(&list, p, AS_BLOCK_G_Q, lambda_node);
  add_joint_edges(&list, p, AS_BLOCK_K_V, psi_node);
  add_joint_edges(&list, p, AS_BLOCK_K_Q, psi_node);
  const as_block couplings[] = {AS_BLOCK_M, AS_BLOCK_MA_Q, AS_BLOCK_F_Q, AS_BLOCK_F_V};
  for (size_t i = 0; i < sizeof couplings / sizeof couplings[0]; ++i)
    add_body_edges(&list, p, couplings[i]);
  return list_neighbours(&list, g->n_nodes, false, &g->start, &g->neighbour, error);
}

/// The only joint that still holds a body, or -1 if there are several or the body is coupled to a body
/// that this joint does not hold.
static int only_joint(const graph *g, const bool *gone, int body) {
  int joint = -1;
  for (int k = g->start[body]; k < g->start[body + 1]; ++k) {
    const int other = g->neighbour[k];
    if (other < g->n_bodies || gone[other]) continue;
    if (joint >= 0) return -1;
    joint = other;
  }
  if (joint < 0) return -1;
  for (int k = g->start[body]; k < g->start[body + 1]; ++k) {
    const int other = g->neighbour[k];
    if (other >= g->n_bodies || gone[other]) continue;
    bool held = false;
    for (int i = g->start[joint]; i < g->start[joint + 1]; ++i)
      held = held || g->neighbour[i] == other;
    if (!held) return -1;
  }
  return joint;
}

/// Step 1: puts leaves into `sequence`, returns how many nodes.
static int prune(const graph *g, bool *gone, int *stack, int *sequence) {
  int count = 0, height = 0;
  for (int body = g->n_bodies - 1; body >= 0; --body) stack[height++] = body;
  while (height > 0) {
    const int body = stack[--height];
    const int joint = gone[body] ? -1 : only_joint(g, gone, body);
    if (joint < 0) continue;
    gone[body] = gone[joint] = true;
    sequence[count++] = body;
    sequence[count++] = joint;
    // What the joint held besides, and what the body was coupled to, may be leaves now. Each node is
    // pushed only when an edge to it goes, so the stack stays below nodes + edges.
    for (int k = g->start[joint]; k < g->start[joint + 1]; ++k)
      if (!gone[g->neighbour[k]]) stack[height++] = g->neighbour[k];
  }
  return count;
}

/// Whether a body is coupled directly to another one that is left.
static bool is_coupled(const graph *g, const bool *gone, int body) {
  for (int k = g->start[body]; k < g->start[body + 1]; ++k)
    if (g->neighbour[k] < g->n_bodies && !gone[g->neighbour[k]]) return true;
  return false;
}

/// Which nodes come before all others: bodies that are not coupled, unless `all` are wanted and there are some that
/// are. Returns how many.
static int find_first(const graph *g, const bool *gone, bool all, bool *before) {
  int count = 0, coupled = 0;
  for (int node = 0; node < g->n_nodes; ++node) {
    const bool body = node < g->n_bodies && !gone[node];
    before[node] = body && !is_coupled(g, gone, node);
    count += before[node];
    coupled += body && !before[node];
  }
  if (!all || coupled == 0) return count;
  memset(before, 0, (size_t)g->n_nodes * sizeof(bool));
  return 0;
}

/// Whether a joint's bodies are all in the sequence already.
static bool is_ready(const graph *g, const bool *gone, int joint) {
  for (int k = g->start[joint]; k < g->start[joint + 1]; ++k)
    if (!gone[g->neighbour[k]]) return false;
  return true;
}

/// Appends the core as `wanted` has it, but no joint before its bodies: one that comes too early follows
/// the last of them. place[node] is where a node stands in `wanted`.
static int append_core(const graph *g, bool *gone, const int *wanted, const int *place,
                       int n_wanted, int *sequence, int count) {
  for (int i = 0; i < n_wanted; ++i) {
    const int node = wanted[i];
    if (gone[node] || (node >= g->n_bodies && !is_ready(g, gone, node))) continue;
    gone[node] = true;
    sequence[count++] = node;
    for (int k = g->start[node]; k < g->start[node + 1] && node < g->n_bodies; ++k) {
      const int joint = g->neighbour[k];
      if (joint < g->n_bodies || gone[joint] || place[joint] > i || !is_ready(g, gone, joint))
        continue;
      gone[joint] = true;
      sequence[count++] = joint;
    }
  }
  return count;
}

/// AMD's order of some nodes of the graph, those that share a body that comes before them counting as neighbours.
/// `index` is scratch for all nodes, `out` receives the nodes.
static as_status amd_of(const graph *g, const int *nodes, int n, const bool *before, int *index,
                        int *out, as_error *error) {
  edge_list list = {0};
  for (int i = 0; i < g->n_nodes; ++i) index[i] = -1;
  for (int i = 0; i < n; ++i) index[nodes[i]] = i;
  for (int i = 0; i < n; ++i) {
    for (int k = g->start[nodes[i]]; k < g->start[nodes[i] + 1]; ++k) {
      const int other = g->neighbour[k];
      if (index[other] > i) add_edge(&list, i, index[other]);
      for (int s = g->start[other]; before[other] && s < g->start[other + 1]; ++s)
        if (index[g->neighbour[s]] > i) add_edge(&list, i, index[g->neighbour[s]]);
    }
  }
  int *start = NULL, *row = NULL;
  int *order = asi_calloc((size_t)n, sizeof(int));
  // Doubles count in the degrees of a minimum degree order.
  as_status status = list_neighbours(&list, n, true, &start, &row, error);
  if (status == AS_OK && (order == NULL || !asi_minimum_degree(n, start, row, order)))
    status = asi_fail_memory(error);
  for (int i = 0; i < n && status == AS_OK; ++i) out[i] = nodes[order[i]];
  free(start);
  free(row);
  free(order);
  return status;
}

/// Steps 2 and 3, or 4. `work` has room for three numbers per node, `before` for one.
static as_status order_core(const graph *g, bool *gone, bool bodies_first, bool *before, int *work,
                            int *sequence, int count, as_error *error) {
  int *nodes = work, *wanted = work + g->n_nodes, *place = work + 2 * g->n_nodes;
  const int n_first = find_first(g, gone, !bodies_first, before);
  int first = 0, n = n_first;
  for (int node = 0; node < g->n_nodes; ++node)
    if (!gone[node]) nodes[before[node] ? first++ : n++] = node;
  if (n == 0) return AS_OK;
  memcpy(wanted, nodes, (size_t)n_first * sizeof(int));
  const as_status status =
      amd_of(g, nodes + n_first, n - n_first, before, place, wanted + n_first, error);
  if (status) return status;
  for (int i = 0; i < n; ++i) place[wanted[i]] = i;
  append_core(g, gone, wanted, place, n, sequence, count);
  return AS_OK;
}

/// The node of each mechanical unknown, and which of its node's kinds it is: v', lambda, psi, eta, or the same
/// of a second stage.
typedef struct label {
  int node, kind;
} label;

static void label_unknowns(const as_problem *p, int size, const int *lambda_node,
                           const int *psi_node, label *out) {
  const int n = p->n, psi = n + p->def.n_lambda, eta = psi + p->def.n_psi;
  for (int j = 0; j < size; ++j) {
    const bool second = size == 2 * eta && j >= eta; // of two stages
    const int k = second ? j - eta : j;
    if (k < n)
      out[j] = (label){p->body_of[k], 0};
    else if (k < psi)
      out[j] = (label){lambda_node[k - n], 0};
    else if (k < eta)
      out[j] = (label){psi_node[k - psi], 0};
    else
      out[j] = (label){lambda_node[k - eta], 1};
    if (second) out[j].kind = 1;
  }
}

/// Turns a sequence of nodes into an order of unknowns: those of a node in their own order.
static void expand(const graph *g, int size, const int *sequence, const label *labels, int *work,
                   int *order) {
  int *rank = work, *start = work + g->n_nodes; // where a node comes; where its unknowns begin
  for (int i = 0; i < g->n_nodes; ++i) rank[sequence[i]] = i;
  memset(start, 0, ((size_t)g->n_nodes + 1) * sizeof(int));
  for (int j = 0; j < size; ++j) ++start[rank[labels[j].node] + 1];
  for (int i = 0; i < g->n_nodes; ++i) start[i + 1] += start[i];
  for (int j = 0; j < size; ++j) order[start[rank[labels[j].node]]++] = j;
}

/// A block begins where the label changes; each state and output, from `mechanical` on, is one of its own.
static void find_blocks(int size, int mechanical, const label *labels, asi_elimination *e) {
  for (int k = 0; k < size; ++k) {
    const int j = e->order[k], before = k > 0 ? e->order[k - 1] : -1;
    const bool same = before >= 0 && j < mechanical && before < mechanical &&
                      labels[j].node == labels[before].node &&
                      labels[j].kind == labels[before].kind;
    if (!same) e->first[e->n_blocks++] = k;
  }
  e->first[e->n_blocks] = size;
}

/// How many mechanical unknowns each state and output is coupled to, from the patterns.
static void count_couplings(const as_problem *p, int *count) {
  const as_block rows[] = {
      AS_BLOCK_PHI_Q, AS_BLOCK_PHI_V, AS_BLOCK_PHI_VDOT, AS_BLOCK_PHI_LAMBDA, AS_BLOCK_PHI_PSI,
      AS_BLOCK_CHI_Q, AS_BLOCK_CHI_V, AS_BLOCK_CHI_VDOT, AS_BLOCK_CHI_LAMBDA, AS_BLOCK_CHI_PSI};
  for (size_t b = 0; b < sizeof rows / sizeof rows[0]; ++b) {
    const asi_pattern *pattern = &p->pattern[rows[b]];
    const int first = rows[b] >= AS_BLOCK_CHI_Q ? p->def.n_x : 0;
    for (int k = 0; (p->present & AS_BLOCK_BIT(rows[b])) && k < asi_pattern_nnz(pattern); ++k)
      ++count[first + pattern->row[k]];
  }
  const as_block columns[] = {AS_BLOCK_F_X, AS_BLOCK_F_Y};
  for (int b = 0; b < 2; ++b) {
    const asi_pattern *pattern = &p->pattern[columns[b]];
    for (int j = 0; (p->present & AS_BLOCK_BIT(columns[b])) && j < pattern->cols; ++j)
      count[(b == 0 ? 0 : p->def.n_x) + j] += pattern->col_start[j + 1] - pattern->col_start[j];
  }
}

// A state that touches more of the mechanism than this is eliminated last, the others first.
enum { FEW_COUPLINGS = 48 };

/// An output that depends on itself, as y = y + a - wanted does, may have a zero on the diagonal until what it acts on is
/// eliminated.
static void hold_back(const as_problem *p, int *count) {
  const asi_pattern *pattern = &p->pattern[AS_BLOCK_CHI_Y];
  if (!(p->present & AS_BLOCK_BIT(AS_BLOCK_CHI_Y))) return;
  for (int j = 0; j < pattern->cols; ++j)
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k)
      if (pattern->row[k] == j) count[p->def.n_x + j] += FEW_COUPLINGS + 1;
}

/// Puts states and outputs before and after the order of the `mechanical` unknowns that come first in
/// `order`.
static as_status insert_states(const as_problem *p, int mechanical, int *order, as_error *error) {
  const int n = p->def.n_x + p->def.n_y;
  int *count = asi_calloc((size_t)n, sizeof(int));
  if (count == NULL) return asi_fail_memory(error);
  count_couplings(p, count);
  hold_back(p, count);
  int few = 0, last = mechanical + n;
  for (int i = 0; i < n; ++i) few += count[i] <= FEW_COUPLINGS;
  memmove(order + few, order, (size_t)mechanical * sizeof(int));
  for (int i = n - 1; i >= 0; --i)
    order[count[i] <= FEW_COUPLINGS ? --few : --last] = mechanical + i;
  free(count);
  return AS_OK;
}

/// Leaves only the unknowns lambda of an order of v', lambda and psi.
static void keep_multipliers(const as_problem *p, asi_elimination *e) {
  int blocks = 0, kept = 0;
  for (int i = 0; i < e->n_blocks; ++i) {
    const int from = e->first[i], to = e->first[i + 1];
    const int one = e->order[from] - p->n;
    if (one < 0 || one >= p->def.n_lambda) continue;
    e->first[blocks++] = kept;
    for (int k = from; k < to; ++k) e->order[kept++] = e->order[k] - p->n;
  }
  e->first[blocks] = kept;
  e->n_blocks = blocks;
}

static as_status order(const as_problem *p, int size, bool bodies_first, asi_elimination *out,
                       as_error *error) {
  const int m = p->def.n_lambda, n_psi = p->def.n_psi;
  *out = (asi_elimination){0};
  // Systems without states are no larger than this; SOI2's have none.
  const bool has_states = p->def.n_x + p->def.n_y > 0 && size > p->n + m + n_psi;
  const int mechanical = has_states ? size - p->def.n_x - p->def.n_y : size;
  graph g = {.n_bodies = p->n_bodies, .n_nodes = p->n_bodies + p->n_joints + n_psi};
  const size_t nodes = (size_t)g.n_nodes;
  int *lambda_node = asi_calloc((size_t)m, sizeof(int));
  int *psi_node = asi_calloc((size_t)n_psi, sizeof(int));
  as_status status = AS_OK;
  if (lambda_node == NULL || psi_node == NULL) status = asi_fail_memory(error);
  if (status == AS_OK) {
    for (int i = 0; i < m; ++i) lambda_node[i] = p->n_bodies + p->joint_of[i];
    for (int i = 0; i < n_psi; ++i) psi_node[i] = p->n_bodies + p->n_joints + i;
    status = build_graph(&g, p, lambda_node, psi_node, error);
  }
  // Bodies that nothing couples need no order.
  const bool nothing = status == AS_OK && m + n_psi == 0 && g.start[g.n_nodes] == 0;
  bool *gone = asi_calloc(nodes, sizeof(bool)), *before = asi_calloc(nodes, sizeof(bool));
  int *sequence = asi_calloc(nodes, sizeof(int));
  const size_t edges = g.start ? (size_t)g.start[g.n_nodes] : 0;
  int *work = asi_calloc(3 * nodes + edges + 1, sizeof(int));
  label *labels = asi_calloc((size_t)mechanical, sizeof *labels);
  out->order = asi_calloc((size_t)size, sizeof(int));
  out->first = asi_calloc((size_t)size + 1, sizeof(int));
  if (status == AS_OK &&
      (!gone || !before || !sequence || !work || !labels || !out->order || !out->first))
    status = asi_fail_memory(error);
  if (status == AS_OK) {
    const int count = bodies_first ? 0 : prune(&g, gone, work, sequence);
    status = order_core(&g, gone, bodies_first, before, work, sequence, count, error);
  }
  if (status == AS_OK) {
    label_unknowns(p, mechanical, lambda_node, psi_node, labels);
    expand(&g, mechanical, sequence, labels, work, out->order);
    if (has_states) status = insert_states(p, mechanical, out->order, error);
  }
  if (status == AS_OK && !nothing)
    find_blocks(size, mechanical, labels, out);
  else
    asi_elimination_free(out);
  free(lambda_node);
  free(psi_node);
  free(g.start);
  free(g.neighbour);
  free(gone);
  free(before);
  free(sequence);
  free(work);
  free(labels);
  return status;
}

as_status asi_order_by_graph(const as_problem *p, int size, asi_elimination *out, as_error *error) {
  const bool multipliers = size == p->def.n_lambda && size > 0;
  const as_status status =
      order(p, multipliers ? p->n + size + p->def.n_psi : size, false, out, error);
  if (status == AS_OK && multipliers) keep_multipliers(p, out);
  return status;
}

as_status asi_order_bodies_first(const as_problem *p, int size, asi_elimination *out,
                                 as_error *error) {
  *out = (asi_elimination){0};
  return size == p->def.n_lambda ? AS_OK : order(p, size, true, out, error);
}
