// Where everything stands: rows and order come from Python, positions are found here, anew whenever a group is opened.
import { BEND, GROUP, IN, LEAF, OUT, VERTEX } from "./trace.js";

const GAP = { x: 14, y: 22, part: 44 };
const PAD = { side: 16, top: 30, bottom: 14 };
const MANY = 3000; // rows from which on fewer sweeps are made

export class Places {
  constructor(trace, measure) {
    this.trace = trace;
    this.measure = measure; // the width of a text
    this.known = new Map(); // group -> its inside, while nothing in it is opened or closed
    this.incoming = trace.graphs.map(() => null);
  }

  forget(g) {
    for (; g >= 0; g = this.trace.groups[g][2]) this.known.delete(g);
  }

  // Boxes and lines, in page units, for a set of open groups.
  all(open) {
    const inside = this.inside(0, open);
    const boxes = [];
    const lines = [];
    this.emit(0, inside, 0, 0, open, boxes, lines);
    return { boxes, lines, width: inside.width, height: inside.height };
  }

  emit(g, inside, left, top, open, boxes, lines) {
    const { items, edges, x, y, w, h } = inside;
    for (let e = 0; e < edges.length; e++) {
      const [a, b, source] = edges[e];
      const [from, to] = [this.ends(inside, a, source, 1, open), this.ends(inside, b, source, 0, open)];
      const [ya, yb] = [top + inside.bottoms[a], top + inside.tops[b]]; // between its rows it bends, beside them it falls
      lines.push({ g, e, x1: left + from[0], y1: top + from[1], x2: left + to[0], y2: top + to[1], ya, yb });
    }
    for (let i = 0; i < items.length; i++) {
      const kind = items[i] % 5;
      const number = (items[i] - kind) / 5;
      const [px, py] = [left + x[i] - w[i] / 2, top + y[i]];
      if (kind === VERTEX) boxes.push({ kind: "vertex", id: number, x: px, y: py, w: w[i], h: h[i] });
      else if (kind === GROUP) {
        const isOpen = open.has(number);
        boxes.push({ kind: "group", id: number, x: px, y: py, w: w[i], h: h[i], open: isOpen });
        if (isOpen) this.emit(number, this.inside(number, open), px + PAD.side, py + PAD.top, open, boxes, lines);
      } else if (h[i] > 0 || kind !== BEND) {
        // a bend passes its row upright; a port joins the border with the row
        const [y1, y2] =
          kind === IN ? [py - PAD.top, py] : kind === OUT ? [py, top + inside.height + PAD.bottom] : [py, py + h[i]];
        const e = this.edgeInto(g, i);
        lines.push({ g, e, x1: px + w[i] / 2, y1, x2: px + w[i] / 2, y2, straight: true });
      }
    }
  }

  // Where an edge leaves item i (side 1) or enters it (side 0).
  ends(inside, i, source, side, open) {
    const { items, x, y, w, h } = inside;
    const kind = items[i] % 5;
    const at = [x[i], side && kind !== IN ? y[i] + h[i] : kind === IN ? y[i] : y[i]];
    if (kind === GROUP) {
      const number = (items[i] - kind) / 5;
      if (open.has(number)) at[0] = x[i] - w[i] / 2 + PAD.side + this.portOf(this.inside(number, open), source, side);
    }
    return at;
  }

  portOf(inside, source, side) {
    const port = inside.ports.get(5 * source + (side ? OUT : IN));
    return port === undefined ? inside.width / 2 : inside.x[port];
  }

  // Some edge that touches a bend or port: they light up together.
  edgeInto(g, i) {
    if (!this.incoming[g]) {
      this.incoming[g] = new Map();
      this.trace.graphs[g][2].forEach(([a, b], e) => {
        const kind = this.trace.graphs[g][0][a] % 5;
        this.incoming[g].set(kind >= IN ? a : b, e);
        if (this.trace.graphs[g][0][b] % 5 === OUT) this.incoming[g].set(b, e);
      });
    }
    return this.incoming[g].get(i) ?? -1;
  }

