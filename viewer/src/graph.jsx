// The graph: a canvas that draws what is in sight. The outline beside it says the same to a screen reader.
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { colours, digits, gradient, mix, strength } from "./colours.js";
import { Places } from "./place.js";
import { LEAF, NODE } from "./trace.js";

const FONT = "12px system-ui, -apple-system, 'Segoe UI', sans-serif";
const SMALL = "10.5px system-ui, -apple-system, 'Segoe UI', sans-serif";
const [LEAST, MOST] = [0.02, 3];

export function Graph({ trace, open, cursor, selected, theme, focus, fitting, onSelect, onToggle }) {
  const canvas = useRef();
  const view = useRef({ k: 1, x: 0, y: 0, fitted: true }) // fitted: nobody has moved it since;
  const frame = useRef(0);
  const places = useMemo(() => {
    const context = document.createElement("canvas").getContext("2d");
    context.font = FONT;
    const widths = new Map();
    const measure = (text) => {
      if (!widths.has(text)) widths.set(text, context.measureText(text).width);
      return widths.get(text);
    };
    return new Places(trace, measure);
  }, [trace]);
  const was = useRef(new Set());
  const scene = useMemo(() => {
    for (const g of new Set([...open, ...was.current])) if (open.has(g) !== was.current.has(g)) places.forget(g);
    was.current = new Set(open);
    const found = places.all(open);
    found.at = new Map(found.boxes.map((box) => [`${box.kind} ${box.id}`, box]));
    return found;
  }, [places, open]);

  const draw = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const subject = trace.steps.length ? trace.subject(cursor) : null;
      const here = subject && (scene.at.get(`${subject.kind} ${subject.id}`) ?? scene.at.get(visible(trace, subject, open)));
      paint(canvas.current, view.current, scene, trace, cursor, selected, here);
    });
  };

  const fit = () => {
    const { clientWidth: w, clientHeight: h } = canvas.current;
    const v = view.current;
    v.k = Math.min(1.15, Math.max(LEAST, Math.min((w - 48) / scene.width, (h - 48) / scene.height)));
    if (v.k < 0.5) v.k = Math.min(0.8, Math.max(v.k, (w - 48) / scene.width)); // readable rather than whole
    v.x = (w - scene.width * v.k) / 2;
    v.y = scene.height * v.k > h ? 24 : (h - scene.height * v.k) / 2;
    v.fitted = true;
    draw();
  };

  const show = (box) => {
    const { clientWidth: w, clientHeight: h } = canvas.current;
    const v = view.current;
    const [x, y] = [box.x * v.k + v.x, box.y * v.k + v.y];
    const high = Math.min(box.h * v.k, h / 2);
    const [aside, above] = [x < 20 || x + box.w * v.k > w - 20, y < 40 || y + high > h - 40];
    if (aside) v.x = w / 2 - (box.x + box.w / 2) * v.k;
    if (above) v.y = h / 2 - box.y * v.k - high / 2;
    if (aside || above) v.fitted = false;
    draw();
  };

  useLayoutEffect(() => {
    const resize = () => {
      const element = canvas.current;
      const ratio = devicePixelRatio || 1;
      const [w, h] = [Math.round(element.clientWidth * ratio), Math.round(element.clientHeight * ratio)];
      if (element.width !== w || element.height !== h) [element.width, element.height] = [w, h];
      if (view.current.fitted && element.clientWidth) fit();
      else draw();
    };
    const observer = new ResizeObserver(resize);
    observer.observe(canvas.current);
    resize();
    return () => observer.disconnect();
  }, [scene, cursor, selected, theme]);

  useLayoutEffect(() => {
    if (fitting) fit();
  }, [fitting]);

  // A group that is opened or closed stays where it was on the screen.
  const kept = useRef(null);
  useLayoutEffect(() => {
    const anchor = kept.current;
    kept.current = null;
    const box = anchor && scene.at.get(anchor.name);
    if (box) {
      view.current.x = anchor.x - (box.x + box.w / 2) * view.current.k;
      view.current.y = anchor.y - box.y * view.current.k;
      view.current.fitted = false;
    }
    draw();
  }, [scene]);

  useEffect(() => {
    if (!focus) return;
    const box = scene.at.get(`${focus.kind} ${focus.id}`) ?? scene.at.get(visible(trace, focus, open));
    if (box) show(box);
  }, [focus, scene]);

  const at = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const v = view.current;
    return [(event.clientX - box.left - v.x) / v.k, (event.clientY - box.top - v.y) / v.k];
  };
  const hit = (event) => {
    const [x, y] = at(event);
    for (let i = scene.boxes.length - 1; i >= 0; i--) {
      const b = scene.boxes[i];
      if (x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h) return [b, x - b.x, y - b.y];
    }
    return [];
  };
  const toggle = (box) => {
    const v = view.current;
    v.fitted = false;
    kept.current = { name: `group ${box.id}`, x: (box.x + box.w / 2) * v.k + v.x, y: box.y * v.k + v.y };
    onToggle(box.id);
  };
  const drag = useRef(null);
  const down = (event) => {
    if (event.button !== 0) return;
    canvas.current.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, moved: false };
  };
  const move = (event) => {
    const d = drag.current;
    if (!d) {
      canvas.current.style.cursor = hit(event)[0] ? "pointer" : "grab";
      return;
    }
    const [dx, dy] = [event.clientX - d.x, event.clientY - d.y];
    if (!d.moved && Math.hypot(dx, dy) < 4) return;
    d.moved = true;
    [d.x, d.y] = [event.clientX, event.clientY];
    view.current.x += dx;
    view.current.y += dy;
    view.current.fitted = false;
    draw();
  };
  const up = (event) => {
    const d = drag.current;
    drag.current = null;
    if (!d || d.moved) return;
    const [box, dx, dy] = hit(event);
    if (!box) return onSelect(null);
    if (box.kind === "group" && dx < 30 && dy < 34) toggle(box);
    onSelect({ kind: box.kind, id: box.id });
  };
  const zoom = (factor, x, y) => {
    const v = view.current;
    const k = Math.min(MOST, Math.max(LEAST, v.k * factor));
    v.x = x - ((x - v.x) * k) / v.k;
    v.y = y - ((y - v.y) * k) / v.k;
    v.k = k;
    v.fitted = false;
    draw();
  };
  const middle = (factor) => zoom(factor, canvas.current.clientWidth / 2, canvas.current.clientHeight / 2);
  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) {
        const box = canvas.current.getBoundingClientRect();
        zoom(Math.exp(-event.deltaY / (event.deltaMode ? 8 : 160)), event.clientX - box.left, event.clientY - box.top);
      } else {
        const unit = event.deltaMode ? 24 : 1;
        view.current.x -= (event.shiftKey ? event.deltaY : event.deltaX) * unit;
        view.current.y -= (event.shiftKey ? 0 : event.deltaY) * unit;
        view.current.fitted = false;
        draw();
      }
    };
    const element = canvas.current;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [scene, cursor, selected]);
  const key = (event) => {
    const act = { "+": () => middle(1.25), "=": () => middle(1.25), "-": () => middle(0.8), f: fit, 0: fit }[event.key];
    if (act) act();
    else if (event.key === "Enter" && selected?.kind === "group") onToggle(selected.id);
    else return;
    event.preventDefault();
  };
  const doubled = (event) => {
    const [box, dx, dy] = hit(event);
    if (box?.kind === "group" && !(dx < 30 && dy < 34)) toggle(box);
  };

  return (
    <div class="graph">
      <div class="pane">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label="Graph of the recorded operations. The outline holds the same as a tree. Plus and minus zoom, F fits."
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={() => (drag.current = null)}
        onDblClick={doubled}
        onKeyDown={key}
      />
      <div class="zoom">
        <button onClick={() => middle(1.25)} aria-label="Zoom in">+</button>
        <button onClick={() => middle(0.8)} aria-label="Zoom out">{"\u2212"}</button>
        <button onClick={fit} aria-label="Fit the graph into its pane">fit</button>
      </div>
      </div>
      <Legend trace={trace} />
    </div>
  );
}

