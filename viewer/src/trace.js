// The recording, and what can be asked of it. Tables and events: docs/trace-format.md; the drawing: graph_view.py.
import { strFromU8, unzlibSync } from "fflate";

export const [OP, LEAF, NODE] = [0, 1, 2]; // kinds of vertices
export const [VERTEX, GROUP, IN, OUT, BEND] = [0, 1, 2, 3, 4]; // kinds of items in a group
const STEPS = new Set(["op", "begin", "end", "node", "accumulate", "hook", "step", "zero"]);
const NEVER = Infinity;
const INPLACE = 4; // a flag of an op

export function readPage() {
  const text = atob(document.getElementById("data").textContent);
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  return new Trace(JSON.parse(strFromU8(unzlibSync(bytes))));
}

export class Trace {
  constructor(data) {
    Object.assign(this, data);
    this.editSteps = new Map(); // edit of gradients (a group) -> its last op, which stands for it among the steps
    this.vertices.forEach(([kind, number, g]) => kind === OP && this.isEdit(g) && this.editSteps.set(g, number));
    this.editOf = new Map([...this.editSteps].map(([g, i]) => [i, g]));
    const inner = new Set(this.vertices.flatMap(([kind, number, g]) => (kind === OP && this.isEdit(g) ? [number] : [])));
    this.steps = this.events.flatMap((row, i) => (STEPS.has(row[0]) && (!inner.has(i) || this.editOf.has(i)) ? [i] : []));
    this.opVertex = new Map();
    this.leafVertices = new Map();
    this.vertices.forEach(([kind, number], v) => {
      if (kind === OP) this.opVertex.set(number, v);
      if (kind === LEAF) push(this.leafVertices, number, v);
    });
    this.children = this.groups.map(() => []);
    this.groups.forEach(([, , parent], g) => parent >= 0 && this.children[parent].push({ kind: "group", id: g }));
    this.vertices.forEach(([, , group], v) => this.children[group].push({ kind: "vertex", id: v }));
    const key = (c) => (c.kind === "group" ? this.groups[c.id][3] : this.keyOf(c.id));
    for (const list of this.children) list.sort((a, b) => key(a) - key(b));
    this.followEvents();
    this.followFlow();
  }

  get(i, name) {
    const row = this.events[i];
    const at = this.positions[row[0]][name];
    return at === undefined ? undefined : row[at];
  }

  keyOf(v) {
    const [kind, number] = this.vertices[v];
    return kind === OP ? number : -1;
  }

  // -- what happens to a vertex, and when

  followEvents() {
    this.runs = this.vertices.map(() => []); // events in which a gradient reached the vertex
    this.groupRuns = this.groups.map(() => []);
    this.groupOdd = this.groups.map(() => []); // those of them with NaN or inf
    this.nodesOf = new Map(); // op -> its nodes
    this.nodes.forEach(([, op], n) => op >= 0 && push(this.nodesOf, op, n));
    this.usesOf = new Map(); // tensor -> the ops that read it
    this.counts = {};
    this.windows = []; // where the outermost passes begin
    this.grads = new Map(); // leaf -> [event, value of .grad or -1]
    this.changes = new Map(); // op on gradients, of a clipping call its step -> leaf -> [value before, after]
    this.about = new Map(); // "hook 3", "tensor 5", "node 7", "module 2" -> events
    this.firings = this.hooks.map(() => []);
    const ranIn = this.groups.map(() => -1); // the pass in which an operation of a group ran last
    let open = 0;
    this.events.forEach((row, i) => {
      const get = (name) => row[this.positions[row[0]][name]];
      this.counts[row[0]] = (this.counts[row[0]] ?? 0) + 1;
      if (row[0] === "op") {
        for (const t of new Set(get("inputs"))) push(this.usesOf, t, i);
        if (get("flags") & INPLACE) get("outputs").forEach((t, k) => this.edited(i, t, get("values")[k] ?? -1));
      }
      if (row[0] === "begin" && open++ === 0) this.windows.push(i);
      if (row[0] === "end") open = Math.max(0, open - 1);
      if (row[0] === "node") {
        push(this.about, `node ${get("node")}`, i);
        this.ran(this.ofNode[get("node")], i);
        ranIn[this.vertices[this.ofNode[get("node")]][2]] = this.windows.length;
      } else if (row[0] === "accumulate") {
        const t = get("tensor");
        push(this.about, `tensor ${t}`, i);
        push(this.about, `node ${get("node")}`, i);
        push(this.grads, t, [i, get("now")]);
        // a parameter's pills stand in all calls that read it: the gradient came from those of this pass
        const pills = this.leafVertices.get(t) ?? [];
        const mine = pills.filter((v) => ranIn[this.vertices[v][2]] === this.windows.length);
        for (const v of mine.length ? mine : pills) this.ran(v, i);
      } else if (row[0] === "hook") {
        this.firings[get("hook")]?.push(i);
      } else if (row[0] === "zero") {
        for (const t of get("tensors")) push(this.grads, t, [i, -1]), push(this.about, `tensor ${t}`, i);
      } else if (row[0] === "step") {
        for (const t of get("tensors")) push(this.about, `tensor ${t}`, i);
      }
    });
    this.hooksOn = new Map(); // "module 3", "tensor 5", "node 7" -> hooks
    this.hooks.forEach((hook, h) => {
      const table = hook.kind.startsWith("node") ? "node" : /^(tensor|post_acc)/.test(hook.kind) ? "tensor" : "module";
      if (!/^(step|state|load)/.test(hook.kind)) push(this.hooksOn, `${table} ${hook.owner}`, h);
    });
    // a hook on a tensor that an op made is shown at that op
    this.vertexHooks = this.vertices.map(() => []);
    this.hooks.forEach((hook, h) => {
      for (const v of this.verticesOfHook(hook)) this.vertexHooks[v].push(h);
    });
    // of a group: its module's hooks, and those of all that is in it
    this.groupHooks = this.groups.map((_, g) => [...this.ownHooks(g)]);
    this.vertices.forEach(([, , g], v) => this.groupHooks[g].push(...this.vertexHooks[v]));
    for (let g = this.groups.length - 1; g > 0; g--) this.groupHooks[this.groups[g][2]].push(...this.groupHooks[g]);
    let [low, high] = [Infinity, -Infinity];
    for (const row of this.events) {
      if (row[0] !== "node") continue;
      const n = Math.log10(this.normOf(row[this.positions.node.inputs]));
      if (Number.isFinite(n)) [low, high] = [Math.min(low, n), Math.max(high, n)];
    }
    this.range = low <= high ? [low, high] : null; // of the powers of ten
  }

