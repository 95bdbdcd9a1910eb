// The page of `alphastep modes -o`, see modes_page.h: the table, the eigenvalues in their plane, and each mode moving.
//
// What moves are the shapes of the model file as lines, and a small cross for a body without any. Each point has its place and a complex
// displacement, found by moving the machine a little along the mode; the page's script does nothing but add them up.
#include "modes_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "base/json.h"
#include "html.h"
#include "page.h"

enum { MOST_ANIMATED = 60, MOST_POINTS = 3000, ROUND = 16 };

static const double two_pi = 6.28318530717958647692;

// ---- lines

/// Lines fixed to bodies: points in body axes from the centre of mass.
typedef struct sketch {
  int n; ///< points
  double (*point)[3];
  int *body;
  bool *begins; ///< a new line
} sketch;

static void add(sketch *s, int body, const as_shape *shape, double x, double y, double z,
                bool begins) {
  if (s->n == MOST_POINTS) return;
  const double local[3] = {x, y, z};
  double *to = s->point[s->n];
  if (shape == NULL) {
    memcpy(to, local, sizeof local);
  } else { // shape to body
    const double *q = shape->quaternion, w = q[0], v[3] = {q[1], q[2], q[3]};
    const double c[3] = {v[1] * z - v[2] * y, v[2] * x - v[0] * z, v[0] * y - v[1] * x};
    const double d[3] = {v[1] * c[2] - v[2] * c[1], v[2] * c[0] - v[0] * c[2],
                         v[0] * c[1] - v[1] * c[0]};
    for (int i = 0; i < 3; i++) to[i] = shape->position[i] + local[i] + 2.0 * (w * c[i] + d[i]);
  }
  s->body[s->n] = body;
  s->begins[s->n++] = begins;
}

static void add_circle(sketch *s, const as_shape *shape, double radius, double z, bool across) {
  for (int i = 0; i <= ROUND; i++) {
    const double a = two_pi * i / ROUND, x = radius * cos(a), y = radius * sin(a);
    if (across)
      add(s, shape->body.index, shape, x, 0.0, y, i == 0);
    else
      add(s, shape->body.index, shape, x, y, z, i == 0);
  }
}

static void add_shape(sketch *s, const as_shape *shape) {
  const double *h = shape->size;
  switch (shape->kind) {
  case AS_SHAPE_BOX:
    for (int z = -1; z <= 1; z += 2)
      for (int i = 0; i <= 4; i++) {
        const int x = i == 1 || i == 2 ? 1 : -1, y = i == 2 || i == 3 ? 1 : -1;
        add(s, shape->body.index, shape, 0.5 * x * h[0], 0.5 * y * h[1], 0.5 * z * h[2], i == 0);
      }
    for (int i = 0; i < 4; i++) {
      const int x = i == 1 || i == 2 ? 1 : -1, y = i == 2 || i == 3 ? 1 : -1;
      add(s, shape->body.index, shape, 0.5 * x * h[0], 0.5 * y * h[1], -0.5 * h[2], true);
      add(s, shape->body.index, shape, 0.5 * x * h[0], 0.5 * y * h[1], 0.5 * h[2], false);
    }
    break;
  case AS_SHAPE_SPHERE:
    add_circle(s, shape, shape->radius, 0.0, false);
    add_circle(s, shape, shape->radius, 0.0, true);
    break;
  case AS_SHAPE_CYLINDER:
  case AS_SHAPE_CAPSULE:
  case AS_SHAPE_CONE:
  case AS_SHAPE_WHEEL:
    add_circle(s, shape, shape->radius, -0.5 * shape->length, false);
    add_circle(s, shape, shape->kind == AS_SHAPE_CONE ? shape->top : shape->radius,
               0.5 * shape->length, false);
    add(s, shape->body.index, shape, 0.0, 0.0, -0.5 * shape->length, true);
    add(s, shape->body.index, shape, 0.0, 0.0, 0.5 * shape->length, false);
    add(s, shape->body.index, shape, -shape->radius, 0.0, 0.0, true);
    add(s, shape->body.index, shape, shape->radius, 0.0, 0.0, false);
    break;
  case AS_SHAPE_POLYLINE:
  case AS_SHAPE_STRIP:
    for (int i = 0; i < shape->n_points; i++)
      add(s, shape->body.index, shape, shape->points[3 * i], shape->points[3 * i + 1],
          shape->points[3 * i + 2], i == 0);
    break;
  case AS_SHAPE_MESH: break;
  }
}

