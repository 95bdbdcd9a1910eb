// The page of `alphastep modes` in a real browser: each mode moves, and the root locus is there.
// usage: modes.mjs COMMAND [--only=PART OF A NAME]      COMMAND is alphastep

import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {folder, launch, needed, open, root, run} from "./browser.mjs";

const command = needed(process.argv[2] ?? "", "alphastep");
const to = join(folder(), "bicycle");
execFileSync(command, ["modes", join(root, "examples/machines/bicycle/model.yaml"), "--sweep", "parameters.v=1:10:1", "-o", to], {stdio: ["ignore", "ignore", "inherit"]});
const values = JSON.parse(readFileSync(join(to, "modes.json"), "utf8")).values;
const modes = values.at(-1).modes;
const browser = await launch();

const picture = (page) => page.locator("canvas").evaluate((canvas) => canvas.toDataURL());
const frames = (page, n) => page.evaluate((count) => new Promise((done) => {
  const next = (left) => (left ? requestAnimationFrame(() => next(left - 1)) : done());
  next(count);
}), n);

const tests = {
  "a mode that is chosen moves": async () => {
    const {page, wrong, close} = await open(browser, join(to, "modes.html"), {wait: false});
    const rows = page.locator("tr[data-mode]");
    assert.equal(await rows.count(), modes.length);
    const shown = new Set();
    for (const i of [0, modes.length - 2, modes.length - 1]) {
      await rows.nth(i).click();
      assert.deepEqual(await page.locator("tr.on").evaluateAll((all) => all.map((row) => row.dataset.mode)), [String(i)]);
      await frames(page, 10);
      const before = await picture(page);
      await frames(page, 10);
      const after = await picture(page);
      assert.notEqual(before, after, `mode ${i + 1} stands still`);
      shown.add(after);
    }
    assert.equal(shown.size, 3);
    assert.deepEqual(wrong, []);
    await close();
  },

  "the table has the numbers of the JSON": async () => {
    const {page, wrong, close} = await open(browser, join(to, "modes.html"), {wait: false});
    const real = await page.locator('td[data-is="real"]').allTextContents();
    modes.forEach((mode, i) => assert.ok(Math.abs(Number(real[i].replace("−", "-")) - mode.real) <= 1e-4 * Math.abs(mode.real) + 1e-9, `${real[i]} ${mode.real}`));
    assert.deepEqual(wrong, []);
    await close();
  },

  "the root locus has a point for each eigenvalue of each value": async () => {
    const {page, wrong, close} = await open(browser, join(to, "modes.html"), {wait: false});
    const points = await page.locator("figure svg").first().locator("circle").count();
    assert.equal(points, values.reduce((sum, value) => sum + value.modes.length, 0));
    assert.match(await page.locator("figcaption").first().textContent(), /parameters\.v from 1 \(blue\) to 10 \(red\)/);
    assert.deepEqual(wrong, []);
    await close();
  },
};

const good = await run(tests);
await browser.close();
process.exit(good ? 0 : 1);