  // An op wrote value n into tensor t: is that some leaf's .grad?
  edited(i, t, n) {
    const known = this.names[t];
    if (known?.role !== "grad") return;
    const step = this.editSteps.get(this.vertices[this.opVertex.get(i)]?.[2]) ?? i;
    const mine = this.changes.get(step) ?? new Map();
    this.changes.set(step, mine);
    const before = this.grads.get(known.of)?.slice(-1)[0][1] ?? -1;
    if (!mine.has(known.of)) push(this.about, `tensor ${known.of}`, step);
    mine.set(known.of, [mine.get(known.of)?.[0] ?? before, n]);
    push(this.grads, known.of, [step, n]);
  }

  arriving(i) {
    return this.get(i, "inputs") ?? [this.get(i, "now")];
  }

  ran(v, i) {
    this.runs[v].push(i);
    const odd = this.odd(this.arriving(i));
    for (let g = this.vertices[v][2]; g >= 0; g = this.groups[g][2]) {
      this.groupRuns[g].push(i);
      if (odd) this.groupOdd[g].push(i);
    }
  }

  verticesOfHook(hook) {
    if (hook.owner < 0) return [];
    if (hook.kind.startsWith("node")) return [this.ofNode[hook.owner]].filter((v) => v !== undefined);
    if (/^(tensor|post_acc)/.test(hook.kind)) {
      const v = this.opVertex.get(this.tensors[hook.owner]?.[1]);
      return v === undefined ? (this.leafVertices.get(hook.owner) ?? []) : [v];
    }
    return [];
  }

  // Per piece of an edge and pass: the first event in which a gradient came back along it.
  followFlow() {
    const outOf = this.graphs.map(([, , edges]) => {
      const found = new Map();
      edges.forEach(([a, , source], e) => push(found, `${a} ${source}`, e));
      return found;
    });
    const holds = this.groups.map(() => -1);
    const ports = this.graphs.map(([items], g) => {
      const found = new Map();
      items.forEach((item, i) => {
        const kind = item % 5;
        if (kind === GROUP) holds[(item - kind) / 5] = i;
        if (kind === IN) found.set((item - kind) / 5, i);
      });
      return found;
    });
    const memo = new Map();
    const at = (g, i, source) => {
      const name = `${g} ${i} ${source}`;
      const known = memo.get(name);
      if (known) return known;
      const item = this.graphs[g][0][i];
      const kind = item % 5;
      const number = (item - kind) / 5;
      let found = new Map();
      memo.set(name, found); // a circle adds nothing
      if (kind === VERTEX) for (const r of this.runs[number]) early(found, this.windowOf(r), r);
      else if (kind === GROUP) {
        const port = ports[number].get(source);
        if (port !== undefined) found = beyond(number, port, source);
      } else if (kind === OUT) found = beyond(this.groups[g][2], holds[g], source);
      else found = beyond(g, i, source);
      memo.set(name, found);
      return found;
    };
    const beyond = (g, i, source) => {
      const found = new Map();
      for (const e of outOf[g].get(`${i} ${source}`) ?? [])
        for (const [w, r] of at(g, this.graphs[g][2][e][1], source)) early(found, w, r);
      return found;
    };
    this.flows = this.graphs.map(([, , edges], g) =>
      edges.map(([, b, source]) => {
        const wanted = this.runs[source].length > 0;
        return wanted ? at(g, b, source) : null;
      }),
    );
  }