static bool make_sketch(const as_machine *machine, const as_state *state, sketch *s) {
  *s = (sketch){.point = calloc(MOST_POINTS, sizeof *s->point),
                .body = calloc(MOST_POINTS, sizeof *s->body),
                .begins = calloc(MOST_POINTS, sizeof *s->begins)};
  const int bodies = as_model_bodies(machine->model);
  bool *drawn = calloc((size_t)bodies + 1, sizeof *drawn);
  double low = 0.0, high = 0.0;
  if (!s->point || !s->body || !s->begins || !drawn) {
    free(drawn);
    return false;
  }
  for (int i = 0; i < machine->n_shapes; i++) {
    if (machine->shapes[i].body.index < 0 || machine->shapes[i].kind == AS_SHAPE_MESH) continue;
    add_shape(s, &machine->shapes[i]);
    drawn[machine->shapes[i].body.index] = true;
  }
  for (int b = 0; b < bodies; b++) {
    as_body_motion at;
    as_model_body_motion(machine->model, state, (as_body_id){b}, &at);
    for (int k = 0; k < 3; k++) low = fmin(low, at.x[k]), high = fmax(high, at.x[k]);
  }
  const double size = 0.03 * (high - low) + 1e-3;
  for (int b = 0; b < bodies; b++)
    for (int k = 0; k < 3 && !drawn[b]; k++) {
      const double x[3] = {k == 0 ? size : 0.0, k == 1 ? size : 0.0, k == 2 ? size : 0.0};
      add(s, b, NULL, -x[0], -x[1], -x[2], true);
      add(s, b, NULL, x[0], x[1], x[2], false);
    }
  free(drawn);
  return true;
}

static void free_sketch(sketch *s) {
  free(s->point);
  free(s->body);
  free(s->begins);
}

static void locate(const as_model *model, const as_state *state, const sketch *s, double *out) {
  as_body_motion at = {.x = {0.0}};
  for (int i = 0, last = -1; i < s->n; i++) {
    if (s->body[i] != last) as_model_body_motion(model, state, (as_body_id){s->body[i]}, &at);
    last = s->body[i];
    for (int k = 0; k < 3; k++)
      out[3 * i + k] = at.x[k] + at.R[3 * k] * s->point[i][0] + at.R[3 * k + 1] * s->point[i][1] +
                       at.R[3 * k + 2] * s->point[i][2];
  }
}

static void write_numbers(FILE *out, const double *x, int n, double scale) {
  putc('[', out);
  for (int i = 0; i < n; i++) fprintf(out, i > 0 ? ",%.4g" : "%.4g", scale * x[i]);
  putc(']', out);
}

/// Places of all points, and displacements of each mode.
static void write_motion(FILE *out, const modes_set *set) {
  const as_machine *machine = set->place.machine;
  const as_model *model = machine->model;
  const as_initial *i0 = &set->place.initial;
  const as_state given = {.t = i0->t, .q = i0->q, .v = i0->v, .u = i0->u};
  const as_state state = set->linear ? *as_linearization_state(set->linear) : given;
  const as_sizes n = as_problem_sizes(as_model_problem(model));
  sketch s = {0};
  double *q = calloc((size_t)(n.q + n.v) + 1, sizeof *q);
  const bool made = make_sketch(machine, &state, &s);
  double *at = calloc(9 * (size_t)s.n + 1, sizeof *at);
  if (q == NULL || !made || at == NULL) cli_note_incomplete();
  if (q && made && at) {
    fputs("const base=", out);
    locate(model, &state, &s, at);
    write_numbers(out, at, 3 * s.n, 1.0);
    fputs(",begins=[", out);
    for (int i = 0; i < s.n; i++) fprintf(out, i > 0 ? ",%d" : "%d", s.begins[i]);
    fputs("],modes=[", out);
    for (int k = 0; k < set->modes->n && k < MOST_ANIMATED; k++) {
      const as_mode *mode = &set->modes->mode[k];
      double *moved = at + 3 * s.n, *back = moved + 3 * s.n, e = 1e-4;
      fprintf(out, "%s{re:%.6g,im:%.6g", k > 0 ? ",\n" : "\n", mode->re, mode->im);
      for (int part = 0; part < 2; part++) {
        as_state other = state;
        for (int side = 0; side < 2; side++) {
          for (int i = 0; i < n.v; i++) q[n.q + i] = (side ? -e : e) * mode->shape[part * n.v + i];
          as_space_move(as_problem_space(as_model_problem(model)), state.q, q + n.q, q);
          other.q = q;
          locate(model, &other, &s, side ? back : moved);
        }
        for (int i = 0; i < 3 * s.n; i++) moved[i] -= back[i];
        fputs(part ? ",v:" : ",u:", out);
        write_numbers(out, moved, 3 * s.n, 0.5 / e);
      }
      putc('}', out);
    }
    fputs("];\n", out);
  }
  free(q);
  free(at);
  free_sketch(&s);
}

