// What is known of the event at the cursor and of what is selected.
import { useState } from "preact/hooks";
import { digits, duration, gradient } from "./colours.js";
import { LEAF, OP, push, shapeText } from "./trace.js";

const TERMS = 100; // of a ledger at first
const FEW = 6; // uses up to which each lists its ways

const OP_FLAGS = { wanted: 8, wants: 16, created: 64, inplace: 4, inference: 2, grad: 1 };

export function Details(props) {
  const { trace, selected } = props;
  return (
    <div class="details">
      <Now {...props} />
      {selected?.kind === "vertex" && <Vertex {...props} v={selected.id} />}
      {selected?.kind === "group" && <Group {...props} g={selected.id} />}
      {selected?.kind === "hook" && <Hook {...props} hook={trace.hooks[selected.id]} h={selected.id} />}
      {!selected && <Overview {...props} />}
    </div>
  );
}

const Section = ({ title, children }) => (
  <section>
    <h3>{title}</h3>
    {children}
  </section>
);

const Go = ({ onClick, children }) => (
  <button class="go" onClick={onClick}>
    {children}
  </button>
);

// One value: its shape and what was measured.
function Value({ trace, n, label }) {
  if (!(n >= 0)) return <tr><th>{label}</th><td class="dim" colSpan={3}>none</td></tr>;
  const [like, count, norm, min, max, zeros, nans, infs] = trace.values[n];
  const [shape, dtype] = trace.likes[like];
  const measured = count !== undefined;
  return (
    <tr title={measured ? `${dtype}, ${count} numbers, ${zeros} zeros, ${nans} NaN, ${infs} inf` : dtype}>
      <th>{label}</th>
      <td class="shape">{shapeText(shape)}</td>
      <td class="number">{measured ? digits(Number(norm)) : "–"}</td>
      <td class="number dim">
        {!measured ? dtype : nans || infs ? <b class="bad">{[nans && `${nans} NaN`, infs && `${infs} inf`].filter(Boolean).join(", ")}</b> : `${digits(Number(min))} … ${digits(Number(max))}`}
      </td>
    </tr>
  );
}

const Values = ({ trace, rows }) => (
  <table class="values short">
    <thead><tr><th /><th>shape</th><th class="number">norm</th><th class="number">least … greatest</th></tr></thead>
    <tbody>{rows.map(([label, n]) => <Value trace={trace} label={label} n={n} />)}</tbody>
  </table>
);

const named = (label, list) => list.map((n, i) => [list.length > 1 ? `${label} ${i}` : label, n]);

function Source({ trace, site, label }) {
  if (!(site >= 0) || !trace.sites[site]) return null;
  const [file, line, name, text] = trace.sites[site];
  return (
    <div class="source">
      <div class="dim" title={file}>
        {label ? `${label} ` : ""}{trace.where(site)}{name && name !== "<module>" ? ` in ${name}` : ""}
      </div>
      {text && <code>{text}</code>}
    </div>
  );
}

// The event at the cursor.
function Now({ trace, cursor, onSelect }) {
  if (!trace.steps.length) return <section class="now"><h2>No events</h2></section>;
  const kind = trace.events[cursor][0];
  const get = (name) => trace.get(cursor, name);
  const edit = trace.editOf.has(cursor);
  const rows = {
    op: () => (edit ? [] : named("output", get("values"))),
    node: () => [...named("arrives", get("inputs")), ...named("sends on", get("outputs"))],
    accumulate: () => [[".grad before", get("had")], ["arrives", get("gradient")], [".grad after", get("now")]],
    hook: () => get("before").flatMap((n, i) => [["before", n], ["after", get("after")[i] ?? -1]]),
  }[kind]?.();
  const subject = trace.subject(cursor);
  const words = { op: "forward", node: "backward", accumulate: "gradient arrives", hook: "hook", step: "optimizer" };
  return (
    <section class="now" aria-live="polite">
      <div class="kind">
        <span class={`badge ${edit ? "accumulate" : kind}`}>{edit ? "edits gradients" : (words[kind] ?? kind)}</span>
        <span class="dim">{duration(trace.events[cursor][1])}{trace.events[cursor][2] ? ` · took ${duration(trace.events[cursor][2])}` : ""}</span>
      </div>
      <h2>{subject ? <Go onClick={() => onSelect(subject)}>{trace.label(cursor)}</Go> : trace.label(cursor)}</h2>
      {trace.memory?.after[cursor] != null && <Memory memory={trace.memory} now={trace.memory.after[cursor]} />}
      {kind === "hook" && <p>{said(get("changed"), get("returned"))}</p>}
      {rows?.length > 0 && <Values trace={trace} rows={rows} />}
      {edit && <Changes trace={trace} i={cursor} />}
      {kind === "step" && <Steps trace={trace} i={cursor} />}
      {get("error") && <p class="bad">{get("error")}</p>}
      <Source trace={trace} site={get("site") ?? -1} />
      {kind === "hook" && <Source trace={trace} site={trace.hooks[get("hook")]?.defined} label="defined at" />}
    </section>
  );
}