function Legend({ trace }) {
  return (
    <div class="legend" aria-label="Legend">
      <span class="ramp" />
      <span>
        {trace.range ? `gradient norm ${digits(10 ** trace.range[0])} to ${digits(10 ** trace.range[1])}` : "no gradients"}
      </span>
      <span class="ring" /> now <span class="dot hook" /> hook <span class="dot bad" /> NaN or inf
    </div>
  );
}

// The innermost group on the way to `what` that is in sight.
function visible(trace, what, open) {
  let found = `${what.kind} ${what.id}`;
  for (let g = trace.groupOf(what); g > 0; g = trace.groups[g][2]) if (!open.has(g)) found = `group ${g}`;
  return found;
}

function paint(canvas, view, scene, trace, cursor, selected, here) {
  if (!canvas) return;
  const c = colours();
  const context = canvas.getContext("2d");
  const ratio = devicePixelRatio || 1;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = c.bg;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(ratio * view.k, 0, 0, ratio * view.k, ratio * view.x, ratio * view.y);
  const [x0, y0] = [-view.x / view.k, -view.y / view.k];
  const [x1, y1] = [x0 + canvas.width / ratio / view.k, y0 + canvas.height / ratio / view.k];
  const inSight = (b) => b.x < x1 && b.x + b.w > x0 && b.y < y1 && b.y + b.h > y0;
  const boxes = scene.boxes.filter(inSight);
  for (const box of boxes) if (box.open) frameOf(context, box, c, selected);
  lines(context, scene, trace, cursor, c, [x0, y0, x1, y1], view.k);
  const words = view.k > 0.38;
  for (const box of boxes) {
    if (box.open) title(context, box, trace, cursor, c, words);
    else if (box.kind === "group") group(context, box, trace, cursor, c, words, selected);
    else vertex(context, box, trace, cursor, c, words, selected);
  }
  if (here) {
    // where the event at the cursor happens
    context.beginPath();
    context.roundRect(here.x - 4, here.y - 4, here.w + 8, here.h + 8, here.kind === "group" ? 12 : 11);
    context.lineWidth = Math.max(2, 1.5 / view.k);
    context.strokeStyle = c.hook;
    context.stroke();
  }
}