static const char *const SCRIPT =
    "const canvas=document.querySelector('canvas'),c=canvas.getContext('2d');let chosen=0,t0=0,"
    "turn=-0.6,tilt=0.35,held=null;\n"
    "for(let i=0;i<modes.length;i++)if(modes[i].re||modes[i].im){chosen=i;break}\n"
    "const view=(p,i)=>{const x=p[i]*Math.cos(turn)-p[i+1]*Math.sin(turn),"
    "y=p[i]*Math.sin(turn)+p[i+1]*Math.cos(turn);return[x,p[i+2]*Math.cos(tilt)+y*Math.sin(tilt)]};"
    "\n"
    "function draw(now){const w=canvas.width=canvas.clientWidth*devicePixelRatio,"
    "h=canvas.height=canvas.clientHeight*devicePixelRatio;\n"
    "let a=[1/0,1/0,-1/0,-1/0];for(let i=0;i<base.length;i+=3){const p=view(base,i);"
    "a=[Math.min(a[0],p[0]),Math.min(a[1],p[1]),Math.max(a[2],p[0]),Math.max(a[3],p[1])]}\n"
    "const size=Math.max(a[2]-a[0],a[3]-a[1],1e-6),scale=0.7*Math.min(w/(a[2]-a[0]+0.1*size),"
    "h/(a[3]-a[1]+0.1*size)),m=modes[chosen];\n"
    "let most=1e-12;for(let i=0;i<base.length;i++)most=Math.max(most,Math.hypot(m.u[i],m.v[i]));\n"
    "const rate=m.im||Math.abs(m.re)||1,period=2.5,s=(now-t0)/1000/period,phase=m.im?2*Math.PI*s:0,"
    "turns=m.im?1:s%1.6,grow=m.im?Math.exp(Math.max(-3,Math.min(3,m.re/m.im*2*Math.PI*(s%4)))):"
    "m.re||m.im?Math.exp(Math.sign(m.re)*2*turns)*(m.re>0?0.15:1):Math.sin(2*Math.PI*s);\n"
    "const f=0.12*size/most*grow;const line=(k,colour)=>{c.strokeStyle=colour;c.beginPath();"
    "for(let i=0;i<base.length;i+=3){const p=[0,1,2].map(j=>base[i+j]+k*f*(m.u[i+j]*Math.cos(phase)"
    "-m.v[i+j]*Math.sin(phase))),g=view(p,0),x=w/2+(g[0]-(a[0]+a[2])/2)*scale,"
    "y=h/2-(g[1]-(a[1]+a[3])/2)*scale;begins[i/3]?c.moveTo(x,y):c.lineTo(x,y)}c.stroke()};\n"
    "c.clearRect(0,0,w,h);c.lineWidth=devicePixelRatio;line(0,'#9994');c.lineWidth*=1.6;"
    "line(1,'#0b62a4');requestAnimationFrame(draw)}\n"
    "const rows=[...document.querySelectorAll('tr[data-mode]')];const choose=i=>{chosen=i;"
    "t0=performance.now();rows.forEach(r=>r.classList.toggle('on',+r.dataset.mode===i))};\n"
    "rows.forEach(r=>r.onclick=()=>+r.dataset.mode<modes.length&&choose(+r.dataset.mode));\n"
    "canvas.onpointerdown=e=>{held=[e.clientX,e.clientY,turn,tilt];canvas.setPointerCapture("
    "e.pointerId)};canvas.onpointermove=e=>{if(held){turn=held[2]+(e.clientX-held[0])/150;"
    "tilt=Math.max(-1.5,Math.min(1.5,held[3]+(e.clientY-held[1])/150))}};"
    "canvas.onpointerup=()=>held=null;choose(chosen);if(base.length)requestAnimationFrame(draw);\n";

// ---- the page

