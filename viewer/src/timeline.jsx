// The events in order, one lane for each sort, and the norms of the gradients above; a slider to the keyboard.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { colours, strength } from "./colours.js";
import { upTo } from "./trace.js";

const LANES = [
  ["forward", ["op"]],
  ["backward", ["begin", "end", "node"]],
  ["hooks", ["hook"]],
  [".grad", ["accumulate", "zero"]],
  ["step", ["step"]],
];
const [LEFT, TOP, HIGH, NORMS] = [74, 8, 15, 40];
const MEMORY = 34; // its lane, where memory was recorded, below the others
const BELOW = TOP + NORMS + 6 + LANES.length * (HIGH + 2);
const high = (trace) => BELOW + 6 + (trace.memory ? MEMORY + 4 : 0);

export function Timeline({ trace, cursor, theme, onMove }) {
  const HEIGHT = high(trace);
  const canvas = useRef();
  const [range, setRange] = useState([0, trace.steps.length]); // steps in sight
  const laneOf = (i) => LANES.findIndex(([, kinds]) => kinds.includes(trace.editOf.has(i) ? "zero" : trace.events[i][0]));
  const step = upTo(trace.steps, cursor) - 1;

  const base = useRef(null); // what does not depend on the cursor
  const prepare = () => {
    const wide = canvas.current.clientWidth;
    const ratio = devicePixelRatio || 1;
    const element = document.createElement("canvas");
    element.width = wide * ratio;
    element.height = HEIGHT * ratio;
    const context = element.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const c = colours();
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    const tops = LANES.map((_, i) => TOP + NORMS + 6 + i * (HIGH + 2));
    context.fillStyle = c.dim;
    context.fillText("gradient", LEFT - 10, TOP + NORMS / 2);
    LANES.forEach(([name], i) => context.fillText(name, LEFT - 10, tops[i] + HIGH / 2));
    context.fillStyle = c.bg;
    context.fillRect(LEFT, TOP, wide - LEFT - 8, NORMS);
    tops.forEach((y) => context.fillRect(LEFT, y, wide - LEFT - 8, HIGH));
    if (trace.memory) {
      context.fillStyle = c.dim;
      context.fillText("memory", LEFT - 10, BELOW + MEMORY / 2);
      context.fillStyle = c.bg;
      context.fillRect(LEFT, BELOW, wide - LEFT - 8, MEMORY);
    }
    const [from, to] = range;
    const scale = (wide - LEFT - 8) / Math.max(1, to - from);
    const bar = Math.max(1, scale - (scale > 4 ? 1 : 0));
    for (let s = Math.floor(from); s < Math.min(trace.steps.length, Math.ceil(to)); s++) {
      const i = trace.steps[s];
      const kind = trace.events[i][0];
      const x = LEFT + (s - from) * scale;
      context.fillStyle = colourOf(kind, trace, i, c);
      context.fillRect(x, tops[laneOf(i)] + 2, bar, HIGH - 4);
      if (trace.memory?.after[i] != null) {
        const up = (MEMORY * trace.memory.after[i]) / (trace.memory.peak || 1);
        context.fillStyle = trace.memory.after[i] === trace.memory.peak ? c.accent : c.faint;
        context.fillRect(x, BELOW + MEMORY - up, bar, up);
      }
      if (kind === "node") {
        const values = trace.get(i, "inputs");
        const norm = trace.normOf(values);
        const bad = trace.odd(values);
        const high = bad ? NORMS : norm > 0 ? 4 + (NORMS - 6) * strength(norm, trace.range) : 0;
        context.fillStyle = bad ? c.bad : c.grad;
        context.fillRect(x, TOP + NORMS - high, bar, high);
      }
    }
    base.current = { image: element, c, scale, wide, ratio };
  };
  const draw = () => {
    const { image, c, scale, wide, ratio } = base.current;
    const element = canvas.current;
    if (!image.width) return;
    element.width = image.width;
    element.height = image.height;
    const context = element.getContext("2d");
    context.drawImage(image, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [from, to] = range;
    const end = Math.max(LEFT, LEFT + (step - from + 1) * scale);
    context.globalAlpha = 0.62; // what is still to come
    context.fillStyle = c.panel;
    if (end < wide) context.fillRect(end, TOP, wide - end, HEIGHT - TOP);
    context.globalAlpha = 1;
    if (step >= from && step <= to) {
      const x = LEFT + (step - from + 0.5) * scale;
      context.fillStyle = c.accent;
      context.fillRect(x - 0.75, 2, 1.5, HEIGHT - 4);
      context.beginPath();
      context.arc(x, 4, 4, 0, 7);
      context.fill();
    }
  };
  const again = () => {
    prepare();
    draw();
  };
  const latest = useRef(again);
  latest.current = again;
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => latest.current());
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(again, [trace, range, theme]);
  useLayoutEffect(draw, [cursor]);

  const seek = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const scale = (box.width - LEFT - 8) / Math.max(1, range[1] - range[0]);
    const s = Math.floor(range[0] + (event.clientX - box.left - LEFT) / scale);
    onMove(trace.steps[Math.min(trace.steps.length - 1, Math.max(0, s))] ?? 0);
  };
  const held = useRef(false);
  const wheel = (event) => {
    event.preventDefault();
    const box = canvas.current.getBoundingClientRect();
    const [from, to] = range;
    const all = trace.steps.length;
    const share = Math.min(1, Math.max(0, (event.clientX - box.left - LEFT) / (box.width - LEFT - 8)));
    const wide = Math.min(all, Math.max(20, (to - from) * Math.exp(event.deltaY / 300)));
    const moved = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? (event.deltaX / box.width) * (to - from) : 0;
    const size = moved ? to - from : wide;
    const start = Math.min(all - size, Math.max(0, moved ? from + moved : from + (to - from - size) * share));
    setRange([start, start + size]);
  };
  return (
    <canvas
      ref={canvas}
      class="timeline"
      style={{ height: `${HEIGHT}px` }}
      tabIndex={0}
      role="slider"
      aria-label="Timeline: step through the recording with the arrow keys"
      aria-valuemin={1}
      aria-valuemax={trace.steps.length}
      aria-valuenow={step + 1}
      aria-valuetext={trace.steps.length ? `${trace.events[cursor][0]}: ${trace.label(cursor)}` : "no events"}
      onPointerDown={(event) => {
        held.current = true;
        canvas.current.setPointerCapture(event.pointerId);
        seek(event);
      }}
      onPointerMove={(event) => held.current && seek(event)}
      onPointerUp={() => (held.current = false)}
      onPointerCancel={() => (held.current = false)}
      onWheel={wheel}
    />
  );
}

function colourOf(kind, trace, i, c) {
  if (kind === "hook") return trace.get(i, "error") ? c.bad : trace.get(i, "changed") ? c.hook : c.faint;
  if (trace.editOf.has(i)) return c.good;
  if (kind === "op") return trace.get(i, "error") || trace.wrong(i) ? c.bad : c.dim;
  if (kind === "node") return c.grad;
  if (kind === "accumulate") return c.good;
  if (kind === "step" || kind === "begin" || kind === "end") return c.accent;
  return c.dim;
}