  inside(g, open) {
    const known = this.known.get(g);
    if (known) return known;
    const [items, parts, edges] = this.trace.graphs[g];
    const n = items.length;
    const [x, y, w, h, tops, bottoms] = Array.from({ length: 6 }, () => new Float64Array(n));
    const ports = new Map();
    for (let i = 0; i < n; i++) {
      [w[i], h[i]] = this.size(items[i], open);
      if (items[i] % 5 === IN || items[i] % 5 === OUT) ports.set(items[i], i);
    }
    const near = [0, 1].map(() => Array.from({ length: n }, () => []));
    const shift = (i, source, side) => {
      const kind = items[i] % 5;
      const number = (items[i] - kind) / 5;
      return kind === GROUP && open.has(number)
        ? this.portOf(this.inside(number, open), source, side) + PAD.side - w[i] / 2
        : 0;
    };
    for (const [a, b, source] of edges) {
      const straight = items[a] % 5 >= IN && items[b] % 5 >= IN ? 8 : 1;
      const [sa, sb] = [shift(a, source, 1), shift(b, source, 0)];
      near[0][b].push([a, sa - sb, straight]);
      near[1][a].push([b, sb - sa, straight]);
    }
    let [left, top, deep, width] = [0, 0, 0, 0];
    const sizes = parts.map((rows) => this.part(rows, near, x, y, w, h, tops, bottoms));
    const area = sizes.reduce((sum, [pw, ph]) => sum + (pw + GAP.part) * (ph + GAP.part), 0);
    const limit = Math.max(...sizes.map((s) => s[0]), Math.sqrt(area) * 1.5, 600);
    parts.forEach((rows, p) => {
      const [pw, ph] = sizes[p];
      if (left > 0 && left + pw > limit) [left, top, deep] = [0, top + deep + GAP.part, 0];
      for (const row of rows) for (const i of row) (x[i] += left), (y[i] += top), (tops[i] += top), (bottoms[i] += top);
      left += pw + GAP.part;
      [deep, width] = [Math.max(deep, ph), Math.max(width, left - GAP.part)];
    });
    const height = top + deep;
    for (const i of ports.values()) {
      if (items[i] % 5 === IN) y[i] = tops[i] = bottoms[i] = 0;
    }
    const found = { items, edges, x, y, w, h, tops, bottoms, ports, width: Math.max(width, 0), height };
    this.known.set(g, found);
    return found;
  }

  // Positions of one component from 0, 0 on; its width and height.
  part(rows, near, x, y, w, h, tops, bottoms) {
    let top = 0;
    for (const row of rows) {
      let high = 0;
      for (const i of row) high = Math.max(high, h[i]);
      let at = 0;
      for (const i of row) {
        if (h[i] < 0) h[i] = high; // bends are as high as their row
        y[i] = top + (high - h[i]) / 2;
        [tops[i], bottoms[i]] = [top, top + high];
        x[i] = at + w[i] / 2;
        at += w[i] + GAP.x;
      }
      top += high + GAP.y;
    }
    const many = rows.length > MANY;
    for (let s = 0; s < (many ? 3 : 40); s++) {
      const down = s % 2 === 0;
      const sides = s < 4 ? [near[down ? 0 : 1]] : near; // first from one side, then from both
      for (let r = 0; r < rows.length; r++) settle(down ? rows[r] : rows[rows.length - 1 - r], sides, x, w);
    }
    let [low, high] = [Infinity, -Infinity];
    for (const row of rows)
      for (const i of row) [low, high] = [Math.min(low, x[i] - w[i] / 2), Math.max(high, x[i] + w[i] / 2)];
    for (const row of rows) for (const i of row) x[i] -= low;
    return [high - low, top - GAP.y];
  }

  size(item, open) {
    const kind = item % 5;
    const number = (item - kind) / 5;
    if (kind === BEND) return [8, -1];
    if (kind === IN || kind === OUT) return [8, 0];
    if (kind === GROUP) {
      if (open.has(number)) {
        const inside = this.inside(number, open);
        const title = this.titleWidth(number);
        // the inside stands in the middle of a wider title
        const width = Math.max(inside.width, title);
        if (width > inside.width) {
          for (let i = 0; i < inside.items.length; i++) inside.x[i] += (width - inside.width) / 2;
          inside.width = width;
        }
        return [width + 2 * PAD.side, inside.height + PAD.top + PAD.bottom];
      }
      return [Math.max(118, this.titleWidth(number) + 44), 44];
    }
    const text = this.trace.vertexName(number);
    const leaf = this.trace.vertices[number][0] === LEAF;
    return [Math.max(leaf ? 40 : 64, this.measure(text) + (leaf ? 20 : 28)), leaf ? 22 : 38];
  }

  titleWidth(g) {
    const [m] = this.trace.groups[g];
    const type = m >= 0 ? this.trace.modules[m].type : "";
    return this.measure(this.trace.groupName(g)) + this.measure(type) + 20;
  }
}

// Move a row's items as near as their order allows to the mean of their neighbours (least squares, pooling violators).
function settle(row, sides, x, w) {
  const n = row.length;
  const goal = new Float64Array(n);
  const weight = new Float64Array(n);
  let offset = 0;
  const offsets = new Float64Array(n);
  for (let k = 0; k < n; k++) {
    const i = row[k];
    if (k > 0) offset += (w[row[k - 1]] + w[i]) / 2 + GAP.x;
    offsets[k] = offset;
    let [sum, total] = [0, 0];
    for (const near of sides)
      for (const [j, shift, strength] of near[i]) (sum += (x[j] + shift) * strength), (total += strength);
    goal[k] = (total ? sum / total : x[i]) - offset;
    weight[k] = total ? Math.min(total, 16) : 0.05;
  }
  const pools = []; // [mean, weight, how many]
  for (let k = 0; k < n; k++) {
    let pool = [goal[k], weight[k], 1];
    while (pools.length && pools[pools.length - 1][0] > pool[0]) {
      const [mean, heavy, many] = pools.pop();
      const sum = heavy + pool[1];
      pool = [(mean * heavy + pool[0] * pool[1]) / sum, sum, many + pool[2]];
    }
    pools.push(pool);
  }
  let k = 0;
  for (const [mean, , many] of pools) for (let m = 0; m < many; m++, k++) x[row[k]] = mean + offsets[k];
}