function lines(context, scene, trace, cursor, c, [x0, y0, x1, y1], k) {
  const groups = [new Path2D(), new Path2D()];
  for (const line of scene.lines) {
    if (Math.max(line.y1, line.y2) + 60 < y0 || Math.min(line.y1, line.y2) - 60 > y1) continue;
    if (Math.max(line.x1, line.x2) < x0 || Math.min(line.x1, line.x2) > x1) continue;
    const path = groups[line.e >= 0 && trace.flowed(line.g, line.e, cursor) ? 1 : 0];
    path.moveTo(line.x1, line.y1);
    if (line.straight || line.x1 === line.x2) path.lineTo(line.x2, line.y2);
    else {
      const { x1, x2, ya, yb } = line;
      const bow = Math.min(60, Math.max(10, Math.abs(yb - ya) * 0.55));
      path.lineTo(x1, ya);
      path.bezierCurveTo(x1, ya + bow, x2, yb - bow, x2, yb);
      path.lineTo(x2, line.y2);
    }
  }
  const thin = Math.max(1, 0.6 / k);
  context.lineWidth = thin;
  context.strokeStyle = c.edge;
  context.stroke(groups[0]);
  context.lineWidth = thin * 1.7;
  context.strokeStyle = c.grad;
  context.stroke(groups[1]);
}

const isSelected = (box, selected) => selected && selected.kind === box.kind && selected.id === box.id;

function outline(context, box, radius, c, selected, stroke) {
  context.beginPath();
  context.roundRect(box.x, box.y, box.w, box.h, radius);
  context.fill();
  context.lineWidth = isSelected(box, selected) ? 2.5 : 1;
  context.strokeStyle = isSelected(box, selected) ? c.accent : stroke;
  context.stroke();
}

function frameOf(context, box, c, selected) {
  context.fillStyle = c.raised;
  outline(context, box, 10, c, selected, c.line);
}

function title(context, box, trace, cursor, c, words) {
  const hooks = trace.ownHooks(box.id);
  if (hooks.length) dot(context, box.x + box.w - 12, box.y + 12, fired(trace, hooks, cursor) ? c.hook : c.faint, c);
  if (!words) return;
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const [m] = trace.groups[box.id];
  const name = trace.groupName(box.id);
  const wide = context.measureText(name).width;
  const type = m >= 0 && trace.modules[m].path ? trace.modules[m].type : "";
  context.fillStyle = c.raised; // edges pass behind the title
  context.fillRect(box.x + 6, box.y + 6, wide + 26 + context.measureText(type).width, 18);
  arrow(context, box.x + 14, box.y + 15, true, c);
  context.fillStyle = c.text;
  context.fillText(name, box.x + 24, box.y + 15);
  context.fillStyle = c.dim;
  context.fillText(type, box.x + 30 + wide, box.y + 15);
}

