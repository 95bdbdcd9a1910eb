// Builds the page's template: one HTML file with its styles and its program inside, and two places to fill in.
// usage: node build.mjs [FILE]       (default: ../build/web/report.html)
//
// `<!--alphastep-title-->` becomes the title (escaped as HTML), `<!--alphastep-data-->` the script element with the
// data. The policy in the head allows this program and these styles by their hashes, pictures that the page makes
// itself, and nothing else: no request leaves the page. The program is compressed, since it is most of a small report;
// a few lines (src/boot.js) unpack and start it.

import * as esbuild from "esbuild";
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {deflateSync} from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../build/web/report.html"));

const bundle = async (entry, options) => {
  const result = await esbuild.build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    legalComments: "none",
    charset: "ascii",
    logLevel: "warning",
    ...options,
  });
  return result.outputFiles[0].text;
};

const licence = (name) => {
  const folder = join(here, "node_modules", name);
  const {version} = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const text = readFileSync(join(folder, "LICENSE"), "utf8").trim();
  return `${name} ${version}\n\n${text}`;
};
const licences = ["three", "uplot"].map(licence).join("\n\n----\n\n");
if (licences.includes("*/")) throw new Error("a licence would end the comment that it stands in");

const program = await bundle("src/main.ts", {format: "iife"});
const packed = deflateSync(program, {level: 9}).toString("base64");
const script = `/*! This page contains:\n\n${licences}\n*/\n` + (await bundle("src/boot.js", {format: "iife"}));
const style = await bundle("src/style.css", {});
if (/<!--|<\/?script/i.test(script)) throw new Error("the program contains text that would end its element");
if (/<\//.test(style)) throw new Error("the styles contain text that would end their element");

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy =
  `default-src 'none'; script-src ${hash(script)} ${hash(program)}; style-src ${hash(style)}; ` +
  "img-src data: blob:; base-uri 'none'; form-action 'none'";

const fill = {policy, style, script, packed};
const page = readFileSync(join(here, "src/page.html"), "utf8").replace(/@(policy|style|script|packed)@/g, (_, name) => fill[name]);
for (const place of ["<!--alphastep-title-->", "<!--alphastep-data-->"])
  if (page.split(place).length !== 2) throw new Error(`the template must contain ${place} once`);

mkdirSync(dirname(out), {recursive: true});
writeFileSync(out, page);
console.log(`${out}: ${Math.round(Buffer.byteLength(page) / 1024)} KB`);