  // The number of the outermost pass an event belongs to; -1 before the first.
  windowOf(i) {
    return upTo(this.windows, i) - 1;
  }

  // -- how things stand after event c

  lastRun(v, c) {
    const runs = this.runs[v];
    const [kind, number] = this.vertices[v];
    if (kind === LEAF && this.grads.has(number)) {
      const [event, value] = last(this.grads.get(number), c) ?? [-1, -1];
      return value >= 0 ? { event, norm: this.norm(value), odd: this.odd([value]) } : null;
    }
    const start = this.windows[this.windowOf(c)] ?? NEVER;
    const at = upTo(runs, start);
    if (at >= runs.length || runs[at] > c) return null;
    const values = this.get(runs[at], "inputs") ?? [this.get(runs[at], "gradient")];
    return { event: runs[at], norm: this.normOf(values), odd: this.odd(values) };
  }

  // What is wrong with what an op gave: NaN, or an inf that nobody put there on purpose.
  wrong(op) {
    if (this.events[op]?.[0] !== "op") return "";
    const odd = this.odd(this.get(op, "values"));
    return odd === "NaN" || this.trouble.some(([i]) => i === op) ? odd : "";
  }

  // The same of the op behind a vertex, after event c.
  wrongAt(v, c) {
    const [kind, number] = this.vertices[v];
    const op = kind === LEAF ? -1 : kind === NODE ? this.nodes[number][1] : number;
    return op >= 0 && op <= c ? this.wrong(op) : "";
  }

  groupState(g, c) {
    const w = this.windowOf(c);
    const runs = this.groupRuns[g];
    const from = upTo(runs, this.windows[w] ?? NEVER);
    const end = w + 1 < this.windows.length ? upTo(runs, this.windows[w + 1]) : runs.length;
    const done = Math.max(0, upTo(runs, c) - from);
    const total = w < 0 ? 0 : end - from;
    if (!done) return { done, total };
    const first = this.get(runs[from], "inputs") ?? [this.get(runs[from], "gradient")];
    const [before, now] = [upTo(this.groupOdd[g], this.windows[w]), upTo(this.groupOdd[g], c)];
    const odd = now > before ? this.odd(this.arriving(this.groupOdd[g][before])) : "";
    return { done, total, norm: this.normOf(first), odd };
  }

  flowed(g, e, c) {
    const flow = this.flows[g][e];
    return flow !== null && (flow.get(this.windowOf(c)) ?? NEVER) <= c;
  }

  // -- values: [like, count, norm, min, max, zeros, nans, infs]

  norm(n) {
    const row = this.values[n];
    return row && row.length > 1 ? Number(row[2]) : NaN;
  }

  normOf(list) {
    let sum = 0;
    for (const n of list) if (n >= 0) sum += this.norm(n) ** 2;
    return Math.sqrt(sum);
  }

  odd(list) {
    // norms are those of the finite numbers, so these must be said beside them
    let found = "";
    for (const n of list) {
      if (!(n >= 0) || this.values[n].length < 2) continue;
      if (this.values[n][6] > 0) return "NaN";
      if (this.values[n][7] > 0) found = "inf";
    }
    return found;
  }

  shape(n) {
    return this.likes[this.values[n][0]];
  }

  // -- names

  nameOfTensor(t) {
    if (t < 0) return "none";
    const known = this.names[t];
    if (known?.name && known.role !== "grad") return known.name;
    const made = this.tensors[t][1];
    return made >= 0 ? `output of ${this.get(made, "name") ?? this.events[made][0]}` : "input";
  }

  nameOfOptimizer(o) {
    const known = this.optimizers[o];
    return this.optimizers.length > 1 && known?.variable ? `${known.variable} (${known.type})` : (known?.type ?? "optimizer");
  }

  moduleName(m) {
    if (m < 0) return "outside all modules";
    return this.modules[m].path || this.modules[m].type;
  }

  // The module of an event, and which of its calls it was.
  callName(i) {
    const m = this.get(i, "module");
    return m >= 0 && this.modules[m].calls > 1 ? `${this.moduleName(m)}, call ${this.get(i, "call")}` : this.moduleName(m);
  }

