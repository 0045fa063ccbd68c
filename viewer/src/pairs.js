// Two steps, or two recordings, side by side: facts as answers/compare.py has them, events as answers/side_by_side.py.
import { push } from "./trace.js";

const LEAST = 200; // events of which common ones may be passed over when the alignment is rough

export class Pair {
  // a, b: numbers of steps from 0, null for all events
  constructor(compared, a, b) {
    this.compared = compared;
    this.sides = [compared.sides[0], compared.sides[1] ?? compared.sides[0]];
    this.steps = [a, b];
    this.facts = a === null || b === null ? [] : this.compareFacts();
    this.events = this.compareEvents();
    this.first = this.events.find((row) => row.marked);
  }

  compareFacts() {
    const { names, kinds, factor, byFactor } = this.compared;
    const order = Object.keys(kinds);
    const [one, two] = this.sides.map(({ steps }, k) => {
      const list = steps[this.steps[k]][3];
      const found = new Map();
      for (let i = 0; i < list.length; i += 2) found.set(list[i], Number(list[i + 1]));
      return found;
    });
    const rows = [...new Set([...one.keys(), ...two.keys()])].map((n) => {
      const [kind, name] = names[n];
      const [x, y] = [one.get(n), two.get(n)];
      const size = factorOf(x, y);
      return { kind, name, a: x, b: y, size, marked: byFactor.includes(kind) ? size >= Math.log(factor) : size > 0 };
    });
    return rows.sort((p, q) => order.indexOf(p.kind) - order.indexOf(q.kind) || q.marked - p.marked || (q.size > p.size) - (q.size < p.size));
  }

  compareEvents() {
    const [one, two] = this.sides.map(({ entries, steps }, k) => {
      if (this.steps[k] === null) return entries;
      const [, first, end] = steps[this.steps[k]];
      return entries.filter(([, event]) => event >= first && event < end);
    });
    return aligned(one, two, this.compared.large).map(([x, y]) => this.row(x, y));
  }

  row(x, y) {
    const { keys, places, rtol } = this.compared;
    const [kind, name, module] = keys[(x ?? y)[0]];
    const [v, w] = [x, y].map((entry, k) => entry?.[3].map((n) => this.sides[k].values[n]) ?? []);
    let far = !x || !y || v.length !== w.length ? Infinity : 0;
    if (!far) v.forEach((value, k) => (far = Math.max(far, apart(value, w[k]))));
    const inside = module && (kind === "operation" || kind === "node");
    return {
      kind, text: name + (inside ? ` in ${module}` : ""), where: places[(x ?? y)[2]], a: total(v), b: total(w), apart: far,
      marked: far > rtol, only: !x ? "b" : !y ? "a" : "", events: [x?.[1] ?? -1, y?.[1] ?? -1],
    };
  }

  // The first that differs, in a sentence.
  sentence(told) {
    const row = this.first;
    if (!row) return "no difference";
    const at = row.where ? ` [${row.where}]` : "";
    if (row.only) return `${this.compared.said[row.kind]}, ${row.text}${at}, is in ${row.only} only`;
    const when = row.kind === "node" || row.kind === "gradient" ? "backward" : "forward";
    return `${when}: ${row.text}${at} is the first that differs: norm ${told(row.a)} and ${told(row.b)}, apart by ${told(row.apart)}`;
  }
}

// |log(y / x)|; Infinity where only one is there, 0 or not finite.
function factorOf(x, y) {
  if (x === undefined || y === undefined) return Infinity;
  if (Object.is(x, y) || x === y) return 0;
  return Number.isFinite(x) && Number.isFinite(y) && x * y > 0 ? Math.abs(Math.log(y / x)) : Infinity;
}

// How far two values are apart, in proportion to their size. Of recorded arrays it is estimated from random products.
function apart([shape, x, arrayX], [other, y, arrayY]) {
  if (shape !== other) return Infinity;
  if (!x || !y) return arrayX === null || arrayY === null || String(arrayX) === String(arrayY) ? 0 : Infinity;
  if (x[0] !== y[0] || x[1] !== y[1]) return Infinity;
  const [[n, low, high], [m, least, most]] = [x, y].map((stats) => stats.slice(2).map(Number));
  const larger = Math.max(n, m) || 1;
  if (Array.isArray(arrayX) && Array.isArray(arrayY)) {
    const squares = arrayX.map((p, k) => (p - arrayY[k]) ** 2);
    return Math.sqrt(squares.reduce((sum, s) => sum + s, 0) / squares.length) / larger;
  }
  const largest = Math.max(...[low, high, least, most].map(Math.abs)) || 1;
  return Math.max(Math.abs(n - m) / larger, Math.abs(low - least) / largest, Math.abs(high - most) / largest);
}

// The norm of all that was measured; null where nothing was, NaN or inf where they have some.
function total(values) {
  const sizes = values.flatMap(([, stats]) => (stats ? [stats[0] ? NaN : stats[1] ? Infinity : Number(stats[2])] : []));
  return sizes.length ? Math.sqrt(sizes.reduce((sum, n) => sum + n * n, 0)) : null;
}

// Pairs of entries with the same key, in order; what has no partner stands alone.
function aligned(one, two, large) {
  const [x, y] = [one, two].map((list) => list.map(([key]) => key));
  const shorter = Math.min(x.length, y.length);
  let [head, tail] = [0, 0];
  while (head < shorter && x[head] === y[head]) head++;
  while (tail < shorter - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  const [endX, endY] = [x.length - tail, y.length - tail];
  const rough = Math.max(endX, endY) - head > large;
  const pairs = [];
  let [i, j] = [0, 0];
  const blocks = [[0, 0, head], ...matches(x, y, [head, endX, head, endY], rough), [endX, endY, tail]];
  for (const [k, n, size] of blocks) {
    while (i < k) pairs.push([one[i++], null]);
    while (j < n) pairs.push([null, two[j++]]);
    for (let end = i + size; i < end; ) pairs.push([one[i++], two[j++]]);
  }
  return pairs;
}

// As difflib.SequenceMatcher: the longest stretch that both have, then what lies before it and after it.
function matches(x, y, whole, rough) {
  const [, , low, high] = whole;
  const places = new Map();
  for (let j = low; j < high; j++) push(places, y[j], j);
  if (rough && high - low >= LEAST) for (const [key, list] of places) if (list.length > Math.floor((high - low) / 100) + 1) places.delete(key);
  const found = [];
  const open = [whole];
  while (open.length) {
    const [a, endA, b, endB] = open.pop();
    const [i, j, size] = longest(x, y, [a, endA, b, endB], places);
    if (!size) continue;
    found.push([i, j, size]);
    if (a < i && b < j) open.push([a, i, b, j]);
    if (i + size < endA && j + size < endB) open.push([i + size, endA, j + size, endB]);
  }
  return found.sort((p, q) => p[0] - q[0]);
}

function longest(x, y, [a, endA, b, endB], places) {
  let [i, j, size] = [a, b, 0];
  let lengths = new Map();
  for (let k = a; k < endA; k++) {
    const next = new Map();
    for (const n of places.get(x[k]) ?? []) {
      if (n < b) continue;
      if (n >= endB) break;
      const length = (lengths.get(n - 1) ?? 0) + 1;
      next.set(n, length);
      if (length > size) [i, j, size] = [k - length + 1, n - length + 1, length];
    }
    lengths = next;
  }
  while (i > a && j > b && x[i - 1] === y[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < endA && j + size < endB && x[i + size] === y[j + size]) size++;
  return [i, j, size];
}