function arrow(context, x, y, isOpen, c) {
  context.fillStyle = c.dim;
  context.beginPath();
  if (isOpen) context.moveTo(x - 4, y - 2), context.lineTo(x + 4, y - 2), context.lineTo(x, y + 3.5);
  else context.moveTo(x - 2, y - 4), context.lineTo(x + 3.5, y), context.lineTo(x - 2, y + 4);
  context.fill();
}

function group(context, box, trace, cursor, c, words, selected) {
  const [m, , , event] = trace.groups[box.id];
  const state = trace.groupState(box.id, cursor);
  const arrived = state.done > 0;
  context.globalAlpha = event <= cursor ? 1 : 0.45;
  context.fillStyle = arrived ? mix(c.panel, c.grad, 0.1 + 0.4 * strength(state.norm, trace.range)) : c.panel;
  outline(context, box, 9, c, selected, state.odd ? c.bad : c.line);
  if (state.total) {
    // how much of the pass has been through it
    context.fillStyle = c.line;
    context.fillRect(box.x + 10, box.y + box.h - 7, box.w - 20, 2.5);
    context.fillStyle = state.odd ? c.bad : c.grad;
    context.fillRect(box.x + 10, box.y + box.h - 7, ((box.w - 20) * state.done) / state.total, 2.5);
  }
  if (words) {
    context.font = FONT;
    context.textBaseline = "middle";
    context.textAlign = "left";
    arrow(context, box.x + 13, box.y + 15, false, c);
    const name = trace.groupName(box.id);
    context.fillStyle = c.text;
    context.fillText(name, box.x + 24, box.y + 15);
    const type = m >= 0 && trace.modules[m].path ? trace.modules[m].type : "";
    context.fillStyle = c.dim;
    context.fillText(type, box.x + 30 + context.measureText(name).width, box.y + 15);
    context.font = SMALL;
    const said = arrived ? `\u2207 ${gradient(state)}` : "";
    context.fillText(said, box.x + 24, box.y + 29);
  }
  const hooks = trace.groupHooks[box.id];
  if (hooks.length) dot(context, box.x + box.w - 10, box.y + 10, fired(trace, hooks, cursor) ? c.hook : c.faint, c);
  context.globalAlpha = 1;
}

function vertex(context, box, trace, cursor, c, words, selected) {
  const [kind, number] = trace.vertices[box.id];
  const state = trace.lastRun(box.id, cursor);
  const made = kind === LEAF || kind === NODE || number <= cursor;
  context.globalAlpha = made ? 1 : 0.4;
  const base = kind === LEAF ? c.leaf : c.panel;
  context.fillStyle = state ? mix(base, c.grad, 0.12 + 0.45 * strength(state.norm, trace.range)) : base;
  const odd = state?.odd || trace.wrongAt(box.id, cursor);
  outline(context, box, kind === LEAF ? 11 : 7, c, selected, odd ? c.bad : c.line);
  if (words) {
    const text = trace.vertexName(box.id);
    context.textAlign = "center";
    context.textBaseline = "middle";
    const said = kind !== LEAF && state ? `\u2207 ${gradient(state)}` : "";
    context.font = kind === LEAF ? SMALL : FONT;
    context.fillStyle = c.text;
    context.fillText(text, box.x + box.w / 2, box.y + (said ? 13 : box.h / 2 + 0.5));
    if (said) {
      context.font = SMALL;
      context.fillStyle = c.dim;
      context.fillText(said, box.x + box.w / 2, box.y + 28);
    }
  }
  const hooks = trace.vertexHooks[box.id];
  if (hooks.length) dot(context, box.x + box.w - 6, box.y + 6, fired(trace, hooks, cursor) ? c.hook : c.faint, c);
  if (odd) dot(context, box.x + 6, box.y + 6, c.bad, c);
  context.globalAlpha = 1;
}

const fired = (trace, hooks, cursor) => hooks.some((h) => trace.firings[h][0] <= cursor);

function dot(context, x, y, colour, c) {
  context.beginPath();
  context.arc(x, y, 4, 0, 7);
  context.fillStyle = colour;
  context.fill();
  context.lineWidth = 1.2;
  context.strokeStyle = c.panel;
  context.stroke();
}
