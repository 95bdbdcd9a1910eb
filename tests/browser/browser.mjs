// What browser tests share: Debian's Chromium through playwright-core, and how a test says that it cannot run here.

import {existsSync, mkdtempSync, readFileSync, rmSync, statSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Ends the program as a test that was left out; ctest knows this number. */
export function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

export function needed(path, what) {
  if (!existsSync(path) || statSync(path).size === 0) skip(`${what} is not there (${path})`);
  return path;
}

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

const FLAGS = [
  "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export async function launch() {
  needed(join(root, "web/node_modules/playwright-core"), "playwright-core (cd web && npm ci)");
  needed(executablePath, "Chromium");
  const {chromium} = createRequire(join(root, "web/package.json"))("playwright-core");
  return chromium.launch({executablePath, headless: true, args: FLAGS});
}

/** A folder that is gone when the program ends. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "alphastep-browser-"));
  process.on("exit", () => rmSync(path, {recursive: true, force: true}));
  return path;
}

/** Opens a page from disk; everything it complains about or asks a network for is in `wrong`. */
export async function open(browser, path, {wait = true, init, ...options} = {}) {
  const context = await browser.newContext({viewport: {width: 1000, height: 560}, reducedMotion: "reduce", ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || wrong.push(`request: ${request.url()}`));
  if (init) await page.addInitScript(init);
  await page.goto(`file://${path}`);
  if (wait) await page.waitForSelector("html[data-ready]", {state: "attached"});
  return {page, wrong, close: () => context.close()};
}

/** Rows of a CSV file as the command writes it, by the names in its first line. */
export function readCsv(path) {
  const [head, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
  const names = [...head.matchAll(/"((?:[^"]|"")*)"|([^,]+)/g)].map((part) => (part[1] ?? part[2]).replace(/""/g, '"'));
  return lines.map((line) => Object.fromEntries(line.split(",").map((value, i) => [names[i], Number(value)])));
}

/** Runs the tests one after the other; the exit code says whether all of them held. */
export async function run(tests) {
  const only = process.argv.find((word) => word.startsWith("--only="))?.slice(7);
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    const begin = Date.now();
    try {
      await test();
      console.log(`ok      ${name} (${Date.now() - begin} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
  return failed === 0;
}
