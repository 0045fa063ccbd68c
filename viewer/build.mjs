// Bundles src/ into one page: ../src/retrograd/microscope/page/viewer.html (or the path given).
// The same sources give the same bytes: esbuild's version is pinned, and nothing of time or place goes in.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transformSync } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const bundle = await build({
  entryPoints: [here("src/main.jsx")],
  absWorkingDir: here("."),
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: ["chrome100", "firefox100", "safari15"],
  charset: "ascii",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
});
const script = bundle.outputFiles[0].text.trim();
const style = transformSync(readFileSync(here("src/style.css"), "utf8"), { loader: "css", minify: true }).code.trim();
if (/<\/script|<!--|%%/i.test(script) || /<\/style/i.test(style)) throw new Error("the bundle would end its own element");

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const parts = {
  POLICY: `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`,
  STYLE: style,
  SCRIPT: script,
};
const page = readFileSync(here("src/page.html"), "utf8").replace(/%%(POLICY|STYLE|SCRIPT)%%/g, (_, name) => parts[name]);
const target = process.argv[2] ?? here("../src/retrograd/microscope/page/viewer.html");
writeFileSync(target, page);
console.log(`${target}: ${page.length} bytes`);
