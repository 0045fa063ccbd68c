// Colours for the canvases, from the page's style, so that both themes are written once.
const NAMES = ["bg", "panel", "raised", "line", "text", "dim", "faint", "accent", "grad", "hook", "leaf", "bad", "good", "edge"];

export function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

// `share` of b in a; both #rrggbb.
export function mix(a, b, share) {
  const part = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const at = (i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * share);
  return `rgb(${at(0)},${at(1)},${at(2)})`;
}

// 0 for the least gradient norm of the recording, 1 for the greatest; by orders of magnitude.
export function strength(norm, range) {
  if (!(norm > 0) || !range) return 0;
  const [low, high] = range;
  return high > low ? Math.min(1, Math.max(0, (Math.log10(norm) - low) / (high - low))) : 0.6;
}

export function digits(x) {
  if (typeof x !== "number") return String(x);
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : String(x);
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? Number(x.toPrecision(3)).toExponential() : String(Number(x.toPrecision(4)));
  return text.replace("e+", "e").replaceAll("-", "\u2212");
}

// A gradient in a word: its norm, or what is wrong with it.
export function gradient(state) {
  return state.odd || digits(state.norm);
}

export function duration(ns) {
  if (ns >= 1e9) return `${digits(ns / 1e9)} s`;
  if (ns >= 1e6) return `${digits(ns / 1e6)} ms`;
  return `${digits(ns / 1e3)} \u00b5s`;
}