function Memory({ memory, now }) {
  return (
    <details>
      <summary>memory after it: {bytes(now)}, {Math.round((100 * now) / (memory.peak || 1))} % of the peak</summary>
      <pre>{memory.text}</pre>
    </details>
  );
}

const bytes = (n) => (n < 1024 ? `${n} bytes` : n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`);

function said(changed, returned) {
  if (changed) return returned ? "It returned another value." : "It edited the value in place.";
  if (changed === false) return "It left the value as it was.";
  return "";
}

function Steps({ trace, i }) {
  const tensors = trace.get(i, "tensors");
  return (
    <details>
    <summary>{tensors.length} parameter{tensors.length === 1 ? "" : "s"}</summary>
    <table class="values">
      <thead><tr><th>parameter</th><th class="number">gradient</th><th class="number">before</th><th class="number">after</th></tr></thead>
      <tbody>
        {tensors.slice(0, 200).map((t, k) => (
          <tr>
            <th>{trace.nameOfTensor(t)}</th>
            {["gradients", "before", "after"].map((name) => {
              const n = trace.get(i, name)[k] ?? -1;
              return <td class="number">{n >= 0 ? digits(trace.norm(n)) : "none"}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
    </details>
  );
}

// Buttons that move to events.
function Moments({ trace, list, cursor, onMove, label }) {
  if (!list?.length) return null;
  return (
    <ul class="moments">
      {list.slice(0, 60).map((i) => (
        <li class={i <= cursor ? "" : "later"}>
          <Go onClick={() => onMove(i)}>{label ? label(i) : trace.label(i)}</Go>
        </li>
      ))}
      {list.length > 60 && <li class="dim">and {list.length - 60} more</li>}
    </ul>
  );
}

function Hooks({ trace, list, onSelect }) {
  if (!list?.length) return null;
  return (
    <Section title={list.length > 1 ? `${list.length} hooks` : "Hook"}>
      <ul class="plain">
        {list.map((h) => {
          const hook = trace.hooks[h];
          return (
            <li>
              <Go onClick={() => onSelect({ kind: "hook", id: h })}>{hook.name}</Go>{" "}
              <span class="dim">{hook.kind}, {hook.fired ? `fired ${hook.fired}×, changed ${hook.changed}×` : "never fired"}</span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function Vertex(props) {
  const { trace, v } = props;
  const [kind, number] = trace.vertices[v];
  if (kind === OP) return <Op {...props} i={number} />;
  if (kind === LEAF) return <Leaf {...props} t={number} />;
  return <Node {...props} n={number} />;
}

function Place({ trace, group, onSelect }) {
  if (group <= 0) return null;
  return <p class="dim">in <Go onClick={() => onSelect({ kind: "group", id: group })}>{trace.placeName(group)}</Go></p>;
}

function Op(props) {
  const { trace, v, i, cursor, onSelect, onMove } = props;
  const flags = trace.get(i, "flags");
  const notes = [
    flags & OP_FLAGS.wanted && !(flags & OP_FLAGS.wants) && "the graph is cut here: an input requires grad, no output does",
    flags & OP_FLAGS.inplace && "works in place",
    flags & OP_FLAGS.inference && "under inference mode",
    !(flags & OP_FLAGS.grad) && "under no_grad",
  ].filter(Boolean);
  const nodes = trace.nodesOf.get(i) ?? [];
  return (
    <section>
      <h2>{trace.get(i, "name")}</h2>
      <Place trace={trace} group={trace.vertices[v][2]} onSelect={onSelect} />
      <Source trace={trace} site={trace.get(i, "site")} />
      {notes.map((text) => <p class="note">{text}</p>)}
      {trace.get(i, "error") && <p class="bad">{trace.get(i, "error")}</p>}
      <Section title="Reads">
        <ul class="plain">
          {trace.get(i, "inputs").map((t) => <li><Tensor {...props} t={t} /></li>)}
          {trace.get(i, "inputs").length === 0 && <li class="dim">no tensors</li>}
        </ul>
      </Section>
      <Section title="Makes"><Values trace={trace} rows={named("output", trace.get(i, "values"))} /></Section>
      {nodes.map((n) => <NodeRuns {...props} n={n} />)}
      {nodes.length === 0 && <p class="dim">It has no node in the backward graph.</p>}
      <Hooks trace={trace} list={[...new Set(trace.vertexHooks[v])]} onSelect={onSelect} />
      <Section title="When"><Moments trace={trace} list={[i, ...trace.runs[v]]} cursor={cursor} onMove={onMove} /></Section>
    </section>
  );
}

function Tensor({ trace, t, onSelect }) {
  if (t < 0) return <span class="dim">none</span>;
  const [like, made] = trace.tensors[t];
  const target = made >= 0 ? trace.opVertex.get(made) : trace.leafVertices.get(t)?.[0];
  const name = trace.nameOfTensor(t);
  return (
    <>
      {target === undefined ? name : <Go onClick={() => onSelect({ kind: "vertex", id: target })}>{name}</Go>}{" "}
      <span class="dim">{shapeText(trace.likes[like][0])} {trace.likes[like][1]}</span>
    </>
  );
}

function NodeRuns({ trace, n }) {
  const runs = (trace.about.get(`node ${n}`) ?? []).filter((i) => trace.events[i][0] === "node");
  return (
    <Section title={trace.nodes[n][0]}>
      {runs.length === 0 && <p class="dim">did not run</p>}
      {runs.slice(0, 8).map((i) => (
        <Values trace={trace} rows={[...named("arrives", trace.get(i, "inputs")), ...named("sends on", trace.get(i, "outputs"))]} />
      ))}
    </Section>
  );
}

function Node(props) {
  const { trace, n, v, cursor, onMove } = props;
  return (
    <section>
      <h2>{trace.nodes[n][0]}</h2>
      <p class="dim">a node of the backward graph whose operation was not recorded</p>
      <NodeRuns {...props} />
      <Hooks trace={trace} list={trace.vertexHooks[v]} onSelect={props.onSelect} />
      <Moments trace={trace} list={trace.runs[v]} cursor={cursor} onMove={onMove} />
    </section>
  );
}

// A parameter or another leaf: the account of its .grad.
function Leaf(props) {
  const { trace, t, v, cursor, onSelect, onMove } = props;
  const known = trace.names[t];
  const [like, , flags] = trace.tensors[t];
  const [shape, dtype, device] = trace.likes[like];
  const uses = trace.usesOf.get(t) ?? [];
  const events = trace.about.get(`tensor ${t}`) ?? [];
  const hooks = trace.hooksOn.get(`tensor ${t}`) ?? [];
  const all = [...events, ...hooks.flatMap((h) => trace.firings[h])].sort((a, b) => trace.endOf(a) - trace.endOf(b) || b - a); // a hook fires inside the accumulation
  return (
    <section>
      <h2>{known?.name ?? trace.vertexName(v)}</h2>
      <p class="dim">
        {known?.role ?? "input"}, {shapeText(shape)} {dtype}{device === "cpu" ? "" : ` on ${device}`}
        {flags & 2 ? "" : ", does not require grad"}
        {known?.names?.length > 1 ? `; tied: ${known.names.join(", ")}` : ""}
      </p>
      <Place trace={trace} group={trace.vertices[v][2]} onSelect={onSelect} />
      <Why cause={trace.whyNone[t]} />
      <Ledger trace={trace} t={t} />
      <Section title="How .grad came about">
        {all.length === 0 && <p class="dim">{flags & 2 ? "No gradient reached it in this recording." : "None: it does not require grad."}</p>}
        {all.slice(0, 40).map((i) => <Entry {...props} i={i} later={i > cursor} onMove={onMove} />)}
        {all.length > 40 && <p class="dim">and {all.length - 40} more events</p>}
      </Section>
      <Hooks trace={trace} list={hooks} onSelect={onSelect} />
      <Section title={uses.length === 1 ? "Used once" : `Used ${uses.length} times`}>
        <ul class="plain">
          <Many key={t} list={uses} first={TERMS} row="li">
            {(i) => (
              <li>
                <Go onClick={() => onSelect({ kind: "vertex", id: trace.opVertex.get(i) })}>{trace.get(i, "name")}</Go>{" "}
                <span class="dim">{trace.callName(i)} {trace.where(trace.get(i, "site"))}</span>
              </li>
            )}
          </Many>
        </ul>
      </Section>
    </section>
  );
}

function Entry({ trace, t, i, later, onMove }) {
  const kind = trace.events[i][0];
  const get = (name) => trace.get(i, name);
  const at = kind === "step" ? get("tensors").indexOf(t) : 0;
  const rows = {
    hook: () => get("before").flatMap((n, k) => [["before", n], ["after", get("after")[k] ?? -1]]),
    accumulate: () => [["had", get("had")], ["+ arrives", get("gradient")], ["= .grad", get("now")]],
    step: () => [["gradient", get("gradients")[at] ?? -1], ["before", get("before")[at] ?? -1], ["after", get("after")[at] ?? -1]],
    op: () => (trace.changes.get(i)?.get(t) ?? []).map((n, k) => [k ? "after" : "before", n]),
    zero: () => [],
  }[kind]?.();
  const text = kind === "accumulate" ? `pass ${get("pass")}: accumulated` : kind === "hook" ? `${trace.hooks[get("hook")].name}: ${said(get("changed"), get("returned"))}` : trace.label(i);
  return (
    <div class={`entry${later ? " later" : ""}`}>
      <Go onClick={() => onMove(i)}>{text}</Go>
      {rows?.length > 0 && <Values trace={trace} rows={rows} />}
    </div>
  );
}

// The first of many, and a button that shows the rest.
function Many({ list, first, row: Row, children }) {
  const [all, setAll] = useState(false);
  const more = all ? 0 : list.length - first;
  const button = more > 0 && <Go onClick={() => setAll(true)}>show {more} more</Go>;
  return (
    <>
      {(more > 0 ? list.slice(0, first) : list).map(children)}
      {button && (Row === "tr" ? <tr><td /><td colSpan={2}>{button}</td></tr> : <li>{button}</li>)}
    </>
  );
}

// What .grad is the sum of: the rows of rec.ledger.
function Ledger({ trace, t }) {
  const rows = trace.ledgers[t];
  if (!rows) return null;
  const terms = []; // [row, its ways]
  const places = new Map(); // pass, what, where -> uses that the text does not tell apart
  for (const row of rows) {
    if (row[1] === "way") {
      terms[terms.length - 1]?.[1].push(row);
      continue;
    }
    terms.push([row, []]);
    if (row[1] === "use") push(places, [row[0], row[2], row[4]].join("\n"), row);
  }
  const counted = new Map(); // gradients come last use first
  for (const list of places.values())
    if (list.length > 1) list.forEach((row, i) => counted.set(row, `, ${list.length - i} of ${list.length}`));
  const uses = terms.filter(([row]) => row[1] === "use").length;
  return (
    <Section title="Ledger: .grad is the sum of">
      {uses > 1 && <p class="dim">{uses} uses, each with the norm of its own gradient</p>}
      <table class="values ledger">
        <thead><tr><th>pass</th><th>term</th><th class="number">norm</th></tr></thead>
        <tbody>
          <Many key={t} list={terms} first={TERMS} row="tr">
            {([row, ways]) => <Term row={row} ways={ways} nth={counted.get(row)} folded={uses > FEW} />}
          </Many>
        </tbody>
      </table>
      {rows.some((row) => row[5] === null && row[1] !== "way") && (
        <p class="dim">"?" marks a norm that needs the numbers themselves. record(model, values="parameters") keeps them.</p>
      )}
      {rows.some((row) => row[5] === null && row[1] === "way") && (
        <p class="dim">record(model, values="paths") shows what each way brings.</p>
      )}
    </Section>
  );
}

function Term({ row, ways, nth = "", folded }) {
  const [open, setOpen] = useState(!folded);
  const lines = open ? [row, ...ways] : [row];
  return lines.map(([pass, kind, what, path, where, norm]) => (
    <tr class={kind === "way" ? "way" : ""}>
      <td class="dim">{kind === "way" ? "" : pass || "–"}</td>
      <th>
        <span class={`badge ${kind}`}>{kind}</span> {what}{kind === "use" ? nth : ""}
        <div class="dim" title={where ?? ""}>{[path, where?.split(/[\\/]/).pop()].filter(Boolean).join("  ")}</div>
        {kind !== "way" && ways.length > 0 && folded && (
          <button class="go" aria-expanded={open} onClick={() => setOpen(!open)}>{ways.length} ways</button>
        )}
      </th>
      <td class="number">{norm !== null ? digits(Number(norm)) : kind === "way" ? "" : "?"}</td>
    </tr>
  ));
}

// Why something did not happen, and the way out.
function Why({ cause }) {
  if (!cause) return null;
  return (
    <div class="why">
      <p>{cause.certain ? "" : "Cannot know: "}{cause.text}{cause.where ? ` [${cause.where.split(/[\\/]/).pop()}]` : ""}</p>
      <p class="dim">{cause.wayOut}</p>
    </div>
  );
}

function Group(props) {
  return props.trace.isFold(props.g) ? <Fold {...props} /> : <Call {...props} />;
}

const Toggle = ({ g, open, onToggle }) => (
  <p><button class="plain-button" onClick={() => onToggle(g)}>{open.has(g) ? "Close" : "Open"} in the graph</button></p>
);

// A loop of calls, or a call that edits gradients.
function Fold(props) {
  const { trace, g, cursor, onSelect, onMove } = props;
  const i = trace.editSteps.get(g);
  const calls = trace.children[g].filter((c) => c.kind === "group");
  return (
    <section>
      <h2>{trace.groupName(g)}</h2>
      <Place trace={trace} group={trace.groups[g][2]} onSelect={onSelect} />
      <Toggle {...props} />
      {i !== undefined && <Source trace={trace} site={trace.get(i, "site")} />}
      {i !== undefined && <Changes trace={trace} i={i} />}
      {i !== undefined && <Section title="When"><Moments trace={trace} list={[i]} cursor={cursor} onMove={onMove} /></Section>}
      {calls.length > 0 && (
        <Section title="Calls">
          <ul class="plain">
            <Many key={g} list={calls} first={TERMS} row="li">
              {({ id }) => {
                const state = trace.groupState(id, cursor);
                return (
                  <li>
                    <Go onClick={() => onSelect({ kind: "group", id })}>{trace.groupName(id)}</Go>{" "}
                    <span class="dim">{state.done ? `\u2207 ${gradient(state)}` : ""}</span>
                  </li>
                );
              }}
            </Many>
          </ul>
        </Section>
      )}
    </section>
  );
}

// What an operation made of gradients.
function Changes({ trace, i }) {
  const list = [...(trace.changes.get(i) ?? [])];
  const total = (k) => digits(trace.normOf(list.map(([, values]) => values[k])));
  return (
    <table class="values">
      <thead><tr><th>.grad of</th><th class="number">norm before</th><th class="number">after</th></tr></thead>
      <tbody>
        {list.length > 1 && <tr><th><b>together</b></th><td class="number">{total(0)}</td><td class="number">{total(1)}</td></tr>}
        <Many key={i} list={list} first={TERMS} row="tr">
          {([t, values]) => (
            <tr><th>{trace.nameOfTensor(t)}</th>{values.map((n) => <td class="number">{n >= 0 ? digits(trace.norm(n)) : "none"}</td>)}</tr>
          )}
        </Many>
      </tbody>
    </table>
  );
}

function Call(props) {
  const { trace, g, cursor, onSelect, onMove } = props;
  const [m, call] = trace.groups[g];
  const module = trace.modules[m];
  if (!module) return null;
  const state = trace.groupState(g, cursor);
  const prefix = module.path ? `${module.path}.` : "";
  const mine = Object.entries(trace.names).filter(([t, k]) => k.role === "parameter" && k.names.some((n) => n.startsWith(prefix)) && trace.tensors[t]);
  return (
    <section>
      <h2>{trace.moduleName(m)}</h2>
      <p class="dim">
        {module.type}, call {call} of {module.calls}, {module.training ? "training" : "evaluation"}{module.compiled ? ", compiled" : ""}
      </p>
      <Toggle {...props} />
      {state.total > 0 && <p class="dim">The pass has taken {state.done} of {state.total} steps in it.</p>}
      <Hooks trace={trace} list={trace.hooksOn.get(`module ${m}`)} onSelect={onSelect} />
      {mine.length > 0 && (
        <Section title={`${mine.length} parameter${mine.length > 1 ? "s" : ""}`}>
          <Parameters {...{ trace, cursor, onSelect }} list={mine} cut={prefix.length} />
        </Section>
      )}
      <Section title="When"><Moments trace={trace} list={[trace.groups[g][3], ...trace.groupRuns[g].slice(0, 1)].filter((i) => i >= 0)} cursor={cursor} onMove={onMove} /></Section>
    </section>
  );
}

function Parameters({ trace, list, cursor, cut = 0, onSelect }) {
  return (
    <table class="values">
      <thead><tr><th>name</th><th>shape</th><th class="number">‖.grad‖ now</th></tr></thead>
      <tbody>
        {list.slice(0, 300).map(([t, k]) => {
          const v = trace.leafVertices.get(Number(t))?.[0];
          const state = v === undefined ? null : trace.lastRun(v, cursor);
          return (
            <tr>
              <th>{v === undefined ? k.name.slice(cut) : <Go onClick={() => onSelect({ kind: "vertex", id: v })}>{k.name.slice(cut)}</Go>}</th>
              <td class="shape">{shapeText(trace.likes[trace.tensors[t][0]][0])}</td>
              <td class={`number${state?.odd ? " bad" : ""}`}>{state ? gradient(state) : <span class="dim">none</span>}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Hook({ trace, hook, h, cursor, onSelect, onMove }) {
  if (!hook) return null;
  const g = trace.groups.findIndex(([m]) => m >= 0 && m === hook.owner);
  const [v] = trace.verticesOfHook(hook);
  const target = v !== undefined ? { kind: "vertex", id: v } : g > 0 && /^(forward|backward)/.test(hook.kind) ? { kind: "group", id: g } : null;
  return (
    <section>
      <h2>{hook.name}</h2>
      <p class="dim">
        {hook.kind.replace("_", " ")} hook on {target ? <Go onClick={() => onSelect(target)}>{hook.on || "the model"}</Go> : hook.on || "the model"}
        {hook.removed ? ", removed since" : ""}
      </p>
      <p>{hook.fired ? `Fired ${hook.fired}×, changed its value ${hook.changed}×.` : "It never fired in this recording."}</p>
      <Why cause={trace.whyNotFired[h]} />
      <Source trace={trace} site={hook.defined} label="defined at" />
      {hook.prior ? <p class="dim">registered before the recording began</p> : <Source trace={trace} site={hook.registered} label="registered at" />}
      {trace.firings[h].slice(0, 20).map((i) => {
        const rows = trace.get(i, "before").flatMap((n, k) => [["before", n], ["after", trace.get(i, "after")[k] ?? -1]]);
        return (
          <div class={`entry${i > cursor ? " later" : ""}`}>
            <Go onClick={() => onMove(i)}>{said(trace.get(i, "changed"), trace.get(i, "returned")) || "fired"}</Go>
            {rows.length > 0 && <Values trace={trace} rows={rows} />}
          </div>
        );
      })}
    </section>
  );
}

function Overview(props) {
  const { trace, onSelect, onMove } = props;
  const count = (kind) => trace.counts[kind] ?? 0;
  const parameters = Object.entries(trace.names).filter(([, k]) => k.role === "parameter");
  const without = parameters.filter(([t]) => !trace.grads.has(Number(t)));
  const changed = trace.hooks.flatMap((hook, h) => (hook.changed ? [h] : []));
  const silent = trace.hooks.flatMap((hook, h) => (hook.fired ? [] : [h]));
  const { engine, versions, python, created } = trace.header;
  const lost = Object.entries(trace.dropped);
  return (
    <section>
      <h2>This recording</h2>
      <p class="dim">
        {Object.entries(versions ?? {}).map(([name, version]) => `${name} ${version}`).join(", ") || engine}, Python {python}, {String(created ?? "").replace("T", " ").replace("Z", " UTC")}
      </p>
      {!trace.complete && <p class="bad">It ended early{trace.error ? `: ${trace.error}` : "."}</p>}
      {lost.length > 0 && <p class="bad">The limit was reached. Dropped: {lost.map(([kind, n]) => `${n} ${kind}`).join(", ")}</p>}
      {trace.notes.map((text) => <p class="note">{text}</p>)}
      <dl class="facts">
        {[["operations", "op"], ["backward nodes", "node"], ["hook firings", "hook"], ["accumulations", "accumulate"], ["optimizer steps", "step"]].map(([label, kind]) => (
          <div><dt>{label}</dt><dd>{count(kind)}</dd></div>
        ))}
      </dl>
      {trace.leftOut.map((text) => <p class="dim">{text}</p>)}
      {trace.trouble.length > 0 && (
        <Section title="Trouble">
          <ul class="plain">
            {trace.trouble.slice(0, 12).map(([i, text]) => <li><Go onClick={() => onMove(i)}>{text}</Go></li>)}
            {trace.trouble.length > 12 && <li class="dim">and {trace.trouble.length - 12} more</li>}
          </ul>
        </Section>
      )}
      <Hooks trace={trace} list={changed} onSelect={onSelect} />
      {silent.length > 0 && (
        <Section title={`${silent.length} never fired`}>
          <ul class="plain">{silent.slice(0, 40).map((h) => <li><Go onClick={() => onSelect({ kind: "hook", id: h })}>{trace.hooks[h].name}</Go> <span class="dim">{trace.hooks[h].kind} on {trace.hooks[h].on}</span><Why cause={trace.whyNotFired[h]} /></li>)}</ul>
        </Section>
      )}
      {without.length > 0 && count("begin") > 0 && (
        <Section title={`${without.length} parameter${without.length > 1 ? "s" : ""} without a gradient`}>
          <ul class="plain">
            {without.slice(0, 60).map(([t, k]) => {
              const v = trace.leafVertices.get(Number(t))?.[0];
              return (
                <li>
                  {v === undefined ? k.name : <Go onClick={() => onSelect({ kind: "vertex", id: v })}>{k.name}</Go>}
                  <Why cause={trace.whyNone[t]} />
                </li>
              );
            })}
            {without.length > 60 && <li class="dim">and {without.length - 60} more</li>}
          </ul>
        </Section>
      )}
      {parameters.length > without.length && (
        <Section title="Parameters">
          <Parameters {...props} list={parameters.filter(([t]) => trace.grads.has(Number(t)))} />
        </Section>
      )}
    </section>
  );
}