static void write_table(FILE *out, const modes_set *set) {
  fputs("<table class=\"numbers modes\"><thead><tr><th>mode, and what moves</th><th>real "
        "[1/s]</th><th>imaginary [1/s]</th><th>frequency [Hz]</th><th>damping</th><th>1/|real| "
        "[s]</th></tr></thead><tbody>\n",
        out);
  for (int i = 0; i < set->modes->n; i++) {
    const as_mode *m = &set->modes->mode[i];
    const bool neutral = !isfinite(m->time);
    const double number[] = {neutral ? 0.0 : m->re, m->im, m->frequency,
                             neutral && !m->free ? 0.0 : m->damping, m->time};
    static const char *const is[] = {"real", "imaginary", "Hz", "damping", "1/|real|"};
    fprintf(out, "<tr data-mode=\"%d\"><td>%d. ", i, i + 1);
    if (m->free) fputs("free motion ", out);
    if (!neutral && m->re > 0.0) fputs("<strong>grows</strong> ", out);
    fputs("<span class=\"soft\">", out);
    asi_html_text(out, set->text[i].bodies);
    if (set->text[i].joints[0]) fputs("; ", out);
    asi_html_text(out, set->text[i].joints);
    fputs("</span></td>", out);
    for (int k = 0; k < 5; k++) {
      fprintf(out, "<td data-is=\"%s\">", is[k]);
      html_number(out, number[k], 5);
      fputs("</td>", out);
    }
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table>\n", out);
}

static void write_locus(FILE *out, const modes_result *x) {
  int n = 0, room = 0;
  for (int k = 0; k < x->n; k++) room += x->set[k].modes->n;
  page_point *point = calloc((size_t)room + 1, sizeof *point);
  if (point == NULL) {
    cli_note_incomplete();
    return;
  }
  for (int k = 0; k < x->n; k++)
    for (int i = 0; i < x->set[k].modes->n; i++) {
      const as_mode *m = &x->set[k].modes->mode[i];
      point[n++] = (page_point){m->re, m->im, x->n > 1 ? (double)k / (x->n - 1) : 0.0};
    }
  fputs("<figure><figcaption>Eigenvalues", out);
  if (x->n > 1) {
    fputs(" for ", out);
    asi_html_text(out, x->request->sweep);
    fprintf(out, " from %.6g (blue) to %.6g (red)", x->request->value[0],
            x->request->value[x->n - 1]);
  }
  fputs("<small>The upper half of the plane; what is right of zero grows.</small></figcaption>\n",
        out);
  page_points(out, point, n, "real part [1/s]", "imaginary part [1/s]");
  if (x->n > 1) {
    for (int k = 0, j = 0; k < x->n; k++)
      for (int i = 0; i < x->set[k].modes->n; i++, j++) {
        point[j].y = point[j].x;
        point[j].x = x->request->value[k];
      }
    fputs("</figure>\n<figure><figcaption>Real parts</figcaption>\n", out);
    page_points(out, point, n, x->request->sweep, "real part [1/s]");
  }
  fputs("</figure>\n", out);
  free(point);
}

void modes_page_write(FILE *out, const void *user) {
  const modes_result *x = user;
  const modes_set *set = &x->set[x->n - 1];
  const char *verdict = modes_verdict(set->modes);
  char title[300];
  snprintf(title, sizeof title, "%.200s: modes",
           set->place.machine->title ? set->place.machine->title : x->request->machine.model);
  page_begin(out, title);
  fprintf(out, "<p><span class=\"verdict %s\">%s</span></p>\n<p class=\"soft\">",
          set->modes->n_unstable > 0 ? "fails" : "holds", verdict);
  asi_html_text(out, set->about);
  if (x->n > 1) {
    fputs("; ", out);
    asi_html_text(out, x->request->sweep);
    fprintf(out, " = %.9g", x->request->value[x->n - 1]);
  }
  fputs(
      "</p></header>\n<main>\n<section class=\"claim\"><canvas></canvas>\n<p class=\"soft\">Choose "
      "a mode in the table; drag to turn the view. Amplitudes are for the eye.</p>\n",
      out);
  write_table(out, set);
  fputs("</section>\n<section class=\"claim\">", out);
  write_locus(out, x);
  fputs("</section>\n<script>\n", out);
  write_motion(out, set);
  fputs(SCRIPT, out);
  fputs("</script>\n", out);
  page_end(out);
}