  // Folds: a loop of calls, or the inner operations of clip_grad_norm_ and the like.
  isFold(g) {
    return this.groups[g][4] !== undefined;
  }

  isEdit(g) {
    return this.isFold(g) && this.groups[g][1] === 0;
  }

  placeName(g) {
    if (g <= 0) return "";
    return this.isFold(g) ? this.groupName(g) : this.moduleName(this.groups[g][0]);
  }

  ownHooks(g) {
    return (this.isFold(g) ? undefined : this.hooksOn.get(`module ${this.groups[g][0]}`)) ?? [];
  }

  groupName(g) {
    const [m, call, , , fold] = this.groups[g];
    if (fold !== undefined) return call ? `${fold} \u00d7 ${call}` : fold;
    if (m < 0) return "the program";
    const name = this.modules[m].path.split(".").pop() || this.modules[m].type;
    return this.modules[m].calls > 1 || call > 1 ? `${name} \u00b7 call ${call}` : name;
  }

  vertexName(v) {
    const [kind, number] = this.vertices[v];
    if (kind === OP) return this.get(number, "name");
    if (kind === NODE) return this.nodes[number][0];
    const known = this.names[number];
    if (!known?.name) return `input ${shapeText(this.likes[this.tensors[number][0]][0])}`;
    return known.name.split(".").pop();
  }

  where(site) {
    return site >= 0 && this.sites[site] ? `${this.sites[site][0].split(/[\\/]/).pop()}:${this.sites[site][1]}` : "";
  }

  label(i) {
    const kind = this.events[i][0];
    const get = (name) => this.get(i, name);
    switch (kind) {
      case "op":
        return this.editOf.has(i) ? this.groupName(this.editOf.get(i)) : get("name");
      case "node":
        return this.nodes[get("node")]?.[0] ?? "node";
      case "accumulate":
        return `${this.nameOfTensor(get("tensor"))}.grad`;
      case "hook": {
        const hook = this.hooks[get("hook")];
        return hook ? `${hook.name} on ${hook.on || "the model"}` : "hook";
      }
      case "begin":
        return get("how") === "grad" ? "autograd.grad begins" : "backward begins";
      case "end":
        return get("error") ? `pass ${get("pass")} failed` : `pass ${get("pass")} ends`;
      case "step":
        return `${this.nameOfOptimizer(get("optimizer"))}.step`;
      case "zero":
        return this.optimizers.length > 1 ? `zero_grad of ${get("owner")}` : "zero_grad";
      case "enter":
      case "exit":
        return `${kind} ${this.moduleName(get("module"))}`;
      default:
        return String(get("text") ?? kind);
    }
  }

  // What an event is about, as a selection of the page; null for none.
  subject(i) {
    const kind = this.events[i][0];
    const vertex = (v) => (v === undefined ? null : { kind: "vertex", id: v });
    if (this.editOf.has(i)) return { kind: "group", id: this.editOf.get(i) };
    if (kind === "op") return vertex(this.opVertex.get(i));
    if (kind === "node") return vertex(this.ofNode[this.get(i, "node")]);
    if (kind === "accumulate")
      return vertex(this.leafVertices.get(this.get(i, "tensor"))?.[0] ?? this.ofNode[this.get(i, "node")]);
    if (kind === "hook") {
      const hook = this.hooks[this.get(i, "hook")];
      const node = this.get(i, "node");
      if (node >= 0) return vertex(this.ofNode[node]);
      const [v] = this.verticesOfHook(hook);
      if (v !== undefined) return vertex(v);
      const g = this.groups.findIndex(([m]) => m === hook.owner && m >= 0);
      return g > 0 && /^(forward|backward)/.test(hook.kind) ? { kind: "group", id: g } : null;
    }
    return null;
  }

  endOf(i) {
    return this.events[i][1] + this.events[i][2];
  }

  // Where a reader begins: at the first bad number of a flight, else when every gradient has arrived and no step was made yet.
  firstMoment() {
    const opens = this.header.opens;
    if (Number.isInteger(opens) && this.steps.length) return this.steps.find((i) => i >= opens) ?? this.steps[0];
    const ends = this.steps.filter((i) => this.events[i][0] === "end");
    return ends[ends.length - 1] ?? this.steps[this.steps.length - 1] ?? 0;
  }

  groupOf(selected) {
    return selected.kind === "group" ? this.groups[selected.id][2] : this.vertices[selected.id][2];
  }
}

export function shapeText(shape) {
  return shape.length ? shape.join("\u00d7") : "scalar";
}

export function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

// How many of the sorted numbers are at most x.
export function upTo(sorted, x) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

function last(list, c) {
  let found;
  for (const entry of list) {
    if (entry[0] > c) break;
    found = entry;
  }
  return found;
}

function early(map, key, value) {
  if (!(map.get(key) <= value)) map.set(key, value);
}
